package wire

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"
)

// protoBody is one of the bodies with both implementations.
type protoBody[T any] struct {
	message     protoreflect.Name
	draw        func(*rapid.T) *T
	encode      func([]byte, *T) []byte
	decode      func([]byte) (*T, error)
	fromLibrary func(libraryMessage) *T
	intoLibrary func(libraryMessage, *T)
	normalise   func(*T) // what protobuf cannot tell apart: no list and an empty one
}

var (
	putRequestBody = protoBody[PutRecordsRequest]{
		message: "PutRecordsRequest", draw: anyPutRequest, encode: AppendProtoPutRecordsRequest, decode: DecodeProtoPutRecordsRequest,
		normalise: func(put *PutRecordsRequest) { put.Records = append([]PutRecord{}, put.Records...) },
		intoLibrary: func(m libraryMessage, put *PutRecordsRequest) {
			m.setText("streamName", put.StreamName)
			m.setText("streamId", put.StreamID)
			for _, r := range put.Records {
				entry := m.add("records")
				if r.Data != nil {
					entry.set("data", r.Data)
				}
				entry.setText("partitionId", string(r.PartitionID))
				entry.setText("explicitHashKey", string(r.ExplicitHashKey))
				if r.PartitionKey != nil {
					entry.set("partitionKey", *r.PartitionKey)
				}
				if r.Timestamp != nil {
					entry.set("timestamp", *r.Timestamp)
				}
			}
		},
		fromLibrary: func(m libraryMessage) *PutRecordsRequest {
			put := &PutRecordsRequest{StreamName: m.text("streamName"), StreamID: m.text("streamId"), Records: []PutRecord{}}
			m.each("records", func(entry libraryMessage) {
				record := PutRecord{
					Data: entry.data("data"), PartitionID: Text(entry.text("partitionId")),
					ExplicitHashKey: Text(entry.text("explicitHashKey")), PartitionKey: entry.optionalText("partitionKey"),
				}
				if entry.has("timestamp") {
					timestamp := entry.integer("timestamp")
					record.Timestamp = &timestamp
				}
				put.Records = append(put.Records, record)
			})
			return put
		},
	}

	putResponseBody = protoBody[PutRecordsResponse]{
		message: "PutRecordsResult", draw: anyPutResponse, encode: AppendProtoPutRecordsResponse, decode: DecodeProtoPutRecordsResponse,
		normalise: func(results *PutRecordsResponse) {
			results.Records = append([]PutResult{}, results.Records...)
			results.FailedRecordCount = int(int32(results.FailedRecordCount))
		},
		intoLibrary: func(m libraryMessage, results *PutRecordsResponse) {
			m.set("failedRecordCount", int32(results.FailedRecordCount))
			for _, r := range results.Records {
				entry := m.add("records")
				entry.setText("shardId", r.PartitionID)
				entry.setText("sequenceNumber", r.SequenceNumber)
				entry.setText("errorCode", r.ErrorCode)
				entry.setText("errorMessage", r.ErrorMessage)
			}
		},
		fromLibrary: func(m libraryMessage) *PutRecordsResponse {
			results := &PutRecordsResponse{FailedRecordCount: int(m.integer("failedRecordCount")), Records: []PutResult{}}
			m.each("records", func(entry libraryMessage) {
				results.Records = append(results.Records, PutResult{
					PartitionID: entry.text("shardId"), SequenceNumber: entry.text("sequenceNumber"),
					ErrorCode: entry.text("errorCode"), ErrorMessage: entry.text("errorMessage"),
				})
			})
			return results
		},
	}

	getResponseBody = protoBody[GetRecordsResponse]{
		message: "GetRecordsResult", draw: anyGetResponse, encode: AppendProtoGetRecordsResponse, decode: DecodeProtoGetRecordsResponse,
		normalise: func(get *GetRecordsResponse) { get.Records = append([]Record{}, get.Records...) },
		intoLibrary: func(m libraryMessage, get *GetRecordsResponse) {
			m.set("nextShardIterator", get.NextPartitionCursor)
			for _, r := range get.Records {
				entry := m.add("records")
				if r.PartitionKey != nil {
					entry.set("partitionKey", *r.PartitionKey)
				}
				entry.set("sequenceNumber", r.SequenceNumber)
				if r.Data != nil {
					entry.set("data", r.Data)
				}
				entry.set("timestamp", r.Timestamp)
				entry.setText("timestampType", r.TimestampType)
			}
		},
		fromLibrary: func(m libraryMessage) *GetRecordsResponse {
			get := &GetRecordsResponse{NextPartitionCursor: m.text("nextShardIterator"), Records: []Record{}}
			m.each("records", func(entry libraryMessage) {
				get.Records = append(get.Records, Record{
					PartitionKey: entry.optionalText("partitionKey"), SequenceNumber: entry.text("sequenceNumber"),
					Data: entry.data("data"), Timestamp: entry.integer("timestamp"), TimestampType: entry.text("timestampType"),
				})
			})
			return get
		},
	}
)
