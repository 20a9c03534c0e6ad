package produce

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// Submit queues the batches of one request and returns at once. Batches of one
// partition are written in the order of their Submit, and those of several
// partitions travel together as far as they can. done is called exactly once for
// each batch, with its index, from other goroutines, and must not block.
//
// Codes: 0 stored; 2, 10, 32, 53, 76, 87 as package record refuses batches; 7
// outcome unknown, still being written; 19 surely not written; 3, 5, 6 and others
// as DIS refuses records, see translate.KafkaError.
func (e *Engine) Submit(batches []Batch, done func(i int, r Result)) {
	type parsed struct {
		index int
		frame record.Frame
	}
	good := make([]parsed, 0, len(batches))
	for i, b := range batches {
		frame, err := record.Parse(b.Records, b.Version)
		if err != nil {
			go done(i, refused(err))
			continue
		}
		good = append(good, parsed{i, frame})
	}
	from := &submission{open: len(good)}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range good {
		tell := func(r Result) { done(g.index, r) }
		if result, answered := e.admit(batches[g.index], from, g.frame, tell); answered {
			from.answeredOne()
			go tell(result)
		}
	}
}

// refused turns an error of package record into an answer.
func refused(err error) Result {
	var bad *record.Error
	if errors.As(err, &bad) {
		result := failed(bad.Code, bad.Message)
		for _, r := range bad.Records {
			result.RecordErrors = append(result.RecordErrors, RecordError{Index: int32(r.Index), Message: r.Message})
		}
		return result
	}
	return notWritten(err.Error())
}

// admit queues the batch, or lets done wait for the batch it repeats, or gives
// the answer.
func (e *Engine) admit(b Batch, from *submission, frame record.Frame, done func(Result)) (result Result, answered bool) {
	target, trouble := route(b.Topic, b.Partition)
	if trouble != nil {
		return *trouble, true
	}
	now, source := time.Now(), partitionKey{keyOf(b.Topic), b.Partition}
	asking := &waiter{done: done, timeLimit: b.timeLimit(now)}
	if !b.Silent {
		asking.from = from
	}
	var sequence *producer
	if frame.ProducerID >= 0 {
		p, place := e.window.place(producerKey{source, frame.ProducerID}, frame, now)
		switch place.verdict {
		case writeNext:
			sequence = p
			if before := p.lastPending(); before != nil {
				// It must not overtake that one, nor be stored if that one fails.
				target = before.partition.number
			}
		case longWritten:
			e.metrics.repeatedBatches.Add(1)
			return stored(unknownOffset), true
		case outOfOrder:
			if e.closed {
				return closing, true // no batch before it will arrive here
			}
			return notWritten(place.reason), true
		case repeat:
			e.metrics.repeatedBatches.Add(1)
			if place.first.batch == nil {
				return place.first.result, true
			}
			e.await(place.first.batch, asking, e.leave)
			return Result{}, false
		}
	}
	if e.closed {
		return closing, true // unlike a repeat, which may be written
	}
	batch := &pending{
		topic: b.Topic, caller: b.Caller, source: b.Partition, count: frame.Count, frame: frame, id: idOf(frame), silent: b.Silent, frameSize: len(b.Records),
		arrived: now, timeLimit: asking.timeLimit, cost: room{records: frame.Count}, moved: target != b.Partition,
	}
	if batch.moved {
		e.noteMoved(b.Topic.Name, source, target)
	} else {
		delete(e.movedLogged, source) // retired once more it is news again
	}
	if sequence != nil {
		sequence.take(batch)
		for _, left := range sequence.resume(batch) {
			e.noteTwice(left)
		}
	}
	e.stream(source.stream, b.Topic).partition(target).enqueue(batch)
	e.await(batch, asking, e.expire)
	return Result{}, false
}

// await has the waiter answered when the batch is finished, or has onDue decide when
// the time is up.
func (e *Engine) await(b *pending, w *waiter, onDue func(*answers, *pending, *waiter)) {
	w.timer = time.AfterFunc(time.Until(w.timeLimit.usual), func() {
		e.locked(func(a *answers) {
			if w.answered {
				return
			}
			now := time.Now()
			if due := w.timeLimit.due(b, now); due.After(now) {
				w.timer.Reset(due.Sub(now))
				return
			}
			onDue(a, b, w)
		})
	})
	b.waiters = append(b.waiters, w)
	if w.from != nil {
		b.partition.stream.cameOne(w.from)
	}
}

// expire drops a batch at its deadline if nothing of it was written, and
// otherwise lets it go on without the one who submitted it.
func (e *Engine) expire(a *answers, b *pending, w *waiter) {
	if b.idle() {
		result := notWritten("not written in time" + b.partition.because())
		result.ThrottleTime = b.partition.throttleTime()
		b.finish(a, result)
		b.partition.dropFinished()
		return
	}
	b.late = int64(b.frameSize)
	e.frames.charge(b.late)
	e.leave(a, b, w)
}

// leave tells a waiter that the outcome is not known yet.
func (e *Engine) leave(a *answers, b *pending, w *waiter) {
	w.answer(a, failed(kerr.RequestTimedOut.Code, "still being written"+b.partition.because()))
}
