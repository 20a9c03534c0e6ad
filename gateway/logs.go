package gateway

import (
	"errors"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// How a request is followed through the log. A connection has a number, "connection",
// that is never used again, and a request has the correlation id that its client gave
// it; both together, as in 3/17, are its name in "request". At the level debug each
// request has a line when its reply leaves, and each call of DIS one when it ends,
// with the name of the request that it is made for and with "dis_request_id", DIS's
// own name of the call. Lines of trouble, at any level, have them too.
//
// Where a call is made for several requests it has all of them in "requests": a
// PutRecords carries batches of several, a commit offsets of several, and a read
// serves every consumer that waits at the position. What a request is served from
// memory has no call; and what the gateway does of itself, listing streams, reading
// ahead, watching for records, has no request.

// caller is what log lines call a request of the connection.
func (c *conn) caller(x *exchange) dis.Caller {
	return dis.Caller{Connection: c.id, Correlation: x.correlation}
}

// logAnswered writes the line of a request whose reply is about to leave.
func (c *conn) logAnswered(x *exchange) {
	event := c.server.cfg.Logger.Debug()
	if !event.Enabled() {
		return
	}
	if code := firstError(x.reply); code != 0 {
		event.Int16("error_code", code).Str("error", errorName(code))
	}
	dis.LogCallers(event, c.caller(x)).Int64("connection", c.id).Int32("correlation_id", x.correlation).
		Str("client_id", c.clientID()).Str("api", x.api.name).Int16("version", x.version).
		Float64("took_ms", float64(time.Since(x.arrived).Microseconds())/1000).Msg("Kafka request")
}

func (c *conn) clientID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cut(c.seen.clientID)
}

// failedRequest is the request that ended a connection.
type failedRequest struct {
	caller dis.Caller
	api    *api
	err    error
}

func (f *failedRequest) Error() string { return f.err.Error() }

func (f *failedRequest) Unwrap() error { return f.err }

// logEnd writes the one line about a connection that has ended.
func (c *conn) logEnd(cause error) {
	log := c.server.cfg.Logger
	event := log.Warn()
	var p panicked
	switch {
	case errors.As(cause, &p):
		event = log.Error().Interface("panic", p.value).Bytes("stack", p.stack)
	case quiet(cause):
		event = log.Debug()
	}
	var failed *failedRequest
	if errors.As(cause, &failed) {
		dis.LogCallers(event, failed.caller).Str("api", failed.api.name)
	}
	if id := c.clientID(); id != "" {
		event = event.Str("client_id", id)
	}
	event.Int64("connection", c.id).Str("remote", c.nc.RemoteAddr().String()).Str("reason", cause.Error()).Msg("connection closed")
	c.server.metrics.closed(cause)
}
