package produce

import (
	"math/rand/v2"
	"sync"
)

// A producer id has 63 bits: which instance of the gateway issued it, and a
// counter. The instance part is random: two gateways, or one before and after a
// restart, draw the same with a chance of 2^-36.
const counterBits = 27

type producerIDs struct {
	mu       sync.Mutex
	instance int64
	counter  int64
}

func newProducerIDs() *producerIDs {
	p := &producerIDs{}
	p.draw()
	return p
}

func (p *producerIDs) draw() {
	p.instance = rand.Int64N(1 << (63 - counterBits))
	p.counter = 0
}

// next issues an id. After 2^27 of them the instance part is drawn again, and
// the earlier ids are then treated as ids of another instance.
func (p *producerIDs) next() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counter == 1<<counterBits {
		p.draw()
	}
	id := p.instance<<counterBits | p.counter
	p.counter++
	return id
}

// issued reports whether this instance gave the id out.
func (p *producerIDs) issued(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return id>>counterBits == p.instance && id&(1<<counterBits-1) < p.counter
}
