package translate

import (
	"errors"
	"net/http"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// Scope is whom a failed call to DIS concerns, as far as the one failure tells.
type Scope int

const (
	// ScopeRequest is what the request alone has to bear: it asked for something that
	// DIS does not have or does not take, or came at a moment of throttling. DIS is
	// there, and takes other requests. What the gateway refuses by itself is of this
	// scope too.
	ScopeRequest Scope = iota
	// ScopeStream is a permission that is missing for what was asked of the stream:
	// every such call for it fails, and others go on.
	ScopeStream
	// ScopeAll is what every call runs into, whatever it asks for: DIS does not answer,
	// is in trouble, or does not accept the keys, the token or the clock of the gateway.
	// Whether it is so is known only once others have failed as well.
	ScopeAll
)

// ScopeOf is the one place that decides whom a failure concerns. The readiness of the
// gateway follows from it, what it calls degraded, and which failures the parts leave
// to the one log line about an outage. A call that its caller gave up has no answer
// either: where callers do, context.Canceled is to be looked for first.
func ScopeOf(err error) Scope {
	var e *dis.Error
	switch {
	case !errors.As(err, &e), e.Throttled():
		return ScopeRequest
	case noPermission(err, e):
		return ScopeStream
	case credentialsRefused(err, e), inTrouble(e), unanswered(e):
		return ScopeAll
	default:
		return ScopeRequest
	}
}

// inTrouble is an answer that only a service in trouble gives. A code of the 4xxx family
// is DIS's own word on the request, throttling too, and counts for more than the status
// that somebody on the way put on it: DIS is there, and whoever is refused needs to know.
// A 503 without a code is trouble, also when it says when to come again.
func inTrouble(e *dis.Error) bool {
	return e.HTTPStatus >= http.StatusInternalServerError && !strings.HasPrefix(e.Code, "DIS.4")
}

// unanswered is a call without an answer. A record that DIS refused within an answer
// has no status of its own, but a code.
func unanswered(e *dis.Error) bool { return e.HTTPStatus == 0 && e.Code == "" }
