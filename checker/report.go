package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// report prints what comes of each seed, and a summary.
type report struct {
	settings
	dir   string
	began time.Time

	mu     sync.Mutex
	number int
	failed []uint64
	hits   map[string]int
	totals struct{ sent, acknowledged, stored, repeated, served int }
}

// maxViolations is how many of a run are printed.
const maxViolations = 20

func (r *report) run(seed uint64) {
	r.mu.Lock()
	r.number++
	dir := filepath.Join(r.dir, fmt.Sprintf("%d-seed-%d", r.number, seed))
	r.mu.Unlock()
	began := time.Now()
	plan, out, err := runIn(r.settings, seed, dir)
	var found []violation
	if err == nil {
		found = verify(out.history)
	}
	good := err == nil && len(found) == 0
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verbose && good {
		fmt.Print(plan.String())
	}
	if err == nil {
		r.add(out)
		fmt.Printf("seed %-10d %5.1fs  %s\n", seed, time.Since(began).Seconds(), out.history.summary())
	}
	if good {
		if err = os.RemoveAll(dir); err == nil {
			return
		}
	}
	r.fail(seed, dir, plan, err, found)
}

// fail prints what went wrong with a seed, and how to see it again.
func (r *report) fail(seed uint64, dir string, plan schedule, err error, found []violation) {
	r.failed = append(r.failed, seed)
	fmt.Printf("\nFAILED: seed %d\nreplay: %s\nlogs:   %s\n%s", seed, r.replay(seed), dir, plan.String())
	if err != nil {
		fmt.Printf("the run broke off: %v\n", err)
	}
	for i, v := range found {
		if i == maxViolations {
			fmt.Printf("and %d more violations\n", len(found)-i)
			break
		}
		fmt.Printf("violation: %v\n", v)
	}
	fmt.Println()
}

func (h *history) acknowledged() (count int) {
	for _, s := range h.Sent {
		if s.acknowledged() {
			count++
		}
	}
	return count
}

func (h *history) stored() (count int) {
	for _, records := range h.Stored {
		count += len(records)
	}
	return count
}

func (h *history) served() (count int) {
	for _, s := range h.Sessions {
		count += len(s.Records)
	}
	return count
}

func (h *history) different() int {
	ids := map[recordID]bool{}
	for _, records := range h.Stored {
		for _, r := range records {
			ids[r.ID] = true
		}
	}
	return len(ids)
}

func (h *history) summary() string {
	stored := h.stored()
	text := fmt.Sprintf("%6d sent, %6d acknowledged, %6d stored, %4d repeats of %4d counted, %3d holes, %4d moved, %4d looks, %d lives",
		len(h.Sent), h.acknowledged(), stored, stored-h.different(), h.Counts[ambiguousRecords], h.Counts[holeRecords], h.Counts[movedRecords], len(h.Views), len(h.Lives))
	if h.Schedule.Exact {
		text += ", exact"
	}
	return text
}

func (r *report) add(out *outcome) {
	for kind, n := range out.hits {
		r.hits[kind] += n
	}
	h := out.history
	r.totals.sent += len(h.Sent)
	r.totals.acknowledged += h.acknowledged()
	r.totals.stored += h.stored()
	r.totals.repeated += h.stored() - h.different()
	r.totals.served += h.served()
}

// finish prints the summary and says whether anything was wrong.
func (r *report) finish() error {
	t := &r.totals
	fmt.Printf("\n%d runs in %v: %d records sent, %d acknowledged, %d stored (%d repeats), %d served\n\n%-18s %s\n",
		r.number, time.Since(r.began).Round(time.Second), t.sent, t.acknowledged, t.stored, t.repeated, t.served, "kind", "hits")
	var never []string
	for _, kind := range inOrder(r.kinds) {
		fmt.Printf("%-18s %d\n", kind, r.hits[kind])
		if r.hits[kind] == 0 {
			never = append(never, kind)
		}
	}
	var failures []error
	if len(r.failed) > 0 {
		failures = append(failures, fmt.Errorf("%d of %d runs failed, seeds%s", len(r.failed), r.number, listed(r.failed)))
	} else if err := os.RemoveAll(r.dir); err != nil {
		failures = append(failures, err)
	}
	if r.needAll && len(never) > 0 {
		failures = append(failures, fmt.Errorf("never hit: %s", strings.Join(never, ", ")))
	}
	return errors.Join(failures...)
}
