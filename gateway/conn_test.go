package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
)

func panicOn(topic string) func(context.Context, string) error {
	return func(_ context.Context, name string) error {
		if name == topic {
			panic("as ordered")
		}
		return nil
	}
}

// blockOn makes lookups of one topic wait until open is closed or the caller
// gives up.
func blockOn(topic string, open <-chan struct{}) func(context.Context, string) error {
	return func(ctx context.Context, name string) error {
		if name != topic {
			return nil
		}
		select {
		case <-open:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestRepliesLeaveInRequestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		open := make(chan struct{})
		b.catalog.lookup = blockOn("t", open)
		c := b.pipe()
		requests := []kmsg.Request{metadataFor(9, "t"), metadataFor(9), apiVersions(3), &kmsg.HeartbeatRequest{Version: 3}, metadataFor(1, "t")}
		var ids []int32
		for _, req := range requests {
			ids = append(ids, c.send(req))
		}
		synctest.Wait()
		if b.groups.joins() != 1 {
			t.Error("the heartbeat was not handled while an earlier request waits")
		}
		close(open)
		for i, req := range requests {
			c.receive(ids[i], req)
		}
	})
}

func TestAtMost1000RequestsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.pipe()
		const sent = maxInFlight + 5
		go func() {
			for range sent {
				if _, err := c.nc.Write(c.encode(joinHeld())); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if got := b.groups.joins(); got != maxInFlight {
			t.Fatalf("%d requests were taken, want %d", got, maxInFlight)
		}
		b.groups.release(2)
		for i := range int32(2) {
			c.receive(i+1, joinHeld())
		}
		synctest.Wait()
		if got := b.groups.joins(); got != maxInFlight+2 {
			t.Errorf("%d requests were taken after two replies, want %d", got, maxInFlight+2)
		}
	})
}

func TestAtMost16MiBInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.pipe()
		large := joinHeld()
		protocol := kmsg.NewJoinGroupRequestProtocol()
		protocol.Name, protocol.Metadata = "range", make([]byte, 5<<20)
		large.Protocols = append(large.Protocols, protocol)
		go func() {
			for range 5 {
				if _, err := c.nc.Write(c.encode(large)); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if got := b.groups.joins(); got != 3 {
			t.Errorf("%d requests of 5 MiB were taken, want 3", got)
		}
	})
}

// Batches of a client that sends a request for each partition must not wait for
// those of a paced one.
func TestAtMost96MiBOfRecordsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.log.answer = func(produce.Batch, func(produce.Result)) {} // DIS is silent
		c := b.pipe()
		go func() {
			for range 8 {
				if _, err := c.nc.Write(c.encode(produceTo("t", 0, 1, make([]byte, 15<<20)))); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if got := len(b.log.submitted); got != 6 {
			t.Errorf("%d batches of 15 MiB were taken, want 6", got)
		}
	})
}

func TestAFrameAboveTheBoundPassesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.pipe()
		join := c.send(joinHeld())
		req := produceTo("t", 0, 1, make([]byte, 99<<20))
		go c.nc.Write(c.encode(req))
		synctest.Wait()
		if n := len(b.log.submitted); n != 0 {
			t.Fatal("a frame of 99 MiB was taken beside another request")
		}
		b.groups.release(1)
		c.receive(join, joinHeld())
		c.receive(join+1, req)
		if n := len(b.log.submitted); n != 1 {
			t.Errorf("%d batches submitted, want 1", n)
		}
	})
}

func TestIdleConnectionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.pipe()
		c.ask(apiVersions(0))
		began := time.Now()
		c.closed()
		if idle := time.Since(began); idle != 10*time.Minute {
			t.Errorf("closed after %s", idle)
		}
		if lines := b.lines.all(); len(lines) != 0 {
			t.Errorf("an idle close is nothing to log: %q", lines)
		}
	})
}

func TestConnectionWithWaitingRequestIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.pipe()
		id := c.send(joinHeld())
		time.Sleep(25 * time.Minute)
		b.groups.release(1)
		c.receive(id, joinHeld())
		began := time.Now()
		c.closed()
		if idle := time.Since(began); idle > 10*time.Minute {
			t.Errorf("closed %s after the reply", idle)
		}
	})
}

func TestStalledFrameIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.pipe()
		began := time.Now()
		c.nc.Write(frame(90<<20, 0, 7, 0, 0, 0, 1))
		c.closed()
		if stalled := time.Since(began); stalled != frameTime {
			t.Errorf("cut off after %s", stalled)
		}
		if b.log.reserved() != 0 {
			t.Errorf("%d bytes of the produce buffer are still held", b.log.reserved())
		}
		if lines := b.lines.all(); len(lines) != 1 {
			t.Errorf("log %q, want one line", lines)
		}
	})
}

// A frame has to arrive in time as a whole: bytes that dribble do not help it.
func TestDribblingFrameIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.pipe()
		began := time.Now()
		c.nc.Write(frame(90<<20, 0, 7, 0, 0, 0, 1))
		ended := make(chan time.Duration, 1)
		go func() {
			c.closed()
			ended <- time.Since(began)
		}()
		for came := int64(0); ; came += 2 << 20 {
			if held := b.log.reserved(); held > max(2*came, frameStart+frameChunk) {
				t.Errorf("%d bytes of the produce buffer are held after %d came", held, came)
			}
			time.Sleep(7 * time.Second)
			if _, err := c.nc.Write(make([]byte, 2<<20)); err != nil {
				break
			}
			synctest.Wait()
		}
		if took := <-ended; took != frameTime {
			t.Errorf("cut off after %s", took)
		}
		synctest.Wait()
		if b.log.reserved() != 0 {
			t.Errorf("%d bytes of the produce buffer are still held", b.log.reserved())
		}
	})
}

// Frames that are announced and do not come leave the produce buffer to others,
// and the time that a frame waits for its room is not counted against it.
func TestDribblingFramesLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.log.rooms = produce.New(produce.Config{BufferBytes: 2 << 20}, nil)
		for range 3 {
			b.pipe().nc.Write(frame(90<<20, 0, 7, 0, 0, 0, 1))
		}
		synctest.Wait()
		b.pipe().ask(produceTo("t", 0, -1, make([]byte, 200<<10)))

		full := b.log.rooms.NewRoom()
		if err := full.Grow(t.Context(), 1<<20-3*frameStart); err != nil {
			t.Fatal(err)
		}
		late := b.pipe()
		answered := make(chan time.Time, 1)
		go func() {
			late.ask(produceTo("t", 0, -1, make([]byte, 10<<10)))
			answered <- time.Now()
		}()
		time.Sleep(frameTime - time.Second)
		synctest.Wait()
		if len(answered) != 0 {
			t.Fatal("answered while the buffer is full")
		}
		time.Sleep(2 * time.Second) // the dribbling ones are gone
		synctest.Wait()
		if len(answered) != 1 {
			t.Error("not answered when there is room")
		}
		full.Release()
	})
}

func TestWaitingWorkEndsWithItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ended := make(chan error, 1)
		b.log.fetch = func(ctx context.Context, _ fetch.Request) fetch.Response {
			<-ctx.Done()
			ended <- ctx.Err()
			return fetch.Response{Partitions: make([]fetch.PartitionResponse, 1)}
		}
		c := b.pipe()
		c.send(fetchFrom(11, "t", 0, time.Hour))
		c.send(joinHeld())
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("fetch ended with %v", err)
			}
		default:
			t.Error("the fetch of a dead connection goes on")
		}
		if b.groups.contexts[0].Err() == nil {
			t.Error("the context of the join is still alive")
		}
	})
}

func TestProduceGoesOnWithoutItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		open := make(chan struct{})
		b.catalog.lookup = blockOn("t", open)
		c := b.pipe()
		c.send(produceTo("t", 0, 0, []byte("first")))
		c.send(produceTo("t", 1, 0, []byte("second")))
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		close(open)
		synctest.Wait()
		if n := len(b.log.submitted); n != 2 {
			t.Errorf("%d of 2 batches of a client that went away were written", n)
		}
		if b.log.reserved() != 0 {
			t.Errorf("%d bytes of the produce buffer are lost", b.log.reserved())
		}
	})
}

func TestProduceOrderSurvivesASlowLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.catalog.topics["slow"] = topicOf("slow", 1)
		open := make(chan struct{})
		b.catalog.lookup = blockOn("slow", open)
		c := b.pipe()
		first, second := produceTo("slow", 0, 1, []byte("a")), produceTo("t", 0, 1, []byte("b"))
		ids := []int32{c.send(first), c.send(second), c.send(&kmsg.HeartbeatRequest{Version: 3})}
		synctest.Wait()
		if b.groups.joins() != 1 || len(b.log.submitted) != 0 {
			t.Errorf("%d heartbeats and %d batches passed, want 1 and 0", b.groups.joins(), len(b.log.submitted))
		}
		close(open)
		c.receive(ids[0], first)
		c.receive(ids[1], second)
		if got := string(b.log.submitted[0].Records) + string(b.log.submitted[1].Records); got != "ab" {
			t.Errorf("batches reached the writer as %q", got)
		}
	})
}

func TestThrottledClientIsMuted(t *testing.T) {
	for _, member := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.log.answer = func(_ produce.Batch, done func(produce.Result)) {
				go done(produce.Result{BaseOffset: 7, ThrottleTime: 3 * time.Second})
			}
			c := b.pipe()
			if member {
				c.ask(&kmsg.HeartbeatRequest{Version: 3})
			}
			resp := c.ask(produceTo("t", 0, 1, []byte("x"))).(*kmsg.ProduceResponse)
			want := 3 * time.Second
			if member {
				want = 0 // for the client too: it would hold its heartbeats back
			}
			if got := time.Duration(resp.ThrottleMillis) * time.Millisecond; got != want {
				t.Errorf("group member %v: throttle time %v, want %v", member, got, want)
			}
			began := time.Now()
			c.ask(apiVersions(3))
			if waited := time.Since(began); waited != want {
				t.Errorf("group member %v: the next request waited %s, want %s", member, waited, want)
			}
		})
	}
}

// TestThrottleTimeIsTheLeastOfTheRequest: a client that writes to other partitions
// too is not held up for one.
func TestThrottleTimeIsTheLeastOfTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.log.answer = func(batch produce.Batch, done func(produce.Result)) {
			go done(produce.Result{ThrottleTime: time.Duration(2-batch.Partition) * time.Second})
		}
		c := b.pipe()
		req := produceTo("t", 0, 1, []byte("x"))
		for want := 2000; want >= 0; want -= 1000 {
			if got := c.ask(req).(*kmsg.ProduceResponse).ThrottleMillis; int(got) != want {
				t.Errorf("%d partitions: throttle time %d ms, want %d", len(req.Topics[0].Partitions), got, want)
			}
			other := kmsg.NewProduceRequestTopicPartition()
			other.Partition, other.Records = int32(len(req.Topics[0].Partitions)), []byte("x")
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, other)
		}
	})
}

// TestProduceKnowsItsTurn: a request that was sent ahead has its turn when the one
// before it is answered, and it has arrived when it was there, muted or not.
func TestProduceKnowsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var answers []func(produce.Result)
		b.log.answer = func(_ produce.Batch, done func(produce.Result)) { answers = append(answers, done) }
		c := b.pipe()
		begin := time.Now()
		ids := []int32{c.send(produceTo("t", 0, 1, []byte("x"))), c.send(produceTo("t", 0, 1, []byte("x")))}
		synctest.Wait()
		want := func(batch int, since time.Time, come bool) {
			t.Helper()
			if at, ok := b.log.submitted[batch].Turn(); ok != come || !at.Equal(since) {
				t.Errorf("turn of batch %d: %v after %v; want %v after %v", batch, ok, at.Sub(begin), come, since.Sub(begin))
			}
		}
		want(0, begin, true)
		want(1, time.Time{}, false)
		time.Sleep(3 * time.Second)
		answers[0](produce.Result{ThrottleTime: 2 * time.Second})
		c.receive(ids[0], produceTo("t", 0, 1, nil))
		synctest.Wait()
		want(1, begin.Add(3*time.Second), true)
		sent := time.Now()
		third := c.send(produceTo("t", 0, 1, []byte("x")))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if batch := b.log.submitted[2]; !batch.Arrived.Equal(sent) || batch.Timeout > 13*time.Second {
			t.Errorf("arrived %v late, with %v left", batch.Arrived.Sub(sent), batch.Timeout)
		}
		answers[1](produce.Result{})
		answers[2](produce.Result{})
		c.receive(ids[1], produceTo("t", 0, 1, nil))
		c.receive(third, produceTo("t", 0, 1, nil))
	})
}

func TestNoReplyWithAcksZero(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	c.send(produceTo("t", 0, 0, make([]byte, 100)))
	c.ask(apiVersions(3)) // would meet the wrong correlation id
	c.send(produceTo("t", 99, 0, make([]byte, 100)))
	c.patience(5 * time.Second)
	c.closed()
	if lines := b.lines.all(); len(lines) != 1 {
		t.Errorf("log %q, want one line", lines)
	}
	b.log.mu.Lock()
	defer b.log.mu.Unlock()
	for _, batch := range b.log.submitted {
		if !batch.Silent {
			t.Errorf("the writer takes it that somebody waits for %+v", batch)
		}
	}
}

func TestRepliesBeforeAFailureStillLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.pipe()
		ids := []int32{c.send(joinHeld()), c.send(apiVersions(3))}
		c.send(produceTo("t", 99, 0, make([]byte, 100))) // fails, and acks=0 leaves no other way to say so
		synctest.Wait()
		b.groups.release(1)
		c.receive(ids[0], joinHeld())
		c.receive(ids[1], apiVersions(3))
		began := time.Now()
		if c.closed(); time.Since(began) != 0 {
			t.Errorf("closed only %s later", time.Since(began))
		}
	})
}

func TestNullClientID(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	for _, version := range []int16{0, 3} {
		req := &kmsg.HeartbeatRequest{Version: version + 1}
		if _, err := c.nc.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 9)); err != nil {
			t.Fatal(err)
		}
		c.receive(9, req)
	}
	if id := b.groups.clients[0]; id.ID != "" || id.Host != "/127.0.0.1" {
		t.Errorf("client %+v", id)
	}
}

func TestReadRestAllocatesAsBytesArrive(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		w.Write(make([]byte, 10))
		w.Close()
	}()
	chunks := 0
	if _, err := readRest(r, prefix{length: maxProduceFrame}, frameSteps{noSteps.grow, func() { chunks++ }}); err == nil {
		t.Error("a frame cut short was accepted")
	}
	if chunks != 1 {
		t.Errorf("%d chunks were allocated for 10 bytes of a frame of 100 MiB", chunks)
	}
}

// A frame that is announced and does not come costs next to nothing.
func TestAnnouncedFrameIsNotAllocated(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := readRest(strings.NewReader("short"), prefix{length: maxProduceFrame}, noSteps); err == nil {
		t.Error("a frame cut short was accepted")
	}
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 2*frameStart {
		t.Errorf("%d bytes were allocated for 5", spent)
	}
}

func TestReadRestOfAnySize(t *testing.T) {
	for _, size := range []int{0, 1, frameStart - 1, frameStart, frameStart + 1, frameChunk, frameChunk + frameStart, 5*frameChunk + 3} {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i * 31 >> 3)
		}
		got, err := readRest(bytes.NewReader(want), prefix{length: size + prefixBytes - 4}, noSteps)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d came, error %v", size, len(got), err)
		}
	}
}
