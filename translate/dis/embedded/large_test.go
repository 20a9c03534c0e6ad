package embedded

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	manyStreams      = 1000
	manyPartitions   = 10 // each
	bytesPerMany     = 4 << 10
	perPartitionHeap = 2 << 10
)

// heap is the memory in use, in bytes.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestManyStreams(t *testing.T) {
	s := startService(t, func(c *Config) { c.Insecure = true })
	s.createStream("first", 1) // with what is made once
	before := heap()
	for i := range manyStreams {
		s.createStream(fmt.Sprintf("s%04d", i), manyPartitions)
	}
	used := heap() - before
	t.Logf("%d bytes for %d partitions", used, manyStreams*manyPartitions)
	if most := int64(manyStreams * manyPartitions * perPartitionHeap); used > most {
		t.Errorf("%d bytes for %d partitions", used, manyStreams*manyPartitions)
	}
	for i := range manyStreams {
		var records []wire.PutRecord
		for p := range manyPartitions {
			records = append(records, to(p, fmt.Sprint(i, p)))
		}
		if got := s.put(fmt.Sprintf("s%04d", i), records...); got.FailedRecordCount != 0 {
			t.Fatalf("%+v", got)
		}
	}
	begin := time.Now()
	s.reopen()
	t.Logf("reopened after %v", time.Since(begin))
	list := wants[wire.ListStreamsResponse](t, s.call("GET", "streams", "limit=100&start_stream_name=s0949", nil), 200)
	if list.TotalNumber != manyStreams+1 || len(list.StreamNames) != 50 || list.HasMoreStreams {
		t.Errorf("%d streams, page of %d", list.TotalNumber, len(list.StreamNames))
	}
	for _, i := range []int{0, 499, 999} {
		for p := range manyPartitions {
			got := s.readAll(fmt.Sprintf("s%04d", i), p)
			if len(got) != 1 || string(got[0].Data) != fmt.Sprint(i, p) {
				t.Errorf("stream %d, partition %d: %+v", i, p, got)
			}
		}
	}
	begin = time.Now()
	s.server.sweep()
	s.server.sweep()
	t.Logf("two sweeps where nothing is due took %v", time.Since(begin))
	s.clock.advance(25 * time.Hour)
	s.server.sweep()
	if n := s.server.storedKeys(t, kindChunk); n != 0 {
		t.Errorf("%d chunks did not expire", n)
	}
}

// Memory does not grow with what is stored.
func TestMemoryIsFlat(t *testing.T) {
	s := startService(t, func(c *Config) { c.Insecure = true })
	s.createStream("s", 1)
	var records []wire.PutRecord
	for range 250 {
		records = append(records, to(0, string(bytes.Repeat([]byte("x"), bytesPerMany))))
	}
	body := wire.AppendProtoPutRecordsRequest(nil, &wire.PutRecordsRequest{StreamName: "s", Records: records})
	store := func(megabytes int) {
		for range megabytes {
			if a := s.callAs("POST", "records", "", body, map[string]string{"Content-Type": protobufWithSpace}); a.status != 200 {
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
		s.readPart(10)
	}
	store(10)
	before := heap()
	store(60)
	// The block cache and the tables that wait for their flush are filled or not;
	// nothing else may differ.
	grown := heap() - before
	t.Logf("%d bytes more", grown)
	if grown > blockCacheBytes+memTableBytes {
		t.Errorf("%d bytes more after another 60 MB", grown)
	}
}

// readPart reads some pages from the beginning.
func (s *service) readPart(pages int) {
	s.t.Helper()
	cursor := s.cursor("s", 0, wire.CursorTrimHorizon, "")
	for range pages {
		cursor = s.get(cursor, "").NextPartitionCursor
	}
}
