package produce

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

func TestBudgetIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(10)
		ctx := t.Context()
		if err := b.acquire(ctx, 8); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []int64
		for _, bytes := range []int64{5, 1, 2} {
			go func() {
				if err := b.acquire(ctx, bytes); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, bytes)
				mu.Unlock()
			}()
			synctest.Wait()
		}
		if len(order) != 0 || b.tryAcquire(1) {
			t.Error("a small claim overtook a large one")
		}
		b.release(4)
		synctest.Wait()
		if len(order) != 2 || b.inUse() != 10 {
			t.Errorf("granted %v, %d in use", order, b.inUse())
		}
		b.charge(20) // beyond the capacity
		b.release(4)
		synctest.Wait()
		if len(order) != 2 {
			t.Errorf("granted %v while more than everything is in use", order)
		}
		b.release(26)
		synctest.Wait()
		if len(order) != 3 || b.inUse() != 2 {
			t.Errorf("granted %v, %d in use", order, b.inUse())
		}
	})
}

func TestBudgetForgetsWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(10)
		if err := b.acquire(t.Context(), 8); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		small := make(chan error, 1)
		go func() {
			time.Sleep(time.Millisecond)
			small <- b.acquire(t.Context(), 2)
		}()
		if err := b.acquire(ctx, 5); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if err := <-small; err != nil || b.inUse() != 10 {
			t.Errorf("the one behind: %v, %d in use", err, b.inUse())
		}
	})
}

func zipped(t *testing.T, values ...string) []byte {
	var all []record.Positioned
	for i, v := range values {
		all = append(all, record.Positioned{Offset: int64(i), Record: record.Record{Value: []byte(v)}})
	}
	return batchOf(t, record.CodecGzip, all)
}

// Payloads are charged while they are open, and a batch that finds no room waits
// for its turn while the others of its stream go on.
func TestPayloadsWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.BufferBytes = 2 << 20 }) // 1 MiB for payloads
		r.dis.script = func(call int, put *wire.PutRecordsRequest) fate {
			if len(put.Records[0].Data) > 1000 {
				return fate{wait: 2 * time.Second}
			}
			return fate{}
		}
		big := strings.Repeat("x", 700<<10)
		first := r.submit(Batch{Partition: 0, Records: zipped(t, big)})
		synctest.Wait()
		if used := r.engine.Metrics().BufferedBytes; used < 700<<10 || used > 1<<20 {
			t.Errorf("%d bytes charged for an open payload", used)
		}
		// Another one of the size waits, with half of the buffer empty.
		if filled := r.engine.Metrics().BufferFilled; filled < 0.68 || filled > 1 {
			t.Errorf("the fuller half is said to be filled to %v", filled)
		}
		start := time.Now()
		second := r.submit(Batch{Partition: 1, Records: zipped(t, big)})
		hopeless := r.submit(Batch{Partition: 2, Records: zipped(t, big), Timeout: time.Second})
		r.send(3, "not compressed").want(0, 0)
		if time.Since(start) != 0 {
			t.Error("a batch that needs no room waited for it")
		}
		if got := hopeless.wait(); got.Code != 19 || time.Since(start) != 800*time.Millisecond {
			t.Errorf("after %v: %+v", time.Since(start), got)
		}
		first.want(0, 0)
		second.want(0, 0)
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("the second took %v; want it after the first", took)
		}
	})
}

func TestABatchLargerThanAllRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.BufferBytes = 2 << 20 })
		r.submit(Batch{Records: zipped(t, strings.Repeat("x", 600<<10), strings.Repeat("y", 600<<10))}).want(10, -1)
	})
}

// What is written on after its answer stays charged when the gateway has
// released the frame.
func TestLateBatchesStayCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.script = onCall(map[int]fate{1: {wait: 10 * time.Second}})
		raw := plain(t, strings.Repeat("x", 5000))
		r.submit(Batch{Records: raw, Timeout: time.Second}).want(7, -1)
		if used := r.engine.Metrics().BufferedBytes; used != int64(len(raw)) {
			t.Errorf("%d bytes charged, want %d", used, len(raw))
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if used := r.engine.Metrics().BufferedBytes; used != 0 {
			t.Errorf("%d bytes charged after it was written", used)
		}
	})
}

// Idle partitions and streams leave nothing behind.
func TestIdleStreamsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for p := range int32(4) {
			r.send(p, "x").want(0, 0)
		}
		synctest.Wait()
		if n := len(r.engine.streams); n != 0 {
			t.Errorf("%d streams are kept", n)
		}
	})
}

// TestAnExpiredBatchLeavesTheQueue: behind a DIS that does not answer, what was
// dropped at its deadline holds on to no memory.
func TestAnExpiredBatchLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.MaxInFlight = 1 })
		r.dis.latency = 5 * time.Second
		hung := r.send(0, "hung")
		synctest.Wait()
		dropped := r.submit(Batch{Partition: 1, Records: plain(t, "dropped"), Timeout: time.Second})
		kept := r.send(1, "kept")
		if got := dropped.wait(); got.Code != kerr.NotEnoughReplicas.Code {
			t.Errorf("%+v", got)
		}
		r.engine.mu.Lock()
		for _, queued := range onlyStream(r.engine).queue.chunks {
			for _, it := range queued.items {
				if it.batch.finished {
					t.Error("the queue still holds a record of what was dropped")
				}
			}
			for _, b := range queued.writer.open {
				if b.finished {
					t.Error("the writer still holds what was dropped")
				}
			}
		}
		r.engine.mu.Unlock()
		hung.want(0, 0)
		kept.want(0, 0)
	})
}

// TestWhoWasAnsweredIsForgotten: a batch that is still being written holds on to
// nothing of the requests that asked for it, the first and every repeat.
func TestWhoWasAnsweredIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = 15 * time.Second
		id, epoch := r.engine.NewProducerID()
		batch := sequencedBatch(t, id, epoch, 0, "late")
		var requests []weak.Pointer[[1 << 20]byte]
		for i := range 3 {
			request := new([1 << 20]byte)
			requests = append(requests, weak.Make(request))
			told := make(chan int16)
			repeated := Batch{Topic: r.topic, Records: batch, Version: 9, Timeout: time.Second}
			if i > 0 {
				repeated.Turn = func() (time.Time, bool) { return time.Now(), request[0] == 0 }
			}
			r.engine.Submit([]Batch{repeated}, func(_ int, result Result) {
				request[0] = 1
				told <- result.Code
			})
			if code := <-told; code != kerr.RequestTimedOut.Code {
				t.Errorf("code %d", code)
			}
		}
		synctest.Wait()
		runtime.GC()
		for i, request := range requests {
			if request.Value() != nil {
				t.Errorf("request %d is still in memory", i)
			}
		}
	})
}

func onlyStream(e *Engine) *stream {
	for _, s := range e.streams {
		return s
	}
	return nil
}
