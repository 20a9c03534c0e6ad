package topics

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func idOf(stream string) [16]byte { return TopicID("p", stream) }

func wantID(t *testing.T, c *Catalog, stream, name string) {
	t.Helper()
	topic, err := c.TopicByID(t.Context(), idOf(stream))
	if err != nil || topic.Name != name || topic.StreamID != stream || topic.ID != idOf(stream) {
		t.Errorf("topic id of stream %s: %+v, %v, want topic %s", stream, topic, err, name)
	}
}

func wantUnknownID(t *testing.T, c *Catalog, stream string) {
	t.Helper()
	if topic, err := c.TopicByID(t.Context(), idOf(stream)); !errors.Is(err, translate.ErrUnknownID) {
		t.Errorf("topic id of stream %s: %+v, %v, want it unknown", stream, topic, err)
	}
}

// The ids are part of the contract with clients: they must not change with the
// program. The value was computed with Python's uuid.uuid5.
func TestTopicIDIsUUIDv5(t *testing.T) {
	const want = "0ORkFKsEUfKduORl3-jfvA"
	if got := translate.IDText(TopicID("project-1", "stream-1")); got != want {
		t.Errorf("id %s, want %s", got, want)
	}
	if TopicID("project-1", "") != [16]byte{} {
		t.Error("an id without a stream id")
	}
	if TopicID("a", "s") == TopicID("b", "s") {
		t.Error("streams of two projects have one id")
	}
}

func TestKnownIDIsServedFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantPartitions(t, c, "a", 1)
		synctest.Wait()
		lists, describes := f.counts("a")
		started := time.Now()
		for range 10_000 {
			wantID(t, c, "id-a", "a")
		}
		if waited := time.Since(started); waited != 0 {
			t.Errorf("lookups waited %v", waited)
		}
		if l, d := f.counts("a"); l != lists || d != describes {
			t.Errorf("%d lists, %d describes more", l-lists, d-describes)
		}
	})
}

// A client comes back after a restart of the gateway and asks by id before it
// asks for metadata.
func TestIDAfterRestart(t *testing.T) {
	for _, tc := range []struct {
		name    string
		listIDs bool
		others  int // describes of streams that nobody asked for
	}{
		{"the list shows ids", true, 0},
		{"the list shows no ids", false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake("a", "b", "c")
				f.listIDs = tc.listIDs
				c := open(t, f)
				wantID(t, c, "id-b", "b")
				wantID(t, c, "id-b", "b")
				if lists, describes := f.counts("b"); lists > 2 || describes != 1 {
					t.Errorf("%d lists, %d describes", lists, describes)
				}
				if _, describes := f.counts("a"); describes != tc.others {
					t.Errorf("%d describes of another stream, want %d", describes, tc.others)
				}
				wantID(t, c, "id-c", "c")
				f.set("d", 1) // later streams are nobody's business again
				for range 6 {
					time.Sleep(5 * time.Second)
					wantID(t, c, "id-c", "c")
				}
				if _, describes := f.counts("d"); describes != 0 {
					t.Errorf("%d describes of a stream that nobody asked for", describes)
				}
			})
		})
	}
}

// A list that began before the question does not identify every stream.
func TestIDWhileAListIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "b")
		f.slow(time.Second)
		c := open(t, f)
		go func() {
			if _, err := c.Topic(t.Context(), "a"); err != nil { // starts the refreshing
				t.Error(err)
			}
		}()
		synctest.Wait()
		wantID(t, c, "id-b", "b")
	})
}

func TestUnknownIDsCostOneListPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		for i := range 1000 {
			wantUnknownID(t, c, fmt.Sprintf("never-%d", i))
			time.Sleep(10 * time.Millisecond)
		}
		if lists, describes := f.counts("a"); lists > 12 || describes > 12 {
			t.Errorf("%d lists, %d describes in 10 s", lists, describes)
		}
	})
}

func TestZeroIDIsUnknownWithoutAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		started := time.Now()
		if _, err := c.TopicByID(t.Context(), [16]byte{}); !errors.Is(err, translate.ErrUnknownID) {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(started); waited != 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

// An id that another gateway made known is found though it was unknown before.
func TestIDOfAStreamMadeElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantUnknownID(t, c, "id-b")
		f.set("b", 1)
		time.Sleep(1100 * time.Millisecond)
		wantID(t, c, "id-b", "b")
	})
}

func TestRecreatedStreamGetsANewID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantID(t, c, "id-a", "a")
		f.recreate("a", "second", 5000)
		c.Invalidate("a")
		wantUnknownID(t, c, "id-a")
		wantID(t, c, "second", "a")
		lists, describes := f.counts("a")
		started := time.Now()
		for range 1000 {
			wantUnknownID(t, c, "id-a")
		}
		if waited := time.Since(started); waited != 0 {
			t.Errorf("waited %v for an id of the past", waited)
		}
		if l, d := f.counts("a"); l != lists || d != describes {
			t.Errorf("%d lists and %d describes for an id of the past", l-lists, d-describes)
		}
	})
}

func TestDeletedStreamsIDIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "b")
		c := open(t, f)
		wantID(t, c, "id-a", "a")
		f.change("a", nil)
		time.Sleep(6 * time.Second)
		wantUnknownID(t, c, "id-a")
		for range 100 { // 10 s of a consumer that does not give up
			wantUnknownID(t, c, "id-a")
			time.Sleep(100 * time.Millisecond)
		}
		if lists, describes := f.counts("a"); lists > 8 || describes > 14 {
			t.Errorf("%d lists, %d describes", lists, describes)
		}
	})
}

func TestStaleTopicIsServedByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantID(t, c, "id-a", "a")
		f.failWith(errDown)
		for range 20 {
			time.Sleep(time.Minute / 2)
			c.Invalidate("a")
			wantID(t, c, "id-a", "a")
		}
	})
}

// UNKNOWN_TOPIC_ID makes producers give records up, so a DIS that does not
// answer must not look like it.
func TestUnknownIDWhileDISIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.failWith(errDown)
		c := open(t, f)
		for range 100 {
			if _, err := c.TopicByID(t.Context(), idOf("id-a")); !errors.Is(err, errDown) || errors.Is(err, translate.ErrUnknownID) {
				t.Fatalf("got %v, want the connection's failure", err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if lists, _ := f.counts("a"); lists > 8 {
			t.Errorf("%d lists in 5 s of an outage", lists)
		}
		f.failWith(nil)
		time.Sleep(time.Second)
		wantID(t, c, "id-a", "a")
	})
}

func TestUnknownIDWhileAStreamIsNotDescribed(t *testing.T) {
	for _, tc := range []struct {
		name    string
		failure error
		unknown bool
	}{
		{"no answer: the id may be that of the stream", errDown, false},
		{"refused: it is of no use anyway", refusal("DescribeStream", wire.CodeForbidden), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake("a", "b")
				f.describeFails("b", tc.failure)
				c := open(t, f)
				_, err := c.TopicByID(t.Context(), idOf("id-b"))
				if errors.Is(err, translate.ErrUnknownID) != tc.unknown || err == nil {
					t.Errorf("got %v", err)
				}
				wantID(t, c, "id-a", "a")
			})
		})
	}
}

func TestDescribeWithoutAStreamID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "b")
		c := open(t, f)
		wantPartitions(t, c, "a", 1)
		for _, name := range []string{"a", "b"} {
			f.change(name, func(d *wire.DescribeStreamResponse) { d.StreamID = "" })
		}
		c.Invalidate("a")
		wantID(t, c, "id-a", "a") // known of the same stream: the creation time is equal
		if _, err := c.Topic(t.Context(), "b"); !errors.Is(err, translate.ErrNoStreamID) {
			t.Errorf("never known: got %v", err)
		}
		f.recreate("a", "", 7000)
		c.Invalidate("a")
		if topic, err := c.Topic(t.Context(), "a"); !errors.Is(err, translate.ErrNoStreamID) {
			t.Errorf("another stream: got %+v, %v", topic, err)
		}
		wantTopics(t, c, "a:0", "b:0")
		f.recreate("b", "id-b", 1000) // now DIS tells
		time.Sleep(6 * time.Second)
		wantID(t, c, "id-b", "b")
	})
}

// The list shows another stream, and DIS fails to describe it: what is in
// memory is not stale but wrong.
func TestReplacedStreamIsNotServed(t *testing.T) {
	for _, listIDs := range []bool{false, true} {
		t.Run(fmt.Sprintf("list with ids: %t", listIDs), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake("a", "b")
				f.listIDs = listIDs
				c := open(t, f)
				wantTopics(t, c, "a:1", "b:1")
				f.recreate("a", "second", 5000)
				f.describeFails("a", errDown)
				time.Sleep(6 * time.Second)
				if topic, err := c.Topic(t.Context(), "a"); err == nil || dis.HasCode(err, wire.CodeStreamNotFound) {
					t.Errorf("by name: %+v, %v", topic, err)
				}
				if topic, err := c.TopicByID(t.Context(), idOf("id-a")); err == nil {
					t.Errorf("by id: %+v", topic)
				}
				wantTopics(t, c, "a:0", "b:1")
				f.describeFails("", nil)
				time.Sleep(6 * time.Second)
				wantUnknownID(t, c, "id-a")
				wantID(t, c, "second", "a")
			})
		})
	}
}

func TestIDsOfThePastAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		for i := range 100 {
			stream := fmt.Sprintf("stream-%d", i)
			f.recreate("a", stream, int64(5000+i))
			c.Invalidate("a")
			wantPartitions(t, c, "a", 1)
			wantID(t, c, stream, "a")
		}
		c.mu.Lock()
		if n := len(c.cache.names); n != maxIDs || len(c.cache.entries["a"].ids) != maxIDs {
			t.Errorf("%d ids are remembered", n)
		}
		c.mu.Unlock()
		f.change("a", nil)
		for range 20 { // the refreshing goes on, and the name is forgotten
			time.Sleep(10 * time.Second)
			wantTopics(t, c)
		}
		c.mu.Lock()
		if n := len(c.cache.names); n != 0 {
			t.Errorf("%d ids of a name that is forgotten", n)
		}
		c.mu.Unlock()
		wantUnknownID(t, c, "stream-99")
	})
}

func TestCreatedTopicHasItsIDAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := open(t, f)
		go func() {
			time.Sleep(time.Second)
			f.change("a", func(d *wire.DescribeStreamResponse) {
				d.Status, d.StreamID = wire.StreamRunning, ""
				d.Partitions = []wire.PartitionResponse{partition(0, wire.PartitionActive, "[0 : 0]")}
			})
			time.Sleep(time.Second)
			f.change("a", func(d *wire.DescribeStreamResponse) { d.StreamID = "late" })
		}()
		created, err := c.Create(t.Context(), CreateRequest{Name: "a", Partitions: 1})
		if err != nil || created.ID != idOf("late") {
			t.Fatalf("created %+v, %v", created, err)
		}
		lists, describes := f.counts("a")
		wantID(t, c, "late", "a")
		if l, d := f.counts("a"); d != describes || l > lists+1 {
			t.Errorf("%d lists, %d describes more", l-lists, d-describes)
		}
	})
}

func TestDeleteByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "b")
		c := open(t, f)
		wantID(t, c, "id-b", "b")
		f.recreate("b", "second", 5000) // unknown to the catalog
		if _, err := c.DeleteByID(t.Context(), idOf("id-b")); !errors.Is(err, translate.ErrUnknownID) {
			t.Errorf("the id of the past: %v", err)
		}
		wantID(t, c, "second", "b")
		go func() {
			time.Sleep(3 * time.Second)
			f.change("a", nil)
		}()
		deleted, err := c.DeleteByID(t.Context(), idOf("id-a"))
		if err != nil || deleted.Name != "a" || deleted.ID != idOf("id-a") {
			t.Errorf("deleted %+v, %v", deleted, err)
		}
		for _, stream := range []string{"id-a", "never"} {
			if _, err := c.DeleteByID(t.Context(), idOf(stream)); !errors.Is(err, translate.ErrUnknownID) {
				t.Errorf("%s: %v", stream, err)
			}
		}
		f.failWith(errDown)
		if _, err := c.DeleteByID(t.Context(), idOf("second")); !errors.Is(err, errDown) {
			t.Errorf("while DIS is down: %v", err)
		}
	})
}
