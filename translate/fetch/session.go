package fetch

import (
	"context"
	"time"

	"github.com/rs/zerolog"

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
	inLine  bool // it is in line for a check
	once    bool // one read is wanted even if nobody waits for it
	poked   bool // records arrived while it was reading
	poke    chan struct{}

	// need is what the next read takes of the idle budget; calls how many.
	need  need
	calls int
	// lively means that something arrived at its position not long ago, empties
	// counts the reads since then that returned nothing or were put off; asked
	// means that DIS was asked for the end since then.
	lively  bool
	empties int
	asked   bool
	// atTail means that its last read got to the end of the partition, or that its
	// first will begin within nearTail of it.
	atTail   bool
	failures int // calls in a row that failed
	// code is what consumers are told until notBefore, 0 when the failure is
	// none of their business.
	code      int16
	notBefore time.Time // of the next call to DIS
	usedAt    time.Time
	// callers are the requests that the read at hand is made for, while somebody
	// logs them; they belong to the goroutine.
	callers []dis.Caller
}

// nearTail is the number of records that are taken to be few.
const nearTail = 100

// maxSessions bounds the idle sessions of a partition: what consumers that jump
// about leave behind.
const maxSessions = 64

// sessionAt finds or opens the session at a position.
func (p *partition) sessionAt(position int64, now time.Time) *session {
	s := p.sessions[position]
	if s == nil {
		for len(p.sessions) >= maxSessions && p.dropIdlestSession() {
		}
		s = &session{partition: p, position: position, poke: make(chan struct{}, 1), calls: callsOfRead}
		if position >= p.high {
			s.need = check
		}
		s.atTail = position+nearTail >= p.high
		p.sessions[position] = s
	}
	s.usedAt = now
	return s
}

// dropIdlestSession is false when all of them are at work.
func (p *partition) dropIdlestSession() bool {
	var idlest *session
	for _, s := range p.sessions {
		if !s.running && !s.wanted() && (idlest == nil || s.usedAt.Before(idlest.usedAt)) {
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
	if s.running || s.resting(now) {
		return
	}
	s.once = s.once || !now.Before(s.notBefore)
	if s.need == check {
		s.lineUp()
		return
	}
	s.start()
}

// resting reports whether the session needs no goroutine for now: the watch over
// its stream starts it when records arrive, or for a check that is due.
func (s *session) resting(now time.Time) bool {
	return s.need == check && !s.once && now.Before(s.notBefore)
}

// wake goes on with a session that was resting, or that sleeps.
func (s *session) wake() {
	if !s.running && s.wanted() {
		s.start()
	}
	s.wakeUp()
}

// readAhead makes the session read once for a consumer that will be back.
func (s *session) readAhead(now time.Time) {
	if s.running || now.Before(s.notBefore) {
		return
	}
	s.usedAt = now
	s.once = true
	if s.need == check { // a goroutine would put it behind all others in line
		s.lineUp()
		return
	}
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
	s.livelyNow()
	s.poked = s.reading
	s.wake()
}

// livelyNow makes the next read due at once.
func (s *session) livelyNow() {
	s.lively, s.need, s.empties, s.asked, s.notBefore = true, needed, 0, false, time.Time{}
}

func (s *session) wakeUp() { poke(s.poke) }

// run reads while someone wants it to.
func (s *session) run() {
	for {
		delay, wanted := s.turn()
		switch {
		case !wanted:
			return
		case delay > 0:
			s.partition.stream.engine.sleep(delay, s.poke)
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
	pace, now := &s.partition.pace, time.Now()
	if !s.wanted() || s.resting(now) {
		s.running = false
		pace.leave(s)
		return 0, false
	}
	if delay = s.notBefore.Sub(now); delay > 0 {
		return delay, true
	}
	if s.need == check { // paid by the one who starts it
		s.running = false
		s.lineUp()
		return 0, false
	}
	if !stream.engine.idle.allow(s.need, s.calls, now) {
		s.rest(now)
		return s.notBefore.Sub(now), true
	}
	s.need = needed
	if delay = pace.admit(s, now); delay == 0 {
		s.reading, s.once = true, false
		if stream.engine.cfg.Logger.GetLevel() <= zerolog.DebugLevel {
			s.callers = s.waiting()
		}
	}
	return delay, true
}

// valid is false for a session that was dropped, when its stream is not what it was,
// and for all of them when the engine is closed.
func (s *session) valid() bool {
	return s.partition.sessions[s.position] == s && s.partition.stream.engine.ctx.Err() == nil
}

func (s *session) wanted() bool { return s.valid() && (s.once || s.awaited()) }

// awaited reports whether a fetch waits at its position.
func (s *session) awaited() bool {
	for w := range s.partition.wants {
		if w.position == s.position {
			return true
		}
	}
	return false
}

// waiting are the requests that wait at the session's position; none while it reads
// ahead.
func (s *session) waiting() (callers []dis.Caller) {
	for w := range s.partition.wants {
		if w.position == s.position {
			callers = append(callers, w.callers...)
		}
	}
	return callers
}

// dataBytes is what DIS counts of a read.
func dataBytes(records []wire.Record) (bytes int) {
	for i := range records {
		bytes += len(records[i].Data)
	}
	return bytes
}

// read makes one read and keeps what came of it.
func (s *session) read() {
	p, e := s.partition, s.partition.stream.engine
	startedAt := time.Now()
	ctx, cancel := context.WithTimeout(dis.WithCallers(e.ctx, s.callers...), e.cfg.ReadTimeout)
	defer cancel()
	c, bytes, err := s.getChunk(ctx)
	p.stream.mu.Lock()
	s.reading, s.calls = false, 1
	if s.cursor == "" {
		s.calls = callsOfRead
	}
	p.pace.done(bytes, e.cfg.ReadBytes, time.Now())
	var evicted []*chunk
	switch {
	case p.sessions[s.position] != s: // the stream is not what it was
	case throttledRead(err):
		s.throttled(err)
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
