package record

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Payload gives the records of the batch decompressed, or as they came when the
// batch is not compressed. Memory grows with what was really decompressed: the
// sizes that the input declares are believed only as far as input of its length
// can reach. The error is an *Error, or what Limits.Reserve returned.
//
// Bytes that cannot be decompressed are INVALID_RECORD, which is final: the
// checksum was right, so the producer would send the same bytes again.
func (f Frame) Payload(limits Limits) ([]byte, error) {
	out := output{limits: limits}
	var err error
	switch {
	case f.Codec == CodecNone && !f.set, f.set && !f.wrapped:
		if len(f.body) > limits.MaxDecompressedBytes {
			return nil, out.tooLarge()
		}
		return f.body, nil
	case f.set:
		err = out.messageSet(f.body)
	default:
		err = out.explain(f.Codec, out.decompress(f.Codec, f.body, batchMagic))
	}
	if err != nil {
		return nil, err
	}
	return out.buf, nil
}

// output is the buffer that decompressors fill one after another, inside the
// limits.
type output struct {
	limits  Limits
	buf     []byte
	stopped bool // the last error came from Limits.Reserve
}

// decompress appends the body in plain.
func (o *output) decompress(codec Codec, body []byte, magic int8) error {
	switch codec {
	case CodecGzip:
		return o.gzip(body)
	case CodecSnappy:
		return o.snappy(body)
	case CodecLZ4:
		return o.lz4(body, magic)
	case CodecZstd:
		return o.zstd(body)
	}
	return refuse(kerr.UnsupportedCompressionType, "unknown compression codec %d", int8(codec))
}

// explain makes a refusal of what a decompressor says, unless it is one, or
// Limits.Reserve said it.
func (o *output) explain(codec Codec, err error) error {
	var refused *Error
	if err == nil || errors.As(err, &refused) || o.stopped {
		return err
	}
	return invalid("decompress %v records: %v", codec, err)
}

// append takes bytes that are in plain already.
func (o *output) append(plain []byte) error {
	if err := o.room(len(plain)); err != nil {
		return err
	}
	o.buf = append(o.buf, plain...)
	return nil
}

func (o *output) tooLarge() *Error {
	return refuse(kerr.MessageTooLarge, "the records of one batch may have %d bytes decompressed", o.limits.MaxDecompressedBytes)
}

// grow makes room for bytes in all, or for less when that is the limit; at the
// limit it fails.
func (o *output) grow(bytes int) error {
	bytes = min(bytes, o.limits.MaxDecompressedBytes)
	if bytes <= cap(o.buf) {
		return o.tooLarge()
	}
	if o.limits.Reserve != nil {
		if err := o.limits.Reserve(bytes); err != nil {
			o.stopped = true
			return err
		}
	}
	grown := make([]byte, len(o.buf), bytes)
	copy(grown, o.buf)
	o.buf = grown
	return nil
}

// room makes sure of room for so many bytes more. The first request gets exactly
// that, later ones at least double the buffer, so that many small ones do not
// copy it each time.
func (o *output) room(more int) error {
	need := len(o.buf) + more
	switch {
	case need > o.limits.MaxDecompressedBytes:
		return o.tooLarge()
	case need <= cap(o.buf):
		return nil
	}
	return o.grow(max(need, 2*cap(o.buf)))
}

// firstGuess is the buffer to begin with: what text and JSON commonly need.
func firstGuess(compressed int) int { return max(4*compressed, 1<<10) }

// drain reads all that a streaming decompressor gives.
func (o *output) drain(from io.Reader, compressed int) error {
	guess := min(firstGuess(compressed), o.limits.MaxDecompressedBytes-len(o.buf))
	if err := o.room(guess); err != nil {
		return err
	}
	var spare [1]byte
	for {
		room := o.buf[len(o.buf):cap(o.buf)]
		full := len(room) == 0
		if full { // is there more at all? only then grow
			room = spare[:]
		}
		n, err := from.Read(room)
		if full && n > 0 {
			if err := o.room(1); err != nil {
				return err
			}
			o.buf = append(o.buf, spare[0])
		} else {
			o.buf = o.buf[:len(o.buf)+n]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

func (o *output) gzip(body []byte) error {
	reader := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(reader)
	if err := reader.Reset(bytes.NewReader(body)); err != nil {
		return noEOF(err)
	}
	return o.drain(reader, len(body))
}

var lz4Readers = sync.Pool{New: func() any { return lz4.NewReader(nil) }}

func (o *output) lz4(body []byte, magic int8) error {
	reader := lz4Readers.Get().(*lz4.Reader)
	defer func() {
		reader.Reset(nil) // gives its block buffer back and forgets the body
		lz4Readers.Put(reader)
	}()
	var frame io.Reader = bytes.NewReader(body)
	if magic == 0 {
		frame = withRightLZ4Header(body)
	}
	reader.Reset(frame)
	return o.drain(reader, len(body))
}

// noEOF turns the end of input into an error that means it: a body that ends
// before the first header is not an empty one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// zstdDecoder decodes whole inputs only, into buffers of the caller: it needs
// no window, whatever window the input declares.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	decoder, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(0),
		zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderLowmem(true))
	if err != nil { // the options are constant
		panic(err)
	}
	return decoder
})

// zstdMaxBlock is the most that one block becomes (RFC 8878, 3.1.1.2.4), and
// zstdMaxRatio the most that a byte of input can become: such a block from the
// 4 bytes that a block has at least.
const (
	zstdMaxBlock = 128 << 10
	zstdMaxRatio = zstdMaxBlock / 4
)

func (o *output) zstd(body []byte) error {
	var header zstd.Header
	size := firstGuess(2 * len(body))
	if err := header.Decode(body); err == nil && header.HasFCS {
		size = int(min(header.FrameContentSize, uint64(len(body))*zstdMaxRatio))
	}
	for {
		// The decoder cannot go on where it stopped for want of room, so each
		// turn starts again with four times as much.
		if err := o.grow(max(size, 1)); err != nil {
			return err
		}
		decoded, err := zstdDecoder().DecodeAll(body, o.buf)
		if err == nil {
			o.buf = decoded
			return nil
		}
		// Want of room has several errors, depending on the kind of block that
		// met it. With room for a whole block left it was none of them.
		if !errors.Is(err, zstd.ErrDecoderSizeExceeded) && cap(o.buf)-len(decoded) >= zstdMaxBlock {
			return err
		}
		size = 4 * cap(o.buf)
	}
}
