package topics

import (
	"context"
	"errors"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// How often DIS is asked whether a change is done.
const (
	firstPoll = 100 * time.Millisecond
	lastPoll  = 2 * time.Second
)

// ask describes the stream of a topic; started is the tick at which it began.
func (c *Catalog) ask(ctx context.Context, name string) (described *wire.DescribeStreamResponse, started int64, err error) {
	c.mu.Lock()
	started = c.cache.tick()
	c.mu.Unlock()
	described, err = c.describeStream(ctx, name)
	return described, started, err
}

// now describes the stream of a topic and stores the answer, for callers for whom
// what is in memory may be too old.
func (c *Catalog) now(ctx context.Context, name string) (*translate.Topic, error) {
	described, started, err := c.ask(ctx, name)
	return c.store(name, started, described, err)
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
