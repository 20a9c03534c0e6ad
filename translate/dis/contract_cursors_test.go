package dis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func at(stream string, partition int, kind wire.CursorType) dis.CursorRequest {
	return dis.CursorRequest{StreamName: stream, Partition: partition, Type: kind}
}

func atNumber(stream string, partition int, kind wire.CursorType, number int64) dis.CursorRequest {
	return dis.CursorRequest{StreamName: stream, Partition: partition, Type: kind, SequenceNumber: number}
}

func atTime(stream string, partition int, ms int64) dis.CursorRequest {
	return dis.CursorRequest{StreamName: stream, Partition: partition, Type: wire.CursorAtTimestamp, Timestamp: ms}
}

// resolved is the position that a cursor carries in its text.
func (c *contract) resolved(t *testing.T, request dis.CursorRequest) int64 {
	t.Helper()
	text := must[string](t)(c.client.GetCursor(c.ctx, request))
	if len(text) > 512 || strings.ContainsAny(text, "+/&=?#% ") && !c.live {
		t.Errorf("cursor %q cannot stand in a query as it is", text)
	}
	return must[wire.Cursor](t)(wire.DecodeCursor(text)).StartingSequenceNumber
}

func testCursors(t *testing.T, c *contract) {
	first := c.put(t, to(0, "a"), to(0, "b"))
	readable := c.numbers(t, 0)
	equal(t, "next number", readable.Next, first+2)
	tests := []struct {
		request dis.CursorRequest
		want    int64
	}{
		{at(c.stream, 0, wire.CursorTrimHorizon), readable.Oldest},
		{at(c.stream, 0, wire.CursorLatest), readable.Next},
		{atNumber(c.stream, 0, "", first), first}, // the default type
		{atNumber(c.stream, 0, wire.CursorAtSequence, first+1), first + 1},
		{atNumber(c.stream, 0, wire.CursorAtSequence, readable.Next), readable.Next},
		{atNumber(c.stream, 0, wire.CursorAfterSequence, first), first + 1},
		{atNumber(c.stream, 0, wire.CursorAfterSequence, first+1), readable.Next},
	}
	for _, test := range tests {
		position := c.resolved(t, test.request)
		if c.live && test.request.Type == wire.CursorLatest {
			t.Logf("open question, which number does a cursor of LATEST carry: %d in %v", position, readable)
			continue
		}
		equal(t, fmt.Sprintf("position of %s %d", test.request.Type, test.request.SequenceNumber), position, test.want)
	}
	equal(t, "record at", string(c.first(t, atNumber(c.stream, 0, wire.CursorAtSequence, first)).Data), "a")
	equal(t, "record after", string(c.first(t, atNumber(c.stream, 0, wire.CursorAfterSequence, first)).Data), "b")

	_, err := c.client.GetCursor(c.ctx, atNumber(c.stream, 0, wire.CursorAtSequence, readable.Next+1000))
	refused(t, err, wire.CodeSequenceOutOfRange, fmt.Sprintf("[%d][ should be within ][", readable.Next+1000))
	_, err = c.client.GetCursor(c.ctx, at(c.stream, 77, wire.CursorLatest))
	refused(t, err, wire.CodePartitionNotFound, "")
	_, err = c.client.GetCursor(c.ctx, at(c.stream, 0, "SOMEWHERE"))
	refused(t, err, wire.CodeInvalidCursorType, "")
	_, err = c.client.GetRecords(c.ctx, dis.GetRecordsRequest{Cursor: "nonsense"})
	refused(t, err, wire.CodeInvalidCursor, "")
}

func testCursorsAtTime(t *testing.T, c *contract) {
	number := c.put(t, to(1, "now"))
	record := c.first(t, atNumber(c.stream, 1, wire.CursorAtSequence, number))
	future := time.Now().Add(time.Hour).UnixMilli()
	equal(t, "position of a time to come", c.resolved(t, atTime(c.stream, 1, future)), number+1)
	if position := c.resolved(t, atTime(c.stream, 1, record.Timestamp)); position > number {
		t.Errorf("the time of record %d leads to %d", number, position)
	}
	// The Kafka adapter takes a time out of this message and asks again with it.
	_, err := c.client.GetCursor(c.ctx, atTime(c.stream, 1, 1000))
	refused(t, err, wire.CodeRequestError, "timestamp is expired")
	refused(t, err, wire.CodeRequestError, "timestamp should be larger than ")
}

// At the end of a partition a read is answered at once, with nothing and a
// cursor that goes on.
func testEndOfPartition(t *testing.T, c *contract) {
	cursor := must[string](t)(c.client.GetCursor(c.ctx, at(c.stream, 1, wire.CursorLatest)))
	for range 2 {
		empty := must[*wire.GetRecordsResponse](t)(c.client.GetRecords(c.ctx, dis.GetRecordsRequest{Cursor: cursor}))
		equal(t, "records at the end", len(empty.Records), 0)
		if cursor = empty.NextPartitionCursor; cursor == "" {
			t.Fatal("no next cursor")
		}
	}
	number := c.put(t, to(1, "new"))
	for range 20 {
		answer := must[*wire.GetRecordsResponse](t)(c.client.GetRecords(c.ctx, dis.GetRecordsRequest{Cursor: cursor}))
		if cursor = answer.NextPartitionCursor; len(answer.Records) > 0 {
			equal(t, "record", string(answer.Records[0].Data), "new")
			equal(t, "number", answer.Records[0].SequenceNumber, fmt.Sprint(number))
			return
		}
		time.Sleep(c.patience / 1000)
	}
	t.Error("the new record does not arrive")
}

// A read of limited size returns whole records, and its cursor the rest.
func testBytesOfAnswer(t *testing.T, c *contract) {
	first := c.put(t, to(0, strings.Repeat("a", 1000)), to(0, strings.Repeat("b", 1000)), to(0, strings.Repeat("c", 1000)))
	from := atNumber(c.stream, 0, wire.CursorAtSequence, first)
	page := c.read(t, from, dis.GetRecordsRequest{MaxBytes: 2500})
	if c.live {
		t.Logf("open question, how exact is max_fetch_bytes: %d records of 1000 bytes in 2500", len(page.Records))
	} else {
		equal(t, "records of 1000 bytes in 2500", len(page.Records), 2)
	}
	got := len(page.Records)
	for range 20 {
		if got >= 3 {
			break
		}
		page = must[*wire.GetRecordsResponse](t)(c.client.GetRecords(c.ctx, dis.GetRecordsRequest{Cursor: page.NextPartitionCursor}))
		got += len(page.Records)
	}
	equal(t, "records in all", got, 3)
}
