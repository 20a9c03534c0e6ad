package embedded

import (
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	contentTypeJSON     = "application/json"
	contentTypeProtobuf = "application/x-protobuf"

	lz4LengthHeader  = "X-Dis-Lz4-Content-Length"
	zstdLengthHeader = "X-Dis-Zstd-Content-Length"

	// lz4MaxRatio is the most bytes that one byte of an LZ4 block can become.
	lz4MaxRatio = 255
	// maxZstdWindow is what RFC 8878 wants every decoder to support.
	maxZstdWindow = 8 << 20
)

// saysProtobuf reports whether a request is in protobuf and wants its answer so.
// A GET has no body, and says it all the same.
func saysProtobuf(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && kind == contentTypeProtobuf
}

// decompress undoes the Content-Encoding of a request's body: one LZ4 or snappy
// block without a frame around it, or a zstd frame. What the body would become
// is known, or bounded, before memory is spent on it.
func decompress(header http.Header, raw []byte) ([]byte, error) {
	encoding := strings.ToLower(strings.TrimSpace(header.Get("Content-Encoding")))
	if len(raw) == 0 || encoding == "" || encoding == "identity" {
		return raw, nil
	}
	var plain []byte
	var err error
	switch encoding {
	case "lz4":
		plain, err = decompressLZ4(raw, header.Get(lz4LengthHeader))
	case "snappy":
		plain, err = decompressSnappy(raw)
	case "zstd":
		plain, err = decompressZstd(raw, header.Get(zstdLengthHeader))
	default:
		return nil, refuse(wire.CodeInvalidRequest, "Invalid request. [Content-Encoding][%s][lz4, snappy or zstd]", encoding)
	}
	var refused *apiError
	if err != nil && !errors.As(err, &refused) {
		err = refuse(wire.CodeInvalidRequest, "Invalid request. [Content-Encoding][%s][%v]", encoding, err)
	}
	return plain, err
}

// decompressLZ4 needs the length from a header, since the block has none.
func decompressLZ4(raw []byte, announced string) ([]byte, error) {
	length, err := announcedLength(lz4LengthHeader, announced)
	if err != nil {
		return nil, err
	}
	if length > lz4MaxRatio*len(raw) {
		return nil, wrongLength(lz4LengthHeader, announced)
	}
	plain := make([]byte, length)
	n, err := lz4.UncompressBlock(raw, plain)
	if err == nil && n != length {
		err = wrongLength(lz4LengthHeader, announced)
	}
	return plain, err
}

func decompressSnappy(raw []byte) ([]byte, error) {
	length, err := snappy.DecodedLen(raw)
	if err != nil {
		return nil, err
	}
	if length > maxBodyBytes {
		return nil, tooLarge("body", maxBodyBytes)
	}
	return snappy.Decode(nil, raw)
}

// decompressZstd does without the header, but holds the body to it.
func decompressZstd(raw []byte, announced string) ([]byte, error) {
	length := -1
	if announced != "" {
		var err error
		if length, err = announcedLength(zstdLengthHeader, announced); err != nil {
			return nil, err
		}
	}
	plain, err := zstdDecoder().DecodeAll(raw, nil)
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return nil, tooLarge("body", maxBodyBytes)
	case err == nil && length >= 0 && len(plain) != length:
		err = wrongLength(zstdLengthHeader, announced)
	}
	return plain, err
}

func announcedLength(header, text string) (int, error) {
	length, err := strconv.Atoi(text)
	switch {
	case err != nil || length < 0:
		return 0, wrongLength(header, text)
	case length > maxBodyBytes:
		return 0, tooLarge("body", maxBodyBytes)
	}
	return length, nil
}

func wrongLength(header, text string) *apiError {
	return invalidRequest(strings.ToLower(header), text)
}

// zstdDecoder is shared: it keeps megabytes of tables per concurrent use.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxBodyBytes), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil { // the options are constant
		panic(err)
	}
	return decoder
})
