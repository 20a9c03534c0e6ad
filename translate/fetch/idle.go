package fetch

import (
	"time"

	"golang.org/x/time/rate"
)

// idle is the budget of the calls to DIS that are made to find out whether
// something happened: Config.IdlePolls a second over all streams, in any second.
// It is divided, so that neither kind of call keeps the other waiting; a fifth is left
// for what the gateway's other parts do in regular intervals.
type idle struct {
	// watches are the describes of streams. Each waits for its turn, so that every
	// stream is described as often as any other.
	watches *rate.Limiter
	// reads are those at the end of a partition. A poll that finds nothing left of
	// the budget is tried again later, a check waits in line.
	reads *rate.Limiter
	// zero is a point of the grid on which idle calls begin.
	zero time.Time
}

// tick is the grid of idle calls. Those that would begin within one begin together
// at its start, so that the process wakes up once for all of them and not for each:
// the waking costs more than the calls.
const tick = 100 * time.Millisecond

// onTick is the start of the tick that a time is in.
func (b *idle) onTick(at time.Time) time.Time { return b.zero.Add(at.Sub(b.zero).Truncate(tick)) }

// The shares of the budget, and what of it may be used at once.
const (
	watchShare = 0.45
	readShare  = 0.2
	readBurst  = 0.1
)

func newIdle(perSecond float64) idle {
	return idle{
		watches: rate.NewLimiter(rate.Limit(watchShare*perSecond), 1),
		reads:   rate.NewLimiter(rate.Limit(readShare*perSecond), max(2*callsOfRead, int(readBurst*perSecond))),
		zero:    time.Now(),
	}
}

// callsOfRead are the most calls of a read: for its cursor and for the records.
const callsOfRead = 2

// need says what a read may take of the idle budget.
type need int

const (
	needed need = iota // something is known to have happened: not idle at all
	poll               // something happened lately
	check              // a look that is there for safety
)

// allow takes the calls of a read out of the budget. Checks leave half of it to
// polls.
func (b *idle) allow(n need, calls int, now time.Time) bool {
	switch {
	case n == needed:
		return true
	case n == check && b.reads.TokensAt(now) < b.checkFrom(calls):
		return false
	}
	return b.reads.AllowN(now, calls)
}

// checkFrom is what must be left of the budget for a check.
func (b *idle) checkFrom(calls int) float64 { return float64(b.reads.Burst())/2 + float64(calls) - 1 }

// untilCheck is how long to wait, to the start of a tick, for a check that was not
// allowed.
func (b *idle) untilCheck(calls int, now time.Time) time.Duration {
	lacks := (b.checkFrom(calls) - b.reads.TokensAt(now)) / float64(b.reads.Limit())
	return b.onTick(now.Add(time.Duration(lacks * float64(time.Second)))).Add(tick).Sub(now)
}

// watch takes a describe out of the budget and gives the time at which it begins: its
// turn, or up to a tick before.
func (b *idle) watch(now time.Time) time.Time {
	return b.onTick(now.Add(b.watches.ReserveN(now, 1).DelayFrom(now)))
}
