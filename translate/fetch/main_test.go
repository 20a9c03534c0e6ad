package fetch

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

func TestMain(m *testing.M) {
	// The codec's shared encoder and decoder hold channels, which must not belong
	// to the bubble of the test that happens to need them first.
	batch, err := record.AppendBatch(nil, record.CodecZstd, make([]record.Positioned, 1))
	if err != nil {
		panic(err)
	}
	if _, _, err := record.ReadBatch(batch); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
