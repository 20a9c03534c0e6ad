package topics

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// A list that hangs keeps nobody waiting, not even before it is known to fail.
func TestListingDoesNotWaitForARefreshThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantTopics(t, c, "a:1")
		f.slow(time.Hour)
		for started := time.Now(); time.Since(started) < 10*time.Minute; time.Sleep(100 * time.Millisecond) {
			asked := time.Now()
			wantTopics(t, c, "a:1")
			if waited := time.Since(asked); waited != 0 {
				t.Fatalf("waited %v, %v after DIS began to hang", waited, asked.Sub(started))
			}
		}
	})
}

// A list of many pages takes its time where every call does.
func TestListOfManyPagesFromASlowDIS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.slow(15 * time.Second)
		c := open(t, f)
		if all, err := c.Topics(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("%d topics, %v", len(all), err)
		}
	})
}

// After a pause the first refresh is waited for, however it was before.
func TestListingWaitsForARefreshAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		c := open(t, f)
		wantTopics(t, c, "a:1")
		time.Sleep(time.Hour)
		f.set("b", 1)
		f.slow(time.Second)
		found := make(chan int, 2)
		for range 2 { // the one who begins the refresh and the one who comes meanwhile
			go func() {
				all, err := c.Topics(t.Context())
				if err != nil {
					t.Error(err)
				}
				found <- len(all)
			}()
			time.Sleep(100 * time.Millisecond)
		}
		for range 2 {
			if n := <-found; n != 2 {
				t.Errorf("%d topics, want those of after the pause", n)
			}
		}
	})
}

// fleet makes n streams s0000 and so on.
func fleet(n int) *fakeDIS {
	f := newFake()
	for i := range n {
		f.set(fmt.Sprintf("s%04d", i), 1)
	}
	return f
}

func (f *fakeDIS) allDescribes() (sum int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.describes {
		sum += n
	}
	return sum
}

// describeWith replaces the answers to describes.
func (f *fakeDIS) describeWith(answer func(name string) (*wire.DescribeStreamResponse, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.describe = answer
}

// A DIS that has too many calls is not asked for a thousand more.
func TestDescribesStopWhileDISHasTooManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fleet(1000)
		f.describeWith(func(string) (*wire.DescribeStreamResponse, error) {
			return nil, refusal("DescribeStream", wire.CodeTooManyStreamCalls)
		})
		c := open(t, f)
		all, err := c.Topics(t.Context())
		if err != nil || len(all) != 1000 || len(all[0].Partitions) != 0 {
			t.Fatalf("%d topics, %v", len(all), err)
		}
		if n := f.allDescribes(); n > 4*describeParallel {
			t.Errorf("%d describes by the first look at all topics", n)
		}
		before := f.allDescribes()
		time.Sleep(time.Minute)
		if n := f.allDescribes() - before; n > 12*2*describeParallel {
			t.Errorf("%d describes in a minute, of 12 refreshes", n)
		}
		f.describeWith(nil)
		time.Sleep(6 * time.Second)
		if all, err = c.Topics(t.Context()); err != nil || len(all) != 1000 {
			t.Fatalf("%d topics, %v", len(all), err)
		}
		for _, topic := range all {
			if len(topic.Partitions) != 1 {
				t.Fatalf("topic %s has %d partitions", topic.Name, len(topic.Partitions))
			}
		}
	})
}

// What changed while DIS had too many calls is not forgotten.
func TestPostponedDescribesAreMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fleet(100)
		c := open(t, f)
		if _, err := c.Topics(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			f.set(fmt.Sprintf("s%04d", i), 2)
		}
		f.describeWith(func(string) (*wire.DescribeStreamResponse, error) {
			return nil, refusal("DescribeStream", wire.CodeTooManyStreamCalls)
		})
		time.Sleep(20 * time.Second)
		all, err := c.Topics(t.Context())
		if err != nil || len(all) != 100 || len(all[50].Partitions) != 1 {
			t.Fatalf("%d topics, %v", len(all), err)
		}
		f.describeWith(nil)
		time.Sleep(6 * time.Second)
		if all, err = c.Topics(t.Context()); err != nil || len(all) != 100 {
			t.Fatalf("%d topics, %v", len(all), err)
		}
		for _, topic := range all {
			if len(topic.Partitions) != 2 {
				t.Fatalf("topic %s has %d partitions", topic.Name, len(topic.Partitions))
			}
		}
	})
}

// Streams that DIS cannot describe do not keep it from describing others: those that
// were tried last come last.
func TestBrokenStreamsDoNotKeepOthersFromBeingDescribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const broken = 3 * describeParallel
		f := fleet(broken + 1)
		last := fmt.Sprintf("s%04d", broken)
		f.describeWith(func(name string) (*wire.DescribeStreamResponse, error) {
			if name != last {
				return nil, errDown
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.streams[name], nil
		})
		c := open(t, f)
		partitions := func() int {
			all, err := c.Topics(t.Context())
			if err != nil || len(all) != broken+1 {
				t.Fatalf("%d topics, %v", len(all), err)
			}
			return len(all[broken].Partitions)
		}
		partitions()
		time.Sleep(4 * 5 * time.Second)
		if n := partitions(); n != 1 {
			t.Fatalf("%d partitions after the time of four refreshes", n)
		}
		f.set(last, 2)
		time.Sleep(4 * 5 * time.Second)
		if n := partitions(); n != 2 {
			t.Errorf("%d partitions of the changed stream", n)
		}
	})
}

// TestDescribesThatFailAreToldToTheirEnd: once when they begin and once when they are
// over, each time anew.
func TestDescribesThatFailAreToldToTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newFake("a")
		c := New(Config{ProjectID: "p", Logger: zerolog.New(&log)}, f)
		for range 2 {
			for _, begin := range []func(){func() { f.describeFails("a", errDown) }, func() { f.describeWith(nil) }} {
				begin()
				for range 10 {
					c.Invalidate("a")
					c.Topic(t.Context(), "a")
					time.Sleep(10 * time.Second)
				}
			}
		}
		c.Close()
		want := []string{
			`{"level":"warn","error":"` + errDown.Error() + `","topic":"a","message":"describe failed, what is known of the topic is kept"}`,
			`{"level":"info","topic":"a","message":"what DIS says of the topic is known again"}`,
		}
		if diff := cmp.Diff(append(want, want...), strings.Split(strings.TrimSpace(log.String()), "\n")); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}
