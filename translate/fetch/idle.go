package fetch

import (
	"time"

	"golang.org/x/time/rate"
)

// idle is the budget of the calls to DIS that are made to find out whether
// something happened: Config.IdlePolls a second over all streams, in any second.
// It is divided, so that neither kind of call keeps the other waiting; a quarter is
// left for what the gateway's other parts do in regular intervals.
type idle struct {
	// watches are the describes of streams. Each waits for its turn, so that every
	// stream is described as often as any other.
	watches *rate.Limiter
	// reads are those at the end of a partition. One that finds nothing left of
	// the budget is tried again later.
	reads *rate.Limiter
}

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
	case n == check && b.reads.TokensAt(now) < float64(b.reads.Burst())/2+float64(calls)-1:
		return false
	}
	return b.reads.AllowN(now, calls)
}

// watch takes a describe out of the budget and says how long to wait before it.
func (b *idle) watch(now time.Time) time.Duration { return b.watches.ReserveN(now, 1).DelayFrom(now) }
