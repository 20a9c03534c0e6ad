package dis_test

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// to is a record for a partition.
func to(partition int, data string) wire.PutRecord {
	return wire.PutRecord{Data: []byte(data), PartitionID: wire.Text(wire.PartitionID(partition))}
}

// put stores records of one partition and returns the number of the first. A
// real service may throttle; the records then go again, in order.
func (c *contract) put(t *testing.T, records ...wire.PutRecord) (first int64) {
	t.Helper()
	for range 10 {
		answer := must[*wire.PutRecordsResponse](t)(c.client.PutRecords(c.ctx, &wire.PutRecordsRequest{StreamName: c.stream, Records: records}))
		if answer.FailedRecordCount == 0 {
			return contiguous(t, answer)
		}
		if answer.FailedRecordCount < len(records) || !wire.RecordRetriable(answer.Records[0].ErrorCode) {
			t.Fatalf("%d of %d records failed: %+v", answer.FailedRecordCount, len(records), answer.Records)
		}
		time.Sleep(time.Second)
	}
	t.Fatal("the records were throttled ten times")
	return 0
}

// contiguous checks that the records of one partition were given numbers in a
// row, in the order of the request.
func contiguous(t *testing.T, answer *wire.PutRecordsResponse) (first int64) {
	t.Helper()
	for i, result := range answer.Records {
		number := must[int64](t)(strconv.ParseInt(result.SequenceNumber, 10, 64))
		if i == 0 {
			first = number
		}
		equal(t, fmt.Sprint("number of record ", i), number, first+int64(i))
		equal(t, fmt.Sprint("partition of record ", i), result.PartitionID, answer.Records[0].PartitionID)
	}
	return first
}

// read returns the answer to the first read at a cursor that is not empty. A
// service may need a moment until what it acknowledged can be read.
func (c *contract) read(t *testing.T, from dis.CursorRequest, limit dis.GetRecordsRequest) *wire.GetRecordsResponse {
	t.Helper()
	limit.Cursor = must[string](t)(c.client.GetCursor(c.ctx, from))
	for range 20 {
		answer := must[*wire.GetRecordsResponse](t)(c.client.GetRecords(c.ctx, limit))
		if len(answer.Records) > 0 {
			return answer
		}
		limit.Cursor = answer.NextPartitionCursor
		time.Sleep(c.patience / 1000)
	}
	t.Fatalf("nothing to read at %+v", from)
	return nil
}

func (c *contract) first(t *testing.T, from dis.CursorRequest) wire.Record {
	t.Helper()
	return c.read(t, from, dis.GetRecordsRequest{}).Records[0]
}

func testPutAndGet(t *testing.T, c *contract) {
	key, sent := "key ключ", time.Now().Add(-time.Minute).UnixMilli()
	binary := make([]byte, 256)
	for i := range binary {
		binary[i] = byte(i)
	}
	records := []wire.PutRecord{to(0, "plain"), to(0, string(binary)), to(0, "with a key and a time")}
	records[2].PartitionKey, records[2].Timestamp = &key, &sent
	first := c.put(t, records...)
	equal(t, "first number of a partition", first, 0)
	equal(t, "numbers after a put", c.numbers(t, 0), wire.SequenceRange{Oldest: 0, Next: 3})

	got := c.read(t, atNumber(c.stream, 0, wire.CursorAtSequence, first), dis.GetRecordsRequest{}).Records
	if len(got) != len(records) {
		t.Fatalf("read %d of %d records", len(got), len(records))
	}
	for i, record := range got {
		equal(t, "number", record.SequenceNumber, strconv.Itoa(i))
		equal(t, "kind of time", record.TimestampType, wire.TimestampTypeCreate)
		if !bytes.Equal(record.Data, records[i].Data) {
			t.Errorf("record %d holds %q, want %q", i, record.Data, records[i].Data)
		}
	}
	equal(t, "that there is no key", got[0].PartitionKey == nil, true)
	equal(t, "that there is a key", got[2].PartitionKey != nil && *got[2].PartitionKey == key, true)
	if age := time.Now().UnixMilli() - got[0].Timestamp; age < -60_000 || age > 600_000 {
		t.Errorf("a record without a time has one that is %d ms ago", age)
	}
	if c.live {
		t.Logf("open question, does DIS keep the times of records: sent %d, got %d", sent, got[2].Timestamp)
	} else {
		equal(t, "time", got[2].Timestamp, sent)
	}
}

// Every signature and every form of bodies that an official SDK uses.
func testForms(t *testing.T, c *contract) {
	type form struct {
		signing     dis.Signing
		body        dis.RecordBody
		compression dis.Compression
	}
	forms := []form{
		{dis.SigningUnscoped, dis.RecordBodyJSON, dis.CompressionNone},
		{dis.SigningScoped, dis.RecordBodyJSON, dis.CompressionNone},
		{dis.SigningScoped, dis.RecordBodyProtobuf, dis.CompressionNone},
		{dis.SigningScoped, dis.RecordBodyProtobuf, dis.CompressionLZ4},
		{dis.SigningScoped, dis.RecordBodyJSON, dis.CompressionSnappy},
		{dis.SigningScoped, dis.RecordBodyProtobuf, dis.CompressionZstd},
	}
	for _, f := range forms {
		t.Run(fmt.Sprint(f.signing, " ", f.body, " ", f.compression), func(t *testing.T) {
			config := c.config
			config.Signing, config.RecordBody, config.Compression = f.signing, f.body, f.compression
			through := &contract{target: c.target, client: connect(t, config), stream: c.stream}
			key := "k"
			record := to(1, "the same text, the same text, the same text: "+t.Name())
			record.PartitionKey = &key
			number := through.put(t, record)
			got := through.first(t, atNumber(c.stream, 1, wire.CursorAtSequence, number))
			equal(t, "data", string(got.Data), string(record.Data))
			equal(t, "that there is the key", got.PartitionKey != nil && *got.PartitionKey == key, true)
		})
	}
}

// A record goes where its partition id says, else its hash key, else the MD5 of
// its partition key.
func testRouting(t *testing.T, c *contract) {
	record := func(id, hash wire.Text, key string) wire.PutRecord {
		return wire.PutRecord{Data: []byte("routed"), PartitionID: id, ExplicitHashKey: hash, PartitionKey: &key}
	}
	tests := []struct {
		record wire.PutRecord
		want   int
	}{
		{record("", "", "k"), 0}, // 929062496847104148
		{record("", "", "0"), 1}, // 5750288053043553775
		{record("", "", "user-1"), 1},
		{record("", "", "中文"), 0},
		{record("", "9223372036854775807", "k"), 1},
		{record("", "0", "user-1"), 0},
		{record("1", "0", "k"), 1},
		{record("shardId-0000000001", "0", "k"), 1},
	}
	request := &wire.PutRecordsRequest{StreamName: c.stream}
	for _, test := range tests {
		request.Records = append(request.Records, test.record)
	}
	answer := must[*wire.PutRecordsResponse](t)(c.client.PutRecords(c.ctx, request))
	for i, result := range answer.Records {
		if result.ErrorCode != "" {
			t.Fatalf("record %d: %+v", i, result)
		}
		equal(t, fmt.Sprint("partition of record ", i), result.PartitionID, wire.PartitionID(tests[i].want))
	}
}

// A record for a partition that does not exist fails by itself; the others are
// stored.
func testFailedRecords(t *testing.T, c *contract) {
	request := &wire.PutRecordsRequest{StreamName: c.stream, Records: []wire.PutRecord{to(0, "a"), to(77, "b"), to(0, "c")}}
	answer, err := c.client.PutRecords(c.ctx, request)
	if c.live {
		t.Logf("open question, what becomes of a put with one record for a partition that does not exist: %+v, %v", answer, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "failed", answer.FailedRecordCount, 1)
	equal(t, "code", answer.Records[1].ErrorCode, wire.CodePartitionNotFound)
	equal(t, "number of the failed", answer.Records[1].SequenceNumber, "")
	before, after := answer.Records[0].SequenceNumber, answer.Records[2].SequenceNumber
	equal(t, "distance of the others", must[int](t)(strconv.Atoi(after))-must[int](t)(strconv.Atoi(before)), 1)
}
