package embedded

import (
	"sync"
	"sync/atomic"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// partition is one partition of a stream. What describes it in the store
// (status, hash range, retirement) is in partitionMeta and guarded by
// stream.mu; the positions are here.
type partition struct {
	number int
	id     string // "shardId-…"

	// oldest is the first readable sequence number (A); it changes only while
	// stream.mu is held for writing.
	oldest atomic.Int64
	// stored is the number behind the last record that is synced (B).
	stored atomic.Int64

	// mu makes assignment of numbers and writing to the log one step.
	mu          sync.Mutex
	next        int64 // number of the next record, at least stored
	lastArrival int64 // ms, of the last chunk
	segment     int64 // of the time index
	greatest    int64 // timestamp in segment; minTimestamp when it has none

	// oldestArrival is the arrival time of the oldest chunk in ms, 0 when not
	// known. Only the sweep uses it.
	oldestArrival int64

	limiters *limiters // nil without throughput limits
	meter    meter
}

// position is the readable range of the partition.
func (p *partition) position() wire.SequenceRange {
	return wire.SequenceRange{Oldest: p.oldest.Load(), Next: p.stored.Load()}
}

// publish makes records before end readable. Later batches may be synced and
// published first.
func (p *partition) publish(end int64) {
	for {
		stored := p.stored.Load()
		if stored >= end || p.stored.CompareAndSwap(stored, end) {
			return
		}
	}
}

// partitionMeta is the stored description of a partition.
type partitionMeta struct {
	Status wire.PartitionStatus `json:"status"` // ACTIVE, DELETED or EXPIRED
	Low    int64                `json:"low"`    // hash range, both ends included
	High   int64                `json:"high"`
	// RetiredAt is the time of the scale-down that retired the partition, ms.
	RetiredAt int64 `json:"retired_at,omitempty"`
}
