package fetch

import (
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// advance moves the session behind what it read.
func (s *session) advance(c *chunk) (evicted []*chunk) {
	p := s.partition
	s.empties, s.failures, s.code, s.notBefore = 0, 0, 0, time.Time{}
	evicted = p.keep(c)
	delete(p.sessions, s.position)
	s.position = c.next
	if p.sessions[s.position] == nil {
		p.sessions[s.position] = s
	}
	s.poked = false
	if c.next >= p.high && len(c.data) < smallRead {
		// A handful of records up to the end: more will come, not at once.
		s.notBefore = time.Now().Add(backoff(pollFirst, pollLast, 0))
	}
	return evicted
}

// smallRead is the size below which a read that got to the known end is taken
// to have got to the real one.
const smallRead = 64 << 10

// empty decides when to read again after a read that returned nothing. Only DIS
// knows whether that was the end: it is asked at once after the first such read.
func (s *session) empty(startedAt time.Time) {
	s.failures, s.code = 0, 0
	s.pause()
	age := describeEvery
	if s.empties == 1 {
		age = describeShared
	}
	s.partition.stream.refresh(startedAt.Add(-age))
}

// pause sets the time of the next read after one that found no records.
func (s *session) pause() {
	p, now := s.partition, time.Now()
	if s.poked { // what was announced during the read may not have been in it
		s.poked = false
		s.empties++
		return
	}
	last := pollLast
	if p.drained(s.position) {
		last = pollDrained
	}
	delay := backoff(pollFirst, last, s.empties)
	if s.position >= p.high {
		delay = max(delay, p.stream.engine.idle.ReserveN(now, 1).DelayFrom(now))
	}
	s.empties++
	s.notBefore = now.Add(delay)
}

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
	if s.failures == 0 {
		log.Warn().Err(err).Str("topic", stream.topic.Name).Int32("partition", p.number).
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
