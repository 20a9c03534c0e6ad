package fetch

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// bench is an engine over a fake DIS, inside a bubble of virtual time.
type bench struct {
	*testing.T
	dis    *fakeDIS
	engine *Engine
	topic  *translate.Topic
	others sync.WaitGroup // what runs beside the test
}

// inBubble runs a test in virtual time with an engine that is closed at its end.
func inBubble(t *testing.T, cfg Config, prepare func(*fakeDIS), test func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDIS(2)
		prepare(d)
		b := &bench{T: t, dis: d, engine: New(cfg, d), topic: d.topic()}
		defer b.engine.Close()
		test(b)
		b.others.Wait()
	})
}

// request is what a Kafka consumer asks by default of one partition.
func (b *bench) request(partition int32, offset int64) Request {
	return Request{
		Version: 12, MaxWait: 500 * time.Millisecond, MinBytes: 1, MaxBytes: 50 << 20,
		Partitions: []PartitionRequest{{Topic: b.topic, Partition: partition, Offset: offset, MaxBytes: 1 << 20}},
	}
}

// fetch asks for partition 0.
func (b *bench) fetch(offset int64, change ...func(*Request)) PartitionResponse {
	request := b.request(0, offset)
	for _, f := range change {
		f(&request)
	}
	return b.engine.Fetch(context.Background(), request).Partitions[0]
}

func waiting(d time.Duration) func(*Request) { return func(r *Request) { r.MaxWait = d } }

// took runs f and says how much virtual time passed.
func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// batches decodes the frames of records and the offsets of their records.
func batches(t testing.TB, raw []byte) (frames []kmsg.RecordBatch, offsets []int64) {
	t.Helper()
	if raw == nil {
		t.Fatal("records are nil")
	}
	for len(raw) > 0 {
		size := 12 + int(binary.BigEndian.Uint32(raw[8:]))
		var frame kmsg.RecordBatch
		if err := frame.ReadFrom(raw[:size]); err != nil {
			t.Fatalf("record batch: %v", err)
		}
		raw = raw[size:]
		if frame.NumRecords == 0 {
			t.Fatal("a batch without records")
		}
		frames = append(frames, frame)
		if frame.Attributes&codecBits != 0 {
			continue
		}
		rest := frame.Records
		for range frame.NumRecords {
			length, n := binary.Varint(rest)
			var r kmsg.Record
			if err := r.ReadFrom(rest[:n+int(length)]); err != nil {
				t.Fatalf("record: %v", err)
			}
			offsets = append(offsets, frame.FirstOffset+int64(r.OffsetDelta))
			rest = rest[n+int(length):]
		}
	}
	return frames, offsets
}

// offsetsOf are the offsets of the records of a response.
func offsetsOf(t testing.TB, response PartitionResponse) []int64 {
	t.Helper()
	_, offsets := batches(t, response.Records)
	return offsets
}

// Where the tests look into a v2 record batch.
const (
	batchLengthAt   = 8 // counts what follows it
	batchLengthFrom = 12
	batchDeltaAt    = 23
	codecBits       = 0x07
)
