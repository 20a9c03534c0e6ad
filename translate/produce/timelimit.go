package produce

import (
	"fmt"
	"time"
)

// The share of timeout_ms in which a batch must be answered, and the most of
// timeout_ms that counts: clients give up on a request soon after.
const (
	deadlineShare = 0.8
	maxTimeout    = 25 * time.Second
)

// timeLimit is how long someone waits for the answer to a batch: usually a share of
// the timeout of the request.
//
// Under pacing that is not enough. Clients send several requests ahead, each with
// thousands of small records, which take DIS ten seconds at its documented limits.
// Clients are used to brokers that begin a request of a connection once they have
// answered the one before, so the time counts from then on; and a batch that its
// time could never suffice for is given what it needs, up to maxTimeout. Neither is
// for a DIS that is slow or away.
//
// There is an end to it. With Java's clients timeout_ms is what they wait for an
// answer themselves, from when they sent: 30 s by default. sarama and franz-go have
// a timeout_ms of 10 s and wait for 30 and 20 s from the answer before on.
type timeLimit struct {
	usual   time.Time     // the end of that share
	allowed time.Duration // how long it is
	arrived time.Time     // of the request
	last    time.Time     // there is no waiting beyond
	// turn tells when the request before it on the connection was answered, and
	// whether it was; nil: there is none.
	turn func() (at time.Time, come bool)
}

// amplePart is what a batch that takes longer than it is allowed gets, in terms of
// what it takes: it may wait for the end of another request first.
const amplePart = 1.25

// longAhead is how long a request may wait of a client that does not count from
// when it sent: five batches of 1 MB of such records.
const longAhead = time.Minute

func (b *Batch) timeLimit(now time.Time) timeLimit {
	arrived := b.Arrived
	if arrived.IsZero() || arrived.After(now) {
		arrived = now
	}
	left := b.Timeout
	if left <= 0 {
		left = maxTimeout
	}
	timeout, longest := left+now.Sub(arrived), longAhead
	if timeout >= maxTimeout {
		timeout, longest = maxTimeout, maxTimeout
	}
	share := func(of time.Duration) time.Duration { return time.Duration(deadlineShare * float64(of)) }
	left = min(left, maxTimeout)
	return timeLimit{
		usual: now.Add(share(left)), allowed: share(timeout),
		arrived: arrived, last: arrived.Add(longest), turn: b.Turn,
	}
}

// due is until when the batch has to be answered, as far as can be told now.
func (l *timeLimit) due(b *pending, now time.Time) time.Time {
	if !b.partition.paced(now) {
		return l.usual
	}
	return l.duePaced(b, now)
}

// duePaced is due for a batch that only pacing keeps from being written.
func (l *timeLimit) duePaced(b *pending, now time.Time) time.Time {
	from := l.arrived
	if l.turn != nil {
		at, come := l.turn()
		if !come {
			at = now // at the earliest
		}
		from = later(from, at)
	}
	allowed := max(l.allowed, min(time.Duration(amplePart*float64(b.lasts())), maxTimeout))
	return later(l.usual, earlier(from.Add(allowed), l.last))
}

// lasts is how long it takes to store the batch alone, as far as is known before
// it is opened.
func (b *pending) lasts() time.Duration {
	return b.partition.pacer.lasts(b.cost.records, b.cost.bytes)
}

// begin decides about a batch that is opened and of which nothing is in a chunk yet:
// it begins if it can be stored, behind what is in the chunk, before it has to be
// answered. One that never could be begins all the same. The others are answered
// 19, to come again with all of their time before them.
func (p *partition) begin(b *pending, c *chunk) (begun bool) {
	if p.pacer == nil {
		return true
	}
	p.stream.engine.locked(func(a *answers) {
		if b.finished {
			return
		}
		now := time.Now()
		b.cost = room{b.count, b.size}
		rest := b.count - b.stored
		takes := p.pacer.within(now, len(c.items)+rest, c.bytes+int(int64(b.size)*int64(rest)/int64(b.count)))
		left := b.timeLimit.duePaced(b, now).Sub(now)
		b.begun = takes <= left || b.lasts() > maxTimeout
		if b.begun {
			return
		}
		result := notWritten(fmt.Sprintf("not written: within the limits of DIS its %d records take %v, and %v are left to answer in",
			rest, takes.Round(time.Millisecond), left.Round(time.Millisecond)))
		result.ThrottleTime = p.throttleTime()
		b.finish(a, result)
	})
	return b.begun
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
