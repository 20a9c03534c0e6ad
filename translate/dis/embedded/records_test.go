package embedded

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestPutAndGet(t *testing.T) {
	s := startService(t)
	s.createStream("s", 2)
	now := s.clock.now().UnixMilli()
	key, odd, none := "k", "\"\\\u2028\x01中", ""
	put := s.put("s",
		to(1, "first"),
		wire.PutRecord{Data: []byte("\x00\xff binary"), PartitionID: "shardId-0000000001", PartitionKey: &key},
		at(17, wire.PutRecord{Data: []byte{}, PartitionID: "SHARDID-1", PartitionKey: &odd}),
		at(-1, wire.PutRecord{Data: []byte("x"), PartitionID: "1", PartitionKey: &none}),
		to(0, "other"),
	)
	place := func(partition int, number string) wire.PutResult {
		return wire.PutResult{PartitionID: wire.PartitionID(partition), SequenceNumber: number}
	}
	want := wire.PutRecordsResponse{Records: []wire.PutResult{place(1, "0"), place(1, "1"), place(1, "2"), place(1, "3"), place(0, "0")}}
	if diff := cmp.Diff(want, put); diff != "" {
		t.Error(diff)
	}
	record := func(number, data string, key *string, ms int64) wire.Record {
		return wire.Record{SequenceNumber: number, Data: []byte(data), PartitionKey: key, Timestamp: ms, TimestampType: "CreateTime"}
	}
	got := s.readAll("s", 1)
	if diff := cmp.Diff([]wire.Record{
		record("0", "first", nil, now), record("1", "\x00\xff binary", &key, now), record("2", "", &odd, 17), record("3", "x", &none, -1),
	}, got); diff != "" {
		t.Error(diff)
	}
	raw := s.call("GET", "records", "partition-cursor="+s.cursor("s", 0, wire.CursorTrimHorizon, ""), nil)
	if bytes.Contains(raw.body, []byte("partition_key")) {
		t.Errorf("a key appears that was not given: %s", raw.body)
	}
	if s.numbers("s", 1) != (wire.SequenceRange{Oldest: 0, Next: 4}) {
		t.Errorf("range %v", s.numbers("s", 1))
	}
}

// The answer to an empty read has an empty list, not null.
func TestGetNothing(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	cursor := s.cursor("s", 0, wire.CursorLatest, "")
	a := s.call("GET", "records", "partition-cursor="+cursor+"&app_name=g&", nil)
	if !bytes.HasPrefix(a.body, []byte(`{"records":[],"next_partition_cursor":"`)) {
		t.Errorf("%s", a.body)
	}
}

func TestGetLimits(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	for range 3 { // 2.9 MB in 1,500 records of 1,000 bytes, 1,500 of 1
		var small []wire.PutRecord
		for range 500 {
			small = append(small, to(0, strings.Repeat("x", 1000)), to(0, "y"))
		}
		s.put("s", small...)
	}
	from := s.cursor("s", 0, wire.CursorTrimHorizon, "")
	sizes := func(page wire.GetRecordsResponse) (records, bytes int) {
		for _, r := range page.Records {
			bytes += len(r.Data)
		}
		return len(page.Records), bytes
	}
	tests := []struct {
		more           string
		records, bytes int
	}{
		{"", 1000, 500500},
		{"&limit=1", 1, 1000},
		{"&limit=10000", 3000, 1501500},
		{"&max_fetch_bytes=2002", 4, 2002},
		{"&max_fetch_bytes=2001", 3, 2001},
		{"&max_fetch_bytes=1000", 1, 1000},
		{"&max_fetch_bytes=999", 0, 0}, // smaller than the next record: never delivered
		{"&max_fetch_bytes=9223372036854775807&limit=2", 2, 1001},
	}
	for _, test := range tests {
		page := s.get(from, test.more)
		if records, bytes := sizes(page); records != test.records || bytes != test.bytes {
			t.Errorf("%s: %d records, %d bytes", test.more, records, bytes)
		}
		next, err := wire.DecodeCursor(page.NextPartitionCursor)
		if err != nil || next.StartingSequenceNumber != int64(test.records) {
			t.Errorf("%s: next %+v, %v", test.more, next, err)
		}
	}
	for _, more := range []string{"limit=0", "limit=10001", "limit=x", "max_fetch_bytes=0", "max_fetch_bytes=-1"} {
		field, value, _ := strings.Cut(more, "=")
		wantsError(t, s.call("GET", "records", "partition-cursor="+from+"&"+more, nil), 400, "DIS.4200", fmt.Sprintf("Invalid request. [%s][%s]", field, value))
	}
}

// Without limits an answer has about 2 MB at most.
func TestGetDefaultBytes(t *testing.T) {
	s := startService(t)
	wants[empty](t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: "s", PartitionCount: 1, StreamType: wire.StreamAdvanced}), 201)
	big := strings.Repeat("x", 1<<20)
	s.put("s", to(0, big), to(0, big), to(0, big))
	if page := s.get(s.cursor("s", 0, wire.CursorTrimHorizon, ""), ""); len(page.Records) != 2 {
		t.Errorf("%d records", len(page.Records))
	}
}

func TestPutRouting(t *testing.T) {
	s := startService(t)
	s.createStream("s", 5)
	key := "hello" // partition 3 of 5
	tests := []struct {
		name      string
		record    wire.PutRecord
		partition string
	}{
		{"id wins", wire.PutRecord{PartitionID: "2", ExplicitHashKey: "0", PartitionKey: &key}, "shardId-0000000002"},
		{"hash key before key", wire.PutRecord{ExplicitHashKey: "9223372036854775807", PartitionKey: &key}, "shardId-0000000004"},
		{"hash key out of range", wire.PutRecord{ExplicitHashKey: "9223372036854775808", PartitionKey: &key}, "shardId-0000000003"},
		{"negative hash key", wire.PutRecord{ExplicitHashKey: "-1", PartitionKey: &key}, "shardId-0000000003"},
		{"hash key that is none", wire.PutRecord{ExplicitHashKey: "x", PartitionKey: &key}, "shardId-0000000003"},
		{"key", wire.PutRecord{PartitionKey: &key}, "shardId-0000000003"},
	}
	for _, test := range tests {
		test.record.Data = []byte("x")
		if got := s.put("s", test.record).Records[0].PartitionID; got != test.partition {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	seen := map[string]bool{}
	for range 10 {
		any := make([]wire.PutRecord, 50)
		for i := range any {
			any[i].Data = []byte("x")
		}
		for _, r := range s.put("s", any...).Records {
			seen[r.PartitionID] = true
		}
	}
	if len(seen) != 5 {
		t.Errorf("records without a key went to %v", seen)
	}
}

// Ids, keys, names and times may be numbers or strings, and the body may come
// from a client that knows more fields.
func TestPutLooseBody(t *testing.T) {
	s := startService(t)
	s.createStream("7", 3)
	body := `{"stream_name":7,"stream_id":"","extra":{"a":[1,null,"x"]},"records":[
		{"data":"eA==","partition_id":2,"partition_key":12,"timestamp":"99","explicit_hash_key":null},
		{"data":"eQ==","partition_id":null,"explicit_hash_key":0,"timestamp":null,"extended_info":{}}]}`
	got := wants[wire.PutRecordsResponse](t, s.call("POST", "records", "", body), 200)
	if got.Records[0].PartitionID != "shardId-0000000002" || got.Records[1].PartitionID != "shardId-0000000000" {
		t.Errorf("%+v", got)
	}
	if r := s.readAll("7", 2)[0]; *r.PartitionKey != "12" || r.Timestamp != 99 {
		t.Errorf("%+v", r)
	}
}

func TestPutRequestErrors(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	tests := []struct{ name, body, code, message string }{
		{"no body", "", "DIS.4202", "Request cannot be empty."},
		{"no records", `{"stream_name":"s"}`, "DIS.4202", "Request cannot be empty. [records]"},
		{"empty records", `{"stream_name":"s","records":[]}`, "DIS.4202", "Request cannot be empty. [records]"},
		{"no data", `{"stream_name":"s","records":[{"data":"eA=="},{"partition_id":"0"}]}`, "DIS.4200", "Invalid request. [records[1].data][]"},
		{"bad base64", `{"stream_name":"s","records":[{"data":"?"}]}`, "DIS.4200", "Invalid request. [body][illegal base64 data at input byte 0]"},
		{"not JSON", `stream`, "DIS.4200", "Invalid request. [body][invalid character 's' looking for beginning of value]"},
		{"no stream", `{"stream_name":"t","records":[{"data":"eA=="}]}`, "DIS.4301", "Stream does not exist. [t][local]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantsError(t, s.call("POST", "records", "", test.body), 400, test.code, test.message)
		})
	}
}

// A record that cannot be stored is reported in its place.
func TestPutRecordErrors(t *testing.T) {
	s := startService(t)
	wants[empty](t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: "s", PartitionCount: 1, StreamType: wire.StreamAdvanced}), 201)
	got := s.put("s", to(0, "a"), to(7, "b"), wire.PutRecord{Data: []byte("c"), PartitionID: "zero"}, to(0, strings.Repeat("x", 1<<20+1)), to(0, "d"))
	want := wire.PutRecordsResponse{FailedRecordCount: 3, Records: []wire.PutResult{
		{PartitionID: "shardId-0000000000", SequenceNumber: "0"},
		{ErrorCode: "DIS.4302", ErrorMessage: "Partition does not exist. [s][7]"},
		{ErrorCode: "DIS.4201", ErrorMessage: "Invalid partition_id. [zero]"},
		{ErrorCode: "DIS.4200", ErrorMessage: "Record is too large. [1048577][1048576]"},
		{PartitionID: "shardId-0000000000", SequenceNumber: "1"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if only := s.put("s", to(9, "x")); only.FailedRecordCount != 1 {
		t.Errorf("%+v", only)
	}
}

// The size of a request is bounded by the type of the stream, keys not counted.
func TestPutRequestSize(t *testing.T) {
	s := startService(t)
	for kind, limit := range map[wire.StreamType]int{wire.StreamCommon: 1 << 20, wire.StreamAdvanced: 5 << 20} {
		name := string(kind)
		wants[empty](t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: name, PartitionCount: 1, StreamType: kind}), 201)
		key := strings.Repeat("k", 1000)
		var records []wire.PutRecord
		for range limit / (1 << 19) {
			records = append(records, wire.PutRecord{Data: make([]byte, 1<<19), PartitionKey: &key})
		}
		if got := s.put(name, records...); got.FailedRecordCount != 0 {
			t.Errorf("%s: %+v", kind, got)
		}
		records = append(records, to(0, "x"))
		a := s.call("POST", "records", "", wire.PutRecordsRequest{StreamName: name, Records: records})
		wantsError(t, a, 413, "DIS.4200", fmt.Sprintf("Request entity too large. [records][%d]", limit))
		if got := s.numbers(name, 0).Next; got != int64(len(records)-1) {
			t.Errorf("%s: %d records stored", kind, got)
		}
	}
}

func TestHashVectors(t *testing.T) {
	tests := []struct {
		key        string
		hash       int64
		partitions map[int]int // by number of partitions
	}{
		{"k", 929062496847104148, map[int]int{1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 10: 1}},
		{"0", 5750288053043553775, map[int]int{1: 0, 2: 1, 3: 1, 4: 2, 5: 3, 10: 6}},
		{"user-1", 6257593711501015798, map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 10: 6}},
		{"hello", 6719722671305337462, map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 10: 7}},
		{"中文", 2862813971408079674, map[int]int{1: 0, 2: 0, 3: 0, 4: 1, 5: 1, 10: 3}},
	}
	place := func(n int, hash int64) int {
		partitions := make([]partitionMeta, n)
		for i := range partitions {
			partitions[i].Status = wire.PartitionActive
		}
		assignHashRanges(partitions)
		return partitionOf(partitions, activePartitions(partitions), hash)
	}
	for _, test := range tests {
		if got := hashKey(test.key); got != test.hash {
			t.Errorf("hash of %s is %d", test.key, got)
		}
		for n, want := range test.partitions {
			if got := place(n, test.hash); got != want {
				t.Errorf("%s is in partition %d of %d, want %d", test.key, got, n, want)
			}
		}
	}
	for n := 1; n <= 50; n++ {
		width := math.MaxInt64 / int64(n)
		if got, want := place(n, width), min(1, n-1); got != want {
			t.Errorf("hash %d of %d partitions: %d, want %d", width, n, got, want)
		}
		if place(n, 0) != 0 || place(n, width-1) != 0 || place(n, math.MaxInt64) != n-1 {
			t.Errorf("%d partitions: wrong ends", n)
		}
	}
}
