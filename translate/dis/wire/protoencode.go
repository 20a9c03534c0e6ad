package wire

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// AppendProtoPutRecordsRequest appends the protobuf body of a put. The stream's
// name is written even when it is empty, since some of the SDKs' schemas require
// it; nil data, keys and timestamps are left out.
func AppendProtoPutRecordsRequest(dst []byte, put *PutRecordsRequest) []byte {
	size := sizeBytes(fieldStreamName, len(put.StreamName)) + sizeSetText(fieldStreamID, put.StreamID)
	for i := range put.Records {
		size += sizeBytes(fieldPutRecords, sizePutRecord(&put.Records[i]))
	}
	dst = slices.Grow(dst, size) // a put is large: growing on the way would copy it several times
	dst = appendText(dst, fieldStreamName, put.StreamName)
	for i := range put.Records {
		dst = appendMessage(dst, fieldPutRecords, &put.Records[i], sizePutRecord, appendProtoPutRecord)
	}
	return appendSetText(dst, fieldStreamID, put.StreamID)
}

func sizePutRecord(r *PutRecord) int {
	size := sizeSetText(fieldExplicitHashKey, string(r.ExplicitHashKey)) + sizeSetText(fieldPutPartitionID, string(r.PartitionID))
	if r.Data != nil {
		size += sizeBytes(fieldPutData, len(r.Data))
	}
	if r.PartitionKey != nil {
		size += sizeBytes(fieldPutKey, len(*r.PartitionKey))
	}
	if r.Timestamp != nil {
		size += sizeInteger(fieldPutTimestamp, *r.Timestamp)
	}
	return size
}

func appendProtoPutRecord(dst []byte, r *PutRecord) []byte {
	if r.Data != nil {
		dst = appendRaw(dst, fieldPutData, r.Data)
	}
	dst = appendSetText(dst, fieldExplicitHashKey, string(r.ExplicitHashKey))
	if r.PartitionKey != nil {
		dst = appendText(dst, fieldPutKey, *r.PartitionKey)
	}
	dst = appendSetText(dst, fieldPutPartitionID, string(r.PartitionID))
	if r.Timestamp != nil {
		dst = appendInteger(dst, fieldPutTimestamp, *r.Timestamp)
	}
	return dst
}

// AppendProtoPutRecordsResponse appends the protobuf body of a put's results;
// empty texts are left out.
func AppendProtoPutRecordsResponse(dst []byte, results *PutRecordsResponse) []byte {
	dst = appendInteger(dst, fieldFailedCount, int64(int32(results.FailedRecordCount)))
	for i := range results.Records {
		dst = appendMessage(dst, fieldPutResults, &results.Records[i], sizePutResult, appendProtoPutResult)
	}
	return dst
}

func sizePutResult(r *PutResult) int {
	return sizeSetText(fieldResultPartition, r.PartitionID) + sizeSetText(fieldResultSequence, r.SequenceNumber) +
		sizeSetText(fieldErrorCode, r.ErrorCode) + sizeSetText(fieldErrorMessage, r.ErrorMessage)
}

func appendProtoPutResult(dst []byte, r *PutResult) []byte {
	dst = appendSetText(dst, fieldResultPartition, r.PartitionID)
	dst = appendSetText(dst, fieldResultSequence, r.SequenceNumber)
	dst = appendSetText(dst, fieldErrorCode, r.ErrorCode)
	return appendSetText(dst, fieldErrorMessage, r.ErrorMessage)
}

// AppendProtoGetRecordsResponse appends the protobuf body of records read; nil
// data and keys are left out.
func AppendProtoGetRecordsResponse(dst []byte, get *GetRecordsResponse) []byte {
	dst = appendText(dst, fieldNextCursor, get.NextPartitionCursor)
	for i := range get.Records {
		dst = appendMessage(dst, fieldRecords, &get.Records[i], sizeRecord, appendProtoRecord)
	}
	return dst
}

func sizeRecord(r *Record) int {
	size := sizeBytes(fieldRecordSequence, len(r.SequenceNumber)) + sizeInteger(fieldTimestamp, r.Timestamp) +
		sizeSetText(fieldTimestampType, r.TimestampType)
	if r.PartitionKey != nil {
		size += sizeBytes(fieldRecordKey, len(*r.PartitionKey))
	}
	if r.Data != nil {
		size += sizeBytes(fieldRecordData, len(r.Data))
	}
	return size
}

func appendProtoRecord(dst []byte, r *Record) []byte {
	if r.PartitionKey != nil {
		dst = appendText(dst, fieldRecordKey, *r.PartitionKey)
	}
	dst = appendText(dst, fieldRecordSequence, r.SequenceNumber)
	if r.Data != nil {
		dst = appendRaw(dst, fieldRecordData, r.Data)
	}
	dst = appendInteger(dst, fieldTimestamp, r.Timestamp)
	return appendSetText(dst, fieldTimestampType, r.TimestampType)
}

// appendMessage appends an embedded message. Its size comes first on the wire,
// so it is computed rather than found by encoding twice.
func appendMessage[T any](dst []byte, number protowire.Number, value *T, size func(*T) int, content func([]byte, *T) []byte) []byte {
	dst = protowire.AppendTag(dst, number, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(size(value)))
	return content(dst, value)
}

func appendText(dst []byte, number protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, number, protowire.BytesType), text)
}

func appendRaw(dst []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), content)
}

func appendInteger(dst []byte, number protowire.Number, value int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), uint64(value))
}

// appendSetText leaves out what is empty.
func appendSetText(dst []byte, number protowire.Number, text string) []byte {
	if text == "" {
		return dst
	}
	return appendText(dst, number, text)
}

func sizeBytes(number protowire.Number, length int) int {
	return protowire.SizeTag(number) + protowire.SizeBytes(length)
}

func sizeInteger(number protowire.Number, value int64) int {
	return protowire.SizeTag(number) + protowire.SizeVarint(uint64(value))
}

func sizeSetText(number protowire.Number, text string) int {
	if text == "" {
		return 0
	}
	return sizeBytes(number, len(text))
}
