package embedded

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// streamMeta is the stored description of a stream.
type streamMeta struct {
	Number     uint64                   `json:"number"`
	ID         string                   `json:"id"`
	Project    string                   `json:"project"`
	CreatedAt  int64                    `json:"created_at"`  // ms
	ModifiedAt int64                    `json:"modified_at"` // ms
	Settings   wire.CreateStreamRequest `json:"settings"`    // defaults filled in; PartitionCount is that of the creation
	Partitions []partitionMeta          `json:"partitions"`
	// Scalings are the last changes of the number of partitions, oldest first.
	Scalings []wire.PartitionCountUpdate `json:"scalings,omitempty"`
	Policies []policyRule                `json:"policies,omitempty"`
}

// stream is a stream and its partitions in memory.
type stream struct {
	// number, id, project and name never change.
	number  uint64
	id      string
	project string
	name    string

	meter meter

	// mu is held for reading by puts (until their records have their place in
	// the log), gets and checkpoints, and for writing by deletion, scaling and
	// expiry.
	mu         sync.RWMutex
	meta       streamMeta
	partitions []*partition // same index as meta.Partitions
	active     []int        // numbers of the writable partitions
	deleted    bool
	transfers  []*transfer // replaced when it changes

	// layout has the numbers of the readable partitions, for groups, which must
	// not wait for mu; none of a deleted stream. The list never changes, and is
	// replaced only by a different one.
	layout atomic.Pointer[[]int]
}

func newStream(meta streamMeta) *stream {
	st := &stream{
		number: meta.Number, id: meta.ID, project: meta.Project, name: meta.Settings.StreamName,
		meta: meta, active: activePartitions(meta.Partitions),
	}
	st.publishLayout()
	return st
}

// publishLayout follows a change of the partitions' states. The caller holds mu
// for writing.
func (st *stream) publishLayout() {
	readable := []int{}
	for number := range st.meta.Partitions {
		if !st.deleted && st.meta.Partitions[number].Status != wire.PartitionExpired {
			readable = append(readable, number)
		}
	}
	if before := st.layout.Load(); before == nil || !slices.Equal(*before, readable) {
		st.layout.Store(&readable)
	}
}

// count is the number of partitions in one of the states.
func (m *streamMeta) count(states ...wire.PartitionStatus) int {
	n := 0
	for _, p := range m.Partitions {
		for _, state := range states {
			if p.Status == state {
				n++
			}
		}
	}
	return n
}

// retention is how long a record is kept, in ms from its arrival.
func (m *streamMeta) retention() int64 { return int64(m.Settings.DataDuration) * 3600 * 1000 }

// listed finds a partition in any state. The caller holds mu.
func (st *stream) listed(partitionID string) (*partition, error) {
	number, err := wire.ParsePartitionID(partitionID)
	if err != nil {
		return nil, invalidPartitionID(partitionID)
	}
	if number >= len(st.partitions) {
		return nil, partitionNotFound(st.name, partitionID)
	}
	return st.partitions[number], nil
}

// readable finds a partition that can be read. The caller holds mu.
func (st *stream) readable(partitionID string) (*partition, error) {
	p, err := st.listed(partitionID)
	if err != nil {
		return nil, err
	}
	if st.meta.Partitions[p.number].Status == wire.PartitionExpired {
		return nil, partitionExpired(st.name, partitionID)
	}
	return p, nil
}

// writable finds a partition that can be written. The caller holds mu.
func (st *stream) writable(partitionID string) (*partition, error) {
	p, err := st.readable(partitionID)
	if err != nil {
		return nil, err
	}
	if st.meta.Partitions[p.number].Status != wire.PartitionActive {
		return nil, partitionNotFound(st.name, partitionID)
	}
	return p, nil
}

// open locks the stream for reading, unless it was deleted meanwhile.
func (st *stream) open() (unlock func(), err error) {
	st.mu.RLock()
	if st.deleted {
		st.mu.RUnlock()
		return nil, streamNotFound(st.name, st.project)
	}
	return st.mu.RUnlock, nil
}
