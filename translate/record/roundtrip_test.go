package record_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

const maxBytes = 64 << 20

var limits = record.Limits{MaxDecompressedBytes: maxBytes}

// byBytes compares contents at once, and null is not empty.
var byBytes = cmp.Comparer(func(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) })

// nullable draws null, empty, short and long bytes. Content comes from a seed:
// drawing byte by byte is what would make these tests slow.
func nullable() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		size := rapid.SampledFrom([]int{-1, 0, 1, 5, 63, 64, 200, 9000, 20000}).Draw(t, "size")
		if size < 0 {
			return nil
		}
		seed := rapid.Uint64().Draw(t, "seed")
		source := rand.New(rand.NewPCG(seed, 0))
		span := 1 + source.IntN(256) // a narrow one compresses well
		out := make([]byte, size)
		for i := range out {
			out[i] = byte(source.IntN(span))
		}
		return out
	})
}

func headers() *rapid.Generator[[]record.Header] {
	one := rapid.Custom(func(t *rapid.T) record.Header {
		key := rapid.SampledFrom([]string{"", "h", "trace-id", "\xff\xfe not UTF-8"}).Draw(t, "header key")
		return record.Header{Key: key, Value: nullable().Draw(t, "header value")}
	})
	return rapid.Custom(func(t *rapid.T) []record.Header {
		all := rapid.SliceOfN(one, 0, 3).Draw(t, "headers")
		if len(all) == 0 {
			return nil
		}
		return all
	})
}

func records() *rapid.Generator[record.Record] {
	return rapid.Custom(func(t *rapid.T) record.Record {
		return record.Record{
			Key:       nullable().Draw(t, "key"),
			Value:     nullable().Draw(t, "value"),
			Headers:   headers().Draw(t, "headers"),
			Timestamp: timestamps().Draw(t, "timestamp"),
		}
	})
}

func TestProducedBatchesDecode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		codec := rapid.SampledFrom(allCodecs).Draw(rt, "codec")
		want := rapid.SliceOfN(records(), 1, 10).Draw(rt, "records")
		got, err := record.DecodeBatch(produced(t, codec, want, nil), 7, limits)
		if err != nil {
			rt.Fatal(err)
		}
		if got.Codec != codec || got.ProducerID != -1 {
			rt.Fatalf("codec %v, producer id %d", got.Codec, got.ProducerID)
		}
		if diff := cmp.Diff(want, got.Records, byBytes); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestAppendedBatchesAreReadByFranz(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		codec := rapid.SampledFrom(allCodecs).Draw(rt, "codec")
		want := positioned(rt, rapid.SliceOfN(records(), 1, 10).Draw(rt, "records"))
		prefix := []byte(rapid.SampledFrom([]string{"", "before"}).Draw(rt, "prefix"))
		out, err := record.AppendBatch(bytes.Clone(prefix), codec, want)
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.HasPrefix(out, prefix) {
			rt.Fatal("AppendBatch changed what it appends to")
		}
		got, header := consumed(t, out[len(prefix):])
		if diff := cmp.Diff(want, got, byBytes); diff != "" {
			rt.Fatal(diff)
		}
		newest := want[0].Timestamp
		for _, r := range want {
			newest = max(newest, r.Timestamp)
		}
		if header.MaxTimestamp != newest || header.PartitionLeaderEpoch != -1 || header.ProducerID != -1 ||
			int64(header.LastOffsetDelta) != want[len(want)-1].Offset-want[0].Offset {
			rt.Fatalf("header %+v", header)
		}
	})
}

// positioned gives the records offsets with gaps.
func positioned(rt *rapid.T, all []record.Record) []record.Positioned {
	out := make([]record.Positioned, len(all))
	offset := rapid.Int64Range(0, 1<<40).Draw(rt, "base offset")
	for i, r := range all {
		out[i] = record.Positioned{Offset: offset, Record: r}
		offset += rapid.Int64Range(1, 1000).Draw(rt, "step")
	}
	return out
}

func TestAppendBatchRefusesWhatConsumersCannotRead(t *testing.T) {
	at := func(offsets ...int64) (all []record.Positioned) {
		for _, offset := range offsets {
			all = append(all, record.Positioned{Offset: offset, Record: record.Record{Value: []byte("v")}})
		}
		return all
	}
	for _, test := range []struct {
		name    string
		codec   record.Codec
		records []record.Positioned
		want    string
	}{
		{"no records", record.CodecNone, nil, "without records"},
		{"the same offset twice", record.CodecNone, at(4, 4), "offset 4 follows offset 4"},
		{"offsets that fall", record.CodecNone, at(4, 5, 3), "offset 3 follows offset 5"},
		{"offsets too far apart", record.CodecNone, at(0, 1<<31), "do not fit"},
		{"unknown codec", record.Codec(5), at(1), "unknown codec"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := record.AppendBatch([]byte("before"), test.codec, test.records)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if string(out) != "before" {
				t.Errorf("left %q", out)
			}
		})
	}
	if _, err := record.AppendBatch(nil, record.CodecNone, at(7, 7+1<<31-1)); err != nil {
		t.Errorf("the largest delta: %v", err)
	}
}

func TestDecodedRecordsShareTheBuffer(t *testing.T) {
	raw := produced(t, record.CodecNone, []record.Record{{Key: []byte("key"), Value: []byte("value")}}, nil)
	batch, err := record.DecodeBatch(raw, 3, limits)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(raw, []byte("value"))
	raw[at] = 'V'
	if got := string(batch.Records[0].Value); got != "Value" {
		t.Errorf("value is %q: it was copied", got)
	}
	if grown := append(batch.Records[0].Key, '!'); &grown[0] == &batch.Records[0].Key[0] {
		t.Error("an append to the key reaches into the buffer")
	}
}

func TestCountBatches(t *testing.T) {
	var batches []byte
	want := 0
	for _, codec := range []record.Codec{record.CodecNone, record.CodecGzip, record.CodecZstd} {
		for n := 1; n <= 3; n++ {
			records := make([]record.Positioned, n)
			for i := range records {
				records[i] = record.Positioned{Offset: int64(want + 2*i), Record: record.Record{Value: []byte("v")}}
			}
			var err error
			if batches, err = record.AppendBatch(batches, codec, records); err != nil {
				t.Fatal(err)
			}
			want += n
		}
	}
	if got := record.CountBatches(batches); got != want {
		t.Errorf("%d records, want %d", got, want)
	}
	if got := record.CountBatches(batches[:len(batches)-1]); got != want-3 {
		t.Errorf("%d records without the last batch, want %d", got, want-3)
	}
	if got := record.CountBatches(nil); got != 0 {
		t.Errorf("%d records in nothing", got)
	}
}
