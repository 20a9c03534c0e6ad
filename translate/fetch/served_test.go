package fetch

import (
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// Every record of a response is counted for its topic, in every form, and nothing for
// a fetch that gets nothing.
func TestServedRecordsAreCounted(t *testing.T) {
	for _, codec := range []record.Codec{record.CodecNone, record.CodecZstd} {
		var records, bytes, calls int
		config := Config{Codec: codec, OnServed: func(topic string, r, b int) {
			if topic != "orders" {
				t.Errorf("topic %q", topic)
			}
			records, bytes, calls = records+r, bytes+b, calls+1
		}}
		inBubble(t, config, numberedRecords(20, 100), func(b *bench) {
			b.warm(0)
			records, bytes, calls = 0, 0, 0
			was := b.engine.Metrics()
			length := 0
			for _, version := range []int16{1, 3, 9, 12} {
				length += len(b.fetch(0, func(r *Request) { r.Version = version }).Records)
			}
			b.fetch(20, waiting(10*time.Millisecond))
			now := b.engine.Metrics()
			if records != 4*20 || bytes != length || calls != 4 {
				b.Errorf("%v: %d records, %d bytes in %d calls; want 80, %d, 4", codec, records, bytes, calls, length)
			}
			if got := now.FetchedRecords - was.FetchedRecords; got != 80 || now.FetchedBytes-was.FetchedBytes != int64(length) {
				b.Errorf("%v: %d records and %d bytes in all", codec, got, now.FetchedBytes-was.FetchedBytes)
			}
		})
	}
}
