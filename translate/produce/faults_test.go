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

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// weather is how badly DIS behaves until the faults end. Each field is the
// chance, in percent, of a fault for one request.
type weather struct {
	Seed                                uint64
	Throttle, Hole, Lost, Dial, Slow    int
	Producers, Partitions, Batches, Max int // Max records in a batch
	Timeout                             time.Duration
	InFlight                            int
}

func anyWeather(rt *rapid.T) weather {
	percent := func(name string, most int) int {
		return rapid.SampledFrom([]int{0, most / 4, most}).Draw(rt, name)
	}
	return weather{
		Seed:     rapid.Uint64().Draw(rt, "seed"),
		Throttle: percent("throttle", 60), Hole: percent("hole", 20), Lost: percent("lost", 30),
		Dial: percent("dial", 50), Slow: percent("slow", 30),
		Producers: rapid.IntRange(1, 3).Draw(rt, "producers"), Partitions: rapid.IntRange(1, 4).Draw(rt, "partitions"),
		Batches: rapid.IntRange(1, 12).Draw(rt, "batches"), Max: rapid.SampledFrom([]int{1, 7, 150}).Draw(rt, "most records"),
		Timeout:  rapid.SampledFrom([]time.Duration{300 * time.Millisecond, 5 * time.Second, time.Minute}).Draw(rt, "timeout"),
		InFlight: rapid.IntRange(1, 4).Draw(rt, "requests in flight"),
	}
}

// faultsEnd is how long DIS misbehaves, patience how long clients try.
const (
	faultsEnd = 2 * time.Minute
	patience  = 10 * time.Minute
)

func (w weather) script() func(int, *wire.PutRecordsRequest) fate {
	dice, start := rand.New(rand.NewPCG(w.Seed, 1)), time.Now()
	hits := func(percent int) bool { return dice.IntN(100) < percent }
	return func(_ int, put *wire.PutRecordsRequest) fate {
		if time.Since(start) > faultsEnd {
			return fate{}
		}
		f := fate{refuse: make(map[int]string), wait: time.Duration(dice.IntN(50)) * time.Millisecond}
		switch {
		case hits(w.Dial):
			f.fail = errDial
			return f
		case hits(w.Lost):
			f.lose = errLost
		}
		if hits(w.Slow) {
			f.wait = time.Duration(dice.IntN(40)) * time.Second
		}
		if hits(w.Throttle) { // the end of each partition's records
			left := make(map[wire.Text]int)
			for i, r := range put.Records {
				if _, seen := left[r.PartitionID]; !seen {
					left[r.PartitionID] = i + dice.IntN(1+len(put.Records))
				}
				if i >= left[r.PartitionID] {
					f.refuse[i] = wire.CodeThrottled
				}
			}
		}
		if hits(w.Hole) {
			f.refuse[dice.IntN(len(put.Records))] = wire.CodeRecordInternal
		}
		return f
	}
}

// client writes batches to one partition as a Kafka producer does: several in
// flight, what failed again and in order, until all are acknowledged.
type client struct {
	*rig
	id        int64 // -1: not idempotent, one batch in flight
	partition int32
	timeout   time.Duration
	batches   []*clientBatch
	progress  chan struct{}

	mu       sync.Mutex
	problems []string
}

type clientBatch struct {
	sequence int32
	values   []string
	inFlight bool
	acked    bool
	given    bool // up
	offset   int64
	codes    []int16
}

func (c *client) run() {
	for start := time.Now(); time.Since(start) < patience; {
		c.mu.Lock()
		inFlight, open, room := 0, 0, 5
		if c.id < 0 {
			room = 1
		}
		var send []*clientBatch
		for _, b := range c.batches {
			if b.acked || b.given {
				continue
			}
			open++
			if !b.inFlight && inFlight < room {
				b.inFlight = true
				send = append(send, b)
			}
			if b.inFlight {
				inFlight++
			}
		}
		c.mu.Unlock()
		if open == 0 {
			return
		}
		for _, b := range send {
			c.send(b)
		}
		<-c.progress
	}
}

func (c *client) send(b *clientBatch) {
	raw := sequencedBatch(c.t, c.id, 0, b.sequence, b.values...)
	if b.sequence%3 == 0 {
		raw = stamp(zipped(c.t, b.values...), c.id, 0, b.sequence)
	}
	c.engine.Submit([]Batch{{Topic: c.topic, Partition: c.partition, Records: raw, Version: 9, Timeout: c.timeout}}, func(_ int, r Result) {
		c.mu.Lock()
		b.inFlight = false
		b.codes = append(b.codes, r.Code)
		switch r.Code {
		case 0:
			b.acked, b.offset = true, r.BaseOffset
		case 7, 19:
			b.given = c.id < 0 // not idempotent: what is written must fit the one answer
		default:
			c.problems = append(c.problems, fmt.Sprintf("code %d: %s", r.Code, r.Message))
			b.given = true
		}
		c.mu.Unlock()
		time.AfterFunc(20*time.Millisecond, func() {
			select {
			case c.progress <- struct{}{}:
			default: // it will look anyway
			}
		})
	})
}

// check compares what the client was told with what the partition holds.
func (c *client) check(held []string, w weather) (problems []string) {
	problems = c.problems
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	where, last := index(held), -1
	for _, b := range c.batches {
		if b.acked && b.offset >= 0 {
			if end := int(b.offset) + len(b.values); end > len(held) || !slices.Equal(held[b.offset:end], b.values) {
				complain("base offset %d of batch %d is wrong", b.offset, b.sequence)
			}
		}
		for _, v := range b.values {
			first, times := where[v].first, where[v].times
			switch {
			case b.acked && times == 0:
				complain("%s was acknowledged and is missing", v)
			case !b.acked && c.id >= 0:
				complain("%s was never acknowledged, last code %d", v, b.codes[len(b.codes)-1])
			case !b.acked && b.codes[0] == 19 && times > 0:
				complain("%s was answered 19 and is stored", v)
			case times > 1 && w.Lost == 0:
				complain("%s is stored %d times and no reply was lost", v, times)
			}
			if times > 0 && first < last && w.Hole == 0 {
				complain("%s is out of order", v)
			}
			if times > 0 {
				last = first
			}
		}
	}
	return problems
}

type found struct{ first, times int }

func index(all []string) map[string]found {
	where := make(map[string]found, len(all))
	for i, v := range all {
		at, seen := where[v]
		if !seen {
			at.first = i
		}
		at.times++
		where[v] = at
	}
	return where
}

// simulate runs clients against a DIS in the weather, and gives what they find
// to complain about.
func simulate(t *testing.T, w weather) (problems []string) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, dis: newFakeDIS(t), topic: newTopic("orders", w.Partitions)}
		r.dis.latency = time.Millisecond
		r.dis.script = w.script()
		r.engine = New(Config{MaxInFlight: w.InFlight, Logger: zerolog.Nop()}, r.dis)

		dice := rand.New(rand.NewPCG(w.Seed, 2))
		var clients []*client
		var running sync.WaitGroup
		for producer := range w.Producers {
			id := int64(-1)
			if producer > 0 {
				id, _ = r.engine.NewProducerID()
			}
			for partition := range w.Partitions {
				c := &client{rig: r, id: id, partition: int32(partition), timeout: w.Timeout, progress: make(chan struct{}, 1)}
				sequence := int32(0)
				for batch := range w.Batches {
					values := numbered(fmt.Sprintf("p%d-%d", producer, batch), 1+dice.IntN(w.Max))
					c.batches = append(c.batches, &clientBatch{sequence: sequence, values: values})
					sequence += int32(len(values))
				}
				clients = append(clients, c)
				running.Go(c.run)
			}
		}
		running.Wait()
		if err := r.engine.Close(context.Background()); err != nil {
			problems = append(problems, err.Error())
		}
		if used := r.engine.Metrics().BufferedBytes; used != 0 {
			problems = append(problems, fmt.Sprintf("%d bytes are still charged", used))
		}
		for _, c := range clients {
			problems = append(problems, c.check(values(r.dis.contents(r.topic, int(c.partition))), w)...)
		}
	})
	return problems
}

// values takes envelopes off.
func values(held []string) []string {
	out := make([]string, len(held))
	for i, data := range held {
		out[i] = string(record.DecodeDIS([]byte(data), nil, 0).Value)
	}
	return out
}

func TestInAnyWeather(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := anyWeather(rt)
		if problems := simulate(t, w); len(problems) > 0 {
			rt.Fatalf("%+v:\n%s", w, strings.Join(problems[:min(len(problems), 10)], "\n"))
		}
	})
}
