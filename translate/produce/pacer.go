package produce

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	// paceMargin is how much of the throughput that DIS documents a partition
	// gets: clocks differ and requests bunch up on their way, so a gateway at the
	// limit itself would be throttled.
	paceMargin = 0.98

	// paceStock is for how long a partition may save up its allowance while it has
	// nothing to write, which is also the most that one request carries of it. The
	// documents count by the second, so a part of one lets a partition that was
	// idle begin at once, and lets it never be above the limit for long.
	paceStock = 250 * time.Millisecond

	// When DIS throttles all the same, others write to the partition too: the rate
	// is lowered by a fifth, at most once a second, and rises again by two
	// hundredths of the whole a second, so that gateways that share a partition
	// end with equal parts.
	slowDown       = 0.8
	slowDownPause  = time.Second
	speedUp        = 0.02 // of the whole, per second
	slowestPortion = 0.05
)

// pacer is the allowance of one partition: a token bucket of records and one of
// bytes. A nil pacer allows everything. Engine.mu guards it.
type pacer struct {
	records, bytes       *rate.Limiter
	allRecords, allBytes rate.Limit // the rates that the settings allow
	inUse                bool       // the partition has a writer

	portion float64   // of these, that DIS bears
	set     time.Time // when portion was set
	slowed  time.Time // when it was last lowered
}

// newPacer gives a partition a share of what DIS documents for its stream, less
// the margin. It begins with a full stock.
func newPacer(limits wire.Limits, share float64) *pacer {
	bucket := func(perSecond int) (*rate.Limiter, rate.Limit) {
		limit := rate.Limit(share * paceMargin * float64(perSecond))
		return rate.NewLimiter(limit, max(1, int(share*paceStock.Seconds()*float64(perSecond)))), limit
	}
	p := &pacer{portion: 1}
	p.records, p.allRecords = bucket(limits.WriteRecords)
	p.bytes, p.allBytes = bucket(limits.WriteBytes)
	return p
}

// stock is how much a request may carry of the partition.
func (p *pacer) stock() (records, bytes int) {
	if p == nil {
		return maxRequestRecords, int(^uint(0) >> 1)
	}
	return min(p.records.Burst(), maxRequestRecords), p.bytes.Burst()
}

// wait is how long a request has to wait. One that is larger than the stock goes
// when the stock is full, and what follows waits the longer.
func (p *pacer) wait(now time.Time, records, bytes int) time.Duration {
	if p == nil {
		return 0
	}
	return p.within(now, min(records, p.records.Burst()), min(bytes, p.bytes.Burst()))
}

// within is how long it takes until so much has been allowed.
func (p *pacer) within(now time.Time, records, bytes int) time.Duration {
	if p == nil {
		return 0
	}
	p.recover(now)
	return max(lacking(p.records, now, records), lacking(p.bytes, now, bytes), 0)
}

func lacking(l *rate.Limiter, now time.Time, tokens int) time.Duration {
	return seconds((float64(tokens) - l.TokensAt(now)) / float64(l.Limit()))
}

// lasts is how long so much takes with nothing saved up.
func (p *pacer) lasts(records, bytes int) time.Duration {
	if p == nil {
		return 0
	}
	return seconds(max(float64(records)/float64(p.records.Limit()), float64(bytes)/float64(p.bytes.Limit())))
}

// spend takes what a request carries out of the allowance, which may become
// negative.
func (p *pacer) spend(now time.Time, records, bytes int) {
	if p == nil {
		return
	}
	take(p.records, now, records)
	take(p.bytes, now, bytes)
}

// take is in pieces, since a limiter gives no more than its burst at a time.
func take(l *rate.Limiter, now time.Time, tokens int) {
	for tokens > 0 {
		piece := min(tokens, l.Burst())
		l.ReserveN(now, piece)
		tokens -= piece
	}
}

// slow lowers the rate after DIS throttled the partition, and gives up what was
// saved: DIS does not have it.
func (p *pacer) slow(now time.Time) {
	if p == nil {
		return
	}
	p.recover(now)
	take(p.records, now, int(p.records.TokensAt(now)))
	take(p.bytes, now, int(p.bytes.TokensAt(now)))
	if now.Sub(p.slowed) >= slowDownPause {
		p.portion, p.set, p.slowed = max(p.portion*slowDown, slowestPortion), now, now
		p.apply(now)
	}
}

// recover raises the rate again, in steps of a second.
func (p *pacer) recover(now time.Time) {
	if p.portion == 1 {
		return
	}
	if passed := now.Sub(p.set); passed >= slowDownPause {
		p.portion, p.set = min(p.portion+speedUp*passed.Seconds(), 1), now
		p.apply(now)
	}
}

func (p *pacer) apply(now time.Time) {
	p.records.SetLimitAt(now, rate.Limit(p.portion)*p.allRecords)
	p.bytes.SetLimitAt(now, rate.Limit(p.portion)*p.allBytes)
}

// leave is said by the writer of the partition when it ends.
func (p *pacer) leave() {
	if p != nil {
		p.inUse = false
	}
}

// full reports that no more can be saved up.
func (p *pacer) full(now time.Time) bool {
	return p.records.TokensAt(now) >= float64(p.records.Burst()) && p.bytes.TokensAt(now) >= float64(p.bytes.Burst())
}

// rested reports that the pacer is as a new one.
func (p *pacer) rested(now time.Time) bool {
	p.recover(now)
	return p.portion == 1 && p.full(now)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
