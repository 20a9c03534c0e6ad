package record_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

var two = []record.Record{
	{Key: []byte("k"), Value: []byte("first"), Timestamp: 1700000000000},
	{Value: []byte("second"), Headers: []record.Header{{Key: "h", Value: []byte("x")}}, Timestamp: 1700000000001},
}

func TestRefusals(t *testing.T) {
	header := func(change func(*kmsg.RecordBatch)) []byte { return produced(t, record.CodecNone, two, change) }
	body := func(body []byte) []byte {
		return header(func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta, b.Records = 1, 0, body })
	}
	good := header(nil)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	oldMagic := bytes.Clone(good)
	oldMagic[16] = 1
	unknownMagic := bytes.Clone(good)
	unknownMagic[16] = 3

	for _, test := range []struct {
		name    string
		raw     []byte
		version int16
		code    int16
		message string
	}{
		{"no bytes", []byte{}, 9, 87, "without records"},
		{"null", nil, 9, 87, "without records"},
		{"a stump", good[:16], 9, 87, "too few"},
		{"half a header", good[:40], 9, 87, "too few"},
		{"cut", good[:len(good)-1], 9, 87, "came"},
		{"two batches", append(bytes.Clone(good), good...), 9, 87, "follow the one batch"},
		{"message set of old clients", oldMagic, 9, 87, "format 1"},
		{"batch in a request of old clients", good, 2, 87, "not of format 0 or 1"},
		{"checksum", flipped, 9, 2, "CRC"},
		{"negative length", sealedLength(good, -1), 9, 2, "says 11 bytes"},
		{"length that is too small", sealedLength(good, 50), 9, 2, "CRC"},
		{"a byte after the batch", append(bytes.Clone(good), 0), 9, 87, "1 bytes follow"},
		{"magic 3", unknownMagic, 9, 2, "format 3"},
		{"huge length", sealedLength(good, 1<<31-1), 9, 87, "came"},

		{"codec 5", header(func(b *kmsg.RecordBatch) { b.Attributes = 5 }), 9, 76, "codec 5"},
		{"zstd too early", produced(t, record.CodecZstd, two, nil), 6, 76, "version 7"},
		{"transactional", header(func(b *kmsg.RecordBatch) { b.Attributes = 0x10 }), 9, 53, "transactions"},
		{"control", header(func(b *kmsg.RecordBatch) { b.Attributes = 0x20 }), 9, 87, "control"},
		{"log append time", header(func(b *kmsg.RecordBatch) { b.Attributes = 0x08 }), 9, 32, "append time"},
		{"no records", header(func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = 0, -1 }), 9, 87, "0 records"},
		{"negative count", header(func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = -5, -6 }), 9, 87, "-5 records"},
		{"last delta", header(func(b *kmsg.RecordBatch) { b.LastOffsetDelta = 7 }), 9, 87, "delta of 7"},
		{"fewer records than said", header(func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = 3, 2 }), 9, 87, ""},
		{"more records than said", header(func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = 1, 0 }), 9, 87, "follow the last record"},
		{"a count no memory holds", header(func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = 1<<31-1, 1<<31-2 }), 9, 87, "cannot hold"},
		{"producer without sequence", header(func(b *kmsg.RecordBatch) { b.ProducerID, b.ProducerEpoch = 5, 0 }), 9, 87, "base sequence -1"},
		{"base offset", header(func(b *kmsg.RecordBatch) { b.FirstOffset = 7 }), 9, 87, "offset 7"},

		{"record length beyond the batch", body(varints(1000, 0, 0, 0, -1, -1, 0)), 9, 87, "record 0"},
		{"negative record length", body(varints(-1, 0, 0, 0, -1, -1, 0)), 9, 87, "record 0"},
		{"endless varint", body(bytes.Repeat([]byte{0xff}, 20)), 9, 87, "varint"},
		{"key length beyond the record", body(sized(varints(0, 0, 0, 60, 1, 0))), 9, 87, "key"},
		{"key length -2", body(sized(varints(0, 0, 0, -2, -1, 0))), 9, 87, "key"},
		{"value length of 2^62", body(sized(varints(0, 0, 0, -1, 1<<62, 0))), 9, 87, "value"},
		{"header count -1", body(sized(varints(0, 0, 0, -1, -1, -1))), 9, 87, "header count"},
		{"header count of 2^31", body(sized(varints(0, 0, 0, -1, -1, 1<<31))), 9, 87, "header count"},
		{"null header key", body(sized(varints(0, 0, 0, -1, -1, 1, -1, -1))), 9, 87, "header key"},
		{"bytes behind the headers", body(sized(varints(0, 0, 0, -1, -1, 0, 0))), 9, 87, "follow the headers"},

		{"no gzip", compressed(t, record.CodecGzip, []byte("no gzip")), 9, 87, "gzip"},
		{"empty gzip", compressed(t, record.CodecGzip, nil), 9, 87, "gzip"},
		{"cut gzip", compressed(t, record.CodecGzip, gzipped(t, "abc")[:12]), 9, 87, "gzip"},
		{"no snappy", compressed(t, record.CodecSnappy, []byte{0xff, 0xff, 0xff}), 9, 87, "snappy"},
		{"snappy that lies about its length", compressed(t, record.CodecSnappy, []byte{0x80, 0x80, 0x80, 0x10, 0}), 9, 87, "length"},
		{"xerial block beyond the body", compressed(t, record.CodecSnappy, xerial(1<<20)), 9, 87, "length"},
		{"xerial block of negative length", compressed(t, record.CodecSnappy, xerial(-4)), 9, 87, "length"},
		{"half a xerial header", compressed(t, record.CodecSnappy, xerial(0)[:12]), 9, 87, "length"},
		{"no lz4", compressed(t, record.CodecLZ4, []byte("no lz4 frame")), 9, 87, "lz4"},
		{"no zstd", compressed(t, record.CodecZstd, []byte("no zstd frame")), 9, 87, "zstd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := record.DecodeBatch(test.raw, test.version, limits)
			var refused *record.Error
			if !errors.As(err, &refused) {
				t.Fatalf("error %v, want a refusal", err)
			}
			if refused.Code != test.code || !strings.Contains(refused.Message, test.message) {
				t.Errorf("%v, want code %d with %q", refused, test.code, test.message)
			}
		})
	}
}

func TestReserveStopsDecompression(t *testing.T) {
	full := errors.New("no room")
	for _, codec := range allCodecs[1:] {
		raw := produced(t, codec, []record.Record{{Value: bytes.Repeat([]byte("abcdefgh"), 1<<14)}}, nil)
		_, err := record.DecodeBatch(raw, 7, record.Limits{MaxDecompressedBytes: maxBytes, Reserve: func(int) error { return full }})
		if !errors.Is(err, full) {
			t.Errorf("%v: error %v, want what Reserve said", codec, err)
		}
		reserved := 0
		batch, err := record.DecodeBatch(raw, 7, record.Limits{MaxDecompressedBytes: maxBytes, Reserve: func(bytes int) error {
			if bytes <= reserved {
				t.Errorf("%v: %d bytes reserved after %d", codec, bytes, reserved)
			}
			reserved = bytes
			return nil
		}})
		if err != nil {
			t.Errorf("%v: %v", codec, err)
		} else if reserved < len(batch.Records[0].Value) {
			t.Errorf("%v: %d bytes reserved for %d", codec, reserved, len(batch.Records[0].Value))
		}
	}
}

func TestSnappyAsClientsSendIt(t *testing.T) {
	plain := kmsgRecord(record.Record{Value: bytes.Repeat([]byte("snappy "), 20000)}, 0, 0).AppendTo(nil)
	raw := franzCompress(t, record.CodecSnappy, plain)
	half := len(plain) / 2
	shapes := map[string][]byte{
		"raw block":            raw,
		"xerial, one block":    append(xerial(len(raw)), raw...),
		"xerial, empty block":  append(append(xerial(1), 0), sizedBlock(raw)...),
		"xerial, joined twice": append(framed(t, plain[:half]), framed(t, plain[half:])...),
	}
	for name, body := range shapes {
		t.Run(name, func(t *testing.T) {
			batch, err := record.DecodeBatch(compressed(t, record.CodecSnappy, body), 3, limits)
			if err != nil {
				t.Fatal(err)
			}
			if len(batch.Records[0].Value) != 140000 {
				t.Errorf("value of %d bytes", len(batch.Records[0].Value))
			}
		})
	}
}

func TestGzipOfSeveralMembers(t *testing.T) {
	plain := string(kmsgRecord(record.Record{Value: []byte("in two members")}, 0, 0).AppendTo(nil))
	body := append(gzipped(t, plain[:5]), gzipped(t, plain[5:])...)
	batch, err := record.DecodeBatch(compressed(t, record.CodecGzip, body), 3, limits)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(batch.Records[0].Value); got != "in two members" {
		t.Errorf("value %q", got)
	}
}

// compressed is a batch of one record whose compressed form is body.
func compressed(t *testing.T, codec record.Codec, body []byte) []byte {
	return produced(t, record.CodecNone, two[:1], func(b *kmsg.RecordBatch) { b.Attributes, b.Records = int16(codec), body })
}

func gzipped(t *testing.T, text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// xerial is the header of the framing and the length of a first block.
func xerial(blockLength int) []byte {
	out := append([]byte("\x82SNAPPY\x00"), 0, 0, 0, 1, 0, 0, 0, 1)
	return binary.BigEndian.AppendUint32(out, uint32(int32(blockLength)))
}

func sizedBlock(block []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(block))), block...)
}

func framed(t *testing.T, plain []byte) []byte {
	block := franzCompress(t, record.CodecSnappy, plain)
	return append(xerial(len(block)), block...)
}

func varints(values ...int64) (out []byte) {
	for _, v := range values {
		out = binary.AppendVarint(out, v)
	}
	return out
}

// sized puts the length of a record before its body.
func sized(body []byte) []byte {
	return append(binary.AppendVarint(nil, int64(len(body))), body...)
}

// sealedLength changes the length field, which the checksum does not cover.
func sealedLength(raw []byte, length int32) []byte {
	out := bytes.Clone(raw)
	binary.BigEndian.PutUint32(out[8:], uint32(length))
	return out
}
