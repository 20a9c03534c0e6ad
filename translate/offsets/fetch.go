package offsets

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// checkpoint is what one partition has stored.
type checkpoint struct {
	offset   int64
	metadata string
}

// Fetch gives the stored offsets of the partitions, in the same order, with one
// call to DIS for each stream. An unknown group, topic or partition has none,
// which is no error; Offset -1 with Code 0 is never said when DIS could not be
// asked, since the client would start from its reset policy.
func (s *Store) Fetch(ctx context.Context, group string, partitions []TopicPartition) []CommittedOffset {
	results := make([]CommittedOffset, len(partitions))
	app, err := AppName(group, s.cfg.MaxAppName)
	if err != nil {
		for i, at := range partitions {
			results[i] = failed(at, translate.CallOffsetFetch, err)
		}
		return results
	}
	byTopic := map[string][]int{}
	for i, at := range partitions {
		byTopic[at.Topic] = append(byTopic[at.Topic], i)
	}
	var running sync.WaitGroup
	for topic, indexes := range byTopic {
		running.Go(func() {
			stored, err := s.fetchTopic(ctx, app, topic)
			for _, i := range indexes {
				results[i] = found(partitions[i], stored, err)
			}
		})
	}
	running.Wait()
	return results
}

// found is the answer for one partition, given what its topic has stored.
func found(at TopicPartition, stored map[int32]checkpoint, err error) CommittedOffset {
	if err != nil {
		return failed(at, translate.CallOffsetFetch, err)
	}
	c, ok := stored[at.Partition]
	if !ok {
		return none(at)
	}
	return CommittedOffset{TopicPartition: at, Offset: c.offset, Metadata: c.metadata}
}

func (s *Store) fetchTopic(ctx context.Context, app, name string) (map[int32]checkpoint, error) {
	if err := s.slots.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("fetch offsets of topic %s: not started: %w", name, err)
	}
	defer s.slots.Release(1)
	topic, err := s.catalog.Topic(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("fetch offsets of topic %s: %w", name, err)
	}
	return s.state(ctx, app, translate.StreamRef{Name: topic.StreamName, ID: topic.StreamID})
}

// state gives the checkpoints of an app in a stream, by partition. An app or a
// stream that DIS does not know has none. The caller has a slot.
func (s *Store) state(ctx context.Context, app string, stream translate.StreamRef) (map[int32]checkpoint, error) {
	states, err := s.checkpoints.ConsumerState(ctx, app, stream.Name, stream.ID)
	if dis.HasCode(err, wire.CodeAppNotFound, wire.CodeStreamNotFound, wire.CodeNoCheckpoint) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fetch offsets of stream %s: %w", stream, err)
	}
	stored := make(map[int32]checkpoint, len(states))
	for _, state := range states {
		partition, offset, err := read(state)
		if err != nil {
			return nil, fmt.Errorf("fetch offsets of stream %s: %w", stream, err)
		}
		if offset >= 0 {
			stored[partition] = checkpoint{offset, state.Metadata}
		}
	}
	return stored, nil
}

// read takes one state apart. The offset is -1 when nothing is committed, for
// which DIS answers "-1", "" or null.
func read(state wire.ConsumingState) (partition int32, offset int64, err error) {
	number, err := wire.ParsePartitionID(string(state.PartitionID))
	if err != nil {
		return 0, 0, err
	}
	if state.SequenceNumber == "" {
		return int32(number), -1, nil
	}
	offset, err = strconv.ParseInt(string(state.SequenceNumber), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("checkpoint of partition %d: %w", number, err)
	}
	return int32(number), offset, nil
}

// FetchAll gives every stored offset of a group that belongs to a topic, in no
// order: those of streams that the settings hide are left out. An unknown group has
// none.
func (s *Store) FetchAll(ctx context.Context, group string) ([]CommittedOffset, error) {
	name, err := AppName(group, s.cfg.MaxAppName)
	if err != nil {
		return nil, err
	}
	app, err := s.checkpoints.DescribeApp(ctx, name)
	if dis.HasCode(err, wire.CodeAppNotFound, wire.CodeNoCheckpoint) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fetch offsets of group %s: %w", group, err)
	}
	if app == nil {
		return nil, errors.New("fetch offsets of group " + group + ": DIS answered without an app")
	}
	all, err := s.fetchTopics(ctx, name, s.topicsOf(app))
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", group, err)
	}
	return all, nil
}
