package topics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// DefaultRetention is the retention of a stream that was created without one, in
// hours.
const DefaultRetention = 24

// DefaultDataType is the data type of a stream that was created without one.
const DefaultDataType = "BLOB"

// changeShows is how long after DIS took a change a describe may go on to tell
// what was before. The API does not say; a list shows it later in any case.
const changeShows = 5 * time.Second

// AlterRequest is a change of what DIS can change of a stream, besides the number
// of its partitions: PUT /v3/{project}/streams/{stream}. What is nil stays.
type AlterRequest struct {
	Name           string
	RetentionHours *int
	DataType       *string // BLOB, JSON or CSV
	AutoScale      *translate.AutoScale
	// ValidateOnly checks the request and changes nothing.
	ValidateOnly bool
}

// Alter changes the settings of a stream and returns the topic as it then is. A
// request that changes nothing costs no call that could be refused. A shorter
// retention takes the records that it does not cover.
//
// Errors: translate.ErrInvalidName; translate.ErrHidden; a translate.Failure for a
// bad value and for the stream of another account; a *dis.Error, with wire.CodeStreamNotFound for an unknown topic.
func (c *Catalog) Alter(ctx context.Context, request AlterRequest) (*translate.Topic, error) {
	stream, err := c.own(request.Name)
	if err != nil {
		return nil, fmt.Errorf("alter topic: %w", err)
	}
	if err := request.validate(); err != nil {
		return nil, err
	}
	topic, err := c.now(ctx, request.Name)
	if err != nil {
		return nil, fmt.Errorf("alter topic %q: %w", request.Name, err)
	}
	if request.ValidateOnly || request.holds(topic) {
		return topic, nil
	}
	altered, err := c.alter(ctx, request, request.changes(stream, topic))
	if err != nil || !request.holds(altered) {
		c.Invalidate(request.Name)
	}
	return altered, err
}

func (c *Catalog) alter(ctx context.Context, request AlterRequest, changes wire.UpdateStreamRequest) (*translate.Topic, error) {
	if err := c.streams.UpdateStream(ctx, changes); err != nil {
		return nil, fmt.Errorf("alter topic %q: %w", request.Name, explainRetention(err, changes.DataDuration))
	}
	altered, err := c.altered(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("topic %q is altered, looking at it: %w", request.Name, err)
	}
	return altered, nil
}

func (r AlterRequest) validate() error {
	if r.DataType != nil {
		if err := checkDataType(r.Name, cmp.Or(*r.DataType, "''")); err != nil {
			return err
		}
	}
	if r.AutoScale != nil {
		return checkAutoScale(r.Name, *r.AutoScale)
	}
	return nil
}

// holds reports whether a topic is as the request wants it.
func (r AlterRequest) holds(topic *translate.Topic) bool {
	return (r.RetentionHours == nil || *r.RetentionHours == cmp.Or(topic.RetentionHours, DefaultRetention)) &&
		(r.DataType == nil || *r.DataType == cmp.Or(topic.DataType, DefaultDataType)) &&
		(r.AutoScale == nil || *r.AutoScale == topic.AutoScale)
}

// changes is the call that makes the stream of a topic as the request wants it. It
// names only what differs, so that DIS has nothing else to refuse.
func (r AlterRequest) changes(stream string, topic *translate.Topic) wire.UpdateStreamRequest {
	update := wire.UpdateStreamRequest{StreamName: stream}
	if only := (AlterRequest{RetentionHours: r.RetentionHours}); !only.holds(topic) {
		update.DataDuration = *r.RetentionHours
	}
	if only := (AlterRequest{DataType: r.DataType}); !only.holds(topic) {
		update.DataType = *r.DataType
	}
	if only := (AlterRequest{AutoScale: r.AutoScale}); !only.holds(topic) {
		enabled := *r.AutoScale != translate.AutoScale{}
		update.AutoScaleEnabled = &enabled
		update.AutoScaleMinPartitionCount, update.AutoScaleMaxPartitionCount = r.AutoScale.Min, r.AutoScale.Max
	}
	return update
}

// altered waits until a describe shows the change. DIS has taken it by then, so
// that one which does not show in time, or shows as something else, is no failure.
func (c *Catalog) altered(ctx context.Context, request AlterRequest) (topic *translate.Topic, err error) {
	limited, cancel := context.WithTimeout(ctx, changeShows)
	defer cancel()
	err = poll(limited, func() (bool, error) {
		now, err := c.now(limited, request.Name)
		if err != nil {
			return false, err
		}
		topic = now
		return request.holds(now), nil
	})
	if topic != nil && errors.Is(err, context.DeadlineExceeded) {
		return topic, nil
	}
	return topic, err
}
