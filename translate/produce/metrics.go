package produce

import (
	"sync/atomic"
	"time"
)

// Metrics are the engine's counts since it was made; BufferedBytes is now.
type Metrics struct {
	// StoredRecords and StoredBytes count records that DIS acknowledged and their
	// data.
	StoredRecords int64
	StoredBytes   int64
	// ThrottledRecords counts records that DIS refused for a time and that were
	// sent again, each time.
	ThrottledRecords int64
	// AmbiguousResentRecords counts records that were sent again after a request
	// of unknown outcome, and those that DIS has of a batch that it then refused and
	// that its producer sends again as a whole: those that may be in DIS twice.
	AmbiguousResentRecords int64
	// HoleRecords counts records that were refused while a later one of their
	// partition was stored: those out of order.
	HoleRecords int64
	// MovedBatches counts batches for retired partitions, MovedRecords the records
	// of such batches that DIS acknowledged.
	MovedBatches int64
	MovedRecords int64
	// RepeatedBatches counts batches of idempotent producers that came again and
	// were not written again.
	RepeatedBatches int64
	// PacedBatches counts batches that waited for pacing, and PacingWait is how long
	// partitions did.
	PacedBatches int64
	PacingWait   time.Duration
	// BufferedBytes is the memory reserved for frames and decompressed batches, and
	// BufferLimit what both may have together.
	BufferedBytes, BufferLimit int64
	// BufferFilled is how full the fuller of the two halves of the buffer is, from 0
	// to 1 and a little more: producers wait for either half, also while there is room
	// in the other.
	BufferFilled float64
}

type counters struct {
	storedRecords, storedBytes, throttledRecords atomic.Int64
	ambiguousRecords, holeRecords                atomic.Int64
	movedBatches, movedRecords, repeatedBatches  atomic.Int64
	pacedBatches                                 atomic.Int64
	pacingWait                                   atomic.Int64 // nanoseconds
}

// Metrics reads the counts.
func (e *Engine) Metrics() Metrics {
	c := &e.metrics
	return Metrics{
		StoredRecords:          c.storedRecords.Load(),
		StoredBytes:            c.storedBytes.Load(),
		ThrottledRecords:       c.throttledRecords.Load(),
		AmbiguousResentRecords: c.ambiguousRecords.Load(),
		HoleRecords:            c.holeRecords.Load(),
		MovedBatches:           c.movedBatches.Load(),
		MovedRecords:           c.movedRecords.Load(),
		RepeatedBatches:        c.repeatedBatches.Load(),
		PacedBatches:           c.pacedBatches.Load(),
		PacingWait:             time.Duration(c.pacingWait.Load()),
		BufferedBytes:          e.frames.inUse() + e.payloads.inUse(),
		BufferLimit:            e.config.BufferBytes,
		BufferFilled:           max(e.frames.filled(), e.payloads.filled()),
	}
}
