package fetch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func empty(*fakeDIS) {}

func tenRecords(d *fakeDIS) { d.fill(0, 10, "value") }

func TestFetchAnswersAtOnceWhenThereIsData(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		var got PartitionResponse
		if d := took(func() { got = b.fetch(3) }); d != 0 {
			b.Errorf("took %v", d)
		}
		if offsets := offsetsOf(b, got); len(offsets) != 7 || offsets[0] != 3 || offsets[6] != 9 {
			b.Errorf("offsets %v", offsets)
		}
		if got.Code != 0 || got.HighWatermark != 10 || got.LogStart != 0 {
			b.Errorf("answer %+v", got)
		}
	})
}

func TestFetchWaitsExactlyMaxWait(t *testing.T) {
	for name, prepare := range map[string]func(*fakeDIS){
		"nothing there":         empty,
		"reads hang":            func(d *fakeDIS) { d.fill(0, 1, "v"); d.hang["GetRecords"] = true },
		"cursors hang":          func(d *fakeDIS) { d.fill(0, 1, "v"); d.hang["GetCursor"] = true },
		"describes hang":        func(d *fakeDIS) { d.hang["DescribeStream"] = true },
		"DIS is slow":           func(d *fakeDIS) { d.fill(0, 1, "v"); d.latency = time.Minute },
		"describes fail":        func(d *fakeDIS) { d.fail = failing500("DescribeStream") },
		"everything fails":      func(d *fakeDIS) { d.fill(0, 1, "v"); d.fail = failing500("") },
		"everything throttled":  func(d *fakeDIS) { d.fill(0, 1, "v"); d.fail = throttling },
		"less than min_bytes":   func(d *fakeDIS) { d.fill(0, 1, "v") },
		"retired, nothing left": func(d *fakeDIS) { d.partitions[0].status = "DELETED" },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, prepare, func(b *bench) {
				var got PartitionResponse
				d := took(func() {
					got = b.fetch(0, func(r *Request) { r.MaxWait, r.MinBytes = 5*time.Second, 1000 })
				})
				if d != 5*time.Second {
					b.Errorf("took %v", d)
				}
				if got.Code != 0 || got.Records == nil {
					b.Errorf("answer %+v", got)
				}
			})
		})
	}
}

func TestFetchWithoutWaitingStillMakesProgress(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		if got := b.fetch(0, waiting(0)); got.Code != 0 || len(got.Records) != 0 {
			b.Fatalf("first answer %+v", got)
		}
		synctest.Wait()
		if offsets := offsetsOf(b, b.fetch(0, waiting(0))); len(offsets) != 10 {
			b.Errorf("offsets %v", offsets)
		}
	})
}

func TestAdvanceWakesTheTail(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(10, waiting(3*time.Second)) // the end is not polled any more
		b.others.Go(func() {
			time.Sleep(300 * time.Millisecond)
			next := b.dis.put(0, "new") + 1
			b.engine.Advance(b.topic, 0, next)
		})
		var got PartitionResponse
		if d := took(func() { got = b.fetch(10, waiting(5*time.Second)) }); d != 300*time.Millisecond {
			b.Errorf("took %v", d)
		}
		if offsets := offsetsOf(b, got); len(offsets) != 1 || offsets[0] != 10 || got.HighWatermark != 11 {
			b.Errorf("offsets %v, high watermark %d", offsets, got.HighWatermark)
		}
	})
}

func TestAdvanceDuringAReadIsNotLost(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.engine.Advance(b.topic, 0, b.dis.put(0, "a while ago")+1)
		b.fetch(10) // the end is polled from now on
		b.dis.set(func(d *fakeDIS) { d.latency = 20 * time.Millisecond })
		before := b.dis.count("GetRecords")
		var advanced time.Time
		b.others.Go(func() {
			for b.dis.count("GetRecords") == before {
				time.Sleep(time.Millisecond)
			}
			b.dis.set(func(d *fakeDIS) { d.emptyReads = 1 }) // the read on its way comes too early
			advanced = time.Now()
			b.engine.Advance(b.topic, 0, b.dis.put(0, "new")+1)
		})
		got := b.fetch(11, waiting(10*time.Second))
		if d := time.Since(advanced); len(got.Records) == 0 || d > 40*time.Millisecond {
			b.Errorf("answer %+v, %v after the produce", got, d)
		}
	})
}

func TestAChangeBetweenLookingAndWaitingIsNotLost(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(10)
		f := b.engine.newFetch(b.request(0, 0), nil)
		defer f.release()
		f.look(false)
		p := f.parts[0].partition
		p.stream.mu.Lock()
		p.changed() // f is not registered yet
		p.stream.mu.Unlock()
		f.await()
		select {
		case <-f.wake:
		default:
			b.Error("the fetch would sleep over it")
		}
	})
}

func TestAPollerEndsWithTheLastFetch(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(10, waiting(3200*time.Millisecond)) // ends between two polls
		synctest.Wait()
		p := b.engine.partition(b.topic, 0)
		p.stream.mu.Lock()
		defer p.stream.mu.Unlock()
		for _, s := range p.sessions {
			if s.running {
				b.Errorf("a goroutine is left at %d", s.position)
			}
		}
	})
}

func TestForeignRecordsAreFoundByPolling(t *testing.T) {
	inBubble(t, Config{}, empty, func(b *bench) {
		b.fetch(0, waiting(5*time.Second))
		b.others.Go(func() {
			time.Sleep(500 * time.Millisecond)
			b.dis.put(0, "from another gateway")
		})
		var got PartitionResponse
		if d := took(func() { got = b.fetch(0, waiting(10*time.Second)) }); d > 1500*time.Millisecond {
			b.Errorf("took %v, polling should be at most a second apart", d)
		}
		if len(offsetsOf(b, got)) != 1 {
			b.Errorf("answer %+v", got)
		}
	})
}

func TestMinBytesIsWaitedForOverAllPartitions(t *testing.T) {
	inBubble(t, Config{}, empty, func(b *bench) {
		b.others.Go(func() {
			for i := range 10 {
				time.Sleep(100 * time.Millisecond)
				partition := i % 2
				b.engine.Advance(b.topic, int32(partition), b.dis.put(partition, string(make([]byte, 100)))+1)
			}
		})
		request := b.request(0, 0)
		request.Partitions = append(request.Partitions, b.request(1, 0).Partitions...)
		request.MinBytes, request.MaxWait = 800, time.Minute
		var got Response
		d := took(func() { got = b.engine.Fetch(context.Background(), request) })
		bytes := len(got.Partitions[0].Records) + len(got.Partitions[1].Records)
		if bytes < 800 || bytes > 1000 || d < 400*time.Millisecond || d > 600*time.Millisecond {
			b.Errorf("%d bytes after %v", bytes, d)
		}
	})
}

func TestCancelledFetchEndsAtOnce(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.hang["GetRecords"] = true }, func(b *bench) {
		ctx, cancel := context.WithCancel(context.Background())
		b.others.Go(func() {
			time.Sleep(time.Second)
			cancel()
		})
		request := b.request(0, 0)
		request.MaxWait = time.Hour
		if d := took(func() { b.engine.Fetch(ctx, request) }); d != time.Second {
			b.Errorf("took %v", d)
		}
	})
}

func TestCloseEndsWaitingFetches(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.hang["GetRecords"] = true }, func(b *bench) {
		b.others.Go(func() {
			time.Sleep(time.Second)
			b.engine.Close()
		})
		if d := took(func() { b.fetch(0, waiting(time.Hour)) }); d != time.Second {
			b.Errorf("took %v", d)
		}
		if got := b.fetch(0); got.Code != 0 || len(got.Records) != 0 {
			b.Errorf("after Close: %+v", got)
		}
	})
}

func TestNobodyWaitingMeansNoReads(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(10, waiting(3*time.Second))
		synctest.Wait()
		before := b.dis.count("GetRecords")
		time.Sleep(time.Hour)
		if n := b.dis.count("GetRecords") - before; n != 0 {
			b.Errorf("%d reads with nobody waiting", n)
		}
	})
}
