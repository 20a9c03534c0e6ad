package wire

import (
	"bytes"
	"encoding/json"
)

// MaxRecordBytes is the limit of one record's data before base64.
const MaxRecordBytes = 1 << 20

// PutRecordsRequest is the body of POST /v2/{project}/records.
type PutRecordsRequest struct {
	StreamName string      `json:"stream_name,omitempty"`
	StreamID   string      `json:"stream_id,omitempty"`
	Records    []PutRecord `json:"records"`
}

// PutRecord is one record to store. PartitionID wins over ExplicitHashKey,
// which wins over the hash of PartitionKey; with none of them the server picks
// a partition. A nil Timestamp means the time of arrival.
type PutRecord struct {
	Data            []byte  `json:"data"`
	PartitionID     Text    `json:"partition_id,omitempty"`
	ExplicitHashKey Text    `json:"explicit_hash_key,omitempty"`
	PartitionKey    *string `json:"partition_key,omitempty"`
	Timestamp       *int64  `json:"timestamp,omitempty"`
}

// PutRecordsResponse has one entry per record, in the order of the request.
// The HTTP status is 200 even when every record failed.
type PutRecordsResponse struct {
	FailedRecordCount int         `json:"failed_record_count"`
	Records           []PutResult `json:"records"`
}

// PutResult is either the place of a stored record or the error of a refused
// one; ErrorCode is empty exactly when the record was stored.
type PutResult struct {
	PartitionID    string `json:"partition_id,omitempty"`
	SequenceNumber string `json:"sequence_number,omitempty"`
	ErrorCode      string `json:"error_code,omitempty"`
	ErrorMessage   string `json:"error_message,omitempty"`
}

// GetRecordsResponse is the answer of GET /v2/{project}/records. The next
// cursor is always set and stands behind the last record returned.
type GetRecordsResponse struct {
	Records             []Record `json:"records"`
	NextPartitionCursor string   `json:"next_partition_cursor"`
}

// Record is one stored record. PartitionKey is nil when none was given.
type Record struct {
	PartitionKey   *string `json:"partition_key,omitempty"`
	SequenceNumber string  `json:"sequence_number"`
	Data           []byte  `json:"data"`
	Timestamp      int64   `json:"timestamp"`
	TimestampType  string  `json:"timestamp_type"`
}

// TimestampTypeCreate is the only timestamp type that DIS answers.
const TimestampTypeCreate = "CreateTime"

// Text is a string that may arrive as a JSON number, as the Java SDK's server
// side reads ids and hash keys.
type Text string

// UnmarshalJSON accepts a string, a number or null.
func (t *Text) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*t = ""
		return nil
	}
	if len(data) > 0 && data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*t = Text(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	*t = Text(n.String())
	return nil
}
