package topics

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestRefreshDescribesOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		for i := range 1000 {
			f.set(fmt.Sprintf("s%04d", i), 2)
		}
		c := open(t, f)
		all, err := c.Topics(t.Context())
		if err != nil || len(all) != 1000 {
			t.Fatalf("%d topics, %v", len(all), err)
		}
		if f.peak > describeParallel {
			t.Errorf("%d describes at once, want at most %d", f.peak, describeParallel)
		}
		f.set("s0007", 3)
		f.change("s0008", func(d *wire.DescribeStreamResponse) { d.CreateTime, d.StreamID = 5000, "another" })
		for range 10 {
			time.Sleep(30 * time.Second)
			if _, err := c.Topics(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 1000 {
			name, want := fmt.Sprintf("s%04d", i), 1
			if i == 7 || i == 8 {
				want = 2
			}
			if _, got := f.counts(name); got != want {
				t.Errorf("%s: %d describes, want %d", name, got, want)
			}
		}
		wantPartitions(t, c, "s0007", 3)
		if topic := wantPartitions(t, c, "s0008", 2); topic.ID != TopicID("p", "another") {
			t.Error("a stream made again kept its topic id")
		}
	})
}

func TestRefreshLeavesStreamsAloneThatNobodyAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("used", "other")
		c := open(t, f)
		for range 20 {
			wantPartitions(t, c, "used", 1)
			time.Sleep(10 * time.Second)
		}
		if _, describes := f.counts("other"); describes != 0 {
			t.Errorf("%d describes of a stream that nobody uses", describes)
		}
	})
}

// A change is seen while nobody uses the topic. It must not be forgotten until
// someone does.
func TestRefreshRemembersChangesOfTopicsThatNobodyUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "b", "used")
		c := open(t, f)
		wantTopics(t, c, "a:1", "b:1", "used:1")
		use := func(wait time.Duration) {
			for start := time.Now(); time.Since(start) < wait; time.Sleep(5 * time.Second) {
				wantPartitions(t, c, "used", 1)
			}
		}
		use(6 * time.Minute) // the list of all topics is not in use any more
		f.set("a", 2)
		f.set("b", 2)
		use(20 * time.Second)
		if _, describes := f.counts("a"); describes != 1 {
			t.Errorf("%d describes of a topic that nobody uses", describes)
		}
		wantPartitions(t, c, "a", 2)
		wantTopics(t, c, "a:2", "b:2", "used:1")
	})
}

func TestRefreshSeesChangesWithinSecondsWhileUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "b")
		c := open(t, f)
		wantTopics(t, c, "a:1", "b:1")
		f.set("c", 1)
		f.set("a", 3)
		f.change("b", nil)
		time.Sleep(6 * time.Second)
		wantTopics(t, c, "a:3", "c:1")
		wantPartitions(t, c, "a", 3)
		if _, err := c.Topic(t.Context(), "b"); !dis.HasCode(err, wire.CodeStreamNotFound) {
			t.Errorf("deleted elsewhere: got %v", err)
		}
	})
}

// The list does not show when a partition comes up, so an unfinished stream is
// described until it is finished.
func TestRefreshFollowsAPartitionInCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.change("a", func(d *wire.DescribeStreamResponse) {
			d.Partitions = append(d.Partitions, partition(1, wire.PartitionCreating, ""))
		})
		c := open(t, f)
		wantPartitions(t, c, "a", 1)
		time.Sleep(7 * time.Second)
		wantPartitions(t, c, "a", 1)
		f.change("a", func(d *wire.DescribeStreamResponse) {
			d.Partitions = append(d.Partitions[:1:1], partition(1, wire.PartitionActive, "[0 : 0]"))
		})
		time.Sleep(7 * time.Second)
		wantPartitions(t, c, "a", 2)
	})
}

// Nor does it show that a retired partition expired.
func TestRefreshDescribesOldTopicsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.set("a", 2)
		f.change("a", func(d *wire.DescribeStreamResponse) {
			d.Partitions = append(d.Partitions[:1:1], partition(1, wire.PartitionDeleted, "[5 : 9]"))
		})
		c := open(t, f)
		wantPartitions(t, c, "a", 2)
		f.change("a", func(d *wire.DescribeStreamResponse) {
			d.Partitions = append(d.Partitions[:1:1], partition(1, wire.PartitionExpired, ""))
		})
		for range 70 {
			time.Sleep(5 * time.Second)
			wantPartitions(t, c, "a", 2)
		}
		if topic := wantPartitions(t, c, "a", 2); topic.Partitions[1].Status != wire.PartitionExpired {
			t.Errorf("partition 1 is %s after 6 minutes", topic.Partitions[1].Status)
		}
	})
}

func TestRefreshStopsWhenIdleAndStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantTopics(t, c, "a:1")
		time.Sleep(6 * time.Minute)
		before, _ := f.counts("a")
		if before < 50 || before > 62 {
			t.Errorf("%d lists in the 5 minutes after a use, want one every 5 s", before)
		}
		time.Sleep(24 * time.Hour)
		if after, _ := f.counts("a"); after != before {
			t.Errorf("%d lists while nobody used it", after-before)
		}
		f.set("b", 1)
		wantTopics(t, c, "a:1", "b:1")
	})
}

func TestRefreshBacksOff(t *testing.T) {
	t.Run("while DIS fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("a")
			c := open(t, f)
			wantTopics(t, c, "a:1")
			f.failWith(errDown)
			for range 20 { // 10 minutes of use
				time.Sleep(30 * time.Second)
				wantPartitions(t, c, "a", 1)
			}
			if lists, _ := f.counts("a"); lists > 20 {
				t.Errorf("%d lists in 10 minutes of an outage", lists)
			}
		})
	})
	t.Run("while listing is slow", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("a")
			f.slow(time.Second)
			c := open(t, f)
			wantTopics(t, c, "a:1")
			time.Sleep(4 * time.Minute)
			if lists, _ := f.counts("a"); lists > 13 {
				t.Errorf("%d lists of 1 s in 4 minutes", lists)
			}
		})
	})
}

// A DIS that lists a stream and never describes it is not a log line every
// few seconds.
func TestLastingFailureIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.describe = func(string) (*wire.DescribeStreamResponse, error) {
			return nil, refusal("DescribeStream", wire.CodeForbidden)
		}
		var log bytes.Buffer
		c := New(Config{Logger: zerolog.New(&log)}, f)
		for range 100 {
			wantTopics(t, c, "a:0")
			if _, err := c.Topic(t.Context(), "a"); !dis.HasCode(err, wire.CodeForbidden) {
				t.Errorf("got %v", err)
			}
			time.Sleep(3 * time.Second)
		}
		c.Close()
		if lines := bytes.Count(log.Bytes(), []byte("\n")); lines != 1 {
			t.Errorf("%d lines:\n%s", lines, log.String())
		}
	})
}

// A describe that begins after a list may still be answered before it. What has
// changed in between is shown by that list alone, and never again.
func TestRefreshSeesWhatChangedAfterALaterDescribe(t *testing.T) {
	c := newCache("p", new(translate.Names))
	topic := &translate.Topic{Name: "a", StreamName: "a", Partitions: make([]translate.Partition, 2)}
	listed := c.tick()
	c.lookup("a", time.Now(), time.Second)
	c.store("a", answer{started: c.tick(), at: time.Now(), topic: topic})
	list := []wire.StreamInfo{{StreamName: "a", Status: wire.StreamRunning, PartitionCount: 4}}
	if changed := c.apply(list, listed, time.Now(), scope{}, time.Hour); len(changed) != 1 {
		t.Errorf("streams to describe: %q, want a, which has 4 partitions now and was described with 2", changed)
	}
}

// One refresh that was slow does not make the next one late; several in a row do.
func TestRefreshAfterASlowOne(t *testing.T) {
	var p pace
	for _, c := range []struct{ took, want time.Duration }{
		{3 * time.Second, 5 * time.Second},
		{100 * time.Millisecond, 5 * time.Second},
		{2 * time.Second, 5 * time.Second},
		{time.Second, 20 * time.Second},
		{time.Minute, 20 * time.Second},
		{time.Minute, time.Minute},
	} {
		p.took, p.before = c.took, p.took
		if got := p.interval(5 * time.Second); got != c.want {
			t.Errorf("after a refresh of %v: the next in %v, want %v", c.took, got, c.want)
		}
	}
}
