package topics

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// isDefinite reports whether the error is DIS's own word on the state of the
// stream, as opposed to a call that failed.
func isDefinite(err error) bool {
	return isAbsent(err) || errors.Is(err, translate.ErrNotReady) || errors.Is(err, translate.ErrNoStreamID)
}

// toTopic reads a describe. unsettled is true when a partition is not in its
// final state, so that the stream must be described again soon. The caller
// holds the mutex.
func (c *Catalog) toTopic(name string, d *wire.DescribeStreamResponse) (topic *translate.Topic, unsettled bool, err error) {
	stream, err := c.cfg.Names.Stream(name)
	if err != nil {
		return nil, false, err
	}
	// The list may show a stream without its id, so that only now it turns out
	// that an alias has that.
	if other, aliased := c.cfg.Names.TopicOfID(d.StreamID); aliased && other != name {
		return nil, false, fmt.Errorf("topic %q: %w: by --alias its stream is the topic %s", name, translate.ErrHidden, other)
	}
	switch {
	case isGone(d.Status):
		return nil, false, &dis.Error{
			Operation: "DescribeStream", HTTPStatus: 200, Code: wire.CodeStreamNotFound, NotProcessed: true,
			Message: fmt.Sprintf("stream %s is being deleted (%s)", name, d.Status),
		}
	case d.Status == wire.StreamCreating:
		return nil, false, fmt.Errorf("topic %q: %w", name, translate.ErrNotReady)
	}
	known := c.cache.known(name)
	streamID := cmp.Or(d.StreamID, stream.ID)
	if streamID == "" && known != nil && known.CreatedAt == d.CreateTime {
		streamID = known.StreamID // it is the same stream
	}
	if streamID == "" {
		return nil, false, fmt.Errorf("topic %q: %w", name, translate.ErrNoStreamID)
	}
	var before []translate.Partition
	if known != nil && known.StreamID == streamID {
		before = known.Partitions
	}
	partitions, unsettled, err := toPartitions(d.Partitions, before)
	if err != nil {
		return nil, false, fmt.Errorf("describe of stream %s: %w", name, err)
	}
	return &translate.Topic{
		Name:           name,
		StreamName:     stream.Name,
		StreamID:       streamID,
		ID:             TopicID(c.cfg.ProjectID, streamID),
		StreamType:     d.StreamType,
		DataType:       d.DataType,
		RetentionHours: d.RetentionPeriod,
		AutoScale:      toAutoScale(d),
		Records:        c.cfg.Records(name),
		CreatedAt:      d.CreateTime,
		Partitions:     partitions,
	}, unsettled, nil
}

func toAutoScale(d *wire.DescribeStreamResponse) translate.AutoScale {
	if !d.AutoScaleEnabled {
		return translate.AutoScale{}
	}
	return translate.AutoScale{Min: d.AutoScaleMinPartitionCount, Max: d.AutoScaleMaxPartitionCount}
}

// toPartitions puts the partitions at the index of their number. Kafka clients
// need contiguous numbers and a count that never shrinks, so a number that DIS
// does not show counts as EXPIRED, CREATING ones are left out at the end only,
// and a partition in the middle of a scaling, whose range cannot be read, stays
// as it was before.
func toPartitions(described []wire.PartitionResponse, before []translate.Partition) (list []translate.Partition, unsettled bool, err error) {
	for _, d := range described {
		number, err := wire.ParsePartitionID(d.PartitionID)
		if err != nil {
			return nil, false, err
		}
		if number > maxPartition {
			return nil, false, fmt.Errorf("partition %q is above %d", d.PartitionID, maxPartition)
		}
		for len(list) <= number {
			list = append(list, translate.Partition{Status: wire.PartitionExpired})
		}
		partition, final := toPartition(d)
		if !final {
			unsettled = true
			if number < len(before) {
				partition = before[number]
			}
		}
		list[number] = partition
	}
	for len(list) < len(before) {
		list = append(list, translate.Partition{Status: wire.PartitionExpired})
	}
	for len(list) > len(before) && list[len(list)-1].Status == wire.PartitionCreating {
		list = list[:len(list)-1]
	}
	return slices.Clip(list), unsettled, nil
}

// maxPartition bounds the memory that a broken answer can take. DIS's quota is
// 50 partitions; scaling reuses retired numbers before it makes new ones.
const maxPartition = 100_000

// toPartition reads one partition; final is false while DIS is still working on
// it, which then counts as CREATING.
func toPartition(d wire.PartitionResponse) (partition translate.Partition, final bool) {
	switch d.Status {
	case wire.PartitionExpired:
		return translate.Partition{Status: d.Status}, true
	case wire.PartitionActive, wire.PartitionDeleted:
		if d.SequenceNumberRange == nil {
			break
		}
		if bounds, err := wire.ParseSequenceRange(*d.SequenceNumberRange); err == nil {
			return translate.Partition{Status: d.Status, Range: bounds}, true
		}
	}
	return translate.Partition{Status: wire.PartitionCreating}, false
}
