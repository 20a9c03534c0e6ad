package dis

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// ErrNotReached is the cause of the Error of a record that PutAll did not send,
// because of what happened to another one.
var ErrNotReached = errors.New("another record was not stored")

// RecordResult is what became of one record of PutAll: its place, or Err.
type RecordResult struct {
	PartitionID    string
	SequenceNumber string
	// Err is nil when the record is stored and an *Error otherwise, whose
	// NotProcessed speaks for this record.
	Err error
}

// PutAll stores any number of records: it cuts them into the pieces that the
// limits allow and sends one after the other, each once, so that the order of
// every partition holds. The results stand in the order of the records.
//
// The first piece of which a record is not stored ends the call: the records
// after that piece are not sent and fail with ErrNotReached, so that a caller who
// sends again all that failed, in their order, brings none before its
// predecessor. Within that piece DIS may have stored records behind a refused one.
// Nothing at all is sent when a record is longer than the limits allow.
func (c *Client) PutAll(ctx context.Context, put *wire.PutRecordsRequest, limits wire.Limits) []RecordResult {
	results := make([]RecordResult, len(put.Records))
	if refuseTooLong(put.Records, limits.RecordBytes, results) {
		return results
	}
	next := 0
	piece := *put
	for piece.Records = range limits.Split(put.Records) {
		stored := c.putPiece(ctx, &piece, results[next:next+len(piece.Records)])
		next += len(piece.Records)
		if !stored {
			break
		}
	}
	notReached(results[next:])
	return results
}

// putPiece reports whether every record is stored.
func (c *Client) putPiece(ctx context.Context, piece *wire.PutRecordsRequest, results []RecordResult) bool {
	answer, err := c.PutRecords(ctx, piece)
	if err != nil {
		for i := range results {
			results[i].Err = err
		}
		return false
	}
	stored := true
	for i, result := range answer.Records {
		if result.ErrorCode == "" {
			results[i] = RecordResult{PartitionID: result.PartitionID, SequenceNumber: result.SequenceNumber}
			continue
		}
		stored = false
		results[i].Err = &Error{
			Operation: "PutRecords", HTTPStatus: http.StatusOK, Code: result.ErrorCode, Message: result.ErrorMessage,
			NotProcessed: isRefusal(result.ErrorCode),
		}
	}
	return stored
}

// refuseTooLong fails all records when there is one above the limit.
func refuseTooLong(records []wire.PutRecord, limit int, results []RecordResult) bool {
	found := false
	for i := range records {
		if size := len(records[i].Data); size > limit {
			found = true
			results[i].Err = &Error{Operation: "PutRecords", NotProcessed: true,
				Err: fmt.Errorf("the record has %d bytes, %d are allowed", size, limit)}
		}
	}
	if found {
		notReached(results)
	}
	return found
}

// notReached fails the records that have no error yet.
func notReached(results []RecordResult) {
	for i := range results {
		if results[i].Err == nil {
			results[i].Err = &Error{Operation: "PutRecords", NotProcessed: true, Err: ErrNotReached}
		}
	}
}
