package dis

import (
	"context"
	"time"
)

// Call describes one HTTP attempt to an observer.
type Call struct {
	// Operation is the name of the client's method, for example "PutRecords".
	Operation string
	// Stream is the name or the id of the stream that was named, empty where none
	// was.
	Stream string
	// HTTPStatus is 0 when no answer arrived.
	HTTPStatus int
	// Code is the DIS error code, empty on success.
	Code string
	// Latency runs from before the signature until the answer is decoded.
	Latency time.Duration
	// Attempt counts from 1.
	Attempt int
	// RequestID is DIS's id of the request; may be empty.
	RequestID string
	// Date is the answer's own, by the clock of DIS and in whole seconds; zero when
	// no answer with a date arrived.
	Date time.Time
	// Err is nil on success and an *Error otherwise.
	Err error
	// Records is how many a successful PutRecords carried, Refused how many of them
	// DIS did not store. RefusalCode and RefusalMessage are of the first of those.
	Records, Refused            int
	RefusalCode, RefusalMessage string
}

// observe tells of an attempt that has ended.
func (c *Client) observe(ctx context.Context, seen Call, failure *Error) {
	if failure != nil {
		asSeen := *failure // the original still changes
		seen.Code, seen.Err = failure.Code, &asSeen
	}
	c.logAttempt(ctx, &seen)
	if c.cfg.Observe != nil {
		c.cfg.Observe(seen)
	}
}

func (c *Client) logAttempt(ctx context.Context, seen *Call) {
	event := c.cfg.Logger.Debug()
	if !event.Enabled() {
		return
	}
	LogCallers(event, Callers(ctx)...).Str("operation", seen.Operation).Int("attempt", seen.Attempt).Int("status", seen.HTTPStatus).
		Float64("took_ms", float64(seen.Latency.Microseconds())/1000)
	for _, field := range []struct{ name, text string }{
		{"stream", seen.Stream}, {"dis_request_id", seen.RequestID}, {"code", seen.Code}, {"refusal_code", seen.RefusalCode},
	} {
		if field.text != "" {
			event.Str(field.name, field.text)
		}
	}
	if seen.Records > 0 {
		event.Int("records", seen.Records).Int("refused", seen.Refused)
	}
	if seen.Err != nil {
		event.Err(seen.Err)
	}
	event.Msg("DIS call")
}
