package main

import (
	"fmt"
	"strings"
)

// failure is a run that did not go well.
type failure struct {
	seed    uint64
	logs    string // the folder
	plan    schedule
	history *history
	err     error // the run broke off
	found   []violation
}

// maxViolations is how many of a run are printed.
const maxViolations = 20

// fail keeps the evidence of a run, and prints what went wrong, how to see it again
// and what the evidence says of it.
func (r *report) fail(f *failure) {
	r.failed = append(r.failed, f.verdict())
	events := f.history.timeline()
	lines, err := readLogs(f.logs)
	if err != nil {
		r.cannot = append(r.cannot, err)
	}
	kept, err := r.evidence.keep(f.logs, f.describe(r.replay(f.seed), len(f.found), nil), f.history, events)
	if err != nil {
		r.cannot = append(r.cannot, err)
	}
	where := f.logs
	if !kept {
		where = fmt.Sprintf("not kept, there is that of %d failed runs", maxKept)
	}
	fmt.Fprintf(r.out, "\nFAILED: seed %d\nevidence: %s\n", f.seed, where)
	fmt.Fprintln(r.out, f.describe(r.replay(f.seed), maxViolations, func(message string) string {
		return excerpt(message, events, lines)
	}))
}

// maxVerdict is where a line about a failed run is cut, in bytes.
const maxVerdict = 400

// verdict is the failure in a line, for the end of the output: of many runs that may
// be all of it that is kept.
func (f *failure) verdict() string {
	text := ""
	switch {
	case f.err != nil:
		text = fmt.Sprintf("the run broke off: %v", f.err)
	case len(f.found) > 0:
		text = fmt.Sprintf("%v", f.found[0])
	}
	if len(text) > maxVerdict {
		text = strings.ToValidUTF8(text[:maxVerdict], "") + "…"
	}
	if more := len(f.found) - 1; f.err == nil && more > 0 {
		text += fmt.Sprintf(" (and %d more violations)", more)
	}
	return fmt.Sprintf("seed %d: %s", f.seed, text)
}

// describe says how to run a seed again, what it did and what went wrong, up to
// most violations; about adds to the first one of each rule.
func (f *failure) describe(replay string, most int, about func(message string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "replay: %s\n%s", replay, f.plan.String())
	if f.err != nil {
		fmt.Fprintf(&b, "the run broke off: %v\n", f.err)
		for _, text := range f.history.Complaints[:min(len(f.history.Complaints), maxViolations)] {
			fmt.Fprintf(&b, "before: %s\n", text)
		}
		if about != nil {
			b.WriteString(about(f.err.Error()))
		}
	}
	shown := map[string]bool{}
	for i, v := range f.found {
		if i == most {
			fmt.Fprintf(&b, "and %d more violations\n", len(f.found)-i)
			break
		}
		fmt.Fprintf(&b, "violation: %v\n", v)
		if about != nil && !shown[v.Rule] && len(shown) < excerptRules {
			shown[v.Rule] = true
			b.WriteString(about(v.Message))
		}
	}
	return b.String()
}
