package record_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// A small input that decompresses to much more than the limit is refused, and
// what it costs stays near the limit, not near what it would have become.
func TestDecompressionBombs(t *testing.T) {
	const limit = 1 << 20
	const bomb = 32 << 20
	zeros := make([]byte, bomb)
	bombs := map[string]struct {
		codec record.Codec
		body  []byte
	}{
		"gzip":                          {record.CodecGzip, franzCompress(t, record.CodecGzip, zeros)},
		"lz4":                           {record.CodecLZ4, franzCompress(t, record.CodecLZ4, zeros)},
		"zstd that says its size":       {record.CodecZstd, franzCompress(t, record.CodecZstd, zeros)},
		"zstd that does not":            {record.CodecZstd, zstdStream(t, zeros)},
		"zstd with a window of 512 MiB": {record.CodecZstd, zstdWindow()},
		"snappy":                        {record.CodecSnappy, franzCompress(t, record.CodecSnappy, zeros)},
		"snappy that lies":              {record.CodecSnappy, []byte{0x80, 0x80, 0x80, 0x80, 0x0f, 0}},
		"xerial of many blocks":         {record.CodecSnappy, bytes.Repeat(framed(t, zeros[:1<<20]), 32)},
	}
	for name, test := range bombs {
		t.Run(name, func(t *testing.T) {
			raw := produced(t, record.CodecNone, two[:1], func(b *kmsg.RecordBatch) { b.Attributes, b.Records = int16(test.codec), test.body })
			if _, err := record.DecodeBatch(raw, 7, record.Limits{MaxDecompressedBytes: limit}); err == nil { // fills the pools
				t.Fatal("decoded")
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			reserved := 0
			_, err := record.DecodeBatch(raw, 7, record.Limits{MaxDecompressedBytes: limit, Reserve: func(bytes int) error {
				reserved = bytes
				return nil
			}})
			runtime.ReadMemStats(&after)
			var refused *record.Error
			if !errors.As(err, &refused) || refused.Code != 10 && refused.Code != 87 {
				t.Errorf("error %v, want code 10 or 87", err)
			}
			if reserved > limit {
				t.Errorf("%d bytes reserved, the limit is %d", reserved, limit)
			}
			// Growing to the limit allocates less than three times as much in all. A
			// decoder may add blocks of its own: two of 4 MiB for lz4.
			if spent := after.TotalAlloc - before.TotalAlloc; spent > 3*limit+2*4<<20 {
				t.Errorf("%d bytes allocated with a limit of %d", spent, limit)
			}
		})
	}
}

func TestExactlyTheLimit(t *testing.T) {
	value := bytes.Repeat([]byte("0123456789abcdef"), 8192)
	size := len(kmsgRecord(record.Record{Value: value}, 0, 0).AppendTo(nil))
	for _, codec := range allCodecs {
		raw := produced(t, codec, []record.Record{{Value: value}}, nil)
		if _, err := record.DecodeBatch(raw, 7, record.Limits{MaxDecompressedBytes: size}); err != nil {
			t.Errorf("%v at the limit: %v", codec, err)
		}
		_, err := record.DecodeBatch(raw, 7, record.Limits{MaxDecompressedBytes: size - 1})
		var refused *record.Error
		if !errors.As(err, &refused) || refused.Code != 10 {
			t.Errorf("%v one byte above the limit: %v, want code 10", codec, err)
		}
	}
}

// zstdStream compresses as the Java client does: no content size in the header.
func zstdStream(t *testing.T, plain []byte) []byte {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// zstdWindow is a frame that asks for a window of 512 MiB and repeats one byte
// in blocks of 128 KiB.
func zstdWindow() []byte {
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 19 << 3}
	for range 100 {
		header := 128<<10<<3 | 1<<1 // a run-length block, not the last
		out = append(out, byte(header), byte(header>>8), byte(header>>16), 'x')
	}
	return out
}

// A record too large to be stored is refused before its headers are taken apart:
// millions of empty ones would cost forty bytes for each two.
func TestHeaderBomb(t *testing.T) {
	const headers, largest = 4 << 20, 1 << 20
	body := binary.AppendVarint([]byte{0, 0, 0, 1, 1}, headers) // attributes, deltas, null key and value
	body = append(body, bytes.Repeat([]byte{0, 1}, headers)...)
	plain := append(binary.AppendVarint(nil, int64(len(body))), body...)
	raw := produced(t, record.CodecNone, two[:1], func(b *kmsg.RecordBatch) {
		b.Attributes, b.Records = int16(record.CodecGzip), franzCompress(t, record.CodecGzip, plain)
	})
	frame, err := record.Parse(raw, 7)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := frame.Payload(record.Limits{MaxDecompressedBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	scanner := frame.Scan(payload)
	scanner.Refuse(largest)
	var r record.Record
	_, err = scanner.Next(&r)
	runtime.ReadMemStats(&after)
	var refused *record.Error
	if !errors.As(err, &refused) || refused.Code != 10 {
		t.Errorf("error %v, want code 10", err)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20 {
		t.Errorf("%d bytes allocated", spent)
	}
	scanner = frame.Scan(payload)
	scanner.Refuse(len(body))
	if more, err := scanner.Next(&r); !more || err != nil || len(r.Headers) != headers {
		t.Errorf("at the limit: %d headers, error %v", len(r.Headers), err)
	}
}
