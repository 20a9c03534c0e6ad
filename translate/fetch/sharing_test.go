package fetch

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestTenConsumersAtTheTailCostOneRead(t *testing.T) {
	reads := func(consumers int) (data, all int) {
		inBubble(t, Config{}, tenRecords, func(b *bench) {
			b.fetch(10)
			b.dis.set(func(d *fakeDIS) { d.latency = 5 * time.Millisecond })
			beforeData, before := b.dis.dataReads(), b.dis.count("GetRecords")
			var group sync.WaitGroup
			for range consumers {
				group.Go(func() {
					for offset := int64(10); offset < 40; {
						if offsets := offsetsOf(b, b.fetch(offset)); len(offsets) > 0 {
							offset = offsets[len(offsets)-1] + 1
						}
					}
				})
			}
			for range 30 {
				time.Sleep(200 * time.Millisecond)
				b.engine.Advance(b.topic, 0, b.dis.put(0, "v")+1)
			}
			group.Wait()
			data, all = b.dis.dataReads()-beforeData, b.dis.count("GetRecords")-before
		})
		return data, all
	}
	// Polls come at random intervals, so the sums of several runs are compared.
	const runs = 5
	var oneData, oneAll, tenData, tenAll int
	for range runs {
		data, all := reads(1)
		oneData, oneAll = oneData+data, oneAll+all
		data, all = reads(10)
		tenData, tenAll = tenData+data, tenAll+all
	}
	if tenData != runs*30 || oneData != runs*30 || tenAll > oneAll+oneAll/10 {
		t.Errorf("one consumer: %d reads, %d with records; ten: %d, %d", oneAll, oneData, tenAll, tenData)
	}
}

// drain reads a partition to its end and returns the offsets.
func (b *bench) drain(partition int32, from, to int64, each func()) (offsets []int64) {
	for from < to {
		got := b.engine.Fetch(b.Context(), b.request(partition, from)).Partitions[0]
		if got.Code != 0 {
			b.Fatalf("code %d at %d", got.Code, from)
		}
		for _, o := range offsetsOf(b, got) {
			if o >= from { // as consumers do
				offsets = append(offsets, o)
			}
		}
		if len(offsets) > 0 {
			from = offsets[len(offsets)-1] + 1
		}
		if each != nil {
			each()
		}
	}
	return offsets
}

func TestABacklogIsReadOnceWithOneCursor(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 2000, kilobytes(1)); d.maxRecords = 100 }, func(b *bench) {
		offsets := b.drain(0, 0, 2000, nil)
		if len(offsets) != 2000 || offsets[1999] != 1999 {
			b.Fatalf("%d offsets", len(offsets))
		}
		if reads, cursors := b.dis.dataReads(), b.dis.count("GetCursor"); reads != 20 || cursors != 1 {
			b.Errorf("%d reads, %d cursors", reads, cursors)
		}
	})
}

func TestReadAheadHidesTheLatency(t *testing.T) {
	backlog := func(d *fakeDIS) { d.fill(0, 2000, kilobytes(1)); d.maxRecords = 100 }
	inBubble(t, Config{}, backlog, func(b *bench) {
		b.dis.set(func(d *fakeDIS) { d.latency = 10 * time.Millisecond })
		b.fetch(0)
		// A consumer that works 10 ms on each answer finds the next one there.
		d := took(func() { b.drain(0, 100, 2000, func() { time.Sleep(10 * time.Millisecond) }) })
		if d > 300*time.Millisecond {
			b.Errorf("19 reads of 10 ms took %v beside 19 times 10 ms of work", d)
		}
	})
}

func TestOneReadAheadNotMore(t *testing.T) {
	inBubble(t, Config{ReadBytes: 100 << 10}, func(d *fakeDIS) { d.fill(0, 2000, kilobytes(1)); d.maxRecords = 100 }, func(b *bench) {
		b.fetch(0, func(r *Request) { r.MaxBytes = 10 << 10 })
		time.Sleep(time.Minute)
		if n := b.dis.dataReads(); n > 2 {
			b.Errorf("%d reads for one answer", n)
		}
	})
}

func TestConsumersAtDifferentPositions(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 1000, kilobytes(1)); d.maxRecords = 50 }, func(b *bench) {
		b.dis.set(func(d *fakeDIS) { d.latency = time.Millisecond })
		var group sync.WaitGroup
		for start := int64(0); start < 1000; start += 130 {
			group.Go(func() {
				offsets := b.drain(0, start, 1000, nil)
				for i, o := range offsets {
					if o != start+int64(i) {
						b.Errorf("from %d: record %d has offset %d", start, i, o)
						return
					}
				}
			})
		}
		group.Wait()
	})
}

func TestABusyPartitionDoesNotStarveOthers(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 100, "v"); d.fill(1, 100, "v"); d.maxRecords = 10 }, func(b *bench) {
		b.dis.set(func(d *fakeDIS) { d.latency = 5 * time.Millisecond })
		b.drain(0, 0, 100, nil) // partition 0 is at hand, partition 1 is not
		request := b.request(0, 0)
		request.Partitions = append(request.Partitions, b.request(1, 0).Partitions...)
		for range 5 {
			if got := b.engine.Fetch(b.Context(), request).Partitions[1]; len(got.Records) > 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		b.Error("partition 1 is never read")
	})
}

// TestWaitingConsumersShareOnePoller counts what a thousand of them need.
func TestWaitingConsumersShareOnePoller(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(10)
		before := runtime.NumGoroutine()
		const consumers = 1000
		for range consumers {
			b.others.Go(func() { b.fetch(10, waiting(10*time.Second)) })
		}
		time.Sleep(time.Second)
		if n := runtime.NumGoroutine() - before; n > consumers+5 {
			b.Errorf("%d goroutines for %d consumers", n, consumers)
		}
	})
}

var _ Source = (*fakeDIS)(nil)
