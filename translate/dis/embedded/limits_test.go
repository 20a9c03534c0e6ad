package embedded

import (
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func documented(c *Config) { c.Limits = LimitsDocumented }

// A put beyond the throughput of a partition is cut off in that partition.
func TestWriteThroughput(t *testing.T) {
	s := startService(t, documented)
	s.createStream("s", 2)
	records := make([]wire.PutRecord, 1502)
	for i := range records {
		records[i] = to(0, "x")
	}
	records[1501] = to(1, "y")
	got := s.put("s", records...)
	if got.FailedRecordCount != 501 || got.Records[1501].ErrorCode != "" {
		t.Errorf("%d records failed, %+v", got.FailedRecordCount, got.Records[1501])
	}
	for i, r := range got.Records[:1501] {
		if throttled := r.ErrorCode == "DIS.4303"; throttled != (i >= 1000) {
			t.Fatalf("record %d: %+v", i, r)
		}
	}
	if message := got.Records[1000].ErrorMessage; message != "Traffic control limit is exceeded. [s][shardId-0000000000]" {
		t.Error(message)
	}
	s.clock.advance(500 * time.Millisecond)
	if got := s.put("s", records[:600]...); got.FailedRecordCount != 100 {
		t.Errorf("%d records failed half a second later", got.FailedRecordCount)
	}
	s.clock.advance(time.Second)
	big := to(0, strings.Repeat("x", 600_000))
	if got := s.put("s", big); got.FailedRecordCount != 0 {
		t.Errorf("%+v", got)
	}
	if got := s.put("s", big, to(0, "small")); got.FailedRecordCount != 2 {
		t.Errorf("a small record overtook a big one: %+v", got)
	}
}

func TestReadThroughput(t *testing.T) {
	s := startService(t, documented)
	s.createStream("s", 1)
	half := strings.Repeat("x", 1<<19)
	for range 6 {
		s.put("s", to(0, half), to(0, half))
		s.clock.advance(time.Second)
	}
	cursor := s.cursor("s", 0, wire.CursorTrimHorizon, "")
	page := s.get(cursor, "&max_fetch_bytes=10000000")
	if len(page.Records) != 4 {
		t.Errorf("%d records of 512 KiB in one read", len(page.Records))
	}
	wantsError(t, s.call("GET", "records", "partition-cursor="+page.NextPartitionCursor, nil), 400, "DIS.4303",
		"Traffic control limit is exceeded. [s][shardId-0000000000]")
	s.clock.advance(time.Second)
	if page := s.get(page.NextPartitionCursor, ""); len(page.Records) != 4 {
		t.Errorf("%d records a second later", len(page.Records))
	}
}

// Without limits nothing is throttled.
func TestNoThroughputLimits(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	records := make([]wire.PutRecord, 3000)
	for i := range records {
		records[i] = to(0, "x")
	}
	if got := s.put("s", records...); got.FailedRecordCount != 0 {
		t.Errorf("%d records failed", got.FailedRecordCount)
	}
}

func TestQuotas(t *testing.T) {
	s := startService(t, documented)
	s.createStream("a", 30)
	s.createStream("b", 20)
	wantsError(t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: "c", PartitionCount: 1}), 400, "DIS.4308", "Insufficient partition quota. [51][50]")
	wants[empty](t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: "d", PartitionCount: 10, StreamType: wire.StreamAdvanced}), 201)
	wants[empty](t, s.call("PUT", "streams/a", "", wire.ChangePartitionCountRequest{TargetPartitionCount: 10}), 200)
	wants[empty](t, s.call("PUT", "streams/b", "", wire.ChangePartitionCountRequest{TargetPartitionCount: 40}), 200)
	wantsError(t, s.call("PUT", "streams/b", "", wire.ChangePartitionCountRequest{TargetPartitionCount: 41}), 400, "DIS.4308", "Insufficient partition quota. [51][50]")
}
