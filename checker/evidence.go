package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The files of a failed seed beside the logs of the processes, which are dis.log
// and gateway-N.log, one for each gateway of the run.
const (
	summaryFile = "summary.txt" // the violations, the schedule, how to run it again
	historyFile = "history.log" // what clients did and were told, and what was done to them, by time
	storedFile  = "stored.log"  // what DIS held in the end
)

// evidence is where the logs of runs are written while they go on, and where those
// of failed ones stay.
type evidence struct {
	dir   string
	given bool // by -evidence
	kept  int
}

// maxKept is how many failed runs leave evidence: a fault that fails every seed
// must not fill the disk.
const maxKept = 10

// newEvidence makes the folder; "" is a new one in the system's folder for
// temporary files.
func newEvidence(dir string) (*evidence, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", "kafka-dis-checker-evidence-")
		return &evidence{dir: made}, err
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &evidence{dir: absolute, given: true}, os.MkdirAll(absolute, 0o700)
}

// folder makes one for a run.
func (e *evidence) folder(seed uint64) (string, error) {
	return os.MkdirTemp(e.dir, fmt.Sprintf("seed-%d-", seed))
}

// keep writes what is known of a failed run beside its logs, or removes all of it
// when there is enough of other runs.
func (e *evidence) keep(dir, summary string, h *history, events []event) (kept bool, err error) {
	if e.kept >= maxKept {
		return false, os.RemoveAll(dir)
	}
	e.kept++
	return true, errors.Join(
		write(filepath.Join(dir, summaryFile), func(w io.Writer) error { _, err := io.WriteString(w, summary); return err }),
		write(filepath.Join(dir, historyFile), func(w io.Writer) error { return writeTimeline(w, events) }),
		write(filepath.Join(dir, storedFile), h.writeStored))
}

func write(name string, content func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(content(file), file.Close())
}

// finish removes the folder if nothing was kept and nobody asked for it.
func (e *evidence) finish() error {
	if e.given || e.kept > 0 {
		return nil
	}
	return os.RemoveAll(e.dir)
}
