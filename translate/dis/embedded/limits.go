package embedded

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// mib is the unit of the documented sizes and throughputs.
const mib = 1 << 20

// limitsOf are the documented limits of a stream type.
func limitsOf(t wire.StreamType) typeLimits {
	if t == wire.StreamAdvanced {
		return typeLimits{requestBytes: 5 * mib, writeRecords: 2000, writeBytes: 5 * mib, readBytes: 10 * mib, quota: 10}
	}
	return typeLimits{requestBytes: mib, writeRecords: 1000, writeBytes: mib, readBytes: 2 * mib, quota: 50}
}

// typeLimits are the documented limits of a stream type.
type typeLimits struct {
	requestBytes int // data of one put, partition keys not counted
	writeRecords int // per second and partition
	writeBytes   int // per second and partition
	readBytes    int // per second and partition
	quota        int // partitions of a project
}

// limiters enforce the throughput of a partition. Each allows a burst of one
// second.
type limiters struct {
	writeRecords *rate.Limiter
	writeBytes   *rate.Limiter
	readBytes    *rate.Limiter
}

func newLimiters(t wire.StreamType) *limiters {
	limits := limitsOf(t)
	perSecond := func(n int) *rate.Limiter { return rate.NewLimiter(rate.Limit(n), n) }
	return &limiters{
		writeRecords: perSecond(limits.writeRecords),
		writeBytes:   perSecond(limits.writeBytes),
		readBytes:    perSecond(limits.readBytes),
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
