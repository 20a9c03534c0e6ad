package fetch

import (
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// Versions of Fetch with which the form of the records changed. Every version
// takes the forms of those before it.
const (
	magic1Version = 2  // times in messages (KIP-32)
	softVersion   = 3  // a first message is answered whole, however large (KIP-74)
	batchVersion  = 4  // v2 record batches (KIP-98)
	zstdVersion   = 10 // Zstandard (KIP-110)
)

// respond turns what was seen into the response, and reads ahead for the next
// request of the same consumer.
func (f *fetch) respond() Response {
	response := Response{Partitions: make([]PartitionResponse, len(f.parts)), engine: f.engine}
	now, left := time.Now(), f.limit
	for i := range f.parts {
		p := &f.parts[i]
		records, end, count := join(p.sight.spans), p.sight.end, 0
		if len(records) > 0 {
			records, end, count = f.rewrite(p, records, end, budget{
				left: left, most: int(f.request.Partitions[i].MaxBytes), first: left == f.limit,
			})
		}
		f.engine.served(f.request.Partitions[i].Topic.Name, count, len(records))
		left -= len(records)
		response.bytes += int64(len(records))
		response.Partitions[i] = PartitionResponse{
			Code:          p.sight.code,
			Replaced:      p.sight.replaced,
			HighWatermark: p.sight.high,
			LogStart:      p.sight.logStart,
			Records:       records,
		}
		if p.sight.code == codeOffsetOutOfRange {
			f.engine.refusedOffsets.Add(1)
		}
		if p.sight.code == codeNone && !p.sight.blocked {
			p.partition.prepare(end, len(records) > 0, now)
		}
	}
	f.engine.replies.Add(response.bytes)
	return response
}

// room is the most bytes of records that the response may have now, but for its
// first batch.
func (f *fetch) room() int {
	free := max(0, f.engine.cfg.ReplyBytes-f.engine.replies.Load())
	return int(min(int64(f.request.MaxBytes), int64(f.engine.cfg.ResponseBytes), free))
}

// budget is the room for the records of one partition.
type budget struct {
	left  int  // in the response
	most  int  // as the partition asked
	first bool // nothing is in the response yet
}

func (b budget) limit() int { return min(b.left, b.most) }

// rewrite gives the batches in the form that the version of the request takes,
// the position behind them, and how many records they hold.
func (f *fetch) rewrite(p *part, batches []byte, end int64, b budget) (_ []byte, _ int64, count int) {
	switch {
	case f.request.Version < batchVersion:
		return f.messages(p, batches, b)
	case f.request.Version < zstdVersion && f.engine.cfg.Codec == record.CodecZstd:
		batches, end = f.uncompressed(p, batches, b.limit(), b.first)
	}
	return batches, end, record.CountBatches(batches)
}

// hard reports whether the limits of the partitions hold even for a first record.
func (f *fetch) hard() bool { return f.request.Version < softVersion }

// join gives the bytes of the spans: those of the cache themselves when they
// come from one read, which is the rule, and a copy otherwise. Never nil.
func join(spans []span) []byte {
	switch len(spans) {
	case 0:
		return []byte{}
	case 1:
		return spans[0].data()
	}
	bytes := 0
	for _, s := range spans {
		bytes += s.end - s.begin
	}
	joined := make([]byte, 0, bytes)
	for _, s := range spans {
		joined = append(joined, s.data()...)
	}
	return joined
}

// data has no capacity beyond its end, so that appending to it copies.
func (s span) data() []byte { return s.chunk.data[s.begin:s.end:s.end] }
