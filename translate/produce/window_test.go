package produce

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// producerOf sends batches of one producer id.
type producerOf struct {
	*rig
	id        int64
	epoch     int16
	partition int32
	timeout   time.Duration
}

func (p producerOf) at(sequence int32, values ...string) *answered {
	return p.submit(Batch{Partition: p.partition, Timeout: p.timeout, Records: sequencedBatch(p.t, p.id, p.epoch, sequence, values...)})
}

const foreignID = math.MaxInt64

func TestRepeatsAreNotWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = time.Second
		p := producerOf{rig: r, id: foreignID}
		first := p.at(0, "a", "b")
		synctest.Wait()
		during := []*answered{p.at(0, "a", "b"), p.at(0, "a", "b")}
		first.want(0, 0)
		for _, again := range append(during, p.at(0, "a", "b")) {
			again.want(0, 0)
		}
		p.at(2, "c").want(0, 2)
		p.at(0, "a", "b").want(0, 0)
		r.wantContents(0, "a", "b", "c")
		if n := r.engine.Metrics().RepeatedBatches; n != 4 {
			t.Errorf("%d repeats counted, want 4", n)
		}
	})
}

func TestARepeatJoinsWorkThatTookTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.script = onCall(map[int]fate{1: {wait: 3 * time.Second}})
		p := producerOf{rig: r, id: foreignID, timeout: time.Second}
		p.at(0, "a").want(7, -1)
		p.at(0, "a").want(7, -1)
		p.timeout = time.Minute
		p.at(0, "a").want(0, 0)
		r.wantContents(0, "a")
	})
}

func TestOlderThanTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := producerOf{rig: r, id: foreignID}
		for i := range int32(8) {
			p.at(i*2, "x", "y").want(0, int64(i*2))
		}
		p.at(6, "x", "y").want(0, 6)  // the oldest of the last five
		p.at(4, "x", "y").want(0, -1) // before them
		p.at(0, "x").want(0, -1)
		p.at(7, "x").want(19, -1)            // half of one in the window
		p.at(5, "1", "2").want(19, -1)       // across two
		p.at(15, "1", "2", "3").want(19, -1) // half of it new
		p.at(18, "gap").want(19, -1)         // 16 and 17 are missing
		p.at(16, "next").want(0, 16)         // and the sequence goes on
		if got := len(r.dis.contents(r.topic, 0)); got != 17 {
			t.Errorf("%d records stored, want 17", got)
		}
	})
}

func TestSequenceWraps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := producerOf{rig: r, id: foreignID}
		p.at(math.MaxInt32-2, "a", "b").want(0, 0)
		p.at(math.MaxInt32, "c", "d").want(0, 2) // 2^31-1 and 0
		p.at(1, "e").want(0, 4)
		p.at(math.MaxInt32, "c", "d").want(0, 2)
		p.at(3, "gap").want(19, -1)
		r.wantContents(0, "a", "b", "c", "d", "e")
	})
}

func TestWhereSequencesBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		id, epoch := r.engine.NewProducerID()
		own := producerOf{rig: r, id: id, epoch: epoch}
		own.at(3, "second").want(19, -1) // it overtook the first
		own.at(0, "a", "b", "c").want(0, 0)
		own.at(3, "second").want(0, 3)
		own.partition = 1
		own.at(4, "x").want(19, -1) // each partition begins with 0

		foreign := producerOf{rig: r, id: foreignID, partition: 2}
		foreign.at(500, "x").want(0, 0)
		foreign.at(480, "from before this gateway knew it").want(0, 1)
		foreign.at(501, "y").want(0, 2)
		foreign.epoch = 1
		foreign.at(7, "not the first of the epoch").want(19, -1)
		foreign.at(0, "z").want(0, 3)
		foreign.epoch = 0
		foreign.at(502, "of the epoch before").want(19, -1)
		r.wantContents(2, "x", "from before this gateway knew it", "y", "z")
	})
}

// A producer need not know that its topic was deleted and created again: its
// sequence goes on in the new stream, and what it had written to the old one does
// not count there.
func TestSequenceGoesOnInARecreatedTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.MaxProducers = 3 })
		id, _ := r.engine.NewProducerID()
		p := producerOf{rig: r, id: id}
		p.at(0, "a", "b").want(0, 0)

		again := *r.topic
		again.StreamID = "id-of-the-next"
		r.topic = &again
		p.at(2, "c").want(0, 2)
		p.at(3, "d").want(0, 3)
		p.at(2, "c").want(0, 2)
		p.at(5, "gap").want(19, -1)
		p.partition = 1
		p.at(4, "x").want(19, -1) // where it never wrote it begins with 0
		r.wantContents(0, "a", "b", "c", "d")

		for i := range int64(5) {
			producerOf{rig: r, id: foreignID - i}.at(0, "x").want(0, 4+i)
		}
		if w := r.engine.window; len(w.named) != len(w.producers) {
			t.Errorf("%d names of %d producers are remembered", len(w.named), len(w.producers))
		}
	})
}

func TestAFailureTakesLaterBatchesAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.script = onCall(map[int]fate{1: {wait: 5 * time.Second}})
		blocker := r.send(0, "blocker")
		synctest.Wait()
		p := producerOf{rig: r, id: foreignID, timeout: time.Second}
		first := p.at(0, "a")
		p.timeout = time.Minute
		second, third := p.at(1, "b"), p.at(2, "c")
		other := producerOf{rig: r, id: foreignID - 1}.at(0, "other")
		first.want(19, -1)
		second.want(19, -1)
		third.want(19, -1)
		p.at(2, "c").want(19, -1) // still a gap
		again := []*answered{p.at(0, "a"), p.at(1, "b"), p.at(2, "c")}
		blocker.want(0, 0)
		other.want(0, 1)
		for i, a := range again {
			a.want(0, int64(2+i))
		}
		r.wantContents(0, "blocker", "other", "a", "b", "c")
	})
}

// A record that DIS refuses for good fails its batch. What the producer sent
// behind it may be stored already; it counts on from the failed batch all the same.
func TestSequenceAfterARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = time.Millisecond
		r.dis.script = onCall(map[int]fate{2: refusing(wire.CodeInvalidSchema, 0)})
		r.send(0, "first")
		synctest.Wait()
		p := producerOf{rig: r, id: foreignID}
		bad, good := p.at(0, "bad"), p.at(1, "good")
		bad.want(87, -1)
		good.want(0, 1)
		p.at(2, "x").want(19, -1)
		p.at(0, "in its place").want(0, 2)
		p.epoch = 1
		p.at(0, "next epoch").want(0, 3)
		r.wantContents(0, "first", "good", "in its place", "next epoch")
	})
}

func TestABadBatchHoldsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := producerOf{rig: r, id: foreignID}
		p.at(0, "a").want(0, 0)
		broken := sequencedBatch(t, p.id, 0, 1, "b")
		broken[len(broken)-1] ^= 1
		r.submit(Batch{Records: broken}).want(2, -1)
		p.at(2, "c").want(19, -1)
		p.at(1, "b").want(0, 1)
		p.at(2, "c").want(0, 2)
	})
}

func TestTheWindowIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.MaxProducers = 3 })
		id, _ := r.engine.NewProducerID()
		old := producerOf{rig: r, id: id}
		old.at(0, "a").want(0, 0)
		for i := range int64(5) {
			producerOf{rig: r, id: foreignID - i}.at(0, "x").want(0, 1+i)
		}
		if n := len(r.engine.window.producers); n != 3 || r.engine.window.recency.Len() != n {
			t.Errorf("%d producers remembered, want 3", n)
		}
		old.at(1, "b").want(0, 6) // forgotten, so it may go on anywhere
		fresh, _ := r.engine.NewProducerID()
		producerOf{rig: r, id: fresh}.at(1, "b").want(19, -1) // never seen, so it may not
		time.Sleep(producerExpiry + time.Second)
		producerOf{rig: r, id: foreignID - 77}.at(0, "x").want(0, 7)
		if n := len(r.engine.window.producers); n != 1 {
			t.Errorf("%d producers remembered after a day of silence, want the one that came", n)
		}
	})
}

func TestProducersOnTheirWayAreNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.MaxProducers = 1 })
		r.dis.latency = time.Second
		first := producerOf{rig: r, id: foreignID}.at(0, "a")
		synctest.Wait()
		second := producerOf{rig: r, id: foreignID - 1}.at(0, "b")
		again := producerOf{rig: r, id: foreignID}.at(0, "a")
		first.want(0, 0)
		again.want(0, 0)
		second.want(0, 1)
		r.wantContents(0, "a", "b")
	})
}

func TestProducerIDs(t *testing.T) {
	ids := newProducerIDs()
	seen := make(map[int64]bool)
	for range 1000 {
		id := ids.next()
		if id < 0 || seen[id] || !ids.issued(id) {
			t.Fatalf("id %d: negative, given twice or not known", id)
		}
		seen[id] = true
	}
	if other := newProducerIDs(); ids.issued(other.next()) {
		t.Error("an id of another instance passes for one of our own")
	}
	if ids.issued(ids.instance<<counterBits | ids.counter) {
		t.Error("an id that was not given out passes")
	}
	ids.counter = 1 << counterBits
	if id := ids.next(); id < 0 || seen[id] || !ids.issued(id) {
		t.Errorf("id %d after the counter ran over", id)
	}
}
