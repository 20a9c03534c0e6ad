package topics

import (
	"context"
	"errors"
	"fmt"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// PartitionsRequest is a topic that is to have more partitions.
type PartitionsRequest struct {
	Name string
	// Count is how many partitions the topic is to have, those included that it has.
	Count int
	// Assigned is for how many new partitions the client chose the places of the
	// copies, which DIS chooses itself; 0 when it chose none.
	Assigned int
	// ValidateOnly checks the request and changes nothing.
	ValidateOnly bool
}

// CreatePartitions adds partitions to a topic and returns when all that it then
// has are ACTIVE, so that they can be written and read at once through any
// gateway. Partitions that a scale-down had retired count as those that the topic
// has, since Kafka clients see them; DIS takes them back into use before it makes
// new ones. There is no way to fewer, as in Kafka. With ValidateOnly it returns
// the topic as it is.
//
// Errors: translate.ErrInvalidName; translate.ErrHidden; a translate.Failure for a
// count that is no increase and for the stream of another account;
// translate.ErrScalingLimit when DIS refuses because of earlier scalings; a
// *dis.Error, with wire.CodeStreamNotFound for an unknown topic and
// wire.CodeQuotaExceeded when the project may not have so many; the context's error
// when it ended first, in which case the partitions may come up later.
func (c *Catalog) CreatePartitions(ctx context.Context, request PartitionsRequest) (*translate.Topic, error) {
	stream, err := c.own(request.Name)
	if err != nil {
		return nil, fmt.Errorf("add partitions to topic: %w", err)
	}
	described, started, err := c.ask(ctx, request.Name)
	topic, err := c.store(request.Name, started, described, err)
	if err != nil {
		return nil, fmt.Errorf("add partitions to topic %q: %w", request.Name, err)
	}
	if err := request.validate(topic); err != nil {
		return nil, err
	}
	if request.ValidateOnly {
		return topic, nil
	}
	// A client that gave up waiting asks again: the second call would count against
	// the limit of scalings.
	if !underway(described, request) {
		err = c.changePartitionCount(ctx, stream, request)
	}
	if err == nil {
		topic, err = c.awaitPartitions(ctx, request)
	}
	if err != nil {
		c.Invalidate(request.Name)
		return nil, fmt.Errorf("add partitions to topic %q: %w", request.Name, err)
	}
	return topic, nil
}

func (r PartitionsRequest) validate(topic *translate.Topic) error {
	has, more := len(topic.Partitions), r.Count-len(topic.Partitions)
	switch {
	case more == 0:
		return r.refuse(codeInvalidPartitions, "it has %d already%s", has, retiredOf(topic))
	case more < 0:
		return r.refuse(codeInvalidPartitions, "it has %d%s, and the number of a topic never falls", has, retiredOf(topic))
	case r.Count > maxPartition:
		return r.refuse(codeInvalidPartitions, "no stream can have more than %d", maxPartition)
	case r.Assigned != 0 && r.Assigned != more:
		return r.refuse(codeInvalidReplicaAssignment, "%d are new, and %d are assigned to brokers", more, r.Assigned)
	}
	return nil
}

func (r PartitionsRequest) refuse(code int16, why string, args ...any) error {
	return translate.Failure{Code: code, Message: fmt.Sprintf("topic %q: %d partitions are wanted: ", r.Name, r.Count) + fmt.Sprintf(why, args...)}
}

// retiredOf says how many of a topic's partitions take no records any more: the
// DIS console counts only the others.
func retiredOf(topic *translate.Topic) string {
	retired := 0
	for _, p := range topic.Partitions {
		if p.Status == wire.PartitionDeleted || p.Status == wire.PartitionExpired {
			retired++
		}
	}
	if retired == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of them retired, which DIS uses again before it makes new ones)", retired)
}

// changePartitionCount makes DIS begin.
func (c *Catalog) changePartitionCount(ctx context.Context, stream string, request PartitionsRequest) error {
	_, err := c.streams.ChangePartitionCount(ctx, stream, request.Count)
	var failure *dis.Error
	switch {
	case err == nil || !errors.As(err, &failure):
		return err
	case !failure.NotProcessed:
		// An attempt whose answer was lost may have begun it, and its repeat was
		// refused because of that.
		if described, _, lost := c.ask(ctx, request.Name); lost == nil && underway(described, request) {
			return nil
		}
	}
	if failure.Throttled() {
		return fmt.Errorf("%w: %w", translate.ErrScalingLimit, err)
	}
	return err
}

// underway reports whether a stream has as many partitions as are wanted, or gets
// them.
func underway(described *wire.DescribeStreamResponse, request PartitionsRequest) bool {
	begun := 0
	for _, p := range described.Partitions {
		if p.Status == wire.PartitionActive || p.Status == wire.PartitionCreating {
			begun++
		}
	}
	return begun >= request.Count
}

func (c *Catalog) awaitPartitions(ctx context.Context, request PartitionsRequest) (topic *translate.Topic, err error) {
	err = poll(ctx, func() (done bool, err error) {
		topic, err = c.scaled(ctx, request)
		return topic != nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("DIS has begun, waiting for its end: %w", err)
	}
	return topic, nil
}

// scaled looks once whether all partitions are there, and stores them when they
// are; of a stream that is gone the error says so.
func (c *Catalog) scaled(ctx context.Context, request PartitionsRequest) (*translate.Topic, error) {
	described, started, err := c.ask(ctx, request.Name)
	switch {
	case err != nil:
		return nil, err
	case !isGone(described.Status) && (described.Status != wire.StreamRunning || countActive(described) < request.Count):
		return nil, nil
	}
	return c.store(request.Name, started, described, nil)
}
