package produce

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// instantDIS stores nothing and answers at once, with dense numbers.
type instantDIS struct {
	mu   sync.Mutex
	next map[wire.Text]int
}

func (d *instantDIS) PutRecords(_ context.Context, put *wire.PutRecordsRequest) (*wire.PutRecordsResponse, error) {
	results := make([]wire.PutResult, len(put.Records))
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range put.Records {
		id := put.Records[i].PartitionID
		results[i] = wire.PutResult{PartitionID: string(id), SequenceNumber: strconv.Itoa(d.next[id])}
		d.next[id]++
	}
	return &wire.PutRecordsResponse{Records: results}, nil
}

// BenchmarkEngine is all of a record's way but HTTP: 100 B values with a key, in
// batches as clients send them. An operation is one record.
func BenchmarkEngine(b *testing.B) {
	for _, codec := range []record.Codec{record.CodecNone, record.CodecZstd} {
		for _, perBatch := range []int{20, 150, 1000} {
			b.Run(fmt.Sprintf("%v/%d per batch", codec, perBatch), func(b *testing.B) { benchmarkEngine(b, codec, perBatch) })
		}
	}
}

func benchmarkEngine(b *testing.B, codec record.Codec, perBatch int) {
	engine := New(Config{Logger: zerolog.Nop()}, &instantDIS{next: make(map[wire.Text]int)})
	topic := newTopic("orders", 16)
	var all []record.Positioned
	for i := range perBatch {
		all = append(all, record.Positioned{Offset: int64(i), Record: record.Record{
			Key: fmt.Appendf(nil, "user-%d", i), Value: fmt.Appendf(nil, "%0100d", i*7919), Timestamp: 1700000000000,
		}})
	}
	raw := batchOf(b, codec, all)
	room := make(chan struct{}, 64)
	b.ReportAllocs()
	b.ResetTimer()
	for sent := 0; sent < b.N; sent += perBatch {
		room <- struct{}{}
		engine.Submit([]Batch{{Topic: topic, Partition: int32(sent / perBatch % 16), Records: raw, Version: 9}}, func(_ int, r Result) {
			if r.Code != 0 {
				b.Errorf("code %d: %s", r.Code, r.Message)
			}
			<-room
		})
	}
	for range cap(room) { // until all are answered
		room <- struct{}{}
	}
	if err := engine.Close(context.Background()); err != nil {
		b.Error(err)
	}
}
