package dis

import (
	"context"
	"strconv"

	"github.com/rs/zerolog"
)

// Caller is the request that a call is made for: the number of the connection that
// it came on, and its own there. Log lines join both, as in 3/17. The zero value is
// no request.
type Caller struct {
	Connection  int64
	Correlation int32
}

func (c Caller) String() string {
	return strconv.FormatInt(c.Connection, 10) + "/" + strconv.Itoa(int(c.Correlation))
}

type callersKey struct{}

// WithCallers gives a context whose calls are made for the callers.
func WithCallers(ctx context.Context, callers ...Caller) context.Context {
	if len(callers) == 0 {
		return ctx
	}
	return context.WithValue(ctx, callersKey{}, callers)
}

// Callers are those of a context, none for what the gateway does of itself.
func Callers(ctx context.Context) []Caller {
	callers, _ := ctx.Value(callersKey{}).([]Caller) // nil when there are none
	return callers
}

// MaxLoggedCallers is how many callers a line names, of a call that is made for many.
const MaxLoggedCallers = 20

// LogCallers adds the callers to a log line: "request" for one, else "requests" and,
// where they are too many, "requests_total".
func LogCallers(event *zerolog.Event, callers ...Caller) *zerolog.Event {
	switch {
	case !event.Enabled() || len(callers) == 0:
		return event
	case len(callers) == 1 && callers[0] == Caller{}:
		return event
	case len(callers) == 1:
		return event.Stringer("request", callers[0])
	}
	names := zerolog.Arr()
	for _, c := range callers[:min(len(callers), MaxLoggedCallers)] {
		names.Str(c.String())
	}
	if len(callers) > MaxLoggedCallers {
		event.Int("requests_total", len(callers))
	}
	return event.Array("requests", names)
}
