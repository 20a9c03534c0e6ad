package gateway

import (
	"context"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

// OffsetStore lets the group coordinator keep its offsets in DIS: it fits
// offsets.Store to the interface that groupcoord declares, since neither knows
// the other.
type OffsetStore struct {
	store checkpointStore
	lag   *Lag
}

// checkpointStore is *offsets.Store.
type checkpointStore interface {
	Commit(ctx context.Context, group string, commits []offsets.OffsetCommit) []offsets.CommittedOffset
	Fetch(ctx context.Context, group string, partitions []offsets.TopicPartition) []offsets.CommittedOffset
	FetchAll(ctx context.Context, group string) ([]offsets.CommittedOffset, error)
	Oldest(ctx context.Context, partitions []offsets.TopicPartition) []offsets.CommittedOffset
	Groups(ctx context.Context) ([]string, error)
	Exists(ctx context.Context, group string) (bool, error)
	Delete(ctx context.Context, group string) translate.Failure
}

var (
	_ groupcoord.OffsetStore = OffsetStore{}
	_ checkpointStore        = (*offsets.Store)(nil)
)

// NewOffsetStore wraps a store; lag is told of every offset that passes.
func NewOffsetStore(store *offsets.Store, lag *Lag) OffsetStore { return OffsetStore{store, lag} }

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
	return s.noted(group, s.store.Commit(asCallers(ctx), group, wanted))
}

// Fetch reads the partitions' offsets and answers in the same order.
func (s OffsetStore) Fetch(ctx context.Context, group string, partitions []groupcoord.TopicPartition) []groupcoord.CommittedOffset {
	return s.noted(group, s.store.Fetch(asCallers(ctx), group, named(partitions)))
}

// Oldest gives the first offset that can be read of each partition, in the same
// order.
func (s OffsetStore) Oldest(ctx context.Context, partitions []groupcoord.TopicPartition) []groupcoord.CommittedOffset {
	return committed(s.store.Oldest(asCallers(ctx), named(partitions)))
}

// FetchAll reads every committed offset of the group.
func (s OffsetStore) FetchAll(ctx context.Context, group string) ([]groupcoord.CommittedOffset, error) {
	found, err := s.store.FetchAll(asCallers(ctx), group)
	return s.noted(group, found), err
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
	if failure.Code == 0 {
		s.lag.forget(group)
	}
	return failure.Code, failure.Message
}

// asCallers tells the calls of DIS for which requests they are made.
func asCallers(ctx context.Context) context.Context {
	var callers []dis.Caller
	for _, r := range groupcoord.Requests(ctx) {
		if r != (groupcoord.Request{}) { // what only a request to remove offsets brought
			callers = append(callers, dis.Caller(r))
		}
	}
	return dis.WithCallers(ctx, callers...)
}

// noted passes results on and shows them to the lag.
func (s OffsetStore) noted(group string, found []offsets.CommittedOffset) []groupcoord.CommittedOffset {
	results := committed(found)
	s.lag.note(group, results)
	return results
}

func named(partitions []groupcoord.TopicPartition) []offsets.TopicPartition {
	wanted := make([]offsets.TopicPartition, len(partitions))
	for i, p := range partitions {
		wanted[i] = offsets.TopicPartition(p)
	}
	return wanted
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
