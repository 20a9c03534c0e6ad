package produce

import (
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// pacers remembers what partitions have spent, longer than the partition's writer
// lives: a producer that waits for each answer would find a full stock every time.
// Engine.mu guards it.
type pacers struct {
	share float64 // 0: nothing is paced
	known map[partitionKey]*pacer
	sweep int // at so many, those that are as new are forgotten
}

// leastSweep keeps small numbers from being swept all the time.
const leastSweep = 64

func newPacers(share float64) *pacers {
	return &pacers{share: share, known: make(map[partitionKey]*pacer), sweep: leastSweep}
}

// of gives the pacer of a partition, nil when nothing is paced.
func (a *pacers) of(key partitionKey, kind wire.StreamType) *pacer {
	if a.share <= 0 {
		return nil
	}
	p := a.known[key]
	if p == nil {
		a.forget(time.Now())
		p = newPacer(wire.LimitsOf(kind), a.share)
		a.known[key] = p
	}
	p.inUse = true
	return p
}

// forget drops the pacers that a new one would not differ from, except of writers that
// live: these are about to spend something.
func (a *pacers) forget(now time.Time) {
	if len(a.known) < a.sweep {
		return
	}
	for key, p := range a.known {
		if !p.inUse && p.rested(now) {
			delete(a.known, key)
		}
	}
	a.sweep = max(leastSweep, 2*len(a.known))
}
