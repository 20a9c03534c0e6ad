package produce

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// limits are those of a partition of the fake DIS: what is documented, with the
// allowance of one second saved up.
type limits struct {
	records, bytes *rate.Limiter
	refused        int
}

// limit makes the fake throttle partition 0 as documented for the type, of which
// others use up a part.
func (f *fakeDIS) limit(kind wire.StreamType, left float64) *limits {
	documented := wire.LimitsOf(kind)
	bucket := func(perSecond int) *rate.Limiter {
		return rate.NewLimiter(rate.Limit(left*float64(perSecond)), int(left*float64(perSecond)))
	}
	l := &limits{records: bucket(documented.WriteRecords), bytes: bucket(documented.WriteBytes)}
	f.script = func(_ int, put *wire.PutRecordsRequest) fate {
		var over []int
		now := time.Now()
		for i := range put.Records {
			size := len(put.Records[i].Data)
			if len(over) > 0 || l.records.TokensAt(now) < 1 || l.bytes.TokensAt(now) < float64(size) {
				over = append(over, i)
				continue
			}
			l.records.AllowN(now, 1)
			l.bytes.AllowN(now, size)
		}
		l.refused += len(over)
		return throttled(over...)
	}
	return l
}

// pacedRig is an engine that paces, over a DIS with limits and some latency.
func pacedRig(t *testing.T, kind wire.StreamType) (*rig, *limits) {
	r := newRig(t, func(c *Config) { c.Pacing = 1 })
	r.topic.StreamType = kind
	r.dis.latency = 5 * time.Millisecond
	return r, r.dis.limit(kind, 1)
}

// TestPacedClientsReachTheLimit has clients as they come: how many batches they
// have on their way, how large, and how long and how often they try.
func TestPacedClientsReachTheLimit(t *testing.T) {
	for _, test := range []struct {
		name  string
		kind  wire.StreamType
		count int
		size  int
		manners
	}{
		{"Java", wire.StreamCommon, 150, 100, manners{inFlight: 5, timeout: 30 * time.Second}},
		{"Java, 1 KB", wire.StreamCommon, 15, 1024, manners{inFlight: 5, timeout: 30 * time.Second}},
		{"Java, 10 KB", wire.StreamCommon, 1, 10 << 10, manners{inFlight: 5, timeout: 30 * time.Second}},
		{"Java, advanced", wire.StreamAdvanced, 150, 100, manners{inFlight: 5, timeout: 30 * time.Second}},
		{"Java, advanced, 64 KB", wire.StreamAdvanced, 1, 64 << 10, manners{inFlight: 10, timeout: 30 * time.Second}},
		{"one batch at a time", wire.StreamCommon, 20, 100, manners{inFlight: 1, timeout: 30 * time.Second}},
		{"largest records", wire.StreamCommon, 1, wire.MaxRecordBytes, manners{inFlight: 3, timeout: 30 * time.Second}},
		{"franz-go", wire.StreamCommon, 9000, 100, manners{inFlight: 1, timeout: 10 * time.Second}},
		{"sarama", wire.StreamCommon, 7300, 100, manners{inFlight: 5, timeout: 10 * time.Second, retries: 3}},
		{"sarama, 50 B", wire.StreamCommon, 11000, 50, manners{inFlight: 5, timeout: 10 * time.Second, retries: 3}},
		{"librdkafka", wire.StreamCommon, 10000, 90, manners{inFlight: 10, timeout: 30 * time.Second, retries: 1000}},
		{"kafka-go", wire.StreamCommon, 100, 100, manners{inFlight: 1, timeout: 10 * time.Second, retries: 9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, dis := pacedRig(t, test.kind)
				all := plain(t, sameValues(test.count, test.size)(0)...)
				l := &load{rig: r, records: func(int) []byte { return all }, manners: test.manners}
				length, settled := 30*time.Second, 5*time.Second
				if test.count > 5000 { // which take longer to settle
					length, settled = 60*time.Second, 10*time.Second
				}
				var begun, ended int
				time.AfterFunc(settled, func() { begun = len(r.dis.contents(r.topic, 0)) })
				time.AfterFunc(length, func() { ended = len(r.dis.contents(r.topic, 0)) })
				l.run(length)
				documented := wire.LimitsOf(test.kind)
				most := min(float64(documented.WriteRecords), float64(documented.WriteBytes)/float64(test.size))
				share := float64(ended-begun) / (length - settled).Seconds() / most
				if share < 0.95 || share > 1 {
					t.Errorf("%.3f of the documented throughput", share)
				}
				if dis.refused > 0 {
					t.Errorf("DIS throttled %d records", dis.refused)
				}
				if len(l.failed) > 0 {
					t.Errorf("%d batches failed: %q", len(l.failed), l.failed[:min(3, len(l.failed))])
				}
				if stored := len(r.dis.contents(r.topic, 0)); stored != l.batches*test.count {
					t.Errorf("%d records stored, %d acknowledged", stored, l.batches*test.count)
				}
				if l.told > maxThrottleTime {
					t.Errorf("throttle time %v", l.told)
				}
				t.Logf("%.4f of the limit, at most %d attempts, throttle time at most %v", share, l.attempts, l.told)
			})
		})
	}
}

// TestDISThrottlesWithoutPacing shows what the test above would see.
func TestDISThrottlesWithoutPacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, dis := pacedRig(t, wire.StreamCommon)
		r.engine.pacers.share = 0
		l := &load{rig: r, records: r.batches(150, 100), manners: manners{inFlight: 5, timeout: 30 * time.Second}}
		l.run(10 * time.Second)
		if dis.refused == 0 {
			t.Error("DIS throttled nothing")
		}
		if m := r.engine.Metrics(); m.PacedBatches != 0 || m.PacingWait != 0 {
			t.Errorf("metrics %+v", m)
		}
	})
}

// TestSharedPartitions: others leave half of the partition to the gateway for a
// while.
func TestSharedPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := pacedRig(t, wire.StreamCommon)
		dis := r.dis.limit(wire.StreamCommon, 0.5)
		l := &load{rig: r, records: r.batches(100, 100), manners: manners{inFlight: 5, timeout: 30 * time.Second}}
		l.run(30 * time.Second) // in which the rate comes down
		before, stored := dis.refused, len(r.dis.contents(r.topic, 0))
		l.run(60 * time.Second)
		stored = len(r.dis.contents(r.topic, 0)) - stored
		if share := float64(stored) / 60 / 500; share < 0.8 {
			t.Errorf("%.2f of what DIS left over", share)
		}
		if refused := dis.refused - before; refused > stored/5 {
			t.Errorf("%d records were throttled, %d stored: the rate did not come down", refused, stored)
		}
		r.dis.limit(wire.StreamCommon, 1)
		l.run(60 * time.Second) // in which it goes up again
		stored = len(r.dis.contents(r.topic, 0))
		l.run(30 * time.Second)
		if share := float64(len(r.dis.contents(r.topic, 0))-stored) / 30 / 1000; share < 0.95 {
			t.Errorf("%.2f of the limit once the others are gone", share)
		}
		if len(l.failed) > 0 {
			t.Errorf("failed: %q", l.failed)
		}
		r.wantOrder(l.batches, 100)
	})
}

// wantOrder: the records of all batches, each once and in order.
func (r *rig) wantOrder(batches, perBatch int) {
	r.t.Helper()
	got := r.dis.contents(r.topic, 0)
	if len(got) != batches*perBatch {
		r.t.Errorf("%d records stored of %d", len(got), batches*perBatch)
	}
	for i, record := range got {
		if want := fmt.Sprintf("%d-%d-x", i/perBatch, i%perBatch); !strings.HasPrefix(record, want) {
			r.t.Fatalf("record %d is %.20s, want %.20s", i, record, want)
		}
	}
}

// TestABatchBeginsOnlyInTime: the second batch would take until 12 s and has to be
// answered at 8 s. It is told so when its turn comes, not when its time is over, and
// nothing of it is written; a shorter one behind it is.
func TestABatchBeginsOnlyInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := pacedRig(t, wire.StreamCommon)
		start := time.Now()
		long := sameValues(6000, 100)
		first := r.submit(Batch{Records: plain(t, long(0)...), Timeout: 10 * time.Second})
		synctest.Wait()
		second := r.submit(Batch{Records: plain(t, long(1)...), Timeout: 10 * time.Second})
		third := r.submit(Batch{Records: plain(t, "short"), Timeout: 10 * time.Second})
		first.want(0, 0)
		second.want(19, -1)
		third.want(0, 6000)
		for name, answer := range map[string]*answered{"first": first, "second": second, "third": third} {
			if at := answer.at.Sub(start); at < 5*time.Second || at > 7*time.Second {
				t.Errorf("the %s was answered after %v", name, at)
			}
		}
		if n := len(r.dis.contents(r.topic, 0)); n != 6001 {
			t.Errorf("%d records are stored", n)
		}
		if !strings.Contains(second.result.Message, "its 6000 records take 6.") {
			t.Errorf("message %q", second.result.Message)
		}
	})
}

// TestABatchThatNeverCouldEndInTimeIsWritten: 30,000 records take 30 s. A repeat of
// an idempotent producer gets the result.
func TestABatchThatNeverCouldEndInTimeIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, dis := pacedRig(t, wire.StreamCommon)
		id, epoch := r.engine.NewProducerID()
		raw := sequencedBatch(t, id, epoch, 0, sameValues(30000, 20)(0)...)
		start := time.Now()
		r.submit(Batch{Records: raw, Timeout: 30 * time.Second}).want(7, -1)
		if took := time.Since(start); took != maxTimeout {
			t.Errorf("answered after %v, want %v", took, maxTimeout)
		}
		r.submit(Batch{Records: raw, Timeout: 30 * time.Second}).want(0, 0)
		if n := len(r.dis.contents(r.topic, 0)); n != 30000 || dis.refused > 0 {
			t.Errorf("%d records stored, %d throttled", n, dis.refused)
		}
	})
}

// TestADISThatStallsGetsNoMoreTime: once it is not pacing that a batch waits for,
// its time is over as always.
func TestADISThatStallsGetsNoMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := pacedRig(t, wire.StreamCommon)
		within := r.dis.script
		r.dis.script = func(call int, put *wire.PutRecordsRequest) fate {
			f := within(call, put)
			if call == 5 {
				f.wait = 20 * time.Second
			}
			return f
		}
		start := time.Now()
		sent := r.submit(Batch{Records: plain(t, sameValues(3000, 100)(0)...), Timeout: 10 * time.Second})
		waiting := r.submit(Batch{Records: plain(t, "x"), Timeout: 10 * time.Second,
			Turn: func() (time.Time, bool) { return time.Time{}, false }})
		sent.want(7, -1)
		waiting.want(19, -1)
		if at := waiting.at.Sub(start); at != 8*time.Second {
			t.Errorf("answered after %v", at)
		}
	})
}

// TestThrottleTimeIsWhatIsLeftToWrite: the first batch is answered when its last
// records go together with the first of the second.
func TestThrottleTimeIsWhatIsLeftToWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := pacedRig(t, wire.StreamCommon)
		blocker := r.send(0, "blocker")
		synctest.Wait()
		first := r.submit(Batch{Records: plain(t, sameValues(100, 100)(0)...)})
		second := r.submit(Batch{Records: plain(t, sameValues(2000, 100)(1)...)})
		third := r.submit(Batch{Records: plain(t, sameValues(15000, 20)(2)...)})
		if got := blocker.wait(); got.ThrottleTime != 0 {
			t.Errorf("throttle time %v of a lone record", got.ThrottleTime)
		}
		if got := first.wait().ThrottleTime; got < 1800*time.Millisecond || got > 2*time.Second {
			t.Errorf("throttle time %v, want that of some 1850 records", got)
		}
		if got := second.wait().ThrottleTime; got != maxThrottleTime {
			t.Errorf("throttle time %v, want the longest", got)
		}
		if got := third.wait().ThrottleTime; got > 300*time.Millisecond {
			t.Errorf("throttle time %v, when nothing is left", got)
		}
	})
}

// TestPacersOfIdlePartitionsAreForgotten, and those that are not idle are not.
func TestPacersOfIdlePartitionsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := pacedRig(t, wire.StreamCommon)
		r.topic = newTopic("orders", 1000)
		busy := r.send(0, sameValues(249, 100)(0)...)
		busy.want(0, 0)
		for p := range int32(900) {
			r.send(p+1, "x").want(0, 0)
		}
		if n := len(r.engine.pacers.known); n > 2*leastSweep {
			t.Errorf("%d pacers are remembered", n)
		}
		time.Sleep(time.Second)
		first := r.send(0, sameValues(249, 100)(0)...).wait()
		start := time.Now()
		again := r.send(0, sameValues(249, 100)(1)...).wait()
		if took := time.Since(start); first.Code != 0 || again.Code != 0 || took < 200*time.Millisecond {
			t.Errorf("a producer that waits for its answers found a full stock after %v", took)
		}
	})
}

// TestManyPartitionsKeepTheirPace: pacers are forgotten to bound their number, but none
// of a partition with a batch on its way, which would find a full stock with the next.
func TestManyPartitionsKeepTheirPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const partitions, perBatch = 4 * leastSweep, 200
		r := newRig(t, func(c *Config) { c.Pacing = 1 })
		r.topic = newTopic("orders", partitions)
		raw, start := plain(t, numbered("v", perBatch)...), time.Now()
		var request []Batch
		for p := range int32(partitions) {
			request = append(request, Batch{Topic: r.topic, Partition: p, Records: raw, Version: 9})
		}
		stock := int(paceStock.Seconds() * float64(wire.LimitsOf(r.topic.StreamType).WriteRecords))
		rate := paceMargin * float64(wire.LimitsOf(r.topic.StreamType).WriteRecords)
		for n := 1; n <= 3; n++ {
			earliest := seconds(float64(n*perBatch-stock) / rate)
			var missing sync.WaitGroup
			missing.Add(partitions)
			r.engine.Submit(request, func(i int, _ Result) {
				if took := time.Since(start); took < earliest-time.Microsecond {
					t.Errorf("batch %d of partition %d was stored after %v, before %v", n, i, took, earliest)
				}
				missing.Done()
			})
			missing.Wait()
			synctest.Wait() // until the writers have ended
		}
	})
}
