package fetch

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Where the fields of a v2 record batch lie.
const (
	batchLengthAt     = 8 // counts what follows it
	batchLengthFrom   = 12
	batchCRCAt        = 17
	batchAttributesAt = 21
	batchDeltaAt      = 23
	codecBits         = 0x07
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// uncompressed rewrites zstd batches for a client that does not know the codec.
// The limits hold for what the client gets, so it may be fewer batches; end is
// the position behind them. A batch that cannot be rewritten ends the records.
func (f *fetch) uncompressed(p *part, batches []byte, limit int, first bool) (plain []byte, end int64) {
	plain, end = []byte{}, p.want.offset
	for len(batches) > 0 {
		size := batchLengthFrom + int(binary.BigEndian.Uint32(batches[batchLengthAt:]))
		batch := batches[:size]
		batches = batches[size:]
		grown, err := appendUncompressed(plain, batch)
		if err != nil {
			f.logUnreadable(p, end, err)
			return plain, end
		}
		if len(grown) > limit && (!first || len(plain) > 0) {
			return plain, end
		}
		plain = grown
		end = int64(binary.BigEndian.Uint64(batch)) + int64(binary.BigEndian.Uint32(batch[batchDeltaAt:])) + 1
	}
	return plain, end
}

// appendUncompressed appends the batch without compression: its records, with a
// header that says so.
func appendUncompressed(dst, batch []byte) ([]byte, error) {
	start := len(dst)
	grown := append(dst, batch[:batchHeaderBytes]...)
	grown, err := zstdDecoder().DecodeAll(batch[batchHeaderBytes:], grown)
	if err != nil {
		return dst, fmt.Errorf("decompress a record batch: %w", err)
	}
	plain := grown[start:]
	attributes := binary.BigEndian.Uint16(plain[batchAttributesAt:])
	binary.BigEndian.PutUint16(plain[batchAttributesAt:], attributes&^codecBits)
	binary.BigEndian.PutUint32(plain[batchLengthAt:], uint32(len(plain)-batchLengthFrom))
	binary.BigEndian.PutUint32(plain[batchCRCAt:], crc32.Checksum(plain[batchAttributesAt:], castagnoli))
	return grown, nil
}

var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true))
	if err != nil { // the options are constant
		panic(err)
	}
	return decoder
})
