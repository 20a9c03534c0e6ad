package fetch

import (
	"slices"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// pace keeps the reads of a partition within what DIS lets everyone together
// read of it per second, by stream type: always, with Config.Pacing, or from a
// throttled read on until there was none for a while.
//
// While it is on, sessions take turns: one read at a time, each when the bytes of
// those before it are paid for. The ones at the end of the partition go first:
// what is written may be read twice as fast, so they leave enough to the others.
//
// The lock of the stream guards it.
type pace struct {
	perSecond float64 // bytes
	// level is what may be read at the time `at`, at most what one second allows;
	// below zero it is a debt.
	level float64
	at    time.Time
	// reading is the number of reads under way, most the largest number since one
	// was begun with the level above zero: all of them may have been begun on the
	// same allowance.
	reading, most int

	always  bool
	until   time.Time     // pacing ends, unless it is on always
	lasting time.Duration // how long it was to last
	strikes int           // throttled reads since the last good one
	queue   []*session    // who wants to read
}

// How long pacing lasts: the first time, and at most, when it proved necessary
// again and again.
const (
	paceFirst   = time.Minute
	paceLongest = time.Hour
	// paceReserve is the part of a second's allowance that is left unused, for
	// what DIS counts otherwise than we do.
	paceReserve = 0.02
	// After a throttled read the allowance is taken to be at least that many
	// seconds away, doubled with each further one.
	strikeFirst = 250 * time.Millisecond
	// queueTurn is when a session that is not the first looks again: it is woken
	// when it becomes so.
	queueTurn = 5 * time.Second
)

func newPace(t wire.StreamType, part float64, now time.Time) pace {
	perSecond := float64(wire.LimitsOf(t).ReadBytes) * (1 - paceReserve)
	if part > 0 {
		perSecond *= part
	}
	return pace{always: part > 0, perSecond: perSecond, level: perSecond, at: now}
}

// allowance brings the level up to now.
func (p *pace) allowance(now time.Time) float64 {
	p.level = min(p.perSecond, p.level+now.Sub(p.at).Seconds()*p.perSecond)
	p.at = now
	return p.level
}

func (p *pace) on(now time.Time) bool { return p.always || now.Before(p.until) }

// admit says how long the session has to wait before it asks again; 0 when its
// read may begin, and has been counted.
func (p *pace) admit(s *session, now time.Time) time.Duration {
	level := p.allowance(now)
	if p.on(now) {
		p.enqueue(s)
		switch {
		case p.queue[0] != s, p.reading > 0:
			return queueTurn
		case level <= 0:
			return max(time.Millisecond, time.Duration(-level/p.perSecond*float64(time.Second)))
		}
	}
	p.leave(s)
	if level > 0 {
		p.most = p.reading
	}
	p.reading++
	p.most = max(p.most, p.reading)
	return 0
}

// enqueue puts a session in line: behind all that came before it, those at the
// end of the partition before all that are not.
func (p *pace) enqueue(s *session) {
	if slices.Contains(p.queue, s) {
		return
	}
	at := len(p.queue)
	if s.atTail {
		at = slices.IndexFunc(p.queue, func(other *session) bool { return !other.atTail })
		if at < 0 {
			at = len(p.queue)
		}
	}
	p.queue = slices.Insert(p.queue, at, s)
}

// leave takes a session out of the line.
func (p *pace) leave(s *session) {
	if at := slices.Index(p.queue, s); at >= 0 {
		p.queue = slices.Delete(p.queue, at, at+1)
		p.next()
	}
}

// next wakes the first in line.
func (p *pace) next() {
	if len(p.queue) > 0 {
		p.queue[0].wakeUp()
	}
}

// done counts what a read returned. DIS lets a read begin that is larger than
// what is left, so there may be a debt of one read for each that ran at a time.
func (p *pace) done(bytes, largest int, now time.Time) {
	p.reading--
	level := p.allowance(now) - float64(bytes)
	p.level = max(level, -float64(p.most)*float64(largest))
	p.next()
}

// throttled begins pacing, or makes it slower. It reports whether there was no
// throttled read for a while.
func (p *pace) throttled(now time.Time) (begun bool) {
	if begun = !now.Before(p.until); begun {
		p.lasting = min(max(paceFirst, 2*p.lasting), paceLongest)
		p.strikes = 0
	}
	p.until = now.Add(p.lasting)
	away := min(strikeFirst<<min(p.strikes, 10), retryLast).Seconds()
	p.level = min(p.allowance(now), -away*p.perSecond)
	p.strikes++
	return begun
}
