package fetch

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// TestConsumersSeeEveryRecordOnceInOrder runs consumers against a partition that
// grows, with faults that come and go, and asks nothing of the engine but what
// Kafka promises: every record, once, in order; a high watermark that never
// goes back, never passes what was written, and is never below what is served;
// no offset out of range while the offset is in range.
func TestConsumersSeeEveryRecordOnceInOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{
			"put", "put", "put and advance", "put and advance", "fetch", "fetch", "fetch", "fetch",
			"stale end", "empty reads", "fail", "throttle", "expire cursors", "slow", "calm", "sleep", "gap", "fetch beyond", "sweep",
		}), 20, 80).Draw(r, "steps")
		amounts := rapid.SliceOfN(rapid.IntRange(1, 40), len(steps), len(steps)).Draw(r, "amounts")
		cache := rapid.SampledFrom([]int64{1, 4 << 10, 1 << 20}).Draw(r, "cache")
		var found any
		synctest.Test(t, func(t *testing.T) {
			defer func() { found = recover() }() // rapid's own way out does not lead through a bubble
			play(t, steps, amounts, cache)
		})
		if broken, ok := found.(flaw); ok {
			r.Fatal(string(broken))
		} else if found != nil {
			panic(found)
		}
	})
}

// flaw is a promise that was found broken.
type flaw string

func flawed(format string, args ...any) { panic(flaw(fmt.Sprintf(format, args...))) }

// consumer checks what it is told.
type consumer struct {
	next int64
	seen []int64
	high int64
}

func play(t *testing.T, steps []string, amounts []int, cache int64) {
	d := newFakeDIS(1)
	d.maxRecords = 7
	b := &bench{T: t, dis: d, engine: New(Config{CacheBytes: cache, BatchBytes: 200}, d), topic: d.topic()}
	defer b.engine.Close()
	consumers := make([]consumer, 3)
	for i, step := range steps {
		b.step(step, amounts[i], &consumers[amounts[i]%len(consumers)])
	}
	b.calm()
	time.Sleep(retryLast)
	for i := range consumers {
		c := &consumers[i]
		for range 200 {
			if b.consume(c, 2*time.Second); len(c.seen) == len(d.partitions[0].records) {
				break
			}
		}
		for j, record := range d.partitions[0].records {
			if j >= len(c.seen) || c.seen[j] != number(record) {
				flawed("consumer %d saw %v of %d records", i, c.seen, len(d.partitions[0].records))
			}
		}
		if c.high != d.partitions[0].next && len(c.seen) > 0 {
			flawed("consumer %d: high watermark %d, want %d", i, c.high, d.partitions[0].next)
		}
	}
}

func (b *bench) step(step string, amount int, c *consumer) {
	switch step {
	case "put":
		b.dis.fill(0, amount, "0123456789")
	case "put and advance":
		b.dis.fill(0, amount, "0123456789")
		b.engine.Advance(b.topic, 0, b.dis.partitions[0].next)
	case "fetch":
		b.consume(c, time.Duration(amount)*20*time.Millisecond)
	case "fetch beyond":
		request := b.request(0, b.dis.partitions[0].next+int64(amount))
		got := b.engine.Fetch(context.Background(), request).Partitions[0]
		if got.Code != 0 && got.Code != codeOffsetOutOfRange {
			flawed("beyond the end: code %d", got.Code)
		}
		b.checkHigh(&consumer{}, got)
	case "stale end":
		b.dis.set(func(d *fakeDIS) { d.staleEnd = int64(amount) })
	case "empty reads":
		b.dis.set(func(d *fakeDIS) { d.emptyReads = amount })
	case "fail":
		b.dis.set(func(d *fakeDIS) { d.fail = failing500("") })
	case "throttle":
		b.dis.set(func(d *fakeDIS) { d.fail = throttling })
	case "expire cursors":
		b.dis.set(func(d *fakeDIS) { d.fail = always("GetRecords", wire.CodeCursorExpired) })
	case "slow":
		b.dis.set(func(d *fakeDIS) { d.latency = time.Duration(amount) * 10 * time.Millisecond })
	case "calm":
		b.calm()
	case "sleep":
		time.Sleep(time.Duration(amount) * 10 * time.Second)
	case "gap":
		b.dis.skip(0, int64(amount))
		b.dis.put(0, "after the gap")
	case "sweep":
		b.engine.sweep(time.Now())
	}
}

func (b *bench) calm() {
	b.dis.set(func(d *fakeDIS) { d.fail, d.latency, d.emptyReads, d.staleEnd = nil, 0, 0, 0 })
}

func (b *bench) consume(c *consumer, maxWait time.Duration) {
	request := b.request(0, c.next)
	request.MaxWait = maxWait
	var got PartitionResponse
	if d := took(func() { got = b.engine.Fetch(context.Background(), request).Partitions[0] }); d > maxWait {
		flawed("waited %v of %v", d, maxWait)
	}
	if got.Code != 0 {
		flawed("offset %d: code %d", c.next, got.Code)
	}
	b.checkHigh(c, got)
	_, offsets := batches(b.T, got.Records)
	if len(offsets) > 0 && offsets[len(offsets)-1] < c.next {
		flawed("records %v at offset %d", offsets, c.next)
	}
	for i, o := range offsets {
		if i > 0 && o <= offsets[i-1] {
			flawed("records %v", offsets)
		}
		if o >= c.next {
			c.seen = append(c.seen, o)
			c.next = o + 1
		}
	}
	if got.HighWatermark < c.next {
		flawed("high watermark %d below what is served: %d", got.HighWatermark, c.next)
	}
}

func (b *bench) checkHigh(c *consumer, got PartitionResponse) {
	if got.Code != 0 {
		return
	}
	if got.HighWatermark < c.high {
		flawed("high watermark went from %d to %d", c.high, got.HighWatermark)
	}
	if got.HighWatermark > b.dis.partitions[0].next {
		flawed("high watermark %d, but DIS ends at %d", got.HighWatermark, b.dis.partitions[0].next)
	}
	c.high = got.HighWatermark
}
