package fetch

// Metrics are what an Engine has counted since it started, and what it holds.
type Metrics struct {
	// ThrottledReads were refused by DIS because too much was read from the
	// partition; they are made again.
	ThrottledReads int64
	// RefusedOffsets are the answers OFFSET_OUT_OF_RANGE to fetches, after which
	// consumers start at another offset.
	RefusedOffsets int64
	// FetchedRecords and FetchedBytes are the records in responses and the bytes of
	// their batches. A response has whole batches: a few records may lie before the
	// offset that was asked for.
	FetchedRecords, FetchedBytes int64
	// CacheBytes are used by records that were read, ReplyBytes by those in replies
	// that have not left. Bytes may be in both.
	CacheBytes, ReplyBytes int64
	// CacheLimit and ReplyLimit bound them.
	CacheLimit, ReplyLimit int64
}

// Metrics reads the counters.
func (e *Engine) Metrics() Metrics {
	return Metrics{
		ThrottledReads: e.throttledReads.Load(),
		RefusedOffsets: e.refusedOffsets.Load(),
		FetchedRecords: e.fetchedRecords.Load(),
		FetchedBytes:   e.fetchedBytes.Load(),
		CacheBytes:     e.cache.size(),
		ReplyBytes:     e.replies.Load(),
		CacheLimit:     e.cfg.CacheBytes,
		ReplyLimit:     e.cfg.ReplyBytes,
	}
}

// served counts the records of a partition that leave in a response.
func (e *Engine) served(topic string, records, bytes int) {
	e.fetchedRecords.Add(int64(records))
	e.fetchedBytes.Add(int64(bytes))
	if e.cfg.OnServed != nil && bytes > 0 {
		e.cfg.OnServed(topic, records, bytes)
	}
}
