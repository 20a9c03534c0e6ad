package health

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// TestReadiness: not ready until DIS has answered, and not ready again while
// draining.
func TestReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var draining, answers atomic.Bool
		var log strings.Builder
		h := New(Config{Draining: draining.Load, Explain: explain, Logger: zerolog.New(&log), Ask: func(context.Context) error {
			if answers.Load() {
				return nil
			}
			return errRefused
		}})
		if h.NotReady() == "" {
			t.Error("ready before DIS was asked")
		}
		go h.Watch(t.Context())

		time.Sleep(10 * time.Second)
		synctest.Wait()
		if why := h.NotReady(); why != "DIS does not answer: connection refused: look at the network" {
			t.Errorf("the reason is %q", why)
		}
		answers.Store(true)
		time.Sleep(2 * probePause)
		synctest.Wait()
		if why := h.NotReady(); why != "" {
			t.Errorf("not ready although DIS answers: %s", why)
		}
		draining.Store(true)
		if why := h.NotReady(); !strings.Contains(why, "draining") {
			t.Errorf("the reason while draining is %q", why)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 2 {
			t.Errorf("%d log lines, want one for the trouble and one for its end:\n%s", lines, log.String())
		}
	})
}

// TestEachTroubleIsLoggedOnce, with its remedy, also when one follows another.
func TestEachTroubleIsLoggedOnce(t *testing.T) {
	refused := func(code string) error {
		return &dis.Error{Operation: "ListStreams", HTTPStatus: 441, Code: code, Message: "no", RequestID: rand.Text()}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		steps := []struct {
			err    error
			logged bool
		}{
			{&dis.Error{Operation: "ListStreams", Err: errors.New("connection refused")}, true},
			{&dis.Error{Operation: "ListStreams", Err: errors.New("no such host")}, false},
			{refused("DIS.4112"), true},
			{refused("DIS.4112"), false},
			{refused("DIS.4105"), true},
			{refused("DIS.4112"), true},
		}
		var log strings.Builder
		asked, lines := 0, 0
		var r *readiness
		r = newReadiness(func(context.Context) error {
			if asked > 0 {
				step := steps[asked-1]
				if step.logged {
					lines++
				}
				what, do := explain(step.err)
				text := strings.Split(strings.TrimSpace(log.String()), "\n")
				last := text[len(text)-1]
				if len(text) != lines || !strings.Contains(last, what) || !strings.Contains(last, do) || !strings.HasSuffix(r.reason(), do) {
					t.Errorf("after %v: %d lines, the last %s, reason %q", step.err, len(text), last, r.reason())
				}
			}
			asked++
			if asked > len(steps) {
				return nil
			}
			return steps[asked-1].err
		}, explain, zerolog.New(&log))
		r.untilAnswered(ctx)
		if asked != len(steps)+1 || r.reason() != "" {
			t.Errorf("asked %d times, reason %q", asked, r.reason())
		}
	})
}

// TestRefusedKeysAreTriedLessOften, since DIS blocks who comes too often with wrong ones;
// an outage is asked about every second.
func TestRefusedKeysAreTriedLessOften(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		pauses []time.Duration // in seconds
	}{
		"wrong keys": {&dis.Error{HTTPStatus: 401, Code: "DIS.4112"}, []time.Duration{1, 2, 4, 8, 10, 10, 10}},
		"outage":     {&dis.Error{Err: errRefused}, []time.Duration{1, 1, 1, 1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []time.Duration
				last := time.Now()
				newReadiness(func(context.Context) error {
					got = append(got, time.Since(last)/time.Second)
					last = time.Now()
					if len(got) > len(c.pauses) {
						return nil
					}
					return c.err
				}, explain, zerolog.Nop()).untilAnswered(t.Context())
				if !slices.Equal(got[1:], c.pauses) {
					t.Errorf("asked after pauses of %d s, want %d", got[1:], c.pauses)
				}
			})
		})
	}
}

// TestWatchEndsWithTheGateway: a DIS that never answers holds nothing up.
func TestWatchEndsWithTheGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		h := newHealth(func(attempt context.Context) error {
			<-attempt.Done()
			return attempt.Err()
		}, io.Discard)
		h.Watch(ctx)
		if h.NotReady() == "" {
			t.Error("ready although DIS never answered")
		}
	})
}
