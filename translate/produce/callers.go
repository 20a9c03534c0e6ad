package produce

import (
	"context"
	"slices"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// withCallers is the context of a call that writes chunks: it names the requests
// whose records they have, while somebody logs that.
func (e *Engine) withCallers(joined []*chunk) context.Context {
	if e.log.GetLevel() > zerolog.DebugLevel {
		return e.ctx
	}
	var callers []dis.Caller
	for _, c := range joined {
		callers = c.callers(callers)
	}
	return dis.WithCallers(e.ctx, callers...)
}

// callers appends the requests whose records the running request carries.
func (c *chunk) callers(to []dis.Caller) []dis.Caller {
	c.batches(func(b *pending) {
		// Those of a request stand side by side, in a chunk and from chunk to chunk.
		if !slices.Contains(to[max(0, len(to)-dis.MaxLoggedCallers):], b.caller) {
			to = append(to, b.caller)
		}
	})
	return to
}

// named adds the requests of a chunk to a log line.
func (c *chunk) named(event *zerolog.Event) *zerolog.Event {
	if !event.Enabled() {
		return event
	}
	return dis.LogCallers(event, c.callers(nil)...)
}
