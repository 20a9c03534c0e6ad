package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway/harmless"
)

// check is one row of the table.
type check struct {
	name    string
	subject string // tells rows of one name apart; may be empty
	// needs are the keys of the checks that must have been good, or good with
	// warnings, for this one to make sense.
	needs []string
	// limit is how long it may take; 0 means Config.Limit.
	limit time.Duration
	run   func(ctx context.Context, e *examination) []Result
}

// key names a row in needs.
func (c *check) key() string { return strings.TrimSpace(c.name + " " + c.subject) }

// lateness is how long a check may take beyond its limit to say what it found: its
// calls end with the limit.
const lateness = 500 * time.Millisecond

// Run makes all checks and gives each result to report as soon as it is known. It
// returns the keys of the checks that failed, in their order; none means that the
// gateway would work. It ends early, and reports the rest as skipped, when ctx ends.
func Run(ctx context.Context, cfg Config, report func(Result)) (failed []string) {
	e := newExamination(cfg)
	defer e.close()
	unmet := map[string]string{} // the check that is to blame, by key
	for _, c := range e.checks() {
		results := c.skipped(ctx, unmet)
		if results == nil {
			results = c.within(ctx, e)
		}
		wasBad := slices.ContainsFunc(results, func(r Result) bool { return r.State == Failed })
		if wasBad {
			failed = append(failed, c.key())
		}
		if wasBad || !slices.ContainsFunc(results, func(r Result) bool { return r.State != Skipped }) {
			unmet[c.key()] = c.blame(unmet)
		}
		for _, r := range results {
			r.Check = c.name
			if r.Subject == "" {
				r.Subject = c.subject
			}
			r.Subject, r.Found, r.Remedy = harmless.OneLine(r.Subject), harmless.OneLine(r.Found), harmless.OneLine(r.Remedy)
			report(r)
		}
	}
	if left := e.tidy(ctx); left != nil {
		failed = append(failed, left.Check)
		report(*left)
	}
	return failed
}

// skipped is the result of a check that makes no sense now, nil otherwise.
func (c *check) skipped(ctx context.Context, unmet map[string]string) []Result {
	if ctx.Err() != nil {
		return leftOut("the examination was stopped")
	}
	if cause := c.blame(unmet); cause != c.key() {
		return leftOut("needs %s", cause)
	}
	return nil
}

// blame is the first check that this one cannot do without and that was not good,
// its own key when there is none.
func (c *check) blame(unmet map[string]string) string {
	for _, need := range c.needs {
		if cause := unmet[need]; cause != "" {
			return cause
		}
	}
	return c.key()
}

// within runs the check for as long as it may take.
func (c *check) within(ctx context.Context, e *examination) []Result {
	limit := c.limit
	if limit == 0 {
		limit = e.cfg.Limit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTooLong)
	defer cancel()
	done := make(chan []Result, 1)
	go func() { done <- c.run(ctx, e) }()
	late := time.NewTimer(limit + lateness)
	defer late.Stop()
	select {
	case results := <-done:
		return results
	case <-late.C:
		return bad("look at what hangs: the network, the file system or DIS; --check-timeout gives it more time", "no result within %s", limit)
	}
}

// errTooLong ends a check at its limit.
var errTooLong = errors.New("the time for the check is over")
