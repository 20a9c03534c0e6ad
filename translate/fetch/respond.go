package fetch

import (
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// zstdVersion is the first version of Fetch whose clients know Zstandard (KIP-110).
const zstdVersion = 10

// respond turns what was seen into the response, and reads ahead for the next
// request of the same consumer.
func (f *fetch) respond() Response {
	response := Response{Partitions: make([]PartitionResponse, len(f.parts)), engine: f.engine}
	plain := f.engine.cfg.Codec == record.CodecZstd && f.request.Version < zstdVersion
	now, left := time.Now(), f.limit
	for i := range f.parts {
		p := &f.parts[i]
		records, end := join(p.sight.spans), p.sight.end
		if plain && len(records) > 0 {
			limit := min(left, int(f.request.Partitions[i].MaxBytes))
			records, end = f.uncompressed(p, records, limit, left == f.limit)
		}
		left -= len(records)
		response.bytes += int64(len(records))
		response.Partitions[i] = PartitionResponse{
			Code:          p.sight.code,
			Replaced:      p.sight.replaced,
			HighWatermark: p.sight.high,
			LogStart:      p.sight.logStart,
			Records:       records,
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
