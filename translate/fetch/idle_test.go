package fetch

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// idlers starts a consumer on every stream; arrivals gets the time of every
// record. The result ends them.
func (f *fleet) idlers(maxWait time.Duration, arrivals chan<- time.Time) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var consumers sync.WaitGroup
	for stream := range f.streams {
		consumers.Go(func() {
			f.consume(ctx, stream, maxWait, func(int) { arrivals <- time.Now() })
		})
	}
	synctest.Wait() // all of them wait at the ends
	return func() {
		cancel()
		consumers.Wait()
	}
}

func TestIdleConsumersStayWithinTheBudget(t *testing.T) {
	const streams, partitions, budget = 200, 10, 100
	inFleet(t, Config{IdlePolls: budget}, streams, partitions, func(f *fleet) {
		start := time.Now()
		defer f.idlers(5*time.Second, make(chan time.Time, 1))()
		// At first each stream is described once, so that its ends are known.
		time.Sleep(time.Second)
		if calls, _ := f.since(start); calls > streams+budget {
			t.Errorf("%d calls in the first second", calls)
		}
		steady := time.Now()
		time.Sleep(2 * time.Minute)
		calls, worst := f.since(steady)
		if worst > budget || calls < 2*60*budget/2 {
			t.Errorf("%d calls in 2 minutes, at most %d in a second, want at most %d", calls, worst, budget)
		}
		if reads := f.count("GetRecords"); reads > 2*streams*partitions {
			t.Errorf("%d reads of %d partitions in 2 minutes", reads, streams*partitions)
		}
		for i, s := range f.streams {
			if n := s.count("DescribeStream"); n < 2*60*budget/streams/3 {
				t.Errorf("stream %d is described %d times, others more often", i, n)
			}
		}
	})
}

// Calls that begin together wake the process once.
func TestIdleCallsBeginTogether(t *testing.T) {
	inFleet(t, Config{}, 200, 10, func(f *fleet) {
		defer f.idlers(5*time.Second, make(chan time.Time, 1))()
		time.Sleep(2 * checkWatched) // until most checks have been in line
		start := time.Now()
		time.Sleep(time.Minute)
		calls, _ := f.since(start)
		f.mu.Lock()
		defer f.mu.Unlock()
		times := map[time.Time]bool{}
		for _, at := range f.calls[len(f.calls)-calls:] {
			times[at] = true
			if late := at.Sub(f.engine.idle.onTick(at)); late != 0 {
				t.Errorf("a call %v after the start of a tick", late)
			}
		}
		if most := int(time.Minute/tick) + 1; calls < 6*most || len(times) > most {
			t.Errorf("%d calls at %d times, want at least %d at no more than %d times", calls, len(times), 6*most, most)
		}
	})
}

// Where the budget is short of the checks they take turns, and those that wait need
// no goroutine.
func TestChecksTakeTurns(t *testing.T) {
	const streams, partitions, budget, overTime = 50, 40, 50, 20 * time.Minute
	inFleet(t, Config{IdlePolls: budget}, streams, partitions, func(f *fleet) {
		before := runtime.NumGoroutine()
		defer f.idlers(5*time.Second, make(chan time.Time, 1))()
		if n := runtime.NumGoroutine() - before; n > 3*streams {
			t.Errorf("%d goroutines for %d consumers of %d streams", n, streams, streams)
		}
		time.Sleep(10 * time.Minute) // until all have a cursor
		fewest, most := f.readsWithin(overTime)
		if each := int(readShare * budget * overTime.Seconds() / (streams * partitions)); fewest < each-1 || most > each+1 {
			t.Errorf("partitions are read %d to %d times, want each %d times, one more or less", fewest, most, each)
		}
	})
}

// boundOf is how long after it was written a record must be there at the latest.
// A stream is described a second after the last time, and may find all others
// before it, when what happened has brought them together. DIS answers at once
// here.
func boundOf(streams int, budget float64) time.Duration {
	return pollLast + time.Duration(float64(streams)/(watchShare*budget)*float64(time.Second))
}

func TestForeignRecordsOfIdleStreamsAreFoundInTime(t *testing.T) {
	for _, streams := range []int{1, 200} {
		inFleet(t, Config{IdlePolls: 100}, streams, 10, func(f *fleet) {
			arrivals := make(chan time.Time, 1)
			defer f.idlers(5*time.Second, arrivals)()
			for i := range 8 {
				time.Sleep(10*time.Second + time.Duration(i)*7*time.Millisecond)
				written := time.Now()
				f.streams[i*13%streams].put(i%10, "of another program")
				if took := (<-arrivals).Sub(written); took > boundOf(streams, 100) {
					t.Errorf("%d streams, record %d: %v, want at most %v", streams, i, took, boundOf(streams, 100))
				}
			}
		})
	}
}

func TestOnlyPartitionsWithNewRecordsAreRead(t *testing.T) {
	inFleet(t, Config{}, 1, 400, func(f *fleet) {
		arrivals := make(chan time.Time, 1)
		defer f.idlers(time.Hour, arrivals)()
		time.Sleep(checkWatched + time.Minute)
		calls := f.streams[0].count("GetRecords")
		f.streams[0].put(17, "v")
		<-arrivals
		time.Sleep(time.Second)
		// One read for the record, the polls after it, and those of others for safety.
		if n := f.streams[0].count("GetRecords") - calls; n > 1+livelyPolls+3*readShare*100 {
			t.Errorf("%d reads for one record on one of 400 partitions", n)
		}
	})
}

func TestManyStoredRecordsDoNotUseUpTheBudget(t *testing.T) {
	inFleet(t, Config{IdlePolls: 20}, 10, 10, func(f *fleet) {
		arrivals := make(chan time.Time, 100)
		defer f.idlers(5*time.Second, arrivals)()
		for range 60 { // a minute in which every read is followed by polls
			for stream := range 9 {
				for p := range 10 {
					f.engine.Advance(f.topic(stream), int32(p), f.streams[stream].put(p, "v")+1)
				}
			}
			for range 90 {
				<-arrivals
			}
			time.Sleep(time.Second)
		}
		written := time.Now()
		f.streams[9].put(3, "of another program")
		if took := (<-arrivals).Sub(written); took > boundOf(10, 20) {
			t.Errorf("%v, want at most %v", took, boundOf(10, 20))
		}
	})
}

func TestAnAdvanceWakesAWatchedPartitionAtOnce(t *testing.T) {
	inFleet(t, Config{}, 200, 10, func(f *fleet) {
		arrivals := make(chan time.Time, 1)
		defer f.idlers(5*time.Second, arrivals)()
		for i := range 8 {
			time.Sleep(10*time.Second + time.Duration(i)*7*time.Millisecond)
			stored := time.Now()
			f.engine.Advance(f.topic(i), int32(i%10), f.streams[i].put(i%10, "v")+1)
			if took := (<-arrivals).Sub(stored); took != 0 {
				t.Errorf("record %d: %v", i, took)
			}
		}
	})
}

// The reads of a partition go on where DIS does not describe, or not the truth.
func TestAWatchThatTellsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fakeDIS)
		within time.Duration
	}{
		"describes fail":  {func(d *fakeDIS) { d.fail = failing500("DescribeStream") }, 2 * time.Second},
		"the end is old":  {func(d *fakeDIS) { d.staleEnd = 1 }, checkWatched + describeEvery},
		"describes hang":  {func(d *fakeDIS) { d.hang["DescribeStream"] = true }, checkWatched + describeEvery},
		"no ranges shown": {func(d *fakeDIS) { d.noRanges = true }, checkWatched + describeEvery},
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, Config{}, 1, 2, func(f *fleet) {
				arrivals := make(chan time.Time, 1)
				defer f.idlers(5*time.Second, arrivals)()
				time.Sleep(2 * time.Minute)
				f.streams[0].set(c.change)
				time.Sleep(time.Minute)
				written := time.Now()
				f.streams[0].put(1, "of another program")
				if took := (<-arrivals).Sub(written); took > c.within {
					t.Errorf("%v, want at most %v", took, c.within)
				}
			})
		})
	}
}

func TestDrainedPartitionsAreReadOnceAMinute(t *testing.T) {
	inFleet(t, Config{}, 1, 20, func(f *fleet) {
		f.streams[0].set(func(d *fakeDIS) {
			for _, p := range d.partitions {
				p.status = wire.PartitionDeleted
			}
		})
		defer f.idlers(5*time.Second, make(chan time.Time, 1))()
		time.Sleep(2 * time.Minute)
		reads, describes := f.count("GetRecords"), f.count("DescribeStream")
		time.Sleep(10 * time.Minute)
		if n := f.count("GetRecords") - reads; n > 20*13 || n < 20*9 {
			t.Errorf("%d reads of 20 partitions in 10 minutes", n)
		}
		// Nothing can arrive there, so the ends are looked at less often.
		if n := f.count("DescribeStream") - describes; n > 121 {
			t.Errorf("%d describes in 10 minutes", n)
		}
	})
}

func TestNobodyFetchingMeansNoCalls(t *testing.T) {
	inFleet(t, Config{}, 20, 10, func(f *fleet) {
		end := f.idlers(5*time.Second, make(chan time.Time, 1))
		time.Sleep(time.Minute)
		end()
		time.Sleep(watchLinger + pollLast)
		start := time.Now()
		time.Sleep(time.Hour)
		synctest.Wait()
		if calls, _ := f.since(start); calls > 0 {
			t.Errorf("%d calls with nobody waiting", calls)
		}
	})
}
