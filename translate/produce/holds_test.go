package produce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// commotion is what goes on while writers are held back: producers that wait for answers
// and come back soon, streams that lose partitions or are replaced, and the end of the
// engine at any time. DIS is sometimes slow, and otherwise does as it is told.
type commotion struct {
	Seed                            uint64
	Producers, Partitions, InFlight int
	Pacing                          float64
	Latency, Think, Timeout         time.Duration
	Stalls                          int           // percent of requests that take seconds
	Retires                         int           // partitions, one after the other
	Replaced                        bool          // the stream, at half of the time
	Ends                            time.Duration // when the engine is closed
	Grace                           time.Duration // what it has for that
}

func anyCommotion(rt *rapid.T) commotion {
	span := func(name string, all ...time.Duration) time.Duration { return rapid.SampledFrom(all).Draw(rt, name) }
	c := commotion{
		Seed:      rapid.Uint64().Draw(rt, "seed"),
		Producers: rapid.IntRange(1, 30).Draw(rt, "producers"), Partitions: rapid.IntRange(1, 8).Draw(rt, "partitions"),
		InFlight: rapid.IntRange(1, 4).Draw(rt, "requests in flight"),
		Pacing:   rapid.SampledFrom([]float64{0, 0, 0.1}).Draw(rt, "pacing"),
		Latency:  span("latency", time.Millisecond, 5*time.Millisecond, 30*time.Millisecond),
		Think:    span("think", 50*time.Microsecond, time.Millisecond, 20*time.Millisecond),
		Timeout:  span("timeout", 20*time.Millisecond, time.Second, 30*time.Second),
		Stalls:   rapid.SampledFrom([]int{0, 0, 5}).Draw(rt, "stalls"),
		Replaced: rapid.Bool().Draw(rt, "replaced"),
		Ends:     span("ends", 3*time.Millisecond, 300*time.Millisecond, time.Second) + span("and", 0, 123*time.Microsecond, 17*time.Millisecond),
		Grace:    span("grace", time.Millisecond, time.Minute),
	}
	c.Retires = rapid.IntRange(0, c.Partitions-1).Draw(rt, "retires")
	return c
}

// writing is a commotion as it runs.
type writing struct {
	commotion
	*rig
	topicNow func() *translate.Topic

	mu       sync.Mutex
	problems []string
	told     map[string]int16 // the code that says most of a value: 0, else 7, else another
	held     int              // requests that began while writers rested
}

func (w *writing) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// PutRecords looks at the engine before each request.
func (w *writing) PutRecords(ctx context.Context, put *wire.PutRecordsRequest) (*wire.PutRecordsResponse, error) {
	w.engine.mu.Lock()
	for _, s := range w.engine.streams {
		records, bytes, resting := 0, 0, 0
		for _, c := range s.queue.chunks {
			records, bytes = records+len(c.items), bytes+c.bytes
		}
		if s.queue.records != records || s.queue.bytes != bytes {
			w.complain("the queue counts %d records and %d bytes, and holds %d and %d", s.queue.records, s.queue.bytes, records, bytes)
		}
		if s.returning.hold != nil {
			resting = s.returning.hold.resting
		}
		if resting > 0 {
			w.mu.Lock()
			w.held++
			w.mu.Unlock()
		}
		if s.atWork < 0 || s.inFlight > w.InFlight || s.atWork+resting > len(s.partitions) {
			w.complain("%d writers at work, %d resting, of %d partitions, and %d requests", s.atWork, resting, len(s.partitions), s.inFlight)
		}
	}
	w.engine.mu.Unlock()
	return w.dis.PutRecords(ctx, put)
}

// produce is one producer: batch after batch, each until it is stored or surely never is.
func (w *writing) produce(number int, id int64, random *rand.Rand) {
	partition, sequence, stream := int32(number%w.Partitions), int32(0), ""
	for batch := 0; ; batch++ {
		values := numbered(fmt.Sprintf("p%d-b%d", number, batch), 1+random.IntN(20))
		topic := w.topicNow()
		if topic.Name != stream {
			stream, sequence = topic.Name, 0
		}
		for {
			code := w.submit(topic, partition, id, sequence, values, random)
			if code == 6 {
				return
			}
			if code == 0 || id < 0 {
				break
			}
			time.Sleep(w.Think)
		}
		sequence += int32(len(values))
		time.Sleep(time.Duration(random.Int64N(int64(2 * w.Think))))
	}
}

// submit sends a batch, an idempotent one sometimes twice, and gives the first answer.
func (w *writing) submit(topic *translate.Topic, partition int32, id int64, sequence int32, values []string, random *rand.Rand) int16 {
	times, raw := 1, sequencedBatch(w.t, id, 0, sequence, values...)
	if id >= 0 && random.IntN(4) == 0 {
		times = 2
	}
	codes := make([]int16, times)
	var missing sync.WaitGroup
	for i := range times {
		missing.Add(1)
		begin := time.Now()
		w.engine.Submit([]Batch{{Topic: topic, Partition: partition, Records: raw, Version: 9, Timeout: w.Timeout}}, func(_ int, r Result) {
			if took := time.Since(begin); w.Pacing == 0 && took > w.Timeout*8/10+time.Microsecond {
				w.complain("%s was answered %d after %v", values[0], r.Code, took)
			}
			codes[i] = r.Code
			missing.Done()
		})
	}
	missing.Wait()
	w.note(values, codes)
	if slices.Contains(codes, 0) {
		return 0
	}
	return codes[0]
}

// note remembers what was promised of the values.
func (w *writing) note(values []string, codes []int16) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range values {
		was, known := w.told[v]
		for _, code := range codes {
			if !known || code == 0 || code == 7 && was != 0 {
				was, known = code, true
			}
		}
		w.told[v] = was
	}
}

// check compares what was promised with what DIS has.
func (w *writing) check() {
	where := map[string]int{}
	for _, records := range w.dis.stored {
		last := map[string]int{} // of a producer
		for _, r := range records {
			where[r.data]++
			var producer, batch, index int
			if _, err := fmt.Sscanf(r.data, "p%d-b%d-%d", &producer, &batch, &index); err != nil {
				w.complain("%q: %v", r.data, err)
			}
			at, of := batch*1000+index, fmt.Sprint(producer)
			if before, ok := last[of]; ok && at <= before {
				w.complain("%s stands behind %d", r.data, before)
			}
			last[of] = at
		}
	}
	for v, n := range where {
		if n > 1 {
			w.complain("%s is stored %d times", v, n)
		}
		if code := w.told[v]; code != 0 && code != 7 {
			w.complain("%s is stored, and its producer was told %d", v, code)
		}
	}
	for v, code := range w.told {
		if code == 0 && where[v] == 0 {
			w.complain("%s was acknowledged and is missing", v)
		}
	}
}

func (c commotion) run(t *testing.T) (problems []string, held int) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(c.Seed, 1))
		begin, w := time.Now(), &writing{commotion: c, told: map[string]int16{}}
		w.rig = &rig{t: t, dis: newFakeDIS(t)}
		w.dis.latency = c.Latency
		w.dis.script = func(int, *wire.PutRecordsRequest) fate {
			f := fate{wait: time.Duration(random.Int64N(int64(c.Latency)))}
			if random.IntN(100) < c.Stalls {
				f.wait = time.Duration(random.IntN(3)) * time.Second
			}
			return f
		}
		topics := c.topics()
		w.topicNow = func() *translate.Topic {
			return topics[min(int(time.Since(begin)*time.Duration(len(topics))/c.Ends), len(topics)-1)]
		}
		w.engine = New(Config{MaxInFlight: c.InFlight, Pacing: c.Pacing, Logger: zerolog.Nop()}, w)
		var producers sync.WaitGroup
		for i := range c.Producers {
			id := int64(-1)
			if i%2 == 0 {
				id, _ = w.engine.NewProducerID()
			}
			producers.Go(func() { w.produce(i, id, rand.New(rand.NewPCG(c.Seed, uint64(2+i)))) })
		}
		time.Sleep(c.Ends)
		ctx, cancel := context.WithTimeout(context.Background(), c.Grace)
		defer cancel()
		if err := w.engine.Close(ctx); err != nil && c.Grace > 10*time.Second {
			w.complain("close: %v", err)
		}
		if n, used := len(w.engine.streams), w.engine.Metrics().BufferedBytes; n != 0 || used != 0 {
			w.complain("%d streams and %d bytes are kept", n, used)
		}
		producers.Wait()
		w.check()
		problems, held = w.problems, w.held
	})
	return problems, held
}

// topics are how the topic looks, one after the other.
func (c commotion) topics() (all []*translate.Topic) {
	for retired := range c.Retires + 1 {
		topic := newTopic("orders", c.Partitions)
		for p := range retired {
			topic.Partitions[p].Status = wire.PartitionDeleted
		}
		all = append(all, topic)
	}
	if c.Replaced {
		all = append(all, newTopic("payments", c.Partitions))
	}
	return all
}

// TestHoldsBreakNothing: whatever happens while writers wait for those who come back,
// every batch is answered once and in time, and the answer is true; and nothing is left.
func TestHoldsBreakNothing(t *testing.T) {
	all := 0
	rapid.Check(t, func(rt *rapid.T) {
		c := anyCommotion(rt)
		problems, held := c.run(t)
		all += held
		if len(problems) > 0 {
			rt.Fatalf("%+v:\n%s", c, strings.Join(problems[:min(len(problems), 10)], "\n"))
		}
	})
	if all == 0 {
		t.Error("no writer ever rested")
	}
}
