package produce

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// settle takes the outcome of the chunk's request: it answers the batches that
// are done, leaves in the chunk what has to be sent again, and says how long to
// wait before.
func (p *partition) settle(c *chunk, out outcome) (pause time.Duration) {
	p.stream.engine.locked(func(a *answers) {
		p.sent = time.Time{}
		for i := range c.sending {
			c.items[i].batch.inFlight--
		}
		switch {
		case c.sending == 0: // all of it had expired
		case out.err != nil:
			pause = p.settleFailure(a, c, out)
		default:
			pause = p.settleResults(a, c, out.results)
		}
		p.conclude(a)
		c.retain(func(i int) bool { return !c.items[i].batch.finished && c.items[i].batch.refusal == nil })
		c.alone = p.isolate > 0
	})
	return pause
}

// conclude answers the settled batches in their order. One that waits for a
// record to be sent again holds back those behind it.
func (p *partition) conclude(a *answers) {
	var throttle time.Duration
	measured := false
	for _, b := range p.open {
		if b.finished {
			continue
		}
		if !b.settled() {
			break
		}
		if !measured {
			throttle, measured = p.throttleTime(), true
		}
		result := b.result()
		if outdates(result.Code) {
			a.outdated = append(a.outdated, b.topic)
		}
		result.ThrottleTime = throttle
		b.finish(a, result)
	}
	p.release()
}

// outdates reports whether DIS contradicts what is known of a topic when it refuses a
// batch with this code.
func outdates(code int16) bool {
	return code == kerr.UnknownTopicOrPartition.Code || code == kerr.LeaderNotAvailable.Code || code == kerr.NotLeaderForPartition.Code
}

// tally is what the results of one request amount to.
type tally struct {
	again         []bool // by item: refused for a time
	stored, bytes int
	moved         int // of the stored ones
	throttled     int
	holes         int
	next          int64  // behind the highest sequence number, 0 when none is known
	trouble       string // the last refusal
}

func (p *partition) settleResults(a *answers, c *chunk, results []wire.PutResult) time.Duration {
	t := p.count(c, results)
	e := p.stream.engine
	e.metrics.storedRecords.Add(int64(t.stored))
	e.metrics.storedBytes.Add(int64(t.bytes))
	if e.config.OnCounted != nil && t.stored > 0 {
		e.config.OnCounted(c.items[0].batch.topic.Name, t.stored, t.bytes)
	}
	e.metrics.movedRecords.Add(int64(t.moved))
	e.metrics.throttledRecords.Add(int64(t.throttled))
	e.metrics.holeRecords.Add(int64(t.holes))
	if t.holes > 0 {
		c.named(e.log.Warn()).Str("topic", p.stream.topic).Int32("partition", p.number).Int("records", t.holes).Str("error", t.trouble).
			Msg("DIS refused records and stored later ones of the partition; they are sent again and stand out of order")
	}
	if t.next > 0 {
		a.stored = append(a.stored, storedNotice{c.items[0].batch.topic, p.number, t.next})
	}
	c.retain(func(i int) bool { return i >= len(t.again) || t.again[i] })
	return p.paceAfter(t.stored > 0, t.trouble)
}

// count goes through the results and notes each at its batch.
func (p *partition) count(c *chunk, results []wire.PutResult) tally {
	t := tally{again: make([]bool, len(results))}
	lastStored := -1
	for i := range results {
		if results[i].ErrorCode == "" {
			lastStored = i
		}
	}
	for i := range results {
		r, it := &results[i], c.items[i]
		switch {
		case r.ErrorCode == "":
			sequence, known := p.sequence(r)
			it.batch.store(it.index, sequence, known)
			t.next = max(t.next, sequence+1)
			t.stored++
			if it.batch.moved {
				t.moved++
			}
			t.bytes += len(c.records[i].Data)
		case wire.RecordRetriable(r.ErrorCode):
			t.again[i] = true
			t.throttled++
			t.trouble = r.ErrorCode + " " + r.ErrorMessage
			p.throttled = r.ErrorCode == wire.CodeThrottled
			if p.throttled {
				p.pacer.slow(time.Now())
			}
			if i < lastStored {
				it.batch.touched = true
				t.holes++
			}
		default:
			p.refuseRecord(it, r)
		}
	}
	return t
}

// paceAfter gives the pause after an answer of DIS: none when it took
// everything, and the first of a series when it took something.
func (p *partition) paceAfter(progress bool, trouble string) time.Duration {
	p.trouble = trouble
	p.unsure, p.stream.engine.unsure = false, false
	if progress || trouble == "" {
		p.backoff.reset()
	}
	p.held = p.held && trouble == ""
	if trouble == "" {
		p.throttled = false
		p.isolate = max(0, p.isolate-1)
		return 0
	}
	return p.backoff.next()
}

// sequence reads where a record was stored. A number that cannot be read, or
// one of another partition, is -1 and unknown.
func (p *partition) sequence(r *wire.PutResult) (number int64, known bool) {
	number, err := strconv.ParseInt(r.SequenceNumber, 10, 64)
	if err != nil || number < 0 {
		return -1, false
	}
	if r.PartitionID != string(p.id) {
		if at, err := wire.ParsePartitionID(r.PartitionID); err != nil || at != int(p.number) {
			return -1, false
		}
	}
	return number, true
}

// refuseRecord notes that DIS will never take the record. The rest of its batch
// is not sent any more: a producer counts the batch as failed.
func (p *partition) refuseRecord(it item, r *wire.PutResult) {
	b := it.batch
	if b.refusal == nil {
		err := &dis.Error{Operation: "PutRecords", Code: r.ErrorCode, Message: r.ErrorMessage, NotProcessed: true}
		p.refuseBatch(b, err)
	}
	if b.refusal.Code == kerr.InvalidRecord.Code {
		b.refusal.RecordErrors = append(b.refusal.RecordErrors,
			RecordError{Index: int32(it.index), Message: r.ErrorCode + " " + r.ErrorMessage})
	}
}

// refuseBatch gives a batch up. 19 would promise that nothing of it is stored.
func (p *partition) refuseBatch(b *pending, err error) {
	result := fromFailure(translate.KafkaError(translate.CallProduce, err))
	if b.touched && result.Code == kerr.NotEnoughReplicas.Code {
		result.Code = kerr.RequestTimedOut.Code
	}
	b.refusal = &result
	dis.LogCallers(p.stream.engine.log.WithLevel(refusalLevel(err)), b.caller).Str("topic", b.topic.Name).Int32("partition", b.source).Int16("code", result.Code).Int("stored", b.stored).Err(err).
		Msg("DIS refused a batch")
}

// refusalLevel is low where every call would fail, not this batch alone: that is logged
// by who watches DIS. Of a batch that is given up that is only an identity which DIS does
// not accept: after trouble of DIS, or without an answer, it is sent again, and logUnknown
// tells of the first time.
func refusalLevel(err error) zerolog.Level {
	if translate.ScopeOf(err) == translate.ScopeAll {
		return zerolog.DebugLevel
	}
	return zerolog.WarnLevel
}

// unmatchedError is an answer of DIS that does not fit the request. To send the
// same again would only repeat it.
type unmatchedError struct{ sent, answered int }

func (e *unmatchedError) Error() string {
	return fmt.Sprintf("DIS answered %d of %d records", e.answered, e.sent)
}

// settleFailure takes a request that failed as a whole.
func (p *partition) settleFailure(a *answers, c *chunk, out outcome) time.Duration {
	e := p.stream.engine
	var failure *dis.Error
	errors.As(out.err, &failure)
	var unmatched *unmatchedError
	unknown := errors.As(out.err, &unmatched) || failure == nil || !failure.NotProcessed
	if unknown {
		c.batches(func(b *pending) { b.touched = true })
	}
	switch {
	case e.ctx.Err() != nil:
		p.giveUp(a)
	case unmatched != nil:
		e.metrics.ambiguousRecords.Add(int64(c.sending))
		c.batches(func(b *pending) { p.refuseBatch(b, out.err) })
	case unknown:
		e.metrics.ambiguousRecords.Add(int64(c.sending))
		e.logUnknown(p, c, out.err)
		return p.retry(out.err, false)
	case failure.Throttled():
		e.metrics.throttledRecords.Add(int64(c.sending))
		p.pacer.slow(time.Now())
		return max(p.retry(out.err, true), min(failure.RetryAfter, maxPause))
	case failure.Code == "" && failure.HTTPStatus == 0, // it did not reach DIS
		translate.IdentityInDoubt(failure):
		return p.retry(out.err, false)
	default:
		p.settleRefusal(a, c, out, failure)
	}
	return 0
}

// logUnknown names the first write of which nobody knows the outcome. DIS may be away
// for an hour and for every partition: until it answers, the metric goes on and the
// log does not.
func (e *Engine) logUnknown(p *partition, c *chunk, err error) {
	if !p.unsure && !e.unsure {
		c.named(e.log.Warn()).Str("topic", p.stream.topic).Int32("partition", p.number).Int("records", c.sending).Err(err).
			Msg("outcome of a write is unknown; until DIS answers, its records and those of other partitions are sent again, and may be stored twice")
	}
	p.unsure, e.unsure = true, true
}

func (p *partition) retry(err error, throttled bool) time.Duration {
	p.throttled, p.held = throttled, false
	p.trouble = err.Error()
	return p.backoff.next()
}

// settleRefusal takes a request that DIS will not take. Only where the request
// was one batch alone is it surely that batch's fault.
func (p *partition) settleRefusal(a *answers, c *chunk, out outcome, failure *dis.Error) {
	s := p.stream
	batches := 0
	c.batches(func(*pending) { batches++ })
	switch result := fromFailure(translate.KafkaError(translate.CallProduce, out.err)); {
	case result.Code == kerr.UnknownTopicOrPartition.Code && failure.Code != wire.CodePartitionNotFound && failure.Code != wire.CodeInvalidPartitionID:
		c.batches(func(b *pending) { p.refuseBatch(b, out.err) })
		s.failUntouched(a, result)
	case out.shared || batches > 1:
		p.isolate = batches
	case failure.HTTPStatus == 413 && c.sending > 1:
		s.limit = max(1, c.sentBytes()/2)
		c.named(s.engine.log.Warn()).Str("topic", s.topic).Int("bytes", s.limit).Err(out.err).
			Msg("DIS takes smaller requests than documented; requests of this stream are made smaller")
	default:
		c.batches(func(b *pending) { p.refuseBatch(b, out.err) })
		p.isolate = max(0, p.isolate-1)
	}
}

// giveUp answers what is left when the engine may not wait any longer.
func (p *partition) giveUp(a *answers) {
	for _, b := range p.open {
		if b.idle() {
			b.finish(a, closing)
			continue
		}
		b.finish(a, failed(kerr.RequestTimedOut.Code, "the gateway stopped before DIS had answered"))
	}
}
