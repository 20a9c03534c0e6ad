package produce

import (
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// partition is the writer of one partition of a stream. Engine.mu guards it,
// except where a batch says that fields are the writer's own.
type partition struct {
	stream  *stream
	number  int32
	id      wire.Text
	pacer   *pacer     // nil: not paced
	running bool       // its goroutine lives
	waiting []*pending // not opened yet, oldest first
	open    []*pending // opened, oldest first: only the last may have records to encode

	isolate   int // so many batches more go one by one
	backoff   backoff
	throttled bool   // the last refusal was for throughput
	trouble   string // the last failure, "" when the last request did well
	unsure    bool   // the outcome of a request is unknown, and none was answered since

	held bool      // it is pacing that the partition waits for
	sent time.Time // when the chunk that DIS has not answered was sent; zero: none
}

func (p *partition) enqueue(b *pending) {
	b.partition = p
	p.waiting = append(p.waiting, b)
	if !p.running {
		p.running = true
		p.stream.atWork++
		p.stream.engine.writers.Go(p.run)
	}
}

// run writes until there is nothing to write.
func (p *partition) run() {
	c := chunks.Get().(*chunk)
	defer chunks.Put(c)
	c.writer, c.partition, c.outcome = p, p.id, make(chan outcome, 1)
	defer func() { c.writer = nil }()
	for p.fill(c) {
		p.pace(c)
		out := p.stream.put(c)
		pause := p.settle(c, out)
		out.awaitOthers()
		if pause > 0 {
			p.stream.whileResting(func() { p.stream.engine.sleep(pause) })
		}
	}
}

func (e *Engine) sleep(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.ctx.Done():
	}
}

// fill puts into the chunk what came since. Records that have to be sent again
// go without later ones: DIS could refuse them once more and store the later
// ones. It reports whether there is anything to send; when not, the writer is
// over.
func (p *partition) fill(c *chunk) bool {
	if !c.empty() {
		return true
	}
	p.restForReturning()
	for {
		b, frame, room := p.next(c)
		if b == nil {
			return !c.empty()
		}
		if !b.opened {
			ready, goOn := p.stream.engine.openBatch(b, frame, c.empty())
			if !goOn {
				return true
			}
			if !ready {
				continue
			}
		}
		if b.encoded == 0 && !b.hasSpare && !p.begin(b, c) {
			continue
		}
		c.take(b, room)
		if b.hasSpare {
			return true
		}
	}
}

// next gives the batch whose records come next, its frame, and how much the chunk
// may hold. It gives none when the chunk is to go as it is, and ends the
// writer when the chunk is empty.
func (p *partition) next(c *chunk) (*pending, record.Frame, room) {
	e := p.stream.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	c.alone = p.isolate > 0
	r := p.room()
	if c.alone && !c.empty() || len(c.items) >= r.records {
		return nil, record.Frame{}, r
	}
	if b := p.goesOn(); b != nil {
		return b, b.frame, r
	}
	for len(p.waiting) > 0 {
		b := p.waiting[0]
		p.waiting[0] = nil
		p.waiting = p.waiting[1:]
		if !b.finished {
			p.open = append(p.open, b)
			return b, b.frame, r
		}
	}
	p.waiting = nil
	if c.empty() {
		p.release()
		p.running = false
		p.stream.atWork--
		p.stream.launch()
		p.stream.forget(p)
	}
	return nil, record.Frame{}, r
}

// goesOn is the open batch that still has records to encode, nil when there is none.
func (p *partition) goesOn() *pending {
	if n := len(p.open); n > 0 {
		if b := p.open[n-1]; !b.finished && b.refusal == nil && (!b.opened || b.encoded < b.count) {
			return b
		}
	}
	return nil
}

// dropFinished takes what is finished out of a chunk that waits in the queue.
// Records share the memory of the frames they came in, which nobody is charged
// for once they are answered, and behind a DIS that does not answer a chunk may
// wait for minutes.
func (p *partition) dropFinished() {
	for _, c := range p.stream.queue.chunks {
		if c.writer == p {
			p.stream.queue.change(c, c.dropFinished)
			p.release()
		}
	}
}

// release forgets the open batches that are finished and gives back what they
// were charged.
func (p *partition) release() {
	e := p.stream.engine
	kept := p.open[:0]
	for _, b := range p.open {
		if !b.finished {
			kept = append(kept, b)
			continue
		}
		e.payloads.release(b.payloadBytes)
		e.frames.release(b.late)
		b.payloadBytes, b.late = 0, 0
	}
	clear(p.open[len(kept):])
	p.open = kept
}

// because ends a message with the last failure of the partition.
func (p *partition) because() string {
	if p.trouble == "" {
		return ""
	}
	return ": " + p.trouble
}
