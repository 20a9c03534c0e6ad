package offsets

import (
	"context"
	"fmt"
	"sync"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Oldest gives the first offset that can be read of each partition, in the same
// order, with one look at each stream. It is -1 where there is no such topic or
// partition, or it has expired.
func (s *Store) Oldest(ctx context.Context, partitions []TopicPartition) []CommittedOffset {
	results := make([]CommittedOffset, len(partitions))
	byTopic := map[string][]int{}
	for i, at := range partitions {
		byTopic[at.Topic] = append(byTopic[at.Topic], i)
	}
	var running sync.WaitGroup
	for topic, indexes := range byTopic {
		running.Go(func() {
			topic, described, err := s.describe(ctx, topic)
			for _, i := range indexes {
				results[i] = oldest(partitions[i], topic, described, err)
			}
		})
	}
	running.Wait()
	return results
}

func oldest(at TopicPartition, topic *translate.Topic, described *wire.DescribeStreamResponse, err error) CommittedOffset {
	var bounds wire.SequenceRange
	if err == nil {
		bounds, err = rangeOf(described, topic, at.Partition)
	}
	if err != nil {
		return failed(at, translate.CallOffsetFetch, err)
	}
	return CommittedOffset{TopicPartition: at, Offset: bounds.Oldest}
}

// describe looks at a stream within the limit of parallel calls.
func (s *Store) describe(ctx context.Context, name string) (*translate.Topic, *wire.DescribeStreamResponse, error) {
	if err := s.slots.Acquire(ctx, 1); err != nil {
		return nil, nil, fmt.Errorf("describe topic %s: not started: %w", name, err)
	}
	defer s.slots.Release(1)
	topic, err := s.catalog.Topic(ctx, name)
	if err != nil {
		return nil, nil, fmt.Errorf("describe topic %s: %w", name, err)
	}
	described, err := s.look(ctx, topic)
	return topic, described, err
}

// look describes the stream of a topic.
func (s *Store) look(ctx context.Context, topic *translate.Topic) (*wire.DescribeStreamResponse, error) {
	if topic.Shared() {
		return s.checkpoints.DescribeStreamByID(ctx, topic.StreamID)
	}
	return s.checkpoints.DescribeStream(ctx, topic.StreamName)
}

// bounds asks DIS for the present range of a partition.
func (s *Store) bounds(ctx context.Context, topic *translate.Topic, partition int32) (wire.SequenceRange, error) {
	described, err := s.look(ctx, topic)
	if err != nil {
		return wire.SequenceRange{}, err
	}
	return rangeOf(described, topic, partition)
}

// rangeOf finds the range of a partition. The error is one of DIS where the
// partition does not exist or has expired.
func rangeOf(described *wire.DescribeStreamResponse, topic *translate.Topic, partition int32) (wire.SequenceRange, error) {
	for _, p := range described.Partitions {
		number, err := wire.ParsePartitionID(p.PartitionID)
		if err != nil || number != int(partition) {
			continue
		}
		if p.Status == wire.PartitionExpired || p.SequenceNumberRange == nil {
			return wire.SequenceRange{}, unseen(wire.CodePartitionExpired,
				fmt.Sprintf("the stream of topic %s shows no range of partition %d (%s)", topic.Name, partition, p.Status))
		}
		return wire.ParseSequenceRange(*p.SequenceNumberRange)
	}
	return wire.SequenceRange{}, unseen(wire.CodePartitionNotFound, fmt.Sprintf("the stream of topic %s does not show partition %d", topic.Name, partition))
}

// unseen is what DIS would answer to a call that names the partition.
func unseen(code, message string) error {
	return &dis.Error{Operation: "DescribeStream", HTTPStatus: 200, Code: code, NotProcessed: true, Message: message}
}
