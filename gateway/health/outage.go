package health

import (
	"context"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

const (
	// outageCalls and outageTime are how many calls in a row must have failed, and for
	// how long, before DIS counts as away: a lost answer is no outage.
	outageCalls = 3
	outageTime  = 3 * time.Second
	// idleTime is for how long nothing has shown that DIS is there when it is asked
	// anyway: nothing was asked of it, or it hangs and calls wait for half a minute.
	// idleCheck is how often that is looked at.
	idleTime  = 10 * time.Second
	idleCheck = 2 * time.Second
)

// outage notices from the calls that the gateway makes anyway that DIS is away, or
// refuses the gateway as a whole.
type outage struct {
	noticed chan struct{} // capacity 1: DIS seems to be away

	mu     sync.Mutex
	failed int       // calls in a row
	since  time.Time // the first of them
	seen   time.Time // DIS, by the end of a call
}

func newOutage() *outage { return &outage{noticed: make(chan struct{}, 1)} }

// observe takes note of a call.
func (o *outage) observe(call dis.Call) {
	said := ofAll(call)
	if said == tellsNothing {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if said == taken {
		o.failed, o.seen = 0, time.Now()
		return
	}
	if o.failed == 0 {
		o.since = time.Now().Add(-call.Latency)
	}
	if o.failed++; o.failed < outageCalls || time.Since(o.since) < outageTime {
		return
	}
	select {
	case o.noticed <- struct{}{}:
	default: // it is known already
	}
}

// await returns true when DIS has to be asked whether it is there, and false when
// ctx ends.
func (o *outage) await(ctx context.Context) bool {
	idle := time.NewTicker(idleCheck)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-o.noticed:
			return true
		case <-idle.C:
			if o.idle() {
				return true
			}
		}
	}
}

func (o *outage) idle() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.seen) >= idleTime
}

// ended forgets what was noticed before DIS was seen to answer.
func (o *outage) ended() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed, o.seen = 0, time.Now()
	select {
	case <-o.noticed:
	default:
	}
}
