package groupcoord

import (
	"sync"
	"time"
)

// calm is after how long without a refusal a shortage is over. Clients that are
// refused try again within seconds, so by then nobody is. It is also the least time
// between two log lines about the beginning of one.
const calm = time.Minute

// shortage is a time in which requests are refused for want of room, thousands a
// second perhaps: its beginning and its end are logged, not what is between.
type shortage struct {
	mu          sync.Mutex
	refused     int // 0: there is room
	since, last time.Time
	ending      *time.Timer
}

// note takes note of a refusal. When it is the first of a shortage begins is called,
// and ends once that is over.
func (s *shortage) note(begins func(), ends func(refused int, after time.Duration)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	s.refused++
	if s.refused > 1 {
		return
	}
	s.since = s.last
	s.ending = time.AfterFunc(calm, func() { s.look(ends) })
	begins()
}

// look ends the shortage unless somebody was refused meanwhile.
func (s *shortage) look(ends func(refused int, after time.Duration)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == 0 {
		return // forgotten
	}
	if rest := calm - time.Since(s.last); rest > 0 {
		s.ending.Reset(rest)
		return
	}
	refused := s.refused
	s.refused = 0
	ends(refused, s.last.Sub(s.since))
}

// forget ends the shortage without a word, since the coordinator closes.
func (s *shortage) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = 0
	if s.ending != nil {
		s.ending.Stop()
	}
}
