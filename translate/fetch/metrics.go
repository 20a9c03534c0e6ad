package fetch

// Metrics are what an Engine has counted since it started, and what it holds.
type Metrics struct {
	// ThrottledReads were refused by DIS because too much was read from the
	// partition; they are made again.
	ThrottledReads int64
	// RefusedOffsets are the answers OFFSET_OUT_OF_RANGE to fetches, after which
	// consumers start at another offset.
	RefusedOffsets int64
	// CacheBytes are used by records that were read, ReplyBytes by those in replies
	// that have not left. Bytes may be in both.
	CacheBytes, ReplyBytes int64
}

// Metrics reads the counters.
func (e *Engine) Metrics() Metrics {
	return Metrics{
		ThrottledReads: e.throttledReads.Load(),
		RefusedOffsets: e.refusedOffsets.Load(),
		CacheBytes:     e.cache.size(),
		ReplyBytes:     e.replies.Load(),
	}
}
