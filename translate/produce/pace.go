package produce

import "time"

// room is how much the next chunk may hold.
func (p *partition) room() room {
	records, bytes := p.pacer.stock()
	return room{records, min(bytes, p.stream.limit)}
}

// pace waits until the allowance of the partition suffices for the chunk.
func (p *partition) pace(c *chunk) {
	if p.pacer == nil || c.empty() {
		return
	}
	if wait := p.hold(c); wait > 0 {
		p.stream.whileResting(func() { p.stream.engine.sleep(wait) })
	}
}

// hold takes the chunk out of the allowance and gives the wait until it has it. It
// is taken before the wait, so that what is allowed while the writer oversleeps is
// not lost.
func (p *partition) hold(c *chunk) time.Duration {
	e := p.stream.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	c.prepare(p.stream.limit)
	now, bytes := time.Now(), c.sentBytes()
	wait := p.pacer.wait(now, c.sending, bytes)
	full := p.pacer.full(now)
	p.pacer.spend(now, c.sending, bytes)
	if wait <= 0 {
		// Not even the stock is used up: DIS is slower than it may be.
		p.held = p.held && !full
		return 0
	}
	p.held = p.trouble == ""
	e.metrics.pacingWait.Add(int64(wait))
	for i := range c.sending {
		if b := c.items[i].batch; !b.paced {
			b.paced = true
			e.metrics.pacedBatches.Add(1)
		}
	}
	return wait
}

// slowAnswer is how long DIS may take for a request before it is DIS that a
// partition waits for.
const slowAnswer = 2 * time.Second

// paced reports that what waits in the partition waits for pacing, and for nothing
// else.
func (p *partition) paced(now time.Time) bool {
	return p.held && (p.sent.IsZero() || now.Sub(p.sent) < slowAnswer)
}

// maxThrottleTime is the most that a client is asked to wait.
const maxThrottleTime = 5 * time.Second

// throttleTime is how long the partition is busy with what it has begun. Batches
// that wait do not count: whether they will be written is open.
func (p *partition) throttleTime() time.Duration {
	throttle := time.Duration(0)
	if p.throttled {
		throttle = p.backoff.full
	}
	if p.pacer != nil {
		records, bytes := 0, 0
		for _, b := range p.open {
			if b.finished || !b.begun {
				continue
			}
			left := b.cost.records - b.stored - b.inFlight
			records += left
			bytes += int(int64(b.cost.bytes) * int64(left) / int64(max(b.cost.records, 1)))
		}
		throttle = max(throttle, p.pacer.within(time.Now(), records, bytes))
	}
	return min(throttle, maxThrottleTime)
}
