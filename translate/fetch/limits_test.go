package fetch

import (
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// kilobytes is a value of that size.
func kilobytes(n int) string { return strings.Repeat("0123456789abcdef", n*64) }

// warm fetches until everything of the first partitions is cached.
func (b *bench) warm(partitions ...int32) {
	for _, p := range partitions {
		for range 3 {
			request := b.request(p, 0)
			request.Partitions[0].MaxBytes = 1 << 30
			b.engine.Fetch(b.Context(), request)
		}
	}
}

func TestLimits(t *testing.T) {
	// Each batch holds 4 records of 1 KiB: about 4200 bytes.
	const batch = 4200
	for name, c := range map[string]struct {
		maxBytes, first, second int32
		batches                 [2]int
	}{
		"plenty":                        {1 << 20, 1 << 20, 1 << 20, [2]int{5, 5}},
		"partition limit":               {1 << 20, 3 * batch, 2 * batch, [2]int{3, 2}},
		"response limit":                {4 * batch, 3 * batch, 3 * batch, [2]int{3, 1}},
		"first batch may exceed":        {1, 1, 1, [2]int{1, 0}},
		"only the first batch may":      {1 << 20, 1, 1, [2]int{1, 0}},
		"nothing more after the excess": {1, 1, 1 << 20, [2]int{1, 0}},
		"limits of zero":                {0, 0, 0, [2]int{1, 0}},
		"negative limits":               {-1, -1, -1, [2]int{1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			fill := func(d *fakeDIS) { d.fill(0, 20, kilobytes(1)); d.fill(1, 20, kilobytes(1)) }
			inBubble(t, Config{BatchBytes: 4200}, fill, func(b *bench) {
				b.warm(0, 1)
				request := b.request(0, 0)
				request.Partitions = append(request.Partitions, b.request(1, 0).Partitions...)
				request.MaxBytes = c.maxBytes
				request.Partitions[0].MaxBytes, request.Partitions[1].MaxBytes = c.first, c.second
				got := b.engine.Fetch(b.Context(), request).Partitions
				for i := range got {
					frames, _ := batches(b, got[i].Records)
					if len(frames) != c.batches[i] {
						b.Errorf("partition %d: %d batches, want %d", i, len(frames), c.batches[i])
					}
				}
			})
		})
	}
}

func TestFirstBatchMayExceedInALaterPartition(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(1, 1, kilobytes(900)) }, func(b *bench) {
		request := b.request(0, 0)
		request.Partitions = append(request.Partitions, b.request(1, 0).Partitions...)
		request.MaxBytes, request.Partitions[1].MaxBytes = 1000, 1000
		got := b.engine.Fetch(b.Context(), request).Partitions
		if len(offsetsOf(b, got[1])) != 1 {
			b.Errorf("the large record is never served")
		}
	})
}

func TestFullLimitsAnswerBeforeMinBytes(t *testing.T) {
	inBubble(t, Config{BatchBytes: 4200}, func(d *fakeDIS) { d.fill(0, 20, kilobytes(1)) }, func(b *bench) {
		d := took(func() {
			b.fetch(0, func(r *Request) {
				r.MaxWait, r.MinBytes, r.Partitions[0].MaxBytes = time.Minute, 1<<20, 9000
			})
		})
		if d != 0 {
			b.Errorf("waited %v for what the limits exclude", d)
		}
	})
}

func TestOffsetInsideABatch(t *testing.T) {
	inBubble(t, Config{BatchBytes: 4200}, func(d *fakeDIS) { d.fill(0, 20, kilobytes(1)) }, func(b *bench) {
		b.warm(0)
		for offset := range int64(20) {
			frames, offsets := batches(b, b.fetch(offset).Records)
			last := frames[0].FirstOffset + int64(frames[0].LastOffsetDelta)
			if last < offset {
				b.Errorf("offset %d: the first batch ends at %d", offset, last)
			}
			if offsets[0] > offset || offsets[len(offsets)-1] != 19 {
				b.Errorf("offset %d: offsets %v", offset, offsets)
			}
		}
	})
}

func TestGapsInSequenceNumbers(t *testing.T) {
	gaps := func(d *fakeDIS) {
		d.skip(0, 5)
		d.fill(0, 2, "v") // 5, 6
		d.skip(0, 1<<32)
		d.fill(0, 2, "v") // too far for one batch
	}
	inBubble(t, Config{}, gaps, func(b *bench) {
		want := []int64{5, 6, 1<<32 + 7, 1<<32 + 8}
		for from, skipped := range map[int64]int{0: 0, 4: 0, 7: 2, 1 << 32: 2} {
			_, offsets := batches(b, b.fetch(from).Records)
			if len(offsets) != len(want)-skipped || offsets[0] != want[skipped] {
				b.Errorf("from %d: offsets %v", from, offsets)
			}
		}
		// Read from the middle of the gap, then from before it: no record twice.
		_, offsets := batches(b, b.fetch(3).Records)
		for i := 1; i < len(offsets); i++ {
			if offsets[i] <= offsets[i-1] {
				b.Errorf("offsets %v", offsets)
			}
		}
	})
}

func TestBatchHeader(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		frames, _ := batches(b, b.fetch(0).Records)
		f := frames[0]
		if f.FirstOffset != 0 || f.LastOffsetDelta != 9 || f.PartitionLeaderEpoch != -1 || f.Magic != 2 || f.ProducerID != -1 {
			b.Errorf("header %+v", f)
		}
	})
}

func TestZstdIsForFetch10AndLater(t *testing.T) {
	cfg := Config{Codec: record.CodecZstd, BatchBytes: 4200}
	inBubble(t, cfg, func(d *fakeDIS) { d.fill(0, 20, kilobytes(1)) }, func(b *bench) {
		b.warm(0)
		for version, codec := range map[int16]int16{9: 0, 10: 4, 12: 4} {
			frames, _ := batches(b, b.fetch(0, func(r *Request) { r.Version = version }).Records)
			if len(frames) != 5 {
				b.Errorf("version %d: %d batches", version, len(frames))
			}
			for _, f := range frames {
				if f.Attributes&codecBits != codec {
					b.Errorf("version %d: attributes %d", version, f.Attributes)
				}
			}
		}
		// The limits hold for what an old client gets, and it gets everything.
		for offset := int64(0); offset < 20; {
			got := b.fetch(offset, func(r *Request) { r.Version, r.Partitions[0].MaxBytes = 9, 9000 })
			if len(got.Records) > 9000 {
				b.Errorf("%d bytes", len(got.Records))
			}
			offsets := offsetsOf(b, got)
			if len(offsets) == 0 {
				b.Fatalf("stuck at %d", offset)
			}
			if offsets[0] != offset {
				b.Fatalf("offsets %v at %d", offsets, offset)
			}
			offset = offsets[len(offsets)-1] + 1
		}
	})
}

func TestEveryCodecIsServed(t *testing.T) {
	for _, codec := range []record.Codec{record.CodecNone, record.CodecGzip, record.CodecSnappy, record.CodecLZ4, record.CodecZstd} {
		inBubble(t, Config{Codec: codec}, tenRecords, func(b *bench) {
			frames, _ := batches(b, b.fetch(0).Records)
			if len(frames) != 1 || frames[0].NumRecords != 10 || frames[0].Attributes != int16(codec) {
				b.Errorf("%v: %+v", codec, frames)
			}
		})
	}
}

// Replies that nobody reads make later ones smaller, never empty, and only until
// they are read.
func TestUnreleasedResponsesMakeLaterOnesSmaller(t *testing.T) {
	const batch = 4200
	fill := func(d *fakeDIS) { d.fill(0, 20, kilobytes(1)) }
	inBubble(t, Config{BatchBytes: batch, ReplyBytes: 8 * batch}, fill, func(b *bench) {
		b.warm(0)
		b.engine.replies.Store(0) // warm releases nothing
		var open []Response
		for i, want := range []int{5, 3, 1, 1} {
			response := b.engine.Fetch(b.Context(), b.request(0, 0))
			frames, _ := batches(b, response.Partitions[0].Records)
			if len(frames) != want {
				b.Errorf("response %d has %d batches, want %d", i, len(frames), want)
			}
			open = append(open, response)
		}
		for _, response := range open {
			response.Release()
		}
		frames, _ := batches(b, b.engine.Fetch(b.Context(), b.request(0, 0)).Partitions[0].Records)
		if len(frames) != 5 {
			b.Errorf("%d batches after all were released, want 5", len(frames))
		}
	})
}

// A fetch does not collect more in memory than it needs to be worth its while.
func TestMinBytesIsBounded(t *testing.T) {
	fill := func(d *fakeDIS) { d.fill(0, 1100, kilobytes(1)) }
	inBubble(t, Config{}, fill, func(b *bench) {
		var got PartitionResponse
		waited := took(func() {
			got = b.fetch(0, waiting(time.Hour), func(r *Request) {
				r.MinBytes, r.Partitions[0].MaxBytes = 50<<20, 50<<20
			})
		})
		if waited != 0 || len(got.Records) < maxMinBytes {
			b.Errorf("%d bytes after %s", len(got.Records), waited)
		}
	})
}
