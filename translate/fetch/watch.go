package fetch

import "time"

// watch describes a stream again and again while its partitions are fetched: one
// call tells of all partitions whether something arrived, and only those are
// read. It also brings the news of retention and of scaling. The lock of the
// stream guards it.
type watch struct {
	running   bool
	startedAt time.Time
	// waiting is the number of wants that wait for any partition of the stream,
	// usedAt the time of the last look at one, or when the last of them ended.
	waiting int
	usedAt  time.Time
	// turnAt is the time of the describe that was taken out of the idle budget,
	// zero while none is due.
	turnAt time.Time
	poke   chan struct{}
}

// watchLinger is how long a stream is watched after the last fetch: the next of
// a consumer comes within it.
const watchLinger = 5 * time.Second

// watchOn keeps the stream watched from a look on, unless it was deleted.
func (s *stream) watchOn(now time.Time) {
	w := &s.watch
	w.usedAt = now
	if w.running || s.gone {
		return
	}
	if w.running = s.engine.spawn(s.watchWhileUsed); w.running {
		w.startedAt = now
	}
}

// recheck makes the watch decide again when the next describe is due.
func (w *watch) recheck() { poke(w.poke) }

func (s *stream) watchWhileUsed() {
	for {
		delay, used := s.watchTurn(time.Now())
		if !used {
			return
		}
		s.engine.sleep(delay, s.watch.poke)
	}
}

// watchTurn starts a describe that is due, and says when to call it again; used
// is false when the watch is over.
func (s *stream) watchTurn(now time.Time) (delay time.Duration, used bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.watch
	if s.gone || s.engine.ctx.Err() != nil || w.waiting == 0 && now.Sub(w.usedAt) >= watchLinger {
		w.running, w.turnAt = false, time.Time{}
		return 0, false
	}
	for _, p := range s.partitions {
		p.queueChecks(now)
	}
	if s.describes.running != nil { // its end is followed by a recheck
		return describeEvery, true
	}
	if due := s.describeDue(now); now.Before(due) {
		return due.Sub(now), true
	}
	if w.turnAt.IsZero() {
		w.turnAt = s.engine.idle.watch(now)
	}
	if now.Before(w.turnAt) {
		return w.turnAt.Sub(now), true
	}
	w.turnAt = time.Time{}
	s.refresh(now)
	return describeEvery, true
}

// describeDue is the time of the next regular describe: soon, where partitions
// are not polled because the describes tell when something arrives.
func (s *stream) describeDue(now time.Time) time.Time {
	every := describeEvery
	for _, p := range s.partitions {
		if p.watched(now) {
			every = pollLast
			break
		}
	}
	due := s.engine.idle.onTick(s.describes.askedAt.Add(every))
	if s.describes.retryAt.After(due) {
		return s.describes.retryAt
	}
	return due
}

// queueChecks puts the resting sessions in line that are to be read for safety.
func (p *partition) queueChecks(now time.Time) {
	for _, s := range p.sessions {
		if s.need == check && !s.running && !s.resting(now) && s.used(now) {
			s.lineUp()
		}
	}
}

// watched reports whether a consumer waits for records at the end of the
// partition, or will again in a moment, and no polls look for them.
func (p *partition) watched(now time.Time) bool {
	if p.retired() {
		return false
	}
	for _, s := range p.sessions {
		if s.need == check && s.used(now) {
			return true
		}
	}
	return false
}
