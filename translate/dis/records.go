package dis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// PutRecords stores records in exactly one attempt: DIS does not recognise
// repeated records, so the caller decides whether to send again and in which
// order. The request may be changed once the call has returned. A nil error
// means that DIS answered, not that it stored every record: each result says so
// of its own.
func (c *Client) PutRecords(ctx context.Context, put *wire.PutRecordsRequest) (*wire.PutRecordsResponse, error) {
	call := newRequest("PutRecords", http.MethodPost, c.records, "records").of(cmp.Or(put.StreamName, put.StreamID))
	call.once = true
	call.protobuf = c.cfg.RecordBody == RecordBodyProtobuf
	call.encode = func(dst []byte) ([]byte, error) {
		if call.protobuf {
			return wire.AppendProtoPutRecordsRequest(dst, put), nil
		}
		return wire.AppendPutRecordsRequest(dst, put), nil
	}
	var result *wire.PutRecordsResponse
	complete := func(decode func([]byte) (*wire.PutRecordsResponse, error)) func([]byte) error {
		return func(answer []byte) (err error) {
			result, err = decode(answer)
			if err == nil && len(result.Records) != len(put.Records) {
				err = fmt.Errorf("%d results for %d records", len(result.Records), len(put.Records))
			}
			return err
		}
	}
	call.decode, call.decodeProto = complete(wire.DecodePutRecordsResponse), complete(wire.DecodeProtoPutRecordsResponse)
	call.summarize = func(seen *Call) { seen.countRefused(result.Records) }
	if err := c.run(ctx, call); err != nil {
		return nil, err
	}
	return result, nil
}

// countRefused takes note of the records that an answer does not store.
func (c *Call) countRefused(results []wire.PutResult) {
	c.Records = len(results)
	for i := range results {
		if r := &results[i]; r.ErrorCode != "" {
			if c.Refused == 0 {
				c.RefusalCode, c.RefusalMessage = r.ErrorCode, r.ErrorMessage
			}
			c.Refused++
		}
	}
}

// CursorRequest says where to start reading. A stream shared by another account
// is named by StreamID alone.
type CursorRequest struct {
	StreamName string
	StreamID   string
	Partition  int
	// Type decides which of the two fields below counts; empty means
	// AT_SEQUENCE_NUMBER.
	Type           wire.CursorType
	SequenceNumber int64 // for AT_ and AFTER_SEQUENCE_NUMBER
	Timestamp      int64 // for AT_TIMESTAMP, ms
}

// GetCursor returns a cursor that is valid for wire.CursorLifetime. DIS.4224:
// the sequence number is outside the partition's range; DIS.4300: the timestamp
// is before its oldest record.
func (c *Client) GetCursor(ctx context.Context, at CursorRequest) (string, error) {
	var result wire.CursorResponse
	call := newRequest("GetCursor", http.MethodGet, c.records, "cursors").of(cmp.Or(at.StreamName, at.StreamID)).
		set("stream-name", at.StreamName).set("stream-id", at.StreamID).
		set("partition-id", wire.PartitionID(at.Partition)).
		set("cursor-type", string(at.Type))
	call.decode = func(answer []byte) error {
		if err := json.Unmarshal(answer, &result); err != nil {
			return err
		}
		if result.PartitionCursor == "" {
			return errors.New("no partition_cursor")
		}
		return nil
	}
	switch at.Type {
	case wire.CursorAtSequence, wire.CursorAfterSequence, "":
		call.set("starting-sequence-number", strconv.FormatInt(at.SequenceNumber, 10))
	case wire.CursorAtTimestamp:
		call.set("timestamp", strconv.FormatInt(at.Timestamp, 10))
	}
	if err := c.run(ctx, call); err != nil {
		return "", err
	}
	return result.PartitionCursor, nil
}

// GetRecordsRequest reads on from a cursor. Zero fields leave the choice to DIS.
type GetRecordsRequest struct {
	Cursor string
	// Stream names, for observers and log lines alone, what the cursor is of.
	Stream string
	// MaxBytes bounds the data of all records. A record larger than that is never
	// delivered.
	MaxBytes int
	// Limit bounds the number of records; current services ignore it.
	Limit int
	// AppName is the consuming app, for statistics.
	AppName string
	// Paced leaves it to the caller when to try a throttled read again.
	Paced bool
	// Memory, if set, may be used for the records of the answer and is grown as
	// needed: their data is good until the caller uses it again. A caller that
	// copies what it reads spares the collector megabytes with each call.
	Memory *[]byte
}

// GetRecords reads without waiting: an empty answer is immediate. The records'
// data share blocks of memory, so one that is kept keeps its neighbours.
// DIS.4225: the cursor expired; DIS.4226: the position fell out of retention.
func (c *Client) GetRecords(ctx context.Context, read GetRecordsRequest) (*wire.GetRecordsResponse, error) {
	var result *wire.GetRecordsResponse
	call := newRequest("GetRecords", http.MethodGet, c.records, "records").of(read.Stream).
		set("partition-cursor", read.Cursor).set("max_fetch_bytes", ifPositive(read.MaxBytes)).
		set("limit", ifPositive(read.Limit)).set("app_name", read.AppName)
	into := func(decode func([]byte) (*wire.GetRecordsResponse, error)) func([]byte) error {
		return func(answer []byte) (err error) {
			result, err = decode(answer)
			return err
		}
	}
	call.protobuf = c.cfg.RecordBody == RecordBodyProtobuf
	call.decode, call.decodeProto = into(wire.DecodeGetRecordsResponse), into(wire.DecodeProtoGetRecordsResponse)
	call.keepsProto, call.keptIn, call.paced = true, read.Memory, read.Paced
	if err := c.run(ctx, call); err != nil {
		return nil, err
	}
	return result, nil
}

func ifPositive(number int) string {
	if number <= 0 {
		return ""
	}
	return strconv.Itoa(number)
}

// optionalJSON decodes an answer that may be empty.
func optionalJSON(result any) func([]byte) error {
	return func(answer []byte) error {
		if len(answer) == 0 {
			return nil
		}
		return json.Unmarshal(answer, result)
	}
}
