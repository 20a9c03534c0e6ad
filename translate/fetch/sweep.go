package fetch

import "time"

// What nobody uses for this long is dropped. A session's cursor would have to
// be renewed by then, and records at the tail were shared long before. What is
// left of a partition is small and holds the high watermark, which must not go
// back when DIS cannot be asked at the moment a consumer returns.
const (
	sweepEvery    = 30 * time.Second
	sessionIdle   = cursorRenewal
	chunkIdle     = time.Minute
	partitionIdle = 24 * time.Hour
)

func (e *Engine) sweepUntilClosed() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			e.sweep(now)
		case <-e.ctx.Done():
			return
		}
	}
}

// sweep holds e.mu throughout, so that no partition is handed out while it is
// being dropped.
func (e *Engine) sweep(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, s := range e.streams {
		s.mu.Lock()
		for number, p := range s.partitions {
			if p.sweep(now) {
				delete(s.partitions, number)
			}
		}
		if len(s.partitions) == 0 && s.describes.running == nil {
			delete(e.streams, key)
			if e.latest[s.topic.Name] == key {
				delete(e.latest, s.topic.Name)
			}
		}
		s.mu.Unlock()
	}
}

// sweep reports whether nothing is left that is worth keeping.
func (p *partition) sweep(now time.Time) (unused bool) {
	for position, s := range p.sessions {
		if !s.running && !s.wanted() && now.Sub(s.usedAt) >= sessionIdle {
			delete(p.sessions, position)
		}
	}
	for i := len(p.chunks) - 1; i >= 0; i-- {
		if c := p.chunks[i]; now.Sub(c.usedAt) >= chunkIdle {
			p.forget(c)
		}
	}
	return len(p.wants) == 0 && len(p.sessions) == 0 && len(p.chunks) == 0 && now.Sub(p.usedAt) >= partitionIdle
}
