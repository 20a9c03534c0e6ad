package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// report prints what comes of each seed, and a summary.
type report struct {
	settings
	dir      string // for the data of runs
	out      io.Writer
	evidence *evidence
	began    time.Time

	mu     sync.Mutex
	number int
	failed []string // the verdicts
	cannot []error  // what went wrong with the files of the checker itself
	hits   map[string]int
	totals struct{ sent, acknowledged, stored, repeated, served int }
}

func (r *report) run(seed uint64) {
	logs, err := r.evidence.folder(seed)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.cannot = append(r.cannot, err)
		return
	}
	began := time.Now()
	f := failure{seed: seed, logs: logs}
	var out *outcome
	f.plan, out, f.err = runIn(r.settings, seed, logs, filepath.Join(r.dir, filepath.Base(logs)))
	f.history = out.history
	if f.err == nil {
		f.found = verify(f.history)
	}
	good := f.err == nil && len(f.found) == 0
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	if r.verbose && good {
		fmt.Fprint(r.out, f.plan.String())
	}
	if f.err == nil {
		r.add(out)
		fmt.Fprintf(r.out, "seed %-10d %5.1fs  %s\n", seed, time.Since(began).Seconds(), out.history.summary())
	}
	if !good {
		r.fail(&f)
	} else if err := os.RemoveAll(logs); err != nil {
		r.cannot = append(r.cannot, err)
	}
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
	fmt.Fprintf(r.out, "\n%d runs in %v: %d records sent, %d acknowledged, %d stored (%d repeats), %d served\n\n%-18s %s\n",
		r.number, time.Since(r.began).Round(time.Second), t.sent, t.acknowledged, t.stored, t.repeated, t.served, "kind", "hits")
	var never []string
	for _, kind := range inOrder(r.kinds) {
		fmt.Fprintf(r.out, "%-18s %d\n", kind, r.hits[kind])
		if r.hits[kind] == 0 {
			never = append(never, kind)
		}
	}
	failures := append(r.cannot, r.evidence.finish())
	if len(r.failed) > 0 {
		failures = append(failures, fmt.Errorf("%d of %d runs failed:\n%s", len(r.failed), r.number, strings.Join(r.failed, "\n")))
	}
	if r.needAll && len(never) > 0 {
		failures = append(failures, fmt.Errorf("never hit: %s", strings.Join(never, ", ")))
	}
	return errors.Join(failures...)
}
