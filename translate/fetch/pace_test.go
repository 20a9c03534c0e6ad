package fetch

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

// limited is a DIS that enforces the documented throughput and answers after 10 ms.
func limited(records int) func(*fakeDIS) {
	return func(d *fakeDIS) {
		d.limited, d.latency = true, 10*time.Millisecond
		d.fill(0, records, kilobytes(1))
	}
}

// read fetches from an offset on until the time is over, as a consumer does, and
// says how many records it got and the longest time without any.
func (b *bench) read(from int64, until time.Time) (records int, longest time.Duration) {
	last := time.Now()
	for time.Now().Before(until) {
		response := b.engine.Fetch(b.Context(), b.request(0, from))
		if got := response.Partitions[0]; got.Code != codeNone {
			b.Errorf("code %d at %d", got.Code, from)
		}
		offsets := offsetsOf(b, response.Partitions[0])
		response.Release()
		longest = max(longest, time.Since(last))
		if len(offsets) > 0 {
			records += int(offsets[len(offsets)-1] + 1 - from)
			from, last = offsets[len(offsets)-1]+1, time.Now()
		}
	}
	return records, longest
}

// Several consumers far from each other share what DIS allows: they get all of
// it, none is left out, and DIS refuses no more than what was under way when it
// began to.
func TestConsumersFarApartKeepToTheReadLimit(t *testing.T) {
	t.Run("from the first throttled read on", func(t *testing.T) { consumersFarApart(t, 0, 7) })
	t.Run("from the start", func(t *testing.T) { consumersFarApart(t, 1, 0) })
}

func consumersFarApart(t *testing.T, pacing float64, mostThrottled int) {
	const consumers, seconds, apart = 5, 40, 20_000
	inBubble(t, Config{Pacing: pacing}, limited(consumers*apart), func(b *bench) {
		until := time.Now().Add(seconds * time.Second)
		var group sync.WaitGroup
		got, longest := make([]int, consumers), make([]time.Duration, consumers)
		for i := range consumers {
			group.Go(func() { got[i], longest[i] = b.read(int64(i*apart), until) })
		}
		group.Wait()
		total := 0
		for i := range got {
			total += got[i]
			if longest[i] > 2*consumers*time.Second {
				b.Errorf("consumer %d got nothing for %v", i, longest[i])
			}
		}
		if best := seconds * readLimit / 1024; total < best*95/100 {
			b.Errorf("%d records of 1 KiB in %d s, DIS allows %d", total, seconds, best)
		}
		if least := slices.Min(got); least < total/consumers*8/10 {
			b.Errorf("records %v: shared unevenly", got)
		}
		if b.dis.throttled > mostThrottled || b.engine.throttledReads.Load() != int64(b.dis.throttled) {
			b.Errorf("%d throttled reads, %d counted", b.dis.throttled, b.engine.throttledReads.Load())
		}
	})
}

// Consumers that read a backlog do not keep those at the end waiting.
func TestTheEndOfAPartitionComesFirst(t *testing.T) {
	const backlog = 80_000
	inBubble(t, Config{}, limited(backlog), func(b *bench) {
		until := time.Now().Add(30 * time.Second)
		for i := range int64(4) {
			b.others.Go(func() { b.read(i*20_000, until) })
		}
		time.Sleep(10 * time.Second) // the allowance is used up
		ctx, cancel := context.WithDeadline(b.Context(), until)
		defer cancel()
		written := make(chan time.Time, 1000)
		b.others.Go(func() {
			for ctx.Err() == nil {
				written <- time.Now()
				b.engine.Advance(b.topic, 0, b.dis.put(0, kilobytes(1))+1)
				time.Sleep(700 * time.Millisecond)
			}
			close(written)
		})
		offset, next, worst := int64(backlog), int64(backlog), time.Duration(0)
		for at := range written {
			for next++; offset < next && ctx.Err() == nil; {
				for _, o := range offsetsOf(b, b.fetch(offset)) {
					offset = max(offset, o+1)
				}
			}
			worst = max(worst, time.Since(at))
		}
		// A read of the backlog that is under way costs at most a second's allowance.
		if worst > 1500*time.Millisecond {
			b.Errorf("a record was served %v after it was stored", worst)
		}
	})
}

func TestThrottledReadsAnswerEmpty(t *testing.T) {
	inBubble(t, Config{}, limited(10_000), func(b *bench) {
		b.fetch(0)
		b.dis.set(func(d *fakeDIS) { d.fail = func(string) error { return throttling("GetRecords") } })
		var got PartitionResponse
		if d := took(func() { got = b.fetch(8_000, waiting(3*time.Second)) }); d != 3*time.Second {
			b.Errorf("took %v", d)
		}
		if got.Code != codeNone || got.Records == nil || got.HighWatermark != 10_000 {
			b.Errorf("answer %+v", got)
		}
		b.dis.set(func(d *fakeDIS) { d.fail = nil })
		if got := b.fetch(8_000, waiting(retryLast+time.Second)); len(offsetsOf(b, got)) == 0 {
			b.Errorf("when DIS allows it again: %+v", got)
		}
	})
}

// A DIS that does not throttle is read as fast as it answers, also by one that
// throttled once.
func TestPacingEndsWithoutThrottling(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 60_000, kilobytes(1)) }, func(b *bench) {
		full := func(from int64) time.Duration {
			return took(func() { b.drain(0, from, from+20_000, nil) })
		}
		if d := full(0); d > time.Second {
			b.Errorf("20 MiB took %v", d)
		}
		refused := false
		b.dis.set(func(d *fakeDIS) {
			d.fail = func(operation string) error {
				if operation != "GetRecords" || refused {
					return nil
				}
				refused = true
				return throttling("GetRecords")
			}
		})
		if d := full(20_000); d < 8*time.Second {
			b.Errorf("after a throttled read 20 MiB took %v, the allowance is 2 MiB a second", d)
		}
		time.Sleep(paceFirst)
		if d := full(40_000); d > time.Second {
			b.Errorf("a minute later 20 MiB took %v", d)
		}
	})
}
