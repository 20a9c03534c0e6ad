package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// TestReadiness: not ready until DIS has answered once, ready ever after, and
// not ready again while draining.
func TestReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var draining, answers atomic.Bool
		r := newReadiness(draining.Load)
		if r.why() == "" {
			t.Error("ready before DIS was asked")
		}
		var log strings.Builder
		go r.watch(t.Context(), func(context.Context) error {
			if answers.Load() {
				return nil
			}
			return errors.New("connection refused")
		}, zerolog.New(&log))

		time.Sleep(10 * time.Second)
		synctest.Wait()
		if why := r.why(); !strings.Contains(why, "connection refused") {
			t.Errorf("the reason is %q", why)
		}
		answers.Store(true)
		time.Sleep(2 * probePause)
		synctest.Wait()
		if why := r.why(); why != "" {
			t.Errorf("not ready although DIS answers: %s", why)
		}
		draining.Store(true)
		if why := r.why(); !strings.Contains(why, "draining") {
			t.Errorf("the reason while draining is %q", why)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 2 {
			t.Errorf("%d log lines, want one for the trouble and one for its end:\n%s", lines, log.String())
		}
	})
}

// TestReadinessEndsWithTheGateway: a DIS that never answers holds nothing up.
func TestReadinessEndsWithTheGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		r := newReadiness(func() bool { return false })
		r.watch(ctx, func(attempt context.Context) error {
			<-attempt.Done()
			return attempt.Err()
		}, zerolog.Nop())
		if r.why() == "" {
			t.Error("ready although DIS never answered")
		}
	})
}
