package gosdkv3

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	dis "github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

func entry(data string) model.PutRecordsRequestEntry {
	return model.PutRecordsRequestEntry{Data: base64.StdEncoding.EncodeToString([]byte(data))}
}

func entryTo(partition, data string) model.PutRecordsRequestEntry {
	e := entry(data)
	e.PartitionId = &partition
	return e
}

func send(stream string, entries ...model.PutRecordsRequestEntry) *model.SendRecordsRequest {
	return &model.SendRecordsRequest{Body: &model.PutRecordsRequest{StreamName: stream, Records: entries}}
}

// put stores records in partition 0.
func put(t *testing.T, c *dis.DisClient, stream string, values ...string) {
	t.Helper()
	putTo(t, c, stream, "0", values...)
}

func putTo(t *testing.T, c *dis.DisClient, stream, partition string, values ...string) {
	t.Helper()
	var entries []model.PutRecordsRequestEntry
	for _, value := range values {
		entries = append(entries, entryTo(partition, value))
	}
	if answer := succeed(t, 200, c.SendRecords, send(stream, entries...)); *answer.FailedRecordCount != 0 {
		t.Fatalf("%d records failed", *answer.FailedRecordCount)
	}
}

func get(cursor string) *model.ConsumeRecordsRequest {
	return &model.ConsumeRecordsRequest{PartitionCursor: cursor}
}

// read returns the records of a partition from the oldest on, up to the first
// empty answer.
func read(t *testing.T, c *dis.DisClient, stream, partition string) []model.Record {
	t.Helper()
	next := cursor(t, c, stream, partition, cursorTypes.TRIM_HORIZON)
	var all []model.Record
	for {
		page := succeed(t, 200, c.ConsumeRecords, get(next))
		if len(*page.Records) == 0 {
			return all
		}
		all = append(all, *page.Records...)
		next = *page.NextPartitionCursor
	}
}

func data(records []model.Record) (texts []string) {
	for _, r := range records {
		plain, err := base64.StdEncoding.DecodeString(*r.Data)
		if err != nil {
			plain = []byte(err.Error())
		}
		texts = append(texts, string(plain))
	}
	return texts
}

// places shows where the records of a put are stored.
func places(answer *model.SendRecordsResponse) (shown []string) {
	for _, r := range *answer.Records {
		if r.SequenceNumber == nil {
			shown = append(shown, *r.ErrorCode)
		} else {
			shown = append(shown, *r.PartitionId+":"+*r.SequenceNumber)
		}
	}
	return shown
}

func TestPutAndGet(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	before := time.Now().UnixMilli()
	keyed := entry("with a key")
	keyed.PartitionKey = new("ключ")
	answer := succeed(t, 200, c.SendRecords, send("s", entry("\x00\xff binary"), keyed, entry("")))
	equal(t, "failed", *answer.FailedRecordCount, 0)
	equalSlices(t, "places", places(answer), []string{"shardId-0000000000:0", "shardId-0000000000:1", "shardId-0000000000:2"})

	got := read(t, c, "s", "shardId-0000000000")
	equalSlices(t, "data", data(got), []string{"\x00\xff binary", "with a key", ""})
	for i, r := range got {
		equal(t, "sequence number", *r.SequenceNumber, fmt.Sprint(i))
		equal(t, "timestamp type", *r.TimestampType, "CreateTime")
		if *r.Timestamp < before || *r.Timestamp > time.Now().UnixMilli() {
			t.Errorf("record %d has time %d", i, *r.Timestamp)
		}
	}
	if got[0].PartitionKey != nil || *got[1].PartitionKey != "ключ" {
		t.Errorf("partition keys %v and %v", got[0].PartitionKey, got[1].PartitionKey)
	}
}

// A cursor goes on behind what was read; at the end it waits there.
func TestGetFollowsTheCursor(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	put(t, c, "s", "a", "b")
	first := succeed(t, 200, c.ConsumeRecords, get(cursor(t, c, "s", "0", cursorTypes.TRIM_HORIZON)))
	equalSlices(t, "first", data(*first.Records), []string{"a", "b"})
	empty := succeed(t, 200, c.ConsumeRecords, get(*first.NextPartitionCursor))
	equal(t, "records at the end", len(*empty.Records), 0)
	put(t, c, "s", "c")
	next := succeed(t, 200, c.ConsumeRecords, get(*empty.NextPartitionCursor))
	equalSlices(t, "next", data(*next.Records), []string{"c"})
}

func TestGetWithinBytes(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	put(t, c, "s", strings.Repeat("a", 400), strings.Repeat("b", 400), strings.Repeat("c", 400))
	request := get(cursor(t, c, "s", "0", cursorTypes.TRIM_HORIZON))
	request.MaxFetchBytes = new(int32(900))
	equal(t, "records of 900 bytes", len(*succeed(t, 200, c.ConsumeRecords, request).Records), 2)
	request.MaxFetchBytes = new(int32(100))
	equal(t, "records when the next is larger", len(*succeed(t, 200, c.ConsumeRecords, request).Records), 0)
	request.MaxFetchBytes = new(int32(0))
	refuse(t, "DIS.4200", "max_fetch_bytes", c.ConsumeRecords, request)
}

// The routing of the service: the partition's id, then the hash key, then the
// MD5 of the partition key.
func TestPutRoutes(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 10)
	record := func(id, hash, key string) model.PutRecordsRequestEntry {
		e := entry("x")
		for text, field := range map[*string]**string{&id: &e.PartitionId, &hash: &e.ExplicitHashKey, &key: &e.PartitionKey} {
			if *text != "" {
				*field = text
			}
		}
		return e
	}
	tests := []struct {
		record model.PutRecordsRequestEntry
		want   string
	}{
		{record("", "", "k"), "shardId-0000000001"},
		{record("", "", "0"), "shardId-0000000006"},
		{record("", "", "中文"), "shardId-0000000003"},
		{record("", "0", "k"), "shardId-0000000000"},
		{record("", "9223372036854775807", "k"), "shardId-0000000009"},
		{record("", "9223372036854775808", "k"), "shardId-0000000001"}, // too large: the key decides
		{record("4", "0", "k"), "shardId-0000000004"},
		{record("shardId-5", "", ""), "shardId-0000000005"},
		{record("shardId-0000000006", "", ""), "shardId-0000000006"},
	}
	var entries []model.PutRecordsRequestEntry
	for _, test := range tests {
		entries = append(entries, test.record)
	}
	answer := succeed(t, 200, c.SendRecords, send("s", entries...))
	for i, r := range *answer.Records {
		equal(t, fmt.Sprint("partition of record ", i), *r.PartitionId, tests[i].want)
	}
}

// Without any routing the service chooses.
func TestPutWithoutRouting(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 4)
	used := map[string]bool{}
	entries := make([]model.PutRecordsRequestEntry, 100)
	for i := range entries {
		entries[i] = entry("x")
	}
	for _, r := range *succeed(t, 200, c.SendRecords, send("s", entries...)).Records {
		used[*r.PartitionId] = true
	}
	equal(t, "partitions used by 100 records", len(used), 4)
}

func TestPutByStreamID(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	request := send("", entry("by id"))
	request.Body.StreamId = new(streamID(t, c, "s"))
	succeed(t, 200, c.SendRecords, request)
	request.Body.StreamName = "s"
	request.Body.StreamId = new("") // as good as absent
	succeed(t, 200, c.SendRecords, request)
	equalSlices(t, "data", data(read(t, c, "s", "0")), []string{"by id", "by id"})
}

// A record that cannot be stored fails in its place and does not stop the others.
func TestPutFailsByRecord(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 2)
	succeed(t, 200, c.UpdatePartitionCount, rescale("s", 1))
	answer := succeed(t, 200, c.SendRecords, send("s", entryTo("0", "a"), entryTo("7", "b"), entryTo("1", "c"), entryTo("shardId-x", "d"), entryTo("0", "e")))
	equal(t, "failed", *answer.FailedRecordCount, 3)
	equalSlices(t, "places", places(answer), []string{
		"shardId-0000000000:0", "DIS.4302", "DIS.4302", "DIS.4201", "shardId-0000000000:1",
	})
	for i, r := range *answer.Records {
		if (r.ErrorCode == nil) != (r.ErrorMessage == nil) || (r.ErrorCode == nil) == (r.SequenceNumber == nil) {
			t.Errorf("record %d: %v", i, r)
		}
	}
}

func TestPutRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	const mib = 1 << 20
	refuse(t, "DIS.4301", "Stream does not exist. [none][", c.SendRecords, send("none", entry("x")))
	refuse(t, "DIS.4202", "", c.SendRecords, &model.SendRecordsRequest{})
	refuse(t, "DIS.4202", "", c.SendRecords, send("s"))
	refuse(t, "DIS.4200", "", c.SendRecords, send("s", model.PutRecordsRequestEntry{Data: "no base64"}))
	refuseWith(t, 413, "DIS.4200", "too large", c.SendRecords, send("s", entry(strings.Repeat("x", mib)), entry("x")))
	put(t, c, "s", strings.Repeat("x", mib))
	equal(t, "records", len(read(t, c, "s", "0")), 1)
}

func TestGetRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	put(t, c, "s", "a")
	valid := cursor(t, c, "s", "0", cursorTypes.TRIM_HORIZON)
	for _, text := range []string{"", "nonsense", "%25", valid + "x", strings.Repeat("x", 513)} {
		refuse(t, "DIS.4217", "", c.ConsumeRecords, get(text))
	}
	aged := decodeCursor(t, valid)
	aged.GenerateTimestamp = time.Now().Add(-5*time.Minute - time.Second).UnixMilli()
	refuse(t, "DIS.4225", "", c.ConsumeRecords, get(aged.encode(t)))

	beyond := decodeCursor(t, valid)
	beyond.Iterator.StartingSequenceNumber = "2"
	refuse(t, "DIS.4224", "Sequence_number out of range. [2][ should be within ][0][ ][1]", c.ConsumeRecords, get(beyond.encode(t)))

	elsewhere := decodeCursor(t, valid)
	elsewhere.Iterator.PartitionID = "shardId-0000000001"
	refuse(t, "DIS.4302", "", c.ConsumeRecords, get(elsewhere.encode(t)))

	succeed(t, 204, c.DeleteStream, &model.DeleteStreamRequest{StreamName: "s"})
	refuse(t, "DIS.4301", "Stream does not exist. [s][", c.ConsumeRecords, get(valid))
	createStream(t, c, "s", 1)
	refuse(t, "DIS.4301", "", c.ConsumeRecords, get(valid))
}
