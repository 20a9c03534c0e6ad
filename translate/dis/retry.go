package dis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// RetryPolicy says how often a call is attempted and how long it waits in
// between: Initial, doubled after each failure up to Max, of which a random
// part between a half and the whole is waited. A service that answers 429 or 503
// with a longer Retry-After is heard, up to Max. Zero fields mean the defaults.
type RetryPolicy struct {
	// Attempts includes the first one; 1 switches repeats off. Default 5.
	Attempts int
	// Initial is the longest wait before the second attempt. Default 250 ms.
	Initial time.Duration
	// Max bounds every wait. Default 30 s.
	Max time.Duration
}

// The defaults of a RetryPolicy, those of the Java SDK.
const (
	DefaultAttempts     = 5
	DefaultInitialDelay = 250 * time.Millisecond
	DefaultMaxDelay     = 30 * time.Second
)

func (p RetryPolicy) checked() (RetryPolicy, error) {
	var attempts, initial, maximum error
	p.Attempts, attempts = positive("Retry.Attempts", p.Attempts, DefaultAttempts)
	p.Initial, initial = positive("Retry.Initial", p.Initial, DefaultInitialDelay)
	p.Max, maximum = positive("Retry.Max", p.Max, DefaultMaxDelay)
	return p, errors.Join(attempts, initial, maximum)
}

// delay is the wait after the given failed attempt, counted from 1. The random
// part keeps callers that failed together from coming back together.
func (p RetryPolicy) delay(attempt int) time.Duration {
	longest := p.Initial
	for range attempt - 1 {
		if longest >= p.Max {
			break
		}
		longest *= 2
	}
	longest = min(longest, p.Max)
	return longest - rand.N(longest/2+1)
}

// run makes the attempts of one call and ends its use of the body. The result
// is nil or an *Error.
func (c *Client) run(ctx context.Context, call *request) error {
	if call.invalid != nil {
		return notSent(call, call.invalid)
	}
	body, err := newBody(call.encode, c.cfg.Compression)
	if err != nil {
		return notSent(call, fmt.Errorf("encode body: %w", err))
	}
	defer body.release()
	outcomeUnknown := false
	for attempt := 1; ; attempt++ {
		failure, mayPass := c.attempt(ctx, call, body, attempt)
		if failure == nil {
			return nil
		}
		if outcomeUnknown && call.doneBefore != "" && failure.Code == call.doneBefore {
			return nil // an earlier attempt whose answer was lost had done it
		}
		outcomeUnknown = outcomeUnknown || !failure.NotProcessed
		failure.NotProcessed = !outcomeUnknown
		if call.once || !mayPass || call.paced && failure.Throttled() || attempt >= c.cfg.Retry.Attempts || ctx.Err() != nil {
			return failure
		}
		delay := max(c.cfg.Retry.delay(attempt), min(failure.RetryAfter, c.cfg.Retry.Max))
		LogCallers(c.cfg.Logger.Debug(), Callers(ctx)...).Str("operation", call.operation).Int("attempt", attempt).
			Str("delay", delay.Round(time.Millisecond).String()).Msg("repeating a DIS call")
		if err := wait(ctx, delay); err != nil {
			failure.Err = joinCause(failure.Err, err)
			return failure
		}
	}
}

// wait returns early, with the context's error, when the context ends or would
// end before the delay has passed.
func wait(ctx context.Context, delay time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= delay {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func joinCause(earlier, later error) error {
	if earlier == nil {
		return later
	}
	return fmt.Errorf("%w, then %w", earlier, later)
}
