package record_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// TestZstdStreamsWithoutSize: streaming compressors, such as librdkafka's, do
// not say how much comes out. Text that shrinks to a tenth and less fills the
// first buffers in the middle of blocks of every kind.
func TestZstdStreamsWithoutSize(t *testing.T) {
	for _, lines := range []int{10, 100, 1000, 10_000, 50_000} {
		var text bytes.Buffer
		for i := range lines {
			fmt.Fprintf(&text, "value %d and some text that repeats, some text that repeats\n", i)
		}
		want := record.Record{Value: text.Bytes()}
		plain := kmsgRecord(want, 0, 0).AppendTo(nil)
		raw := compressed(t, record.CodecZstd, zstdStream(t, plain))
		batch, err := record.DecodeBatch(raw, 7, record.Limits{MaxDecompressedBytes: 64 << 20})
		if err != nil {
			t.Errorf("%d lines: %v", lines, err)
			continue
		}
		if len(batch.Records) != 1 || !bytes.Equal(batch.Records[0].Value, want.Value) {
			t.Errorf("%d lines came out different", lines)
		}
	}
}
