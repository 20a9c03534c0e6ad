package topics

import (
	"context"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// createTimeout bounds a creation that no client waits for to the end.
const createTimeout = time.Minute

// CreateMissing creates a topic because clients name it: once, however many of them
// do so at the same time. It returns when the topic can be used. A creation that
// failed is tried again after Config.NegativeTTL; until then its error is the answer.
//
// Errors: those of Create, apart from wire.CodeStreamExists; those of Topic for a
// topic whose stream is not ours to create. The context's error when it ended first;
// the creation goes on.
func (c *Catalog) CreateMissing(ctx context.Context, request CreateRequest) (*translate.Topic, error) {
	if _, err := c.own(request.Name); err == nil {
		err = c.wait(ctx, createFlight+request.Name, func() error { return c.createOnce(request) })
		if err != nil {
			return nil, err
		}
	}
	return c.Topic(ctx, request.Name)
}

// createOnce creates the topic unless that has just been tried.
func (c *Catalog) createOnce(request CreateRequest) error {
	c.mu.Lock()
	e := c.cache.entry(request.Name)
	topic, last := e.topic, e.creation
	c.mu.Unlock()
	switch {
	case topic != nil:
		return nil
	case last.err != nil && time.Since(last.at) < c.cfg.NegativeTTL:
		return last.err
	}
	ctx, cancel := context.WithTimeout(c.ctx, createTimeout)
	defer cancel()
	_, err := c.Create(ctx, request)
	if dis.HasCode(err, wire.CodeStreamExists) {
		err = nil // someone else was first, and whoever looks finds it
	}
	switch {
	case err == nil:
		c.cfg.Logger.Info().Str("topic", request.Name).Int("partitions", request.Partitions).Msg("topic created, since a client named it")
	case c.ctx.Err() == nil && (last.err == nil || last.err.Error() != err.Error()):
		c.cfg.Logger.Warn().Err(err).Str("topic", request.Name).Msg("topic that a client named cannot be created")
	}
	c.mu.Lock()
	c.cache.entry(request.Name).creation = attempt{time.Now(), err}
	c.mu.Unlock()
	return err
}

// attempt is the outcome of a creation.
type attempt struct {
	at  time.Time
	err error
}
