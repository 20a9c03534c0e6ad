package embedded

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// mib is the unit of the documented sizes and throughputs.
const mib = 1 << 20

// limiters enforce the throughput of a partition. Each allows a burst of one
// second.
type limiters struct {
	writeRecords *rate.Limiter
	writeBytes   *rate.Limiter
	readBytes    *rate.Limiter
}

func newLimiters(t wire.StreamType) *limiters {
	limits := wire.LimitsOf(t)
	perSecond := func(n int) *rate.Limiter { return rate.NewLimiter(rate.Limit(n), n) }
	return &limiters{
		writeRecords: perSecond(limits.WriteRecords),
		writeBytes:   perSecond(limits.WriteBytes),
		readBytes:    perSecond(limits.ReadBytes),
	}
}

// allowWrite takes a record of that many bytes out of the allowance, or nothing
// when it does not fit.
func (p *partition) allowWrite(now time.Time, bytes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.limiters
	if l.writeRecords.TokensAt(now) < 1 || l.writeBytes.TokensAt(now) < float64(bytes) {
		return false
	}
	return l.writeRecords.AllowN(now, 1) && l.writeBytes.AllowN(now, bytes)
}

// allowRead reports whether a read may start.
func (l *limiters) allowRead(now time.Time) bool { return l.readBytes.TokensAt(now) >= 1 }

// chargeRead takes what a read returned, at most the burst; the allowance may
// become negative and is then waited for.
func (l *limiters) chargeRead(now time.Time, bytes int) {
	l.readBytes.ReserveN(now, min(bytes, l.readBytes.Burst()))
}
