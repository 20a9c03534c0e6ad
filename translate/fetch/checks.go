package fetch

import (
	"sync"
	"time"
)

// checks are the sessions that are due to be read for safety, in the order in which
// they became so. One goroutine starts them, as the idle budget has room: those that
// wait cost nothing, and one that is done comes after all others.
type checks struct {
	mu      sync.Mutex
	line    []*session
	running bool
}

// lineUp puts a session in line for its check. The caller holds the stream's lock.
func (s *session) lineUp() {
	if s.inLine {
		return
	}
	e := s.partition.stream.engine
	e.checks.mu.Lock()
	defer e.checks.mu.Unlock()
	if !e.checks.running {
		e.checks.running = e.spawn(e.startChecks)
	}
	if s.inLine = e.checks.running; s.inLine {
		e.checks.line = append(e.checks.line, s)
	}
}

// startChecks ends when nobody is left in line.
func (e *Engine) startChecks() {
	for s := e.checks.next(); s != nil; s = e.checks.next() {
		for wait := s.startCheck(time.Now()); wait > 0; wait = s.startCheck(time.Now()) {
			e.sleep(wait, nil)
		}
	}
}

// next takes the first out of the line; nil when there is nobody.
func (c *checks) next() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.line) == 0 {
		c.line, c.running = nil, false
		return nil
	}
	first := c.line[0]
	c.line[0], c.line = nil, c.line[1:]
	return first
}

// startCheck starts a session, unless its check is not needed any more, or says how
// long to wait before the next try.
func (s *session) startCheck(now time.Time) (wait time.Duration) {
	stream := s.partition.stream
	stream.mu.Lock()
	defer stream.mu.Unlock()
	if s.need == check && !s.running && s.valid() {
		s.once = s.used(now)
		if s.once {
			if !stream.engine.idle.allow(check, s.calls, now) {
				return stream.engine.idle.untilCheck(s.calls, now)
			}
			s.need = needed // the check is paid for
			s.start()
		}
	}
	s.inLine = false
	return 0
}

// used reports whether a consumer waits at the session's position, or will again in
// a moment.
func (s *session) used(now time.Time) bool {
	return now.Sub(s.usedAt) < watchLinger || s.awaited()
}
