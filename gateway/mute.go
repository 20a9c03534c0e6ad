package gateway

import (
	"context"
	"time"
)

// mute keeps the reader from taking the next frame for d, as Kafka does with a client
// over its quota, and returns what the client is to be told of it (KIP-219). A
// connection that carries group requests is never muted, and its client is told
// nothing: it would hold its heartbeats back for so long, and a late one costs a
// rebalance.
func (c *conn) mute(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groupMember {
		return 0
	}
	if until := time.Now().Add(d); until.After(c.mutedUntil) {
		c.mutedUntil = until
	}
	return d
}

func (c *conn) waitMuted() error {
	c.mu.Lock()
	left := time.Until(c.mutedUntil)
	exempt := c.groupMember || c.noMoreFrames
	c.mu.Unlock()
	if left <= 0 || exempt {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.waits.Done():
		return context.Cause(c.ctx) // nil when a shutdown only stops the waiting
	}
}
