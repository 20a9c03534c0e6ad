package groupcoord

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFenced is returned by [Store.Save] when the lease token is no longer the
// newest for the group: another gateway owns it now.
var ErrFenced = errors.New("the group is owned by another gateway")

// TopicPartition names a partition the Kafka way.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// OffsetCommit is one offset to be stored: the next record the group wants to
// read. A negative one, as Kafka allows, removes what is stored.
type OffsetCommit struct {
	TopicPartition
	Offset int64
	// LeaderEpoch is what the client sent, -1 if it sent none. It is accepted
	// and not kept: OffsetFetch always answers -1.
	LeaderEpoch int32
	Metadata    string
}

// CommittedOffset is what is stored for one partition, or the reason why that
// could not be told or done.
type CommittedOffset struct {
	TopicPartition
	// Offset is the offset as stored, -1 for none. As the result of a commit
	// it is the number that was really written, which may differ from the one
	// asked for: it is what the coordinator serves from then on.
	Offset   int64
	Metadata string
	// Code is a Kafka error code; 0 means stored (Commit) or known (Fetch).
	Code int16
	// Message is for the log line of a failed call.
	Message string
}

// OffsetStore keeps the committed offsets of all groups. Its methods are called
// from many goroutines; for one group and partition the coordinator never has
// more than one Commit running. All of them end soon after ctx does.
type OffsetStore interface {
	// Commit stores the offsets and answers in the same order. Code 0 promises
	// that the offset survives.
	Commit(ctx context.Context, group string, offsets []OffsetCommit) []CommittedOffset
	// Fetch reads the partitions' offsets and answers in the same order. An
	// unknown partition or group has offset -1 and code 0; code 14 means that
	// the offset could not be read now.
	Fetch(ctx context.Context, group string, partitions []TopicPartition) []CommittedOffset
	// FetchAll reads every committed offset of the group.
	FetchAll(ctx context.Context, group string) ([]CommittedOffset, error)
	// Oldest gives the first offset that can be read of each partition, in the
	// same order: where a group begins in a partition that is new to it. -1 with
	// code 0 is a partition that has none, code 14 that it is not known now.
	Oldest(ctx context.Context, partitions []TopicPartition) []CommittedOffset
	// Groups lists the groups that have, or once had, stored offsets.
	Groups(ctx context.Context) ([]string, error)
	// Exists reports whether Groups would list the group.
	Exists(ctx context.Context, group string) (bool, error)
	// Delete removes the group and every offset of it. Code 69 means that there
	// is no such group, 68 that somebody else is using it, 14 that it may not
	// have happened; the message is for the log line of a failed call.
	Delete(ctx context.Context, group string) (code int16, message string)
}

// Store keeps the snapshot of each group, so that an owner that takes over
// continues with the same generation and members.
type Store interface {
	// Load returns the last snapshot, nil if there is none.
	Load(ctx context.Context, group string) ([]byte, error)
	// Save replaces the snapshot; a nil snapshot removes it. It returns
	// ErrFenced, perhaps wrapped, if a newer token has been seen for the group.
	// It repeats by itself what is worth repeating: the coordinator gives up
	// the group on any error.
	Save(ctx context.Context, group string, snapshot []byte, token int64) error
}

// MemoryStore is a [Store] for a single gateway: groups live as long as it
// does. The zero value is ready for use.
type MemoryStore struct {
	mu     sync.Mutex
	groups map[string]saved
}

type saved struct {
	snapshot []byte
	token    int64
}

var _ Store = (*MemoryStore)(nil)

// NewMemoryStore makes an empty store.
func NewMemoryStore() *MemoryStore { return new(MemoryStore) }

// Load implements [Store].
func (m *MemoryStore) Load(_ context.Context, group string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.groups[group].snapshot), nil
}

// Save implements [Store].
func (m *MemoryStore) Save(_ context.Context, group string, snapshot []byte, token int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.groups[group].token > token {
		return ErrFenced
	}
	if snapshot == nil {
		delete(m.groups, group)
		return nil
	}
	if m.groups == nil {
		m.groups = make(map[string]saved)
	}
	m.groups[group] = saved{slices.Clone(snapshot), token}
	return nil
}
