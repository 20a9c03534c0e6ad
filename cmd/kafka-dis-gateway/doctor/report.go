package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Text writes results for people, one line each: state, check, what was found and
// what to do.
func Text(w io.Writer) func(Result) {
	return func(r Result) {
		line := fmt.Sprintf("%-7s  %-11s  ", r.State, r.Check)
		if r.Subject != "" {
			line += r.Subject + ": "
		}
		line += r.Found
		if r.Remedy != "" {
			line += ". To do: " + r.Remedy
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// JSON writes results for programs, one object a line.
func JSON(w io.Writer) func(Result) {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return func(r Result) {
		// Texts always encode; a reader that is gone has nobody to be told.
		_ = encoder.Encode(r)
	}
}
