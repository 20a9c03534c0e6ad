package dis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// twoPerPut makes pieces of two records.
var twoPerPut = wire.Limits{RecordBytes: 10, RequestBytes: 100, RequestRecords: 2}

func numbered(n int) *wire.PutRecordsRequest {
	put := &wire.PutRecordsRequest{StreamName: "s", StreamID: "i"}
	for i := range n {
		put.Records = append(put.Records, wire.PutRecord{Data: []byte(strconv.Itoa(i)), PartitionID: "0"})
	}
	return put
}

// stored answers that all records of a put are stored, counting from first.
func stored(first, n int) step {
	answer := new(wire.PutRecordsResponse)
	for i := range n {
		answer.Records = append(answer.Records, wire.PutResult{PartitionID: "shardId-0000000000", SequenceNumber: strconv.Itoa(first + i)})
	}
	return step{status: 200, body: string(appendJSON(nil, answer))}
}

// outcomes is what became of each record, in short.
func outcomes(results []RecordResult) string {
	var texts []string
	for _, r := range results {
		var failure *Error
		switch {
		case r.Err == nil:
			texts = append(texts, r.SequenceNumber)
		case errors.Is(r.Err, ErrNotReached):
			texts = append(texts, "not reached")
		case errors.As(r.Err, &failure):
			text := "failed " + failure.Code
			if failure.NotProcessed {
				text += " surely"
			}
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

func TestPutAll(t *testing.T) {
	hole := `{"failed_record_count":1,"records":[{"error_code":"DIS.4303","error_message":"slow"},{"partition_id":"shardId-0000000000","sequence_number":"13"}]}`
	internal := `{"failed_record_count":1,"records":[{"partition_id":"shardId-0000000000","sequence_number":"12"},{"error_code":"DIS.5250","error_message":"?"}]}`
	tests := []struct {
		name    string
		records int
		steps   []step // all of them must be used
		want    string
	}{
		{"nothing", 0, nil, ""},
		{"one piece", 2, []step{stored(10, 2)}, "10, 11"},
		{"three pieces", 5, []step{stored(10, 2), stored(20, 2), stored(30, 1)}, "10, 11, 20, 21, 30"},
		{"a refused piece", 5, []step{stored(10, 2), refusal(400, "DIS.4303")}, "10, 11, failed DIS.4303 surely, failed DIS.4303 surely, not reached"},
		{"a lost answer", 5, []step{stored(10, 2), {err: errReset}}, "10, 11, failed , failed , not reached"},
		{"a refused record before a stored one", 5, []step{stored(10, 2), {status: 200, body: hole}}, "10, 11, failed DIS.4303 surely, 13, not reached"},
		{"a record with an unknown fate", 4, []step{{status: 200, body: internal}}, "12, failed DIS.5250, not reached, not reached"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, script := play(t, nil, test.steps...)
			put := numbered(test.records)
			results := client.PutAll(t.Context(), put, twoPerPut)
			if got := outcomes(results); got != test.want || len(results) != test.records {
				t.Errorf("%d results: %s, want %s", len(results), got, test.want)
			}
			if len(script.sent) != len(test.steps) {
				t.Errorf("%d requests, want %d", len(script.sent), len(test.steps))
			}
			if diff := cmp.Diff(numbered(test.records), put); diff != "" {
				t.Errorf("the request changed:\n%s", diff)
			}
			checkPieces(t, script.sent)
		})
	}
}

// checkPieces looks for the records in their order, two per request.
func checkPieces(t *testing.T, sent []sentRequest) {
	t.Helper()
	next := 0
	for _, request := range sent {
		piece, err := wire.DecodePutRecordsRequest([]byte(request.body))
		if err != nil || piece.StreamName != "s" || piece.StreamID != "i" || len(piece.Records) > 2 {
			t.Errorf("piece %s: %v", request.body, err)
			return
		}
		for _, record := range piece.Records {
			if string(record.Data) != strconv.Itoa(next) {
				t.Errorf("record %s in the place of %d", record.Data, next)
			}
			next++
		}
	}
}

// It is known beforehand that a record can never be stored, so nothing is sent.
func TestPutAllWithARecordTooLong(t *testing.T) {
	client, script := play(t, nil)
	put := numbered(3)
	put.Records[1].Data = []byte("eleven byte")
	results := client.PutAll(t.Context(), put, twoPerPut)
	if got := outcomes(results); got != "not reached, failed  surely, not reached" || len(script.sent) != 0 {
		t.Errorf("%s, %d requests", got, len(script.sent))
	}
	if text := results[1].Err.Error(); text != "DIS PutRecords: not sent: the record has 11 bytes, 10 are allowed" {
		t.Error(text)
	}
}

func TestPutAllCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client, _ := play(t, func(c *Config) { c.Observe = func(Call) { cancel() } }, stored(10, 2))
	results := client.PutAll(ctx, numbered(6), twoPerPut)
	if got := fmt.Sprint(outcomes(results)); got != "10, 11, failed  surely, failed  surely, not reached, not reached" || !errors.Is(results[2].Err, context.Canceled) {
		t.Error(got, results[2].Err)
	}
}
