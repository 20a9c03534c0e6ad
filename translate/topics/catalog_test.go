package topics

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func names(all []*translate.Topic) (list []string) {
	for _, t := range all {
		list = append(list, fmt.Sprintf("%s:%d", t.Name, len(t.Partitions)))
	}
	return list
}

func wantTopics(t *testing.T, c *Catalog, want ...string) {
	t.Helper()
	all, err := c.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, names(all)); diff != "" {
		t.Errorf("topics (-want +got):\n%s", diff)
	}
}

func wantPartitions(t *testing.T, c *Catalog, name string, want int) *translate.Topic {
	t.Helper()
	topic, err := c.Topic(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if len(topic.Partitions) != want {
		t.Errorf("topic %s has %d partitions, want %d", name, len(topic.Partitions), want)
	}
	return topic
}

func TestTopicIsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.set("orders", 2)
		got, err := open(t, f).Topic(t.Context(), "orders")
		if err != nil {
			t.Fatal(err)
		}
		want := &translate.Topic{
			Name: "orders", StreamName: "orders", StreamID: "id-orders", ID: TopicID("p", "id-orders"),
			StreamType: wire.StreamCommon, DataType: "BLOB", RetentionHours: 24, CreatedAt: 1000,
			Partitions: []translate.Partition{{Status: wire.PartitionActive}, {Status: wire.PartitionActive}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestKnownTopicIsServedFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantPartitions(t, c, "a", 1)
		synctest.Wait()
		_, before := f.counts("a")
		started := time.Now()
		for range 10_000 {
			wantPartitions(t, c, "a", 1)
		}
		if waited := time.Since(started); waited != 0 {
			t.Errorf("lookups waited %v", waited)
		}
		if _, after := f.counts("a"); after != before {
			t.Errorf("%d describes, want none", after-before)
		}
	})
}

func TestMissingTopicStormCostsOneDescribePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := open(t, f)
		storm := func() {
			var clients sync.WaitGroup
			for range 500 {
				clients.Go(func() {
					if _, err := c.Topic(t.Context(), "nope"); !dis.HasCode(err, wire.CodeStreamNotFound) {
						t.Errorf("got %v, want stream not found", err)
					}
				})
			}
			clients.Wait()
		}
		for range 10 {
			storm()
			time.Sleep(50 * time.Millisecond)
		}
		if _, describes := f.counts("nope"); describes != 1 {
			t.Errorf("%d describes within a second, want 1", describes)
		}
		time.Sleep(time.Second)
		f.set("nope", 3) // made elsewhere
		wantPartitions(t, c, "nope", 3)
	})
}

func TestUnknownTopicWhileDISIsDownIsNotCalledMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.failWith(errDown)
		c := open(t, f)
		_, err := c.Topic(t.Context(), "a")
		if !errors.Is(err, errDown) || dis.HasCode(err, wire.CodeStreamNotFound) {
			t.Errorf("got %v, want the connection's failure", err)
		}
		if _, err := c.Topics(t.Context()); !errors.Is(err, errDown) {
			t.Errorf("list: got %v, want the connection's failure", err)
		}
	})
}

func TestStaleIsServedWhileDISIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "b")
		c := open(t, f)
		wantTopics(t, c, "a:1", "b:1")
		f.failWith(errDown)
		for range 20 {
			time.Sleep(time.Minute / 2)
			c.Invalidate("a")
			wantPartitions(t, c, "a", 1)
			wantTopics(t, c, "a:1", "b:1")
		}
		f.failWith(nil)
		f.set("b", 4)
		time.Sleep(2 * time.Minute)
		wantTopics(t, c, "a:1", "b:4")
	})
}

func TestListingDoesNotWaitForADISThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantTopics(t, c, "a:1")
		f.failWith(errDown)
		time.Sleep(10 * time.Second)
		f.slow(9 * time.Second) // as if connecting hung
		started := time.Now()
		for range 100 {
			wantTopics(t, c, "a:1")
		}
		if waited := time.Since(started); waited != 0 {
			t.Errorf("waited %v for a DIS that is known to be down", waited)
		}
	})
}

func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("new", "old", "gone", "frozen", "fine")
		state := func(name string, status wire.StreamStatus) {
			f.change(name, func(d *wire.DescribeStreamResponse) { d.Status = status })
		}
		state("new", wire.StreamCreating)
		state("old", wire.StreamTerminating)
		state("gone", wire.StreamTerminated)
		state("frozen", wire.StreamFrozen)
		c := open(t, f)
		wantTopics(t, c, "fine:1", "frozen:1", "new:0")
		if _, err := c.Topic(t.Context(), "new"); !errors.Is(err, translate.ErrNotReady) {
			t.Errorf("CREATING: got %v", err)
		}
		for _, name := range []string{"old", "gone"} {
			if _, err := c.Topic(t.Context(), name); !dis.HasCode(err, wire.CodeStreamNotFound) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if _, err := c.Topic(t.Context(), "a.b"); !errors.Is(err, translate.ErrInvalidName) {
			t.Errorf("name: got %v", err)
		}
	})
}

func TestCallerThatGoesAwayDoesNotEndTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := c.Topic(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		_, before := f.counts("a")
		wantPartitions(t, c, "a", 1)
		if _, after := f.counts("a"); after != before {
			t.Error("the first caller's answer was thrown away")
		}
	})
}

func TestInvalidateAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantPartitions(t, c, "a", 1)
		f.set("a", 2)
		c.Invalidate("a")
		wantPartitions(t, c, "a", 2)
		c.Invalidate("never heard of")
	})
}

// An answer to a question asked before the change must not hide the change.
func TestInvalidateOverridesADescribeUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantPartitions(t, c, "a", 1)
		time.Sleep(time.Second)
		c.Invalidate("a")
		old := make(chan *translate.Topic, 1)
		go func() {
			topic, err := c.Topic(t.Context(), "a")
			if err != nil {
				t.Error(err)
			}
			old <- topic
		}()
		synctest.Wait()
		f.set("a", 2)
		c.Invalidate("a")
		wantPartitions(t, c, "a", 2)
		<-old
		wantPartitions(t, c, "a", 2)
	})
}

func TestCloseEndsCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "b")
		c := New(Config{}, f)
		wantPartitions(t, c, "a", 1)
		f.slow(time.Hour)
		ended := make(chan error, 1)
		go func() {
			_, err := c.Topic(t.Context(), "b")
			ended <- err
		}()
		synctest.Wait()
		started := time.Now()
		c.Close()
		if err := <-ended; err == nil || time.Since(started) != 0 {
			t.Errorf("ended with %v after %v", err, time.Since(started))
		}
		wantPartitions(t, c, "a", 1) // from memory
		if _, err := c.Topic(t.Context(), "c"); !errors.Is(err, errClosed) {
			t.Errorf("got %v, want %v", err, errClosed)
		}
	})
}

// Exists, Count and Known tell from memory what there is, and ask nobody.
func TestExistsAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("orders", "clicks")
		c := open(t, f)
		if c.Exists("orders") || c.Count() != 0 || len(c.Known()) != 0 {
			t.Error("a topic is there before DIS was asked")
		}
		if lists, describes := f.counts("orders"); lists+describes != 0 {
			t.Errorf("%d lists, %d describes", lists, describes)
		}
		wantTopics(t, c, "clicks:1", "orders:1")
		if _, err := c.Topic(t.Context(), "missing"); err == nil {
			t.Error("a missing topic was found")
		}
		if !c.Exists("orders") || c.Exists("missing") || c.Count() != 2 {
			t.Errorf("orders %v, missing %v, %d topics", c.Exists("orders"), c.Exists("missing"), c.Count())
		}
		f.change("orders", nil)
		wantPartitions(t, c, "clicks", 1) // the catalog is in use
		time.Sleep(time.Minute)
		lists, _ := f.counts("orders")
		if known := c.Known(); c.Exists("orders") || !c.Exists("clicks") || c.Count() != 1 || len(known) != 1 || known[0].Name != "clicks" {
			t.Errorf("orders %v, clicks %v, %d topics", c.Exists("orders"), c.Exists("clicks"), c.Count())
		}
		time.Sleep(c.cfg.IdleAfter + time.Minute) // nobody uses it but for a look
		settled, _ := f.counts("orders")
		for range 100 {
			c.Known()
			time.Sleep(c.cfg.Refresh)
		}
		if after, _ := f.counts("orders"); after != settled || settled == lists {
			t.Errorf("%d lists while somebody looked at what is known, after %d and %d before", after, settled, lists)
		}
	})
}
