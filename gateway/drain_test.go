package gateway

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
)

const grace = 30 * time.Second

// shutdown begins a drain and returns where its outcome will be.
func (b *bench) shutdown() <-chan error {
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	b.t.Cleanup(cancel)
	go func() { done <- b.server.Shutdown(ctx) }()
	return done
}

func TestShutdownWithoutConnectionsIsImmediate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		if b.server.Draining() {
			t.Error("draining before the shutdown")
		}
		began := time.Now()
		if err := <-b.shutdown(); err != nil {
			t.Error(err)
		}
		if !b.server.Draining() || !b.log.closed || time.Since(began) != 0 {
			t.Errorf("draining %v, writes finished %v, after %s", b.server.Draining(), b.log.closed, time.Since(began))
		}
	})
}

func TestShutdownEndsWithTheLastConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		first := b.pipe()
		done := b.shutdown()
		time.Sleep(10 * time.Second)
		second := b.pipe() // new connections are served on
		second.ask(metadataFor(9, "t"))
		first.ask(metadataFor(9, "t"))
		first.nc.Close()
		second.nc.Close()
		began := time.Now()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %s with no connection left", waited)
		}
	})
}

// An operator sees why a stop takes long, and who was cut off.
func TestShutdownIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *Config) { c.Logger = c.Logger.Level(zerolog.InfoLevel) })
		b.pipe().ask(apiVersions(3))
		b.pipe().ask(apiVersions(3))
		if err := <-b.shutdown(); err != nil {
			t.Error(err)
		}
		lines := b.lines.all()
		for i, want := range [][]string{
			{`"connections":2`, `"for_at_most":"` + (grace - b.server.cfg.DrainReserve).String() + `"`, "served on"},
			{`"connections":2`, "closed"},
		} {
			for _, part := range want {
				if i >= len(lines) || !strings.Contains(lines[i], part) {
					t.Errorf("line %d has no %s", i+1, part)
				}
			}
		}
		if len(lines) != 2 {
			t.Errorf("log:\n%s", strings.Join(lines, "\n"))
		}
	})
}

func TestShutdownReleasesWhatWaitsAndFinishesWhatBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.log.fetch = func(ctx context.Context, _ fetch.Request) fetch.Response {
			<-ctx.Done()
			return fetch.Response{Partitions: []fetch.PartitionResponse{{HighWatermark: 3, Records: []byte{}}}}
		}
		b.log.answer = func(_ produce.Batch, done func(produce.Result)) {
			time.AfterFunc(grace-3*time.Second, func() { done(produce.Result{BaseOffset: 5}) })
		}
		member, consumer, producer, idle := b.pipe(), b.pipe(), b.pipe(), b.pipe()
		idle.ask(apiVersions(3))
		joined := member.send(joinHeld())
		fetched := consumer.send(fetchFrom(11, "t", 0, time.Hour))
		produced := producer.send(produceTo("t", 0, 1, []byte("x")))
		began := time.Now()
		done := b.shutdown()

		fetchReply := consumer.receive(fetched, fetchFrom(11, "t", 0, time.Hour)).(*kmsg.FetchResponse)
		if at := time.Since(began); at != grace-5*time.Second || fetchReply.Topics[0].Partitions[0].HighWatermark != 3 {
			t.Errorf("the fetch was released after %s: %+v", at, fetchReply)
		}
		joinReply := member.receive(joined, joinHeld()).(*kmsg.JoinGroupResponse)
		if at := time.Since(began); at != grace-5*time.Second || joinReply.ErrorCode != 16 {
			t.Errorf("the join was released after %s with error %d", at, joinReply.ErrorCode)
		}
		produceReply := producer.receive(produced, produceTo("t", 0, 1, nil)).(*kmsg.ProduceResponse)
		if got := produceReply.Topics[0].Partitions[0]; got.BaseOffset != 5 || got.ErrorCode != 0 {
			t.Errorf("a started write was answered %+v", got)
		}
		for _, c := range []*client{member, consumer, producer, idle} {
			c.closed()
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if at := time.Since(began); at != grace-3*time.Second {
			t.Errorf("the shutdown took %s", at)
		}
		if lines := b.lines.all(); len(lines) != 0 {
			t.Errorf("log %q, want none", lines)
		}
	})
}

// Batches that writes are paced for may wait for longer than the drain has left:
// those that are not begun are answered when reading ends.
func TestShutdownRefusesWhatIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		waiting := make(chan func(produce.Result), 1)
		b.log.answer = func(_ produce.Batch, done func(produce.Result)) { waiting <- done }
		b.log.onClose = func() { (<-waiting)(produce.Result{Code: 6}) }
		c := b.pipe()
		sent := c.send(produceTo("t", 0, 1, []byte("x")))
		began := time.Now()
		done := b.shutdown()
		reply := c.receive(sent, produceTo("t", 0, 1, nil)).(*kmsg.ProduceResponse)
		if code := reply.Topics[0].Partitions[0].ErrorCode; code != 6 {
			t.Errorf("error code %d", code)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if at := time.Since(began); at != grace-b.server.cfg.DrainReserve {
			t.Errorf("the shutdown took %s", at)
		}
	})
}

// drainWithUnread ends a connection that has a reply to come while more requests
// are on their way, and returns the client, which has not read the reply yet.
func drainWithUnread(t *testing.T, b *bench) (c *client, sent int32, done <-chan error) {
	t.Helper()
	began := make(chan func(produce.Result), 1)
	b.log.answer = func(_ produce.Batch, done func(produce.Result)) { began <- done }
	c = dial(t, b.listen())
	c.patience(10 * time.Second)
	sent = c.send(produceTo("t", 0, 1, []byte("x")))
	answer := <-began
	open := b.server.connections()[0]
	ctx, cancel := context.WithTimeout(t.Context(), b.server.cfg.DrainReserve) // nothing is left to serve on
	t.Cleanup(cancel)
	outcome := make(chan error, 1)
	go func() { outcome <- b.server.Shutdown(ctx) }()
	<-open.waits.Done() // reading has ended
	c.send(produceTo("t", 0, 1, []byte("unread")))
	answer(produce.Result{BaseOffset: 5})
	return c, sent, outcome
}

// A connection that is closed with requests unread is reset, and what the client
// has not read yet is lost: a batch that is written would be sent again.
func TestShutdownDoesNotResetConnections(t *testing.T) {
	c, sent, done := drainWithUnread(t, newBench(t))
	reply := c.receive(sent, produceTo("t", 0, 1, nil)).(*kmsg.ProduceResponse)
	if got := reply.Topics[0].Partitions[0]; got.BaseOffset != 5 || got.ErrorCode != 0 {
		t.Errorf("answered %+v", got)
	}
	if _, err := c.nc.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection ended with %v, want a clean end", err)
	}
	if _, err := c.nc.Write([]byte("more")); err != nil {
		t.Errorf("writing behind the end: %v", err)
	}
	c.nc.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A client that does not notice the end holds the shutdown up for a second, not
// for the rest of the grace period.
func TestShutdownDoesNotWaitForSleepers(t *testing.T) {
	b := newBench(t, func(c *Config) { c.DrainReserve = time.Minute })
	_, _, done := drainWithUnread(t, b)
	began := time.Now()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("waited %s for a client that does nothing", took)
	}
}

func TestShutdownCutsOffAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.log.answer = func(produce.Batch, func(produce.Result)) {} // never ends
		c := b.pipe()
		c.send(produceTo("t", 0, 1, []byte("x")))
		began := time.Now()
		err := <-b.shutdown()
		if err == nil || !strings.Contains(err.Error(), "1 connections were cut off") {
			t.Errorf("error %v", err)
		}
		if at := time.Since(began); at != grace {
			t.Errorf("the shutdown took %s of %s", at, grace)
		}
		c.closed()
	})
}

func TestServeReturnsAfterShutdown(t *testing.T) {
	b := newBench(t)
	if err := b.server.Listen(); err != nil {
		t.Fatal(err)
	}
	address := b.server.Addrs()[0].String()
	served := make(chan error, 1)
	go func() { served <- b.server.Serve(t.Context()) }()
	c := dial(t, address)
	c.ask(apiVersions(3))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond) // below the reserve: at once
	defer cancel()
	b.server.Shutdown(ctx) // may or may not make it in time
	c.patience(5 * time.Second)
	c.closed()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	b := newBench(t)
	if err := b.server.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- b.server.Serve(ctx) }()
	c := dial(t, b.server.Addrs()[0].String())
	c.send(joinHeld())
	cancel()
	c.patience(5 * time.Second)
	c.closed()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
