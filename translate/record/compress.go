package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// compress appends body in the codec to dst.
func compress(dst, body []byte, codec Codec) ([]byte, error) {
	switch codec {
	case CodecNone:
		return append(dst, body...), nil
	case CodecGzip:
		return compressStream(dst, body, &gzipWriters)
	case CodecSnappy:
		return appendXerial(dst, body), nil
	case CodecLZ4:
		return compressStream(dst, body, &lz4Writers)
	case CodecZstd:
		return zstdEncoder().EncodeAll(body, dst), nil
	}
	return dst, fmt.Errorf("compress a record batch: unknown codec %d", int8(codec))
}

// streamWriter is what the gzip and the lz4 writer have in common.
type streamWriter interface {
	io.WriteCloser
	Reset(io.Writer)
}

var gzipWriters = sync.Pool{New: func() any { return streamWriter(gzip.NewWriter(nil)) }}

// The blocks of an lz4 frame are independent, the default of the library: the
// Java client refuses dependent ones. 64 KiB is the block size it writes itself.
var lz4Writers = sync.Pool{New: func() any {
	writer := lz4.NewWriter(nil)
	if err := writer.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false)); err != nil { // the options are constant
		panic(err)
	}
	return streamWriter(writer)
}}

func compressStream(dst, body []byte, writers *sync.Pool) ([]byte, error) {
	writer := writers.Get().(streamWriter)
	defer func() {
		writer.Reset(io.Discard)
		writers.Put(writer)
	}()
	out := bytes.NewBuffer(dst)
	writer.Reset(out)
	if _, err := writer.Write(body); err != nil {
		return dst, fmt.Errorf("compress a record batch: %w", err)
	}
	if err := writer.Close(); err != nil {
		return dst, fmt.Errorf("compress a record batch: %w", err)
	}
	return out.Bytes(), nil
}

// appendXerial writes the framing of the Java client.
func appendXerial(dst, body []byte) []byte {
	dst = append(dst, xerialMagic...)
	dst = binary.BigEndian.AppendUint32(dst, xerialVersion)
	dst = binary.BigEndian.AppendUint32(dst, xerialVersion)
	for len(body) > 0 {
		block := body[:min(len(body), xerialBlockBytes)]
		body = body[len(block):]
		lengthAt := len(dst)
		need := lengthAt + 4 + s2.MaxEncodedLen(len(block))
		if cap(dst) < need {
			dst = append(make([]byte, 0, need+s2.MaxEncodedLen(len(body))), dst...)
		}
		encoded := s2.EncodeSnappy(dst[lengthAt+4:need], block)
		dst = dst[:lengthAt+4+len(encoded)]
		binary.BigEndian.PutUint32(dst[lengthAt:], uint32(len(encoded)))
	}
	return dst
}

var zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
	encoder, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(0),
		zstd.WithLowerEncoderMem(true))
	if err != nil { // the options are constant
		panic(err)
	}
	return encoder
})
