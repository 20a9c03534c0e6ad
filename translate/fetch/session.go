package fetch

import (
	"context"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// session reads a partition from one position on, over a cursor that it keeps
// from read to read. The lock of its stream guards it, except for the cursor,
// which belongs to the goroutine that reads; there is at most one, so there is
// at most one GET in flight per session.
type session struct {
	partition *partition
	position  int64

	cursor   string // "" when one must be opened
	cursorAt time.Time

	running bool // it has a goroutine
	reading bool // the goroutine is in a call to DIS
	once    bool // one read is wanted even if nobody waits for it
	poked   bool // records arrived while it was reading
	poke    chan struct{}

	empties  int // reads in a row that returned nothing
	failures int // calls in a row that failed
	// code is what consumers are told until notBefore, 0 when the failure is
	// none of their business.
	code      int16
	notBefore time.Time // of the next call to DIS
	usedAt    time.Time
}

// maxSessions bounds the idle sessions of a partition: what consumers that jump
// about leave behind.
const maxSessions = 64

// sessionAt finds or opens the session at a position.
func (p *partition) sessionAt(position int64, now time.Time) *session {
	s := p.sessions[position]
	if s == nil {
		for len(p.sessions) >= maxSessions && p.dropIdlestSession() {
		}
		s = &session{partition: p, position: position, poke: make(chan struct{}, 1)}
		p.sessions[position] = s
	}
	s.usedAt = now
	return s
}

// dropIdlestSession is false when all of them are at work.
func (p *partition) dropIdlestSession() bool {
	var idlest *session
	for _, s := range p.sessions {
		if !s.running && (idlest == nil || s.usedAt.Before(idlest.usedAt)) {
			idlest = s
		}
	}
	if idlest == nil {
		return false
	}
	delete(p.sessions, idlest.position)
	return true
}

// want makes the session read for someone who waits at its position. The read
// that is due now is made even if they leave, so that a consumer that never
// waits still gets on.
func (s *session) want(now time.Time) {
	if s.running {
		return
	}
	s.once = s.once || !now.Before(s.notBefore)
	s.start()
}

// readAhead makes the session read once for a consumer that will be back.
func (s *session) readAhead(now time.Time) {
	if s.running || now.Before(s.notBefore) {
		return
	}
	s.usedAt = now
	s.once = true
	s.start()
}

func (s *session) start() {
	s.running = s.partition.stream.engine.spawn(s.run)
}

// pokeNow says that there are records at the session's position. A failing
// session keeps its distance.
func (s *session) pokeNow() {
	if s.failures > 0 {
		return
	}
	s.empties, s.notBefore = 0, time.Time{}
	s.poked = s.reading
	s.wakeUp()
}

func (s *session) wakeUp() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// run reads while someone wants it to.
func (s *session) run() {
	for {
		delay, wanted := s.turn()
		switch {
		case !wanted:
			return
		case delay > 0:
			s.sleep(delay)
		default:
			s.read()
		}
	}
}

// turn decides what the goroutine does next: sleep, read, or end.
func (s *session) turn() (delay time.Duration, wanted bool) {
	stream := s.partition.stream
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if !s.wanted() {
		s.running = false
		return 0, false
	}
	if delay = time.Until(s.notBefore); delay <= 0 {
		s.reading, s.once = true, false
	}
	return delay, true
}

// wanted is false for a session that was dropped, when its stream is not what
// it was.
func (s *session) wanted() bool {
	if s.partition.sessions[s.position] != s || s.partition.stream.engine.ctx.Err() != nil {
		return false
	}
	if s.once {
		return true
	}
	for w := range s.partition.wants {
		if w.position == s.position {
			return true
		}
	}
	return false
}

func (s *session) sleep(delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.poke:
	case <-s.partition.stream.engine.ctx.Done():
	}
}

// read makes one read and keeps what came of it.
func (s *session) read() {
	p, e := s.partition, s.partition.stream.engine
	startedAt := time.Now()
	ctx, cancel := context.WithTimeout(e.ctx, e.cfg.ReadTimeout)
	defer cancel()
	records, err := s.get(ctx)
	var c *chunk
	if err == nil {
		if c, err = newChunk(p, s.position, records, e.cfg.Codec, e.cfg.BatchBytes); err != nil {
			s.cursor = "" // it stands behind records that were not kept
		}
	}
	p.stream.mu.Lock()
	s.reading = false
	var evicted []*chunk
	switch {
	case p.sessions[s.position] != s: // the stream is not what it was
	case err != nil:
		s.failed(err, startedAt)
	case c == nil:
		s.empty(startedAt)
	default:
		evicted = s.advance(c)
	}
	p.stream.mu.Unlock()
	dropEvicted(evicted)
}

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
