package gateway

import (
	"context"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

// OffsetStore lets the group coordinator keep its offsets in DIS: it fits
// offsets.Store to the interface that groupcoord declares, since neither knows
// the other.
type OffsetStore struct{ store checkpointStore }

// checkpointStore is *offsets.Store.
type checkpointStore interface {
	Commit(ctx context.Context, group string, commits []offsets.OffsetCommit) []offsets.CommittedOffset
	Fetch(ctx context.Context, group string, partitions []offsets.TopicPartition) []offsets.CommittedOffset
	FetchAll(ctx context.Context, group string) ([]offsets.CommittedOffset, error)
	Groups(ctx context.Context) ([]string, error)
	Exists(ctx context.Context, group string) (bool, error)
	Delete(ctx context.Context, group string) translate.Failure
}

var (
	_ groupcoord.OffsetStore = OffsetStore{}
	_ checkpointStore        = (*offsets.Store)(nil)
)

// NewOffsetStore wraps a store.
func NewOffsetStore(store *offsets.Store) OffsetStore { return OffsetStore{store} }

// Commit stores the offsets and answers in the same order.
func (s OffsetStore) Commit(ctx context.Context, group string, commits []groupcoord.OffsetCommit) []groupcoord.CommittedOffset {
	wanted := make([]offsets.OffsetCommit, len(commits))
	for i, c := range commits {
		wanted[i] = offsets.OffsetCommit{
			TopicPartition: offsets.TopicPartition(c.TopicPartition),
			Offset:         c.Offset,
			LeaderEpoch:    c.LeaderEpoch,
			Metadata:       c.Metadata,
		}
	}
	return committed(s.store.Commit(ctx, group, wanted))
}

// Fetch reads the partitions' offsets and answers in the same order.
func (s OffsetStore) Fetch(ctx context.Context, group string, partitions []groupcoord.TopicPartition) []groupcoord.CommittedOffset {
	wanted := make([]offsets.TopicPartition, len(partitions))
	for i, p := range partitions {
		wanted[i] = offsets.TopicPartition(p)
	}
	return committed(s.store.Fetch(ctx, group, wanted))
}

// FetchAll reads every committed offset of the group.
func (s OffsetStore) FetchAll(ctx context.Context, group string) ([]groupcoord.CommittedOffset, error) {
	found, err := s.store.FetchAll(ctx, group)
	return committed(found), err
}

// Groups lists the groups that have committed offsets.
func (s OffsetStore) Groups(ctx context.Context) ([]string, error) { return s.store.Groups(ctx) }

// Exists reports whether the group has, or once had, committed offsets.
func (s OffsetStore) Exists(ctx context.Context, group string) (bool, error) {
	return s.store.Exists(ctx, group)
}

// Delete removes the group and its offsets.
func (s OffsetStore) Delete(ctx context.Context, group string) (code int16, message string) {
	failure := s.store.Delete(ctx, group)
	return failure.Code, failure.Message
}

func committed(found []offsets.CommittedOffset) []groupcoord.CommittedOffset {
	results := make([]groupcoord.CommittedOffset, len(found))
	for i, f := range found {
		results[i] = groupcoord.CommittedOffset{
			TopicPartition: groupcoord.TopicPartition(f.TopicPartition),
			Offset:         f.Offset,
			Metadata:       f.Metadata,
			Code:           f.Code,
			Message:        f.Message,
		}
	}
	return results
}
