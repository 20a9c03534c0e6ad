package main

import (
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestHangUpDrains: the first signal asks for a drain, whatever it is, and the second
// ends it.
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
	case <-time.After(10 * time.Second):
		t.Fatal("the second signal ends nothing")
	}
	if !s.forced() {
		t.Error("the second signal is not told apart from the end")
	}
}
