package embedded

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// decodePut reads and checks the body of a put.
func decodePut(r *request) (*wire.PutRecordsRequest, error) {
	if len(r.body) == 0 {
		return nil, refuse(wire.CodeEmptyRequest, "Request cannot be empty.")
	}
	decode := decodeJSONPut
	if r.protobuf {
		decode = wire.DecodeProtoPutRecordsRequest
	}
	body, err := decode(r.body)
	if err != nil {
		return nil, invalidRequest("body", err)
	}
	if len(body.Records) == 0 {
		return nil, refuse(wire.CodeEmptyRequest, "Request cannot be empty. [records]")
	}
	for i := range body.Records {
		if body.Records[i].Data == nil {
			return nil, invalidRequest("records["+strconv.Itoa(i)+"].data", "")
		}
	}
	return body, nil
}

func decodeJSONPut(raw []byte) (*wire.PutRecordsRequest, error) {
	if body, err := wire.DecodePutRecordsRequest(raw); err == nil {
		return body, nil
	}
	return decodeLoosePut(raw)
}

// loosePut is wire.PutRecordsRequest as the service reads it: names, keys and
// numbers may each be a JSON string or number.
type loosePut struct {
	StreamName wire.Text        `json:"stream_name"`
	StreamID   wire.Text        `json:"stream_id"`
	Records    []loosePutRecord `json:"records"`
}

type loosePutRecord struct {
	Data            []byte     `json:"data"`
	PartitionID     wire.Text  `json:"partition_id"`
	ExplicitHashKey wire.Text  `json:"explicit_hash_key"`
	PartitionKey    *wire.Text `json:"partition_key"`
	Timestamp       wire.Text  `json:"timestamp"`
}

func decodeLoosePut(raw []byte) (*wire.PutRecordsRequest, error) {
	var loose loosePut
	if err := json.Unmarshal(raw, &loose); err != nil {
		return nil, err
	}
	body := &wire.PutRecordsRequest{
		StreamName: string(loose.StreamName),
		StreamID:   string(loose.StreamID),
		Records:    make([]wire.PutRecord, len(loose.Records)),
	}
	for i := range loose.Records {
		r := &loose.Records[i]
		body.Records[i] = wire.PutRecord{
			Data: r.Data, PartitionID: r.PartitionID, ExplicitHashKey: r.ExplicitHashKey,
			PartitionKey: (*string)(r.PartitionKey),
		}
		if r.Timestamp != "" {
			timestamp, err := strconv.ParseInt(string(r.Timestamp), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("records[%d].timestamp: %w", i, err)
			}
			body.Records[i].Timestamp = &timestamp
		}
	}
	return body, nil
}
