package main

import (
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestHangUpDrains: the first signal asks for a drain, whatever it is. What comes with
// it, as from a wrapper that passes on what the process got too, is the same stop; a
// later one ends the drain.
func TestHangUpDrains(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP is ignored here, as by nohup")
	}
	s := watchSignals()
	defer s.stop()
	hangUp := func() {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	select {
	case <-s.drain.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("no drain")
	}
	if s.forced() || s.force.Err() != nil || s.interrupted.Load() {
		t.Error("one signal is taken for two, or for Ctrl-C")
	}
	hangUp()
	select {
	case <-s.force.Done():
		t.Fatal("a signal that came with the first ends the drain")
	case <-time.After(2 * oneStop):
	}
	hangUp()
	select {
	case <-s.force.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("a second signal ends nothing")
	}
	if !s.forced() {
		t.Error("the second signal is not told apart from the end")
	}
}
