package e2e

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines collects what a process prints and lets a test wait for it.
type lines struct {
	mu      sync.Mutex
	data    bytes.Buffer
	changed chan struct{}
}

func newLines() *lines { return &lines{changed: make(chan struct{})} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
	return l.data.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.data.String()
}

// all are the complete lines printed so far.
func (l *lines) all() []string {
	text := l.String()
	end := strings.LastIndexByte(text, '\n')
	if end < 0 {
		return nil
	}
	return strings.Split(text[:end], "\n")
}

func (l *lines) change() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// waitFor returns the first value that find makes of the complete lines; it
// fails the test when there is none within the timeout.
func waitFor[T any](t testing.TB, l *lines, what string, timeout time.Duration, find func([]string) (T, bool)) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	for {
		changed := l.change()
		if found, ok := find(l.all()); ok {
			return found
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("no %s within %s, only:\n%s", what, timeout, l)
		}
	}
}

// waitForPrefix returns what follows prefix in the first line that begins so.
func waitForPrefix(t testing.TB, l *lines, prefix string, timeout time.Duration) string {
	t.Helper()
	return waitFor(t, l, "line "+prefix, timeout, func(all []string) (string, bool) {
		for _, line := range all {
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return strings.TrimSpace(rest), true
			}
		}
		return "", false
	})
}
