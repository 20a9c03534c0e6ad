package fetch

import (
	"errors"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// advance moves the session behind what it read.
func (s *session) advance(c *chunk) (evicted []*chunk) {
	p := s.partition
	s.livelyNow()
	p.stream.engine.away.Store(false)
	s.failures, s.code, s.atTail = 0, 0, c.next >= p.high
	p.pace.strikes = 0
	evicted = p.keep(c)
	delete(p.sessions, s.position)
	s.position = c.next
	if p.sessions[s.position] == nil {
		p.sessions[s.position] = s
	}
	s.poked = false
	if s.atTail && len(c.data) < smallRead {
		// A handful of records up to the end: more will come, not at once.
		s.need, s.notBefore = poll, time.Now().Add(backoff(pollFirst, pollLast, 0))
	}
	return evicted
}

// smallRead is the size below which a read that got to the known end is taken
// to have got to the real one.
const smallRead = 64 << 10

// empty decides when to read again after a read that returned nothing. Only DIS
// knows whether that was the end: it is asked at once after the first such read.
func (s *session) empty(startedAt time.Time) {
	s.partition.stream.engine.away.Store(false)
	s.failures, s.code, s.atTail = 0, 0, s.position >= s.partition.high
	s.partition.pace.strikes = 0
	s.pause()
	if !s.asked {
		s.asked = true
		s.partition.stream.refresh(startedAt.Add(-describeShared))
	}
}

// pause sets the time of the next read after one that found no records.
func (s *session) pause() {
	if s.poked { // what was announced during the read may not have been in it
		s.poked = false
		s.empties++
		return
	}
	s.rest(time.Now())
}

// rest sets the time of the next read while nothing tells of records to read.
// A partition in which something happened not long ago is polled; any other is
// left to the watch over its stream, and read now and then for safety alone.
func (s *session) rest(now time.Time) {
	p := s.partition
	delay := backoff(pollFirst, pollLast, s.empties)
	s.empties++
	quiet := (!s.lively || s.empties > livelyPolls) && p.stream.describes.work()
	switch {
	case s.position < p.high:
		s.need = needed // there are records, and DIS has yet to show them
	case p.drained(s.position):
		s.need, s.lively, delay = check, false, backoff(checkDrained, checkDrained, 0)
	case quiet:
		s.need, s.lively, delay = check, false, backoff(checkWatched, checkWatched, 0)
		p.stream.watch.recheck()
	default:
		s.need = poll
	}
	s.notBefore = now.Add(delay)
}

// unwatch makes the sessions poll that relied on the describes of the stream.
func (p *partition) unwatch() {
	for _, s := range p.sessions {
		if s.need == check && !p.drained(s.position) {
			s.rest(time.Now())
			s.wake()
		}
	}
}

// throttled starts or slows the pacing of the partition's reads. The session
// takes its turn like all others.
func (s *session) throttled(err error) {
	p := s.partition
	s.failures, s.code, s.notBefore = 0, 0, time.Time{}
	p.stream.engine.throttledReads.Add(1)
	if p.pace.throttled(time.Now()) {
		p.stream.engine.cfg.Logger.Info().Err(err).Str("topic", p.stream.topic.Name).Int32("partition", p.number).
			Msg("DIS throttles reads of the partition; taking turns within its documented throughput")
	}
}

// throttledRead recognises a refused read of records. Other throttled calls do
// not depend on how much was read.
func throttledRead(err error) bool {
	var refused *dis.Error
	return errors.As(err, &refused) && refused.Operation == readOperation && refused.Throttled()
}

// readOperation is how errors name a read.
const readOperation = "GetRecords"

// failed decides what a failure means to the consumers that wait, and when to
// try again.
func (s *session) failed(err error, startedAt time.Time) {
	p := s.partition
	stream, log := p.stream, &p.stream.engine.cfg.Logger
	if stream.engine.ctx.Err() != nil {
		return
	}
	if dis.HasCode(err, wire.CodeSequenceOutOfRange, wire.CodeRecordExpired) {
		// The ends are not where they were thought to be. What DIS describes
		// decides, not this refusal.
		s.failures, s.code = 0, 0
		s.pause()
		stream.refresh(startedAt)
		log.Debug().Err(err).Str("topic", stream.topic.Name).Int32("partition", p.number).
			Int64("offset", s.position).Msg("DIS refuses the position")
		return
	}
	if dis.HasCode(err, wire.CodeStreamNotFound, wire.CodePartitionNotFound, wire.CodePartitionExpired) {
		stream.refresh(startedAt)
	}
	if s.failures == 0 && stream.engine.tells(err) {
		dis.LogCallers(log.Warn(), s.waiting()...).Err(err).Str("topic", stream.topic.Name).Int32("partition", p.number).
			Int64("offset", s.position).Msg("cannot read from DIS; trying again")
	}
	s.poked = false
	s.notBefore = time.Now().Add(backoff(retryFirst, retryLast, s.failures))
	s.failures++
	if s.code = fetchCode(err); s.code != 0 {
		p.changed()
	}
}

// fetchCode is what consumers are told of a failure: nothing, unless it is one
// of the few codes that every consumer takes. OFFSET_OUT_OF_RANGE is not among
// them: a failed call cannot say it.
func fetchCode(err error) int16 {
	switch code := translate.KafkaError(translate.CallFetch, err).Code; code {
	case codeUnknownPartition, codeNotLeader, codeTopicAuthorization:
		return code
	}
	return codeNone
}
