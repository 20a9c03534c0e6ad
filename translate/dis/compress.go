package dis

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// lengthHeader names the header that carries the length before compression,
// empty for none: an LZ4 block does not say it, a snappy block does, and for
// zstd the Java SDK sends it all the same.
func lengthHeader(c Compression) string {
	switch c {
	case CompressionLZ4:
		return headerLZ4Length
	case CompressionZstd:
		return headerZstdLength
	}
	return ""
}

// compress appends to an empty dst: one LZ4 block, one snappy block, neither
// with a frame around it, or one zstd frame.
func compress(dst, plain []byte, with Compression) ([]byte, error) {
	switch with {
	case CompressionLZ4:
		dst = slices.Grow(dst, lz4.CompressBlockBound(len(plain)))
		n, err := lz4.CompressBlock(plain, dst[:cap(dst)], nil)
		if err != nil {
			return nil, fmt.Errorf("compress with lz4: %w", err)
		}
		return dst[:n], nil
	case CompressionSnappy:
		dst = slices.Grow(dst, snappy.MaxEncodedLen(len(plain)))
		return snappy.Encode(dst[:cap(dst)], plain), nil
	case CompressionZstd:
		return zstdEncoder().EncodeAll(plain, dst), nil
	}
	return append(dst, plain...), nil
}

// zstdEncoder is shared: it keeps megabytes of tables per concurrent use.
var zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
	encoder, err := zstd.NewWriter(nil, zstd.WithLowerEncoderMem(true))
	if err != nil { // the options are constant
		panic(err)
	}
	return encoder
})

// decompressed undoes the Content-Encoding of an answer. DIS is said never to use
// one, but the request allowed it and something on the way might.
func decompressed(packed []byte, header http.Header, limit int64) ([]byte, error) {
	encoding := strings.ToLower(strings.TrimSpace(header.Get(headerContentEncoding)))
	if encoding == "" || encoding == "identity" {
		return packed, nil
	}
	plain, err := decompress(packed, Compression(encoding), header, limit)
	if err != nil {
		return nil, fmt.Errorf("answer encoded with %q: %w", encoding, err)
	}
	return plain, nil
}

func decompress(packed []byte, with Compression, header http.Header, limit int64) ([]byte, error) {
	switch with {
	case CompressionLZ4:
		return decompressLZ4(packed, header.Get(headerLZ4Length), limit)
	case CompressionSnappy:
		length, err := snappy.DecodedLen(packed)
		if err != nil {
			return nil, err
		}
		if int64(length) > limit {
			return nil, tooLong(limit)
		}
		return snappy.Decode(make([]byte, length), packed)
	case CompressionZstd:
		return decompressZstd(packed, limit)
	}
	return nil, fmt.Errorf("not one of %s, %s, %s", CompressionLZ4, CompressionSnappy, CompressionZstd)
}

func decompressLZ4(packed []byte, announced string, limit int64) ([]byte, error) {
	length, err := strconv.ParseInt(announced, 10, 64)
	if err != nil || length < 0 {
		return nil, fmt.Errorf("%s: %q is no length", headerLZ4Length, announced)
	}
	if length > limit {
		return nil, tooLong(limit)
	}
	plain := make([]byte, length)
	n, err := lz4.UncompressBlock(packed, plain)
	if err != nil {
		return nil, err
	}
	if int64(n) != length {
		return nil, fmt.Errorf("%d bytes instead of %d", n, length)
	}
	return plain, nil
}

func decompressZstd(packed []byte, limit int64) ([]byte, error) {
	reader, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	plain, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if err == nil && int64(len(plain)) > limit {
		err = tooLong(limit)
	}
	return plain, err
}

// maxZstdWindow is what RFC 8878 wants every decoder to support.
const maxZstdWindow = 8 << 20

func tooLong(limit int64) error {
	return fmt.Errorf("%w: more than %d bytes", ErrAnswerTooLarge, limit)
}
