package topics

import (
	"context"
	"fmt"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Kafka's codes of the refusals that DIS is not asked about.
const (
	codeTopicAuthorization       = 29
	codeInvalidPartitions        = 37
	codeInvalidReplicaAssignment = 39
	codeInvalidConfig            = 40
)

// CreateRequest is a topic to create. Zero values of all but name and
// partitions leave the choice to DIS (COMMON, BLOB, 24 hours).
type CreateRequest struct {
	Name           string
	Partitions     int
	RetentionHours int
	StreamType     wire.StreamType
	DataType       string // BLOB, JSON or CSV
	AutoScale      translate.AutoScale
	// TimestampType is CreateTime or LogAppendTime; any other than the settings
	// have for the topic is refused. Empty takes what they have.
	TimestampType string
	// ValidateOnly checks the request and creates nothing.
	ValidateOnly bool
}

// Create creates a stream and returns when it is RUNNING with all partitions
// ACTIVE, so that a client can use the topic at once through any gateway. With
// ValidateOnly it returns the topic as it would be, without ids.
//
// Errors: translate.ErrInvalidName; translate.ErrHidden; a translate.Failure for
// other bad values and for the stream of another account; a *dis.Error, with
// wire.CodeStreamExists for an existing topic; the context's error when it ended
// first, in which case the stream may come up later.
func (c *Catalog) Create(ctx context.Context, request CreateRequest) (*translate.Topic, error) {
	stream, err := c.own(request.Name)
	if err != nil {
		return nil, fmt.Errorf("create topic: %w", err)
	}
	if err := request.validate(); err != nil {
		return nil, err
	}
	if err := c.checkTimestamps(request); err != nil {
		return nil, err
	}
	if request.ValidateOnly {
		return c.wouldCreate(ctx, stream, request)
	}
	topic, err := c.create(ctx, stream, request)
	if err != nil {
		c.Invalidate(request.Name)
		return nil, err
	}
	return topic, nil
}

// own gives the name of the stream of a topic that this account may create, change
// and delete.
func (c *Catalog) own(topic string) (stream string, err error) {
	ref, err := c.cfg.Names.Stream(topic)
	if err == nil && ref.Name == "" {
		err = translate.Failure{Code: codeTopicAuthorization, Message: fmt.Sprintf(
			"by --alias topic %q is the stream with the id %s, which only the account that it belongs to creates, changes and deletes", topic, ref.ID)}
	}
	return ref.Name, err
}

func (c *Catalog) create(ctx context.Context, stream string, request CreateRequest) (topic *translate.Topic, err error) {
	err = c.streams.CreateStream(ctx, wire.CreateStreamRequest{
		StreamName:     stream,
		PartitionCount: request.Partitions,
		StreamType:     request.StreamType,
		DataType:       request.DataType,
		DataDuration:   request.RetentionHours,

		AutoScaleEnabled:           request.AutoScale != translate.AutoScale{},
		AutoScaleMinPartitionCount: request.AutoScale.Min,
		AutoScaleMaxPartitionCount: request.AutoScale.Max,
	})
	if err != nil {
		return nil, fmt.Errorf("create topic %q: %w", request.Name, explainRetention(err, request.RetentionHours))
	}
	err = poll(ctx, func() (done bool, err error) {
		topic, err = c.created(ctx, request)
		return topic != nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("topic %q is created, waiting for it to run: %w", request.Name, err)
	}
	return topic, nil
}

func (r CreateRequest) validate() error {
	if r.Partitions < 1 {
		return translate.Failure{Code: codeInvalidPartitions, Message: fmt.Sprintf("topic %q: %d partitions, at least 1 is needed", r.Name, r.Partitions)}
	}
	if r.Partitions > maxPartition {
		return translate.Failure{Code: codeInvalidPartitions, Message: fmt.Sprintf("topic %q: %d partitions, no stream can have more than %d", r.Name, r.Partitions, maxPartition)}
	}
	switch r.StreamType {
	case "", wire.StreamCommon, wire.StreamAdvanced:
	default:
		return translate.Failure{Code: codeInvalidConfig, Message: fmt.Sprintf("topic %q: stream type %q is not COMMON or ADVANCED", r.Name, r.StreamType)}
	}
	if err := checkDataType(r.Name, r.DataType); err != nil {
		return err
	}
	if err := checkAutoScale(r.Name, r.AutoScale); err != nil {
		return err
	}
	if r.RetentionHours < 0 {
		return translate.Failure{Code: codeInvalidConfig, Message: fmt.Sprintf("topic %q: retention of %d hours", r.Name, r.RetentionHours)}
	}
	return nil
}

func checkDataType(name, dataType string) error {
	switch dataType {
	case "", "BLOB", "JSON", "CSV":
		return nil
	}
	return translate.Failure{Code: codeInvalidConfig, Message: fmt.Sprintf("topic %q: data type %q is not BLOB, JSON or CSV", name, dataType)}
}

func checkAutoScale(name string, bounds translate.AutoScale) error {
	if bounds == (translate.AutoScale{}) || 1 <= bounds.Min && bounds.Min <= bounds.Max {
		return nil
	}
	return translate.Failure{Code: codeInvalidConfig, Message: fmt.Sprintf(
		"topic %q: between %d and %d partitions; the first must be 1 or more and not above the second", name, bounds.Min, bounds.Max)}
}

// checkTimestamps refuses a topic that would give its records other times than
// was asked for.
func (c *Catalog) checkTimestamps(r CreateRequest) error {
	policy := c.cfg.Records(r.Name)
	if r.TimestampType == "" || r.TimestampType == policy.TimestampType() {
		return nil
	}
	return translate.Failure{Code: codeInvalidConfig, Message: fmt.Sprintf(
		"message.timestamp.type=%s; allowed: %s, which the gateway's settings have for topic %q", r.TimestampType, policy.TimestampType(), r.Name)}
}

// wouldCreate answers a request that only asks whether it would succeed.
func (c *Catalog) wouldCreate(ctx context.Context, stream string, request CreateRequest) (*translate.Topic, error) {
	_, err := c.streams.DescribeStream(ctx, stream)
	switch {
	case err == nil:
		return nil, fmt.Errorf("validate topic %q: %w", request.Name, &dis.Error{
			Operation: "DescribeStream", HTTPStatus: 200, Code: wire.CodeStreamExists, Message: "the stream exists", NotProcessed: true,
		})
	case !isMissing(err):
		return nil, fmt.Errorf("validate topic %q: %w", request.Name, err)
	}
	partitions := make([]translate.Partition, request.Partitions)
	for i := range partitions {
		partitions[i].Status = wire.PartitionActive
	}
	return &translate.Topic{
		Name:           request.Name,
		StreamName:     stream,
		StreamType:     request.StreamType,
		DataType:       request.DataType,
		RetentionHours: request.RetentionHours,
		AutoScale:      request.AutoScale,
		Records:        c.cfg.Records(request.Name),
		Partitions:     partitions,
	}, nil
}

// created looks once whether the stream is up, and stores it when it is.
func (c *Catalog) created(ctx context.Context, request CreateRequest) (*translate.Topic, error) {
	described, started, err := c.ask(ctx, request.Name)
	switch {
	case isMissing(err): // describe may lag behind create
		return nil, nil
	case err != nil:
		return nil, err
	case isGone(described.Status):
		return nil, fmt.Errorf("the stream is %s, someone deleted it", described.Status)
	case described.Status != wire.StreamRunning || described.StreamID == "" || countActive(described) < request.Partitions:
		return nil, nil
	}
	return c.store(request.Name, started, described, nil)
}

// countActive is how many partitions take records and can be read: one that is
// ACTIVE without a range is not that far.
func countActive(described *wire.DescribeStreamResponse) (active int) {
	for _, d := range described.Partitions {
		if p, final := toPartition(d); final && p.Status == wire.PartitionActive {
			active++
		}
	}
	return active
}
