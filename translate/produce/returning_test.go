package produce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// crowd is a number of producers of single records, in virtual time.
type crowd struct {
	producers, partitions int
	latency               time.Duration // of DIS; an answer may take up to a tenth more
	think                 time.Duration // mean time from an answer, or a record, to the next record
	freely                bool          // they do not wait for answers
	spoiled               bool          // each request has a batch that is refused too
}

// outcomeOfCrowd is what half a minute of a crowd comes to.
type outcomeOfCrowd struct {
	records, requests int
	latency           time.Duration // mean, of a record
}

func (c crowd) String() string {
	how := "waiting for answers"
	if c.freely {
		how = "sending freely"
	}
	if c.spoiled {
		how += " of which some are refusals"
	}
	return fmt.Sprintf("%d on %d partitions %s, after %s, DIS %s", c.producers, c.partitions, how, c.think, c.latency)
}

func (c crowd) run(t *testing.T) (o outcomeOfCrowd) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.topic = newTopic("orders", c.partitions)
		r.dis.latency = c.latency
		random := rand.New(rand.NewPCG(1, 2))
		r.dis.script = func(int, *wire.PutRecordsRequest) fate { // under the lock of the fake
			return fate{wait: time.Duration(random.Int64N(int64(c.latency) / 10))}
		}
		var sum time.Duration
		var mu sync.Mutex
		raw := plain(t, "x")
		produce := func(partition int) {
			request := []Batch{{Topic: r.topic, Partition: int32(partition), Records: raw, Version: 9}}
			if c.spoiled {
				request = append(request, Batch{Topic: r.topic, Partition: int32(c.partitions), Records: raw, Version: 9})
			}
			var missing sync.WaitGroup
			missing.Add(len(request))
			begin := time.Now()
			r.engine.Submit(request, func(int, Result) { missing.Done() })
			missing.Wait()
			mu.Lock()
			defer mu.Unlock()
			o.records++
			sum += time.Since(begin)
		}
		begin := time.Now()
		var all sync.WaitGroup
		for i := range c.producers {
			thinking := rand.New(rand.NewPCG(3, uint64(i)))
			all.Go(func() {
				for time.Since(begin) < 30*time.Second {
					time.Sleep(time.Duration(thinking.ExpFloat64()*float64(c.think)) + time.Duration(thinking.IntN(400))*time.Microsecond)
					if c.freely {
						all.Go(func() { produce(i % c.partitions) })
						continue
					}
					produce(i % c.partitions)
				}
			})
		}
		all.Wait()
		o.requests, o.latency = r.dis.calls, sum/time.Duration(o.records)
	})
	return o
}

// TestProducersThatWaitTravelTogether: producers that send the next record when the
// one before is acknowledged wait for DIS once for each, however many they are.
func TestProducersThatWaitTravelTogether(t *testing.T) {
	for _, c := range []crowd{
		{producers: 1, partitions: 1, latency: 30 * time.Millisecond},
		{producers: 2, partitions: 1, latency: 30 * time.Millisecond},
		{producers: 2, partitions: 2, latency: 30 * time.Millisecond},
		{producers: 5, partitions: 1, latency: 5 * time.Millisecond},
		{producers: 20, partitions: 1, latency: 30 * time.Millisecond},
		{producers: 20, partitions: 16, latency: 30 * time.Millisecond},
		{producers: 100, partitions: 16, latency: 5 * time.Millisecond},
		{producers: 20, partitions: 16, latency: 30 * time.Millisecond, spoiled: true},
	} {
		t.Run(c.String(), func(t *testing.T) {
			o := c.run(t)
			t.Logf("%+v", o)
			if most := c.latency * 115 / 100; o.latency > most {
				t.Errorf("a record took %v, want at most %v: DIS and a little", o.latency, most)
			}
			if least := c.producers * int(30*time.Second/c.latency) * 85 / 100; o.records < least {
				t.Errorf("%d records, want at least %d", o.records, least)
			}
		})
	}
}

// TestProducersThatSendFreelyAreNotHeldUp: whoever does not come back because of an
// answer is not waited for. A record that comes while DIS has another waits for
// half of that on average, and then for its own.
func TestProducersThatSendFreelyAreNotHeldUp(t *testing.T) {
	for _, c := range []crowd{
		{producers: 1, partitions: 1, latency: 30 * time.Millisecond, think: 10 * time.Millisecond, freely: true},
		{producers: 1, partitions: 1, latency: 30 * time.Millisecond, think: time.Millisecond, freely: true},
		{producers: 16, partitions: 16, latency: 30 * time.Millisecond, think: 16 * time.Millisecond, freely: true},
		{producers: 20, partitions: 1, latency: 5 * time.Millisecond, think: 20 * time.Millisecond},
	} {
		t.Run(c.String(), func(t *testing.T) {
			o := c.run(t)
			t.Logf("%+v", o)
			mean := c.latency * 105 / 100
			if most := mean * 3 / 2 * 104 / 100; o.latency > most {
				t.Errorf("a record took %v, want at most %v", o.latency, most)
			}
		})
	}
}

// pipeline is a producer with several requests on the way, as Kafka's client: it
// builds the next one when one of them is answered.
type pipeline struct{ inFlight, partitions, perBatch int }

func (p pipeline) run(t *testing.T, requests int) (took time.Duration, put []sent) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.topic = newTopic("orders", p.partitions)
		r.dis.latency = 10 * time.Millisecond
		r.dis.script = func(_ int, put *wire.PutRecordsRequest) fate {
			return fate{wait: time.Duration(len(put.Records)) * 6 * time.Microsecond}
		}
		raw := plain(t, numbered("v", p.perBatch)...)
		var batches []Batch
		for partition := range p.partitions {
			batches = append(batches, Batch{Topic: r.topic, Partition: int32(partition), Records: raw, Version: 9})
		}
		begin, places := time.Now(), make(chan struct{}, p.inFlight)
		var all sync.WaitGroup
		for range requests {
			places <- struct{}{}
			time.Sleep(time.Duration(p.partitions*p.perBatch) * 2500 * time.Nanosecond) // to build it
			all.Go(func() {
				var missing sync.WaitGroup
				missing.Add(len(batches))
				r.engine.Submit(batches, func(_ int, result Result) {
					if result.Code != 0 {
						t.Errorf("%+v", result)
					}
					missing.Done()
				})
				missing.Wait()
				time.Sleep(time.Millisecond / 2) // until the client knows
				<-places
			})
		}
		all.Wait()
		took, put = time.Since(begin), r.dis.requests
	})
	return took, put
}

// TestRequestsInFlightTravelTogether: the five requests of a client go to DIS as one,
// instead of one and four behind it.
func TestRequestsInFlightTravelTogether(t *testing.T) {
	const requests = 300
	took, put := pipeline{inFlight: 5, partitions: 1, perBatch: 15}.run(t, requests)
	rate := requests * 15 / took.Seconds()
	t.Logf("%.0f records a second, %d requests to DIS", rate, len(put))
	if len(put) > requests/5+10 {
		t.Errorf("%d requests to DIS for %d of the client, want one for five", len(put), requests)
	}
	if best := 5 * 15 / 0.0105; rate < 0.85*best {
		t.Errorf("%.0f records a second, want at least 85 %% of %.0f: what fits into the time of DIS", rate, best)
	}
}

// TestPartitionsOfARequestTravelTogether: with one request to DIS for all of its
// partitions.
func TestPartitionsOfARequestTravelTogether(t *testing.T) {
	const requests = 50
	_, put := pipeline{inFlight: 1, partitions: 16, perBatch: 15}.run(t, requests)
	if len(put) != requests {
		t.Errorf("%d requests to DIS for %d of a client", len(put), requests)
	}
}

// TestWhatExceedsARequestIsSplitEvenly: what takes two requests makes two of about
// the same size, which are answered together.
func TestWhatExceedsARequestIsSplitEvenly(t *testing.T) {
	_, put := pipeline{inFlight: 1, partitions: 16, perBatch: 75}.run(t, 1)
	var sizes []int
	for _, one := range put {
		sizes = append(sizes, len(one.data))
	}
	if len(sizes) != 2 || max(sizes[0], sizes[1]) > 700 {
		t.Errorf("requests of %v records, want two of about 600", sizes)
	}
}

// TestAHoldEndsWithoutReturns: when the producers stay away, whoever sends does not
// wait long, and nothing of the stream is kept.
func TestAHoldEndsWithoutReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const latency = 16 * time.Millisecond
		r := newRig(t, nil)
		r.dis.latency = latency
		start := time.Now()
		var producers sync.WaitGroup
		for range 3 {
			producers.Go(func() {
				for time.Since(start) < time.Second {
					r.send(0, "x").wait()
					time.Sleep(100 * time.Microsecond)
				}
			})
		}
		producers.Wait()
		if r.engine.stream(keyOf(r.topic), r.topic).returning.hold == nil {
			t.Fatal("nobody is waited for")
		}
		begin := time.Now()
		if got := r.send(0, "alone").wait(); got.Code != 0 {
			t.Errorf("%+v", got)
		}
		if took, most := time.Since(begin), latency+latency/soonPart; took == latency || took > most {
			t.Errorf("it took %v, want more than %v and at most %v", took, latency, most)
		}
		time.Sleep(longestBurst)
		synctest.Wait()
		if n := len(r.engine.streams); n != 0 {
			t.Errorf("%d streams are kept", n)
		}
	})
}

// TestEveryAnswerCounts: a producer goes on after the last answer to a request, whatever
// the answers are. A request that is answered without DIS, or without anybody who waits
// for it, counts nowhere.
func TestEveryAnswerCounts(t *testing.T) {
	for name, c := range map[string]struct {
		request func(*rig) []Batch
		codes   []int16
		counts  int
	}{
		"stored": {func(r *rig) []Batch { return []Batch{r.plain(0), r.plain(1)} }, []int16{0, 0}, 1},
		"refused for good": {func(r *rig) []Batch {
			return []Batch{r.plain(0), {Partition: 1, Records: plain(r.t, "refuse")}}
		}, []int16{0, 3}, 1},
		"not written in time": {func(r *rig) []Batch {
			return []Batch{r.plain(0), {Partition: 3, Records: plain(r.t, "x"), Timeout: 10 * time.Millisecond}}
		}, []int16{0, 19}, 1},
		"unknown yet": {func(r *rig) []Batch {
			return []Batch{r.plain(9), {Partition: 1, Records: plain(r.t, "slow"), Timeout: 10 * time.Millisecond}}
		}, []int16{3, 7}, 1},
		"no such partition": {func(r *rig) []Batch { return []Batch{r.plain(9), r.plain(0)} }, []int16{3, 0}, 1},
		"broken":            {func(r *rig) []Batch { return []Batch{r.plain(0), {Records: []byte("broken")}} }, []int16{0, 87}, 1},
		"a repeat of what is stored": {func(r *rig) []Batch {
			return []Batch{r.plain(0), {Partition: 2, Records: sequencedBatch(r.t, 7, 0, 0, "stored")}}
		}, []int16{0, 0}, 1},
		"a repeat of what is on its way": {func(r *rig) []Batch {
			return []Batch{{Partition: 2, Records: sequencedBatch(r.t, 7, 0, 1, "slow"), Timeout: 10 * time.Millisecond}}
		}, []int16{7}, 1},
		"out of order": {func(r *rig) []Batch {
			return []Batch{{Partition: 2, Records: sequencedBatch(r.t, 7, 0, 9, "x")}, r.plain(0)}
		}, []int16{19, 0}, 1},
		"without DIS": {func(r *rig) []Batch {
			return []Batch{r.plain(9), {Partition: 2, Records: sequencedBatch(r.t, 7, 0, 0, "stored")}}
		}, []int16{3, 0}, 0},
		"without anybody who waits": {func(r *rig) []Batch {
			one, other := r.plain(0), r.plain(1)
			one.Silent, other.Silent = true, true
			return []Batch{one, other}
		}, []int16{0, 0}, 0},
		"at the end": {func(r *rig) []Batch {
			time.AfterFunc(time.Millisecond, func() {
				if err := r.engine.Close(context.Background()); err != nil {
					r.t.Error(err)
				}
			})
			return []Batch{r.plain(0), r.plain(3)}
		}, []int16{0, 6}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.dis.script = func(_ int, put *wire.PutRecordsRequest) fate {
					f := fate{refuse: map[int]string{}}
					for i, record := range put.Records {
						switch string(record.Data) {
						case "slow":
							f.wait = time.Second
						case "refuse":
							f.refuse[i] = wire.CodePartitionNotFound
						}
					}
					return f
				}
				r.submit(Batch{Partition: 2, Records: sequencedBatch(t, 7, 0, 0, "stored")}).want(0, 0)
				busy := []*answered{
					r.submit(Batch{Partition: 2, Records: sequencedBatch(t, 7, 0, 1, "slow")}),
					r.send(3, "slow"),
				}
				synctest.Wait()

				s := onlyStream(r.engine)
				s.returning = returning{took: time.Second, answered: 1, begin: time.Now(), last: time.Now()} // in a burst
				request := c.request(r)
				for i := range request {
					request[i].Topic, request[i].Version = r.topic, 9
				}
				codes := make([]int16, len(request))
				var missing sync.WaitGroup
				missing.Add(len(request))
				r.engine.Submit(request, func(i int, result Result) {
					codes[i] = result.Code
					missing.Done()
				})
				r.engine.mu.Lock()
				came := s.returning.came
				s.returning.answered = 0
				r.engine.mu.Unlock()
				missing.Wait()
				r.engine.mu.Lock()
				told := s.returning.answered
				r.engine.mu.Unlock()
				if !slices.Equal(codes, c.codes) || came != c.counts || told != c.counts {
					t.Errorf("codes %v, want %v; %d requests came and %d were answered, want %d", codes, c.codes, came, told, c.counts)
				}
				for _, b := range busy {
					b.wait()
				}
			})
		})
	}
}

func (r *rig) plain(partition int32) Batch {
	return Batch{Partition: partition, Records: plain(r.t, "x")}
}

// TestALargeBatchDoesNotRest: while enough for whole requests is left of a batch, its
// partition waits for nobody.
func TestALargeBatchDoesNotRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const latency = 16 * time.Millisecond
		r := newRig(t, nil)
		r.dis.latency = latency
		start := time.Now()
		var producers sync.WaitGroup
		for range 3 {
			producers.Go(func() {
				for time.Since(start) < 2*time.Second {
					r.send(1, "x").wait()
					time.Sleep(2 * time.Millisecond)
				}
			})
		}
		time.Sleep(time.Second)
		r.engine.mu.Lock()
		share := onlyStream(r.engine).returning.share
		r.engine.mu.Unlock()
		if share < nearlyAll {
			t.Fatalf("%.2f of the producers come back soon: none is waited for", share)
		}
		begin := time.Now()
		r.send(0, numbered("v", 5*maxRequestRecords)...).want(0, 0)
		if took := time.Since(begin); took != 5*latency {
			t.Errorf("it took %v, want %v: five requests without a pause", took, 5*latency)
		}
		producers.Wait()
	})
}
