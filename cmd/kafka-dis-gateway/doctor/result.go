package doctor

import (
	"errors"
	"fmt"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// State is how a check ended.
type State string

// The states of a check. The gateway would work unless one has failed.
const (
	OK      State = "ok"
	Warning State = "warning" // it would work, but not for long or not as expected
	Failed  State = "failed"
	Skipped State = "skipped" // not looked at; Found says why
)

// Result is one line of the report.
type Result struct {
	// Check is the name of the check, such as "clock".
	Check string `json:"check"`
	// Subject is what of several things was looked at, such as a topic; may be empty.
	Subject string `json:"subject,omitempty"`
	State   State  `json:"state"`
	// Found is what is the case, in one line and without secrets.
	Found string `json:"found"`
	// Remedy is what to do about a failure or a warning.
	Remedy string `json:"remedy,omitempty"`
}

func found(state State, subject, remedy, format string, args ...any) Result {
	return Result{Subject: subject, State: state, Remedy: remedy, Found: fmt.Sprintf(format, args...)}
}

func good(format string, args ...any) []Result {
	return []Result{found(OK, "", "", format, args...)}
}

func bad(remedy, format string, args ...any) []Result {
	return []Result{found(Failed, "", remedy, format, args...)}
}

func doubtful(remedy, format string, args ...any) []Result {
	return []Result{found(Warning, "", remedy, format, args...)}
}

func leftOut(format string, args ...any) []Result {
	return []Result{found(Skipped, "", "", format, args...)}
}

// failedCall is a call that DIS refused or did not answer. To be told to come later
// says nothing of whether the gateway works.
func failedCall(err error) []Result {
	what, do := Explain(err)
	if isThrottled(err) {
		return doubtful(do, "%s: %v", what, err)
	}
	return bad(do, "%s: %v", what, err)
}

func isThrottled(err error) bool {
	var failure *dis.Error
	return errors.As(err, &failure) && failure.Throttled()
}

// plural writes a number and what it counts.
func plural[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
