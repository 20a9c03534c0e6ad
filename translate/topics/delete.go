package topics

import (
	"context"
	"errors"
	"fmt"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

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
