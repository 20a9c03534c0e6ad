package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// oneStop is how long further signals belong to the first. Who asks a wrapper to stop
// sends one to the whole group of processes, and the wrapper passes its own on: timeout
// of coreutils does both itself. They arrive in the same moment; nobody presses Ctrl-C
// twice that fast.
const oneStop = 100 * time.Millisecond

// signals turns SIGINT, SIGTERM and SIGHUP into two steps: the first asks for a drain,
// the second ends it at once. SIGHUP comes from a terminal that is closed, and from who
// expects settings to be read again: without a drain, what is in flight would be lost.
// Where it is ignored from the start, by nohup, it stays so.
type signals struct {
	// drain ends with the first signal, force with the second.
	drain, force context.Context
	interrupted  atomic.Bool
	second       atomic.Bool
	stop         func()
}

func watchSignals() *signals {
	drain, startDrain := context.WithCancel(context.Background())
	force, startForce := context.WithCancel(context.Background())
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(received, syscall.SIGHUP)
	}
	s := &signals{drain: drain, force: force}
	s.stop = func() {
		signal.Stop(received)
		startForce()
		startDrain()
	}
	go func() {
		select {
		case sig := <-received:
			s.interrupted.Store(sig == os.Interrupt)
			startDrain()
		case <-force.Done():
			return
		}
		for first := time.Now(); ; {
			select {
			case <-received:
			case <-force.Done():
				return
			}
			if time.Since(first) >= oneStop {
				s.second.Store(true)
				startForce()
				return
			}
		}
	}()
	return s
}

// forced reports whether a second signal asked to stop at once.
func (s *signals) forced() bool { return s.second.Load() }
