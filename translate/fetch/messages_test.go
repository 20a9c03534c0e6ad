package fetch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// shape is what a message set shows from outside.
type shape struct {
	offsets    []int64 // of the outer messages
	magic      byte
	attributes byte
}

func shapeOf(t testing.TB, set []byte) (s shape) {
	t.Helper()
	if set == nil {
		t.Fatal("records are nil")
	}
	for len(set) > 0 {
		size := 12 + int(binary.BigEndian.Uint32(set[8:]))
		if size > len(set) {
			t.Fatalf("a message of %d bytes, %d are left", size, len(set))
		}
		s.offsets = append(s.offsets, int64(binary.BigEndian.Uint64(set)))
		s.magic, s.attributes = set[16], set[17]
		set = set[size:]
	}
	return s
}

// valuesOf are the values of the records in a set.
func valuesOf(t testing.TB, set []byte) (values []string) {
	t.Helper()
	batch, err := record.DecodeBatch(set, 2, record.Limits{MaxDecompressedBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range batch.Records {
		values = append(values, string(r.Value))
	}
	return values
}

func numberedRecords(n, size int) func(*fakeDIS) {
	return func(d *fakeDIS) {
		for i := range n {
			d.put(0, fmt.Sprintf("%d%s", i, strings.Repeat("x", size)))
		}
	}
}

func TestOldVersionsGetMessages(t *testing.T) {
	for _, codec := range []record.Codec{record.CodecNone, record.CodecGzip, record.CodecSnappy, record.CodecLZ4, record.CodecZstd} {
		inBubble(t, Config{Codec: codec, BatchBytes: 500}, numberedRecords(20, 100), func(b *bench) {
			b.warm(0)
			for version := range int16(4) {
				got := b.fetch(7, func(r *Request) { r.Version = version })
				s := shapeOf(b, got.Records)
				wantAttributes := byte(codec)
				if codec == record.CodecZstd || codec == record.CodecLZ4 && version < 2 {
					wantAttributes = 0
				}
				if s.magic != byte(version/2) || s.attributes != wantAttributes || s.offsets[len(s.offsets)-1] != 19 {
					b.Errorf("%v, version %d: %+v", codec, version, s)
				}
				if wantAttributes == 0 && s.offsets[0] != 7 {
					b.Errorf("%v, version %d: begins at %d", codec, version, s.offsets[0])
				}
				values := valuesOf(b, got.Records)
				if len(values) != 13 || !strings.HasPrefix(values[0], "7x") || !strings.HasPrefix(values[12], "19x") {
					b.Errorf("%v, version %d: %.40q", codec, version, values)
				}
			}
		})
	}
}

// A record's headers have no place in messages; the rest is there.
func TestOldVersionsGetNoHeaders(t *testing.T) {
	data, _, _ := record.EncodeDIS(record.Record{Value: []byte("v"), Timestamp: 77, Headers: []record.Header{{Key: "h"}}})
	inBubble(t, Config{}, func(d *fakeDIS) { d.put(0, string(data)) }, func(b *bench) {
		got := b.fetch(0, func(r *Request) { r.Version = 3 })
		batch, err := record.DecodeBatch(got.Records, 2, record.Limits{MaxDecompressedBytes: 1000})
		if err != nil {
			b.Fatal(err)
		}
		if r := batch.Records[0]; string(r.Value) != "v" || r.Timestamp != 77 || len(r.Headers) != 0 {
			b.Errorf("record %+v", r)
		}
	})
}

// Below version 3 no partition gets more than it asked for, in any codec, and a
// consumer with a small limit gets on all the same.
func TestHardLimits(t *testing.T) {
	for _, codec := range []record.Codec{record.CodecNone, record.CodecGzip} {
		for version := range int16(4) {
			inBubble(t, Config{Codec: codec}, numberedRecords(60, 100), func(b *bench) {
				b.warm(0)
				next, rounds := int64(0), 0
				for ; next < 60; rounds++ {
					got := b.fetch(next, func(r *Request) { r.Version, r.Partitions[0].MaxBytes = version, 1000 })
					if len(got.Records) > 1000 {
						b.Fatalf("%v, version %d: %d bytes", codec, version, len(got.Records))
					}
					for _, value := range valuesOf(b, got.Records) {
						if !strings.HasPrefix(value, fmt.Sprintf("%dx", next)) {
							b.Fatalf("%v, version %d: %.10q at offset %d", codec, version, value, next)
						}
						next++
					}
				}
				if rounds > 10 {
					b.Errorf("%v, version %d: %d fetches", codec, version, rounds)
				}
			})
		}
	}
}

// A record above the limit is cut there, which makes a consumer ask for more or
// say that it is too large; from version 3 on it is served whole.
func TestAMessageLargerThanTheLimit(t *testing.T) {
	large := func(d *fakeDIS) { d.fill(0, 1, kilobytes(5)); d.fill(1, 1, kilobytes(5)) }
	inBubble(t, Config{}, large, func(b *bench) {
		fetch := func(version int16, limit int32) Response {
			request := b.request(0, 0)
			request.Version, request.MinBytes = version, 2*5<<10
			request.Partitions = append(request.Partitions, request.Partitions[0])
			for i := range request.Partitions {
				request.Partitions[i].Partition, request.Partitions[i].MaxBytes = int32(i), limit
			}
			return b.engine.Fetch(b.Context(), request)
		}
		whole := fetch(2, 10<<10).Partitions[0].Records
		if len(shapeOf(b, whole).offsets) != 1 {
			b.Fatalf("%d bytes", len(whole))
		}
		for _, version := range []int16{1, 2} {
			for i, p := range fetch(version, 2000).Partitions {
				if len(p.Records) != 2000 || version == 2 && !bytes.Equal(p.Records, whole[:2000]) {
					b.Errorf("version %d, partition %d: %d bytes", version, i, len(p.Records))
				}
			}
		}
		if got := fetch(2, 0).Partitions[0].Records; got == nil || len(got) != 0 {
			b.Errorf("%d bytes for a limit of 0", len(got))
		}
		got := fetch(3, 2000).Partitions
		if !bytes.Equal(got[0].Records, whole) || len(got[1].Records) != 0 || got[1].Records == nil {
			b.Errorf("version 3: %d and %d bytes", len(got[0].Records), len(got[1].Records))
		}
	})
}

// The limit of the whole response never cuts a message: the client would take it
// for too large.
func TestTheLimitOfAResponseCutsNoMessage(t *testing.T) {
	large := func(d *fakeDIS) { d.fill(0, 1, kilobytes(5)); d.fill(1, 1, kilobytes(5)) }
	inBubble(t, Config{}, large, func(b *bench) {
		b.warm(0)
		b.warm(1)
		for _, responseLimit := range []int32{6000, 1} {
			request := b.request(0, 0)
			request.Version, request.MaxBytes = 2, responseLimit
			request.Partitions = append(request.Partitions, request.Partitions[0])
			request.Partitions[1].Partition = 1
			got := b.engine.Fetch(b.Context(), request).Partitions
			if len(shapeOf(b, got[0].Records).offsets) != 1 || len(got[1].Records) != 0 {
				b.Errorf("limit %d: %d and %d bytes", responseLimit, len(got[0].Records), len(got[1].Records))
			}
		}
	})
}

func TestMessagesWithGaps(t *testing.T) {
	gaps := func(d *fakeDIS) {
		d.fill(0, 2, kilobytes(1))
		d.skip(0, 100)
		d.fill(0, 2, kilobytes(1))
	}
	for _, codec := range []record.Codec{record.CodecNone, record.CodecGzip} {
		inBubble(t, Config{Codec: codec}, gaps, func(b *bench) {
			for version := range int16(4) {
				s := shapeOf(b, b.fetch(1, func(r *Request) { r.Version = version }).Records)
				want := []int64{1, 102, 103}
				if codec != record.CodecNone {
					want = want[2:]
				}
				if !slices.Equal(s.offsets, want) {
					b.Errorf("%v, version %d: offsets %v", codec, version, s.offsets)
				}
			}
		})
	}
}

// A topic with log append time says so in every form, and a batch, which has one
// time for all its records, ends where the time changes.
func TestLogAppendTimeIsServed(t *testing.T) {
	times := []int64{1000, 1000, 1005, 1005, 1005, 1004}
	prepare := func(d *fakeDIS) {
		for i, ms := range times {
			d.putAt(0, fmt.Sprint(i), ms)
		}
	}
	inBubble(t, Config{}, prepare, func(b *bench) {
		b.topic.Records.LogAppendTime = true
		frames, offsets := batches(b, b.fetch(0).Records)
		var got []int64
		for _, f := range frames {
			if f.Attributes != 8 || f.FirstTimestamp != f.MaxTimestamp {
				b.Errorf("batch %+v", f)
			}
			got = append(got, slices.Repeat([]int64{f.MaxTimestamp}, int(f.NumRecords))...)
		}
		if !slices.Equal(got, times) || len(offsets) != len(times) || len(frames) != 3 {
			b.Errorf("times %v in %d batches, want %v", got, len(frames), times)
		}
		for version, want := range []byte{0, 0, 8, 8} {
			if s := shapeOf(b, b.fetch(0, func(r *Request) { r.Version = int16(version) }).Records); s.attributes != want || len(s.offsets) != len(times) {
				b.Errorf("version %d: %+v", version, s)
			}
		}
	})
}
