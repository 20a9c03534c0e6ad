package produce

import (
	"container/list"
	"slices"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

const (
	// windowBatches is how many stored batches of a producer are remembered per
	// partition: clients have at most that many in flight (KIP-98).
	windowBatches = 5

	// producerExpiry is how long a silent producer is remembered, Kafka's
	// producer.id.expiration.ms.
	producerExpiry = 24 * time.Hour

	// sequenceMask: sequence numbers have 31 bits and go on with 0 after 2^31-1.
	sequenceMask = 1<<31 - 1
)

// distance is how far it is from sequence number a forward to b.
func distance(a, b int32) int64 { return int64(uint32(b-a) & sequenceMask) }

func advance(sequence int32, count int) int32 {
	return int32((uint32(sequence) + uint32(count)) & sequenceMask)
}

// window remembers what idempotent producers wrote, so that a batch that comes
// again is not written again. Engine.mu guards it.
type window struct {
	max       int
	ids       *producerIDs
	producers map[producerKey]*producer
	named     map[nameKey]*producer // the latest under a stream's name
	recency   list.List             // of *producer, longest unused in front
	forgotten int64                 // the highest id issued here that was dropped, -1 for none
	abandoned func(part)            // is told of parts that nobody can come back for
}

type producerKey struct {
	partition partitionKey // Kafka's, not where a retired one is written to
	id        int64
}

// nameKey finds a producer when its stream was deleted and created again.
type nameKey struct {
	stream string
	number int32
	id     int64
}

func (k producerKey) name() nameKey {
	return nameKey{k.partition.stream.name, k.partition.number, k.id}
}

func newWindow(max int, ids *producerIDs, abandoned func(part)) *window {
	return &window{
		max: max, ids: ids, forgotten: -1, abandoned: abandoned,
		producers: make(map[producerKey]*producer), named: make(map[nameKey]*producer),
	}
}

// find returns the producer, or nil when it was not seen or is forgotten.
func (w *window) find(key producerKey, now time.Time) *producer {
	p := w.producers[key]
	if p != nil {
		p.used = now
		w.recency.MoveToBack(p.place)
	}
	return p
}

// has reports whether the producer is not forgotten.
func (w *window) has(p *producer) bool { return w.producers[p.key] == p }

// add remembers a producer from the frame on, and forgets others for it.
func (w *window) add(key producerKey, frame record.Frame, now time.Time) *producer {
	p := &producer{key: key, epoch: frame.ProducerEpoch, next: frame.BaseSequence, used: now}
	p.place = w.recency.PushBack(p)
	w.producers[key] = p
	if key.partition.stream.name != "" {
		w.named[key.name()] = p
	}
	w.evict(now)
	return p
}

// evict drops producers beyond the maximum and those silent for long. One with
// batches on their way stays.
func (w *window) evict(now time.Time) {
	for place := w.recency.Front(); place != nil; {
		p, next := place.Value.(*producer), place.Next()
		if len(w.producers) <= w.max && now.Sub(p.used) < producerExpiry {
			return
		}
		if !p.busy() {
			w.recency.Remove(place)
			delete(w.producers, p.key)
			for _, left := range p.parts {
				w.abandoned(left)
			}
			if w.named[p.key.name()] == p {
				delete(w.named, p.key.name())
			}
			if w.ids.issued(p.key.id) {
				w.forgotten = max(w.forgotten, p.key.id)
			}
		}
		place = next
	}
}

// mustStart reports whether an unknown producer has to begin with sequence 0:
// when the id was issued here, and surely not forgotten since. An id of another
// gateway, or of this one before a restart, may be anywhere in its sequence; so
// may one that wrote to an earlier stream of the name, of whose end its client
// need not have heard.
func (w *window) mustStart(key producerKey) bool {
	return w.ids.issued(key.id) && key.id > w.forgotten && w.named[key.name()] == nil
}

// producer is the state of a producer id in one partition.
type producer struct {
	key    producerKey
	epoch  int16
	next   int32 // sequence number that continues
	seen   int64 // how many sequence numbers before next were taken
	recent []*sequenced
	parts  []part // of batches that DIS then refused
	used   time.Time
	place  *list.Element
}

// sequenced is a batch in the window: on its way, or stored with a result.
type sequenced struct {
	base   int32
	count  int
	batch  *pending // nil once stored
	result Result
}

func (p *producer) busy() bool {
	for _, s := range p.recent {
		if s.batch != nil {
			return true
		}
	}
	return false
}

// verdict says what is to be done with a batch of an idempotent producer.
type verdict int

const (
	writeNext   verdict = iota // it continues the sequence
	writeApart                 // from before the window's time: write it, remember nothing
	repeat                     // of a batch in the window
	longWritten                // written before the window's batches
	outOfOrder                 // not now
)

// placing is the verdict with what belongs to it.
type placing struct {
	verdict verdict
	first   *sequenced // of a repeat
	reason  string     // of outOfOrder
}

// place decides about a batch. A producer that was not known is remembered.
func (w *window) place(key producerKey, frame record.Frame, now time.Time) (*producer, placing) {
	if p := w.find(key, now); p != nil {
		return p, p.judge(frame)
	}
	if frame.BaseSequence != 0 && w.mustStart(key) {
		return nil, placing{verdict: outOfOrder, reason: "the producer's first batch has not arrived"}
	}
	return w.add(key, frame, now), placing{verdict: writeNext}
}

// judge decides about a batch of a known producer. A higher epoch that begins
// with sequence 0 starts the state over.
func (p *producer) judge(frame record.Frame) placing {
	switch {
	case frame.ProducerEpoch < p.epoch:
		return placing{verdict: outOfOrder, reason: "the producer went on with a later epoch"}
	case frame.ProducerEpoch > p.epoch && frame.BaseSequence != 0:
		return placing{verdict: outOfOrder, reason: "the first batch of the producer's epoch has not arrived"}
	case frame.ProducerEpoch > p.epoch:
		p.epoch, p.next, p.seen, p.recent = frame.ProducerEpoch, 0, 0, nil
	}
	for _, s := range p.recent {
		if s.base == frame.BaseSequence && s.count == frame.Count {
			return placing{verdict: repeat, first: s}
		}
	}
	if frame.BaseSequence == p.next {
		return placing{verdict: writeNext}
	}
	behind := distance(frame.BaseSequence, p.next)
	switch {
	case behind > sequenceMask/2 || int64(frame.Count) > behind:
		return placing{verdict: outOfOrder, reason: "an earlier batch of the producer has not arrived"}
	case behind > p.seen:
		return placing{verdict: writeApart}
	case len(p.recent) == 0 || behind-int64(frame.Count) >= distance(p.recent[0].base, p.next):
		return placing{verdict: longWritten}
	}
	return placing{verdict: outOfOrder, reason: "the batch overlaps others of the producer"}
}

// take enters the next batch of the sequence.
func (p *producer) take(b *pending) {
	p.recent = append(p.recent, &sequenced{base: p.next, count: b.count, batch: b})
	p.next = advance(p.next, b.count)
	p.seen += int64(b.count)
	for len(p.recent) > windowBatches && p.recent[0].batch == nil {
		p.recent = p.recent[1:]
	}
	b.producer, b.owner = p, p
}

// lastPending is the latest batch that is on its way, nil when there is none.
func (p *producer) lastPending() *pending {
	for _, s := range slices.Backward(p.recent) {
		if s.batch != nil {
			return s.batch
		}
	}
	return nil
}

func (p *producer) find(b *pending) int {
	for i, s := range p.recent {
		if s.batch == b {
			return i
		}
	}
	return -1
}

// succeeded keeps the result for repeats.
func (p *producer) succeeded(b *pending, result Result) {
	if i := p.find(b); i >= 0 {
		p.recent[i].batch, p.recent[i].result = nil, result
	}
	p.forgetPart(b.id)
}

// failed sets the sequence back to the failed batch and returns the batches
// behind it that are on their way: they are no longer part of the sequence.
// Whatever of them is stored all the same is out of the window too, since the
// producer counts on from the failed batch.
func (p *producer) failed(b *pending) (later []*pending) {
	at := p.find(b)
	if at < 0 {
		return nil
	}
	for _, s := range p.recent[at+1:] {
		if s.batch != nil {
			s.batch.producer = nil
			later = append(later, s.batch)
		}
	}
	p.seen -= distance(p.recent[at].base, p.next)
	p.next = p.recent[at].base
	clear(p.recent[at:])
	p.recent = p.recent[:at]
	return later
}
