package dis

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// ErrAnswerTooLarge is the cause of an Error when an answer is longer than
// Config.MaxResponseBytes.
var ErrAnswerTooLarge = errors.New("the answer is longer than the limit")

// Error is every failure of a call to DIS: refused by the service, or not
// answered at all.
type Error struct {
	// Operation is the call, for example "PutRecords".
	Operation string
	// HTTPStatus is the status of the answer, 0 when none arrived.
	HTTPStatus int
	// Code is the DIS error code, for example "DIS.4301"; empty when the answer
	// carried none.
	Code string
	// Message is the service's own text.
	Message string
	// RequestID is DIS's id of the request, for a support case; may be empty.
	RequestID string
	// NotProcessed is true when the request surely had no effect: it never left
	// this process, or DIS refused it with a code of its own. It speaks for all
	// attempts of a repeated call.
	NotProcessed bool
	// RetryAfter is how long the service wants not to be asked again, from the
	// header of that name of a 429 or 503; 0 when it does not say.
	RetryAfter time.Duration
	// KnownIdentity is true when DIS had accepted the identity of this client, by
	// its keys or tokens, in an earlier call. A refusal of it now may pass: keys are
	// being changed, a token is being fetched, a clock is wrong.
	KnownIdentity bool
	// IdentitySource is that of the client's Config: what to look at when DIS refuses
	// the identity. It is no part of the text.
	IdentitySource string
	// Err is the cause when no usable answer arrived, or what ended the wait for
	// a further attempt.
	Err error
}

// Error names the operation, the code, the message and the request id.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "DIS %s:", e.Operation)
	switch {
	case e.Code != "":
		fmt.Fprintf(&b, " %s %s (HTTP %d)", e.Code, e.Message, e.HTTPStatus)
	case e.HTTPStatus != 0:
		fmt.Fprintf(&b, " HTTP %d", e.HTTPStatus)
		if e.Message != "" {
			b.WriteString(" " + e.Message)
		}
	case e.NotProcessed:
		b.WriteString(" not sent")
	default:
		b.WriteString(" no answer")
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " [request %s]", e.RequestID)
	}
	return b.String()
}

// Unwrap gives the cause, so that errors.Is(err, context.Canceled) works.
func (e *Error) Unwrap() error { return e.Err }

// Throttled reports whether DIS asked to slow down: DIS.4303, DIS.4305 or HTTP 429.
func (e *Error) Throttled() bool {
	return e.Code == wire.CodeThrottled || e.Code == wire.CodeTooManyStreamCalls ||
		e.HTTPStatus == http.StatusTooManyRequests
}

// HasCode reports whether err is a DIS error with one of the codes.
func HasCode(err error, codes ...string) bool {
	var disErr *Error
	return errors.As(err, &disErr) && slices.Contains(codes, disErr.Code)
}
