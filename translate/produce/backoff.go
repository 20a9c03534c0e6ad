package produce

import (
	"math/rand/v2"
	"time"
)

// The pauses between attempts grow as in the Java SDK of DIS (50 ms, by half
// each time), but stay short enough that a partition is soon back once DIS is.
const (
	firstPause  = 50 * time.Millisecond
	maxPause    = 5 * time.Second
	pauseGrowth = 1.5
)

// backoff is the pause before the next attempt of a partition.
type backoff struct {
	full time.Duration // without jitter; 0 when the last attempt got on
}

// next gives half to all of a pause that grows from call to call.
func (b *backoff) next() time.Duration {
	if b.full == 0 {
		b.full = firstPause
	} else {
		b.full = min(time.Duration(pauseGrowth*float64(b.full)), maxPause)
	}
	return b.full/2 + rand.N(b.full/2)
}

func (b *backoff) reset() { b.full = 0 }
