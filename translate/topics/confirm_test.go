package topics

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// scaled is a stream with as many active partitions of all, the others retired.
func scaled(active, all int) func(*wire.DescribeStreamResponse) {
	return func(d *wire.DescribeStreamResponse) {
		d.Partitions = nil
		for i := range all {
			status := wire.PartitionActive
			if i >= active {
				status = wire.PartitionDeleted
			}
			d.Partitions = append(d.Partitions, partition(i, status, "[0 : 0]"))
		}
	}
}

func wantActive(t *testing.T, c *Catalog, name string, active, all int) {
	t.Helper()
	topic, got := wantPartitions(t, c, name, all), 0
	for _, p := range topic.Partitions {
		if p.Status == wire.PartitionActive {
			got++
		}
	}
	if got != active {
		t.Errorf("topic %s has %d active partitions, want %d", name, got, active)
	}
}

// A stream grows after a list, is described, and shrinks before the next list, which
// shows the same as the one before.
func TestAChangeThatNoListShowsIsSeen(t *testing.T) {
	counts := map[string]func(*wire.DescribeStreamResponse) int{"active": listActive, "readable": listReadable}
	for name, count := range counts {
		t.Run("the list counts "+name+" partitions", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.set("a", 2)
				f.change("a", scaled(2, 4))
				f.listed = count
				c := open(t, f)
				wantActive(t, c, "a", 2, 4)
				time.Sleep(6 * time.Second)

				f.change("a", scaled(4, 4))
				c.Invalidate("a")
				wantActive(t, c, "a", 4, 4)
				f.change("a", scaled(2, 4))
				if name == "readable" {
					c.Invalidate("a") // what a refused write does: no list ever shows it
				}
				time.Sleep(6 * time.Second)
				wantActive(t, c, "a", 2, 4)
			})
		})
	}
}

// What a list counts is not documented: one that never fits costs one more describe
// for each change.
func TestAListThatNeverFitsCostsADescribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.listed = func(d *wire.DescribeStreamResponse) int { return 100 + len(d.Partitions) }
		c := open(t, f)
		use := func() {
			for range 40 {
				if _, err := c.Topic(t.Context(), "a"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
			}
		}
		use()
		if _, describes := f.counts("a"); describes != 2 {
			t.Errorf("%d describes of a stream that does not change, want 2", describes)
		}
		f.set("a", 3)
		use()
		wantPartitions(t, c, "a", 3)
		if _, describes := f.counts("a"); describes != 4 {
			t.Errorf("%d describes after a change, want 4", describes)
		}
	})
}
