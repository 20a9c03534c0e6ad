package topics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Kafka's codes of the refusals that DIS is not asked about.
const (
	codeTopicAuthorization = 29
	codeInvalidPartitions  = 37
	codeInvalidConfig      = 40
)

// How often DIS is asked whether a change is done.
const (
	firstPoll = 100 * time.Millisecond
	lastPoll  = 2 * time.Second
)

// CreateRequest is a topic to create. Zero values of all but name and
// partitions leave the choice to DIS (COMMON, BLOB, 24 hours).
type CreateRequest struct {
	Name           string
	Partitions     int
	RetentionHours int
	StreamType     wire.StreamType
	DataType       string // BLOB, JSON or CSV
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
	})
	if err != nil {
		return nil, fmt.Errorf("create topic %q: %w", request.Name, err)
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
	switch r.DataType {
	case "", "BLOB", "JSON", "CSV":
	default:
		return translate.Failure{Code: codeInvalidConfig, Message: fmt.Sprintf("topic %q: data type %q is not BLOB, JSON or CSV", r.Name, r.DataType)}
	}
	if r.RetentionHours < 0 {
		return translate.Failure{Code: codeInvalidConfig, Message: fmt.Sprintf("topic %q: retention of %d hours", r.Name, r.RetentionHours)}
	}
	return nil
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

func countActive(described *wire.DescribeStreamResponse) (active int) {
	for _, p := range described.Partitions {
		if p.Status == wire.PartitionActive {
			active++
		}
	}
	return active
}

// Delete deletes the stream of a topic and returns when DIS does not know it any
// more, so that the name can be used again at once. It returns the topic that
// is gone, without partitions if it was still being created.
//
// Errors: translate.ErrInvalidName; translate.ErrHidden; a translate.Failure for
// the stream of another account; a *dis.Error, with wire.CodeStreamNotFound for an
// unknown topic; the context's error when it ended before the stream was gone.
func (c *Catalog) Delete(ctx context.Context, name string) (*translate.Topic, error) {
	topic, err := c.Topic(ctx, name)
	stream, refused := c.own(name)
	switch {
	case errors.Is(err, translate.ErrNotReady):
		topic = &translate.Topic{Name: name, StreamName: stream}
	case err != nil:
		return nil, fmt.Errorf("delete topic %q: %w", name, err)
	}
	if refused != nil {
		return nil, fmt.Errorf("delete topic: %w", refused)
	}
	if err := c.deleteStream(ctx, name, stream); err != nil {
		c.Invalidate(name)
		return nil, err
	}
	return topic, nil
}

// DeleteByID is Delete for the stream that has the topic id, and for no other
// that got its name.
//
// Errors: translate.ErrUnknownID when no stream has the id; otherwise those of
// Delete.
func (c *Catalog) DeleteByID(ctx context.Context, id [16]byte) (*translate.Topic, error) {
	name, err := c.nameOf(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("delete topic id %s: %w", translate.IDText(id), err)
	}
	described, started, err := c.ask(ctx, name) // what is in memory may be of before
	_, _ = c.store(name, started, described, err)
	switch {
	case err == nil && TopicID(c.cfg.ProjectID, described.StreamID) != id:
		return nil, pastID(id, name)
	case err == nil:
		var topic *translate.Topic
		if topic, err = c.Delete(ctx, name); err == nil {
			return topic, nil
		}
	}
	if isAbsent(err) {
		return nil, pastID(id, name)
	}
	return nil, fmt.Errorf("delete topic id %s: %w", translate.IDText(id), err)
}

func (c *Catalog) deleteStream(ctx context.Context, name, stream string) error {
	if err := c.streams.DeleteStream(ctx, stream); err != nil {
		return fmt.Errorf("delete topic %q: %w", name, err)
	}
	if err := poll(ctx, func() (bool, error) { return c.deleted(ctx, name) }); err != nil {
		return fmt.Errorf("topic %q is deleted, waiting for its end: %w", name, err)
	}
	return nil
}

// deleted looks once whether the stream is gone. Lookups find no topic from the
// moment it is on its way out.
func (c *Catalog) deleted(ctx context.Context, name string) (bool, error) {
	described, started, err := c.ask(ctx, name)
	switch {
	case isMissing(err):
		_, _ = c.store(name, started, nil, err) // gives err back
		return true, nil
	case err != nil:
		return false, err
	case isGone(described.Status):
		_, _ = c.store(name, started, described, nil) // gives "missing" back
	}
	return false, nil
}

// ask describes the stream of a topic on behalf of one caller.
func (c *Catalog) ask(ctx context.Context, name string) (*wire.DescribeStreamResponse, int64, error) {
	c.mu.Lock()
	started := c.cache.tick()
	c.mu.Unlock()
	described, err := c.describeStream(ctx, name)
	return described, started, err
}

// poll calls look until it is done, at growing intervals. A failure of DIS does
// not end it, only a refusal or the context does.
func poll(ctx context.Context, look func() (done bool, err error)) error {
	pause := firstPoll
	timer := time.NewTimer(0)
	defer timer.Stop()
	var last error
	for {
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), last)
		case <-timer.C:
		}
		done, err := look()
		if done || (err != nil && !isHiccup(err)) {
			return err
		}
		last = err
		timer.Reset(pause)
		pause = min(pause*2, lastPoll)
	}
}

// isHiccup reports whether the same call may succeed a moment later.
func isHiccup(err error) bool {
	var disErr *dis.Error
	return errors.As(err, &disErr) && (disErr.Throttled() || disErr.HTTPStatus == 0 || disErr.HTTPStatus >= 500)
}
