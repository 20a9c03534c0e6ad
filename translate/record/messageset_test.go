package record_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

var oldCodecs = []record.Codec{record.CodecNone, record.CodecGzip, record.CodecSnappy, record.CodecLZ4}

// oldRecords are what messages can hold.
var oldRecords = []record.Record{
	{Key: []byte("k"), Value: bytes.Repeat([]byte("first "), 100), Timestamp: 1700000000000},
	{Value: []byte("no key"), Timestamp: 1700000000001},
	{Key: []byte{}, Value: []byte{}, Timestamp: record.NoTimestamp},
	{Key: []byte("tombstone"), Timestamp: 1600000000000},
}

// heldBy is what messages of a magic keep of records.
func heldBy(magic int8, records []record.Record) []record.Record {
	held := slices.Clone(records)
	for i := range held {
		if magic < 2 {
			held[i].Headers = nil
		}
		if magic == 0 {
			held[i].Timestamp = record.NoTimestamp
		}
	}
	return held
}

func TestMessageSetsDecode(t *testing.T) {
	for _, magic := range []int8{0, 1} {
		for _, codec := range oldCodecs {
			for name, number := range map[string]func(int) int64{"counted": oneByOne, "all zero": allZero} {
				raw := producedSet(t, magic, codec, oldRecords, number)
				batch, err := record.DecodeBatch(raw, int16(magic)+1, limits)
				if err != nil {
					t.Errorf("magic %d, %v, offsets %s: %v", magic, codec, name, err)
					continue
				}
				if diff := cmp.Diff(heldBy(magic, oldRecords), batch.Records, byBytes); diff != "" {
					t.Errorf("magic %d, %v, offsets %s: %s", magic, codec, name, diff)
				}
				if batch.ProducerID != -1 || batch.Codec != codec {
					t.Errorf("magic %d, %v: %+v", magic, codec, batch)
				}
			}
		}
	}
}

// A set may hold messages and wrappers of all kinds one after another.
func TestMixedMessageSet(t *testing.T) {
	var raw []byte
	var want []record.Record
	for _, codec := range slices.Concat(oldCodecs, oldCodecs[1:], oldCodecs) {
		for _, magic := range []int8{1, 0} {
			raw = append(raw, producedSet(t, magic, codec, oldRecords, oneByOne)...)
			want = append(want, heldBy(magic, oldRecords)...)
		}
	}
	batch, err := record.DecodeBatch(raw, 2, limits)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, batch.Records, byBytes); diff != "" {
		t.Error(diff)
	}
}

// The limit is on what all wrappers of a set hold together, and a set without
// wrappers needs no buffer.
func TestMessageSetLimits(t *testing.T) {
	for _, codec := range oldCodecs {
		one := producedSet(t, 1, codec, oldRecords, oneByOne)
		size := len(producedSet(t, 1, record.CodecNone, oldRecords, oneByOne))
		set := bytes.Repeat(one, 50)
		reserved := 0
		reserve := func(bytes int) error { reserved = bytes; return nil }
		batch, err := record.DecodeBatch(set, 2, record.Limits{MaxDecompressedBytes: 50 * size, Reserve: reserve})
		if err != nil || len(batch.Records) != 50*len(oldRecords) {
			t.Errorf("%v at the limit: %d records, %v", codec, len(batch.Records), err)
		}
		if wanted := codec != record.CodecNone; wanted != (reserved > 0) || reserved > 50*size {
			t.Errorf("%v: %d bytes reserved", codec, reserved)
		}
		_, err = record.DecodeBatch(set, 2, record.Limits{MaxDecompressedBytes: 50*size - 1})
		var refused *record.Error
		if !errors.As(err, &refused) || refused.Code != 10 {
			t.Errorf("%v above the limit: %v, want code 10", codec, err)
		}
	}
}

func TestMessageSetRefusals(t *testing.T) {
	good := producedSet(t, 1, record.CodecNone, oldRecords[:2], oneByOne)
	message := oldMessage{magic: 1, value: []byte("v")}
	inner := func(change func(*kmsg.MessageV1)) []byte {
		plain := append(bytes.Clone(good), message.append(nil, change)...)
		return oldMessage{magic: 1, codec: record.CodecGzip, value: franzCompress(t, record.CodecGzip, plain)}.append(nil, nil)
	}
	wrapper := func(codec record.Codec, value []byte) []byte {
		return oldMessage{magic: 1, codec: codec, value: value}.append(nil, nil)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	flippedInside := wrapper(record.CodecGzip, franzCompress(t, record.CodecGzip, flipped))
	size := func(n byte) []byte {
		raw := message.append(nil, nil)
		raw[11] = n
		return raw
	}
	lengths := func(at int, b byte) []byte {
		raw := message.append(nil, nil)
		raw[at] = b
		return sealedMessage(raw)
	}

	for _, test := range []struct {
		name    string
		raw     []byte
		code    int16
		message string
		record  int // that the error names, -1 for none
	}{
		{"no bytes", []byte{}, 87, "without records", -1},
		{"cut in the size", good[:10], 87, "ends in the middle", -1},
		{"cut in the last message", good[:len(good)-1], 87, "message 1: its size", -1},
		{"checksum", flipped, 2, "CRC-32", -1},
		{"checksum inside", flippedInside, 2, "CRC-32", -1},
		{"negative size", sealedSize(good, -1), 87, "size", -1},
		{"huge size", sealedSize(good, 1<<31-1), 87, "size", -1},
		{"size too small for a key", size(13), 87, "size", -1},
		{"a batch", produced(t, record.CodecNone, two, nil), 87, "not of format 0 or 1", -1},
		{"magic 3", message.append(nil, func(m *kmsg.MessageV1) { m.Magic = 3 }), 87, "not of format 0 or 1", -1},
		{"magic -1", message.append(nil, func(m *kmsg.MessageV1) { m.Magic = -1 }), 87, "not of format 0 or 1", -1},
		{"zstd", wrapper(record.CodecZstd, []byte("x")), 76, "zstd", -1},
		{"codec 6", wrapper(6, []byte("x")), 76, "codec 6", -1},
		{"log append time", message.append(nil, func(m *kmsg.MessageV1) { m.Attributes = 8 }), 32, "append time", -1},
		{"log append time inside", inner(func(m *kmsg.MessageV1) { m.Attributes = 8 }), 32, "record 2: a producer may not", 2},
		{"key beyond the message", lengths(29, 200), 87, "ends beyond it", -1},
		{"key of length -2", lengths(29, 0xfe), 87, "ends beyond it", -1},
		{"value beyond the message", lengths(33, 2), 87, "ends beyond it", -1},
		{"bytes behind the value", lengths(33, 0), 87, "follow its value", -1},
		{"wrapper without a value", wrapper(record.CodecGzip, nil), 87, "without a value", -1},
		{"wrapper around nothing", wrapper(record.CodecGzip, gzipped(t, "")), 87, "holds none", -1},
		{"wrapper around half a message", wrapper(record.CodecGzip, gzipped(t, string(good[:len(good)-1]))), 87, "record 1: inside a compressed", 1},
		{"another magic inside", inner(func(m *kmsg.MessageV1) { m.Magic = 0 }), 87, "record 2: it has another format", 2},
		{"a wrapper inside", inner(func(m *kmsg.MessageV1) { m.Attributes = 1 }), 87, "record 2: it is compressed inside", 2},
		{"no gzip", wrapper(record.CodecGzip, []byte("no gzip")), 87, "gzip", -1},
		{"no snappy", wrapper(record.CodecSnappy, []byte{0xff, 0xff, 0xff}), 87, "snappy", -1},
		{"no lz4", wrapper(record.CodecLZ4, []byte("no lz4 frame")), 87, "lz4", -1},
		{"short lz4 of magic 0", oldMessage{codec: record.CodecLZ4, value: []byte{4, 0x22}}.append(nil, nil), 87, "lz4", -1},
		{"wrong lz4 checksum of magic 1", oldMessage{magic: 1, codec: record.CodecLZ4, value: oldCompress(t, 0, record.CodecLZ4, good)}.append(nil, nil), 87, "lz4", -1},
		{"second record of the second wrapper", append(inner(nil), inner(func(m *kmsg.MessageV1) { m.Attributes = 2 })...), 87, "record 5: it is compressed inside", 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := record.DecodeBatch(test.raw, 2, limits)
			var refused *record.Error
			if !errors.As(err, &refused) {
				t.Fatalf("error %v, want a refusal", err)
			}
			if refused.Code != test.code || !strings.Contains(refused.Message, test.message) {
				t.Errorf("%v, want code %d with %q", refused, test.code, test.message)
			}
			named := -1
			if len(refused.Records) > 0 {
				named = refused.Records[0].Index
			}
			if named != test.record {
				t.Errorf("names record %d, want %d: %+v", named, test.record, refused.Records)
			}
		})
	}
}

// sealedSize changes the size of the first message, which the checksum does not
// cover.
func sealedSize(raw []byte, size int32) []byte {
	out := bytes.Clone(raw)
	out[8], out[9], out[10], out[11] = byte(size>>24), byte(size>>16), byte(size>>8), byte(size)
	return out
}

func TestAppendedMessageSets(t *testing.T) {
	var positioned []record.Positioned
	for i, r := range oldRecords {
		r.Headers = []record.Header{{Key: "dropped"}}
		positioned = append(positioned, record.Positioned{Offset: 1<<40 + int64(i*i), Record: r}) // with gaps
	}
	for _, magic := range []int8{0, 1} {
		for _, codec := range allCodecs {
			out, err := record.Encoding{Codec: codec}.AppendMessageSet([]byte("before"), magic, positioned)
			if err != nil {
				t.Fatal(err)
			}
			if string(out[:6]) != "before" {
				t.Fatal("AppendMessageSet changed what it appends to")
			}
			got := consumedSet(t, out[6:])
			for i, r := range heldBy(magic, oldRecords) {
				want := record.Positioned{Offset: positioned[i].Offset, Record: r}
				if diff := cmp.Diff(want, got[i], byBytes); diff != "" {
					t.Errorf("magic %d, %v, record %d: %s", magic, codec, i, diff)
				}
			}
			first, _ := consumedMessage(t, out[6:])
			want := codec
			if magic == 0 && codec == record.CodecLZ4 || codec == record.CodecZstd {
				want = record.CodecNone
			}
			if first.codec != want || want != record.CodecNone && magic == 1 && first.timestamp != 1700000000001 {
				t.Errorf("magic %d, %v: first message %+v", magic, codec, first)
			}
		}
	}
}

// Where compression gains nothing the messages stand as they are, so that a
// caller who counted MessageBytes is never surprised.
func TestMessageSetIsNeverLongerThanItsMessages(t *testing.T) {
	records := []record.Positioned{{Record: record.Record{Value: []byte("x")}}, {Offset: 1, Record: record.Record{Key: []byte("y")}}}
	for _, magic := range []int8{0, 1} {
		size := 0
		for i := range records {
			size += record.MessageBytes(magic, &records[i].Record)
		}
		for _, codec := range oldCodecs {
			out, err := record.Encoding{Codec: codec}.AppendMessageSet(nil, magic, records)
			if err != nil || len(out) != size || len(consumedSet(t, out)) != 2 {
				t.Errorf("magic %d, %v: %d bytes instead of %d, %v", magic, codec, len(out), size, err)
			}
		}
	}
}

func TestAppendMessageSetRefuses(t *testing.T) {
	records := []record.Positioned{{Record: record.Record{Value: []byte("x")}}}
	for _, test := range []struct {
		encoding record.Encoding
		magic    int8
		records  []record.Positioned
	}{
		{record.Encoding{Codec: 5}, 1, records},
		{record.Encoding{}, 2, records},
		{record.Encoding{}, 1, nil},
		{record.Encoding{}, 1, append(records, records...)},
	} {
		if out, err := test.encoding.AppendMessageSet([]byte("before"), test.magic, test.records); err == nil || string(out) != "before" {
			t.Errorf("%+v: left %q, error %v", test, out, err)
		}
	}
}

// TestLogAppendTime: batches and messages say that their time is the broker's,
// and a batch has one time.
func TestLogAppendTime(t *testing.T) {
	at := func(times ...int64) (all []record.Positioned) {
		for i, ms := range times {
			all = append(all, record.Positioned{Offset: int64(i), Record: record.Record{Value: bytes.Repeat([]byte("v"), 500), Timestamp: ms}})
		}
		return all
	}
	for _, codec := range allCodecs {
		e := record.Encoding{Codec: codec, LogAppendTime: true}
		out, err := e.AppendBatch(nil, at(77, 77))
		if err != nil {
			t.Fatal(err)
		}
		got, header := consumed(t, out)
		if header.Attributes != int16(codec)|8 || header.MaxTimestamp != 77 || got[1].Timestamp != 77 {
			t.Errorf("%v: header %+v, records %+v", codec, header, got)
		}
		if _, err := e.AppendBatch(nil, at(77, 78)); err == nil {
			t.Errorf("%v: two times in one batch", codec)
		}
		for magic, want := range []byte{byte(codec), byte(codec) | 8} {
			if codec == record.CodecZstd || codec == record.CodecLZ4 && magic == 0 {
				want &^= 7
			}
			set, err := e.AppendMessageSet(nil, int8(magic), at(77, 77))
			if err != nil || set[17] != want {
				t.Errorf("%v, magic %d: attributes %x, want %x; %v", codec, magic, set[17], want, err)
			}
		}
	}
}

func TestReadBatchRefusesWhatIsNone(t *testing.T) {
	good, err := record.AppendBatch(nil, record.CodecNone, []record.Positioned{{Record: two[0]}})
	if err != nil {
		t.Fatal(err)
	}
	count := bytes.Clone(good)
	count[57] = 0x7f
	for name, raw := range map[string][]byte{
		"nothing": nil, "half a header": good[:40], "cut": good[:len(good)-1], "short length": sealedLength(good, 5), "count": count,
	} {
		if records, _, err := record.ReadBatch(raw); err == nil {
			t.Errorf("%s is read as %+v", name, records)
		}
	}
}
