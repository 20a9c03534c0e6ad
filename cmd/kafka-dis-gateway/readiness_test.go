package main

import (
	"context"
	"crypto/rand"
	"errors"
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
		}, newOutage(), zerolog.New(&log))

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

// TestReadinessSaysWhatToDo: each trouble once, with its remedy, also when one
// follows another.
func TestReadinessSaysWhatToDo(t *testing.T) {
	refused := func(status int, code string) error {
		return &dis.Error{Operation: "ListStreams", HTTPStatus: status, Code: code, Message: "no", RequestID: rand.Text()}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		steps := []struct {
			err  error
			what string // of the log line, "" for none
			do   string
		}{
			{&dis.Error{Operation: "ListStreams", Err: errors.New("connection refused")}, "DIS does not answer", "--dis-endpoint"},
			{&dis.Error{Operation: "ListStreams", Err: errors.New("no such host")}, "", "--dis-endpoint"},
			{refused(200, ""), "no DIS answers", "--dis-endpoint"},
			{refused(503, ""), "DIS is in trouble", "wait"},
			{refused(441, "DIS.4112"), "DIS refuses the gateway", "HUAWEICLOUD_SDK_SK"},
			{refused(401, "DIS.4107"), "", "HUAWEICLOUD_SDK_AK"},
			{refused(441, "DIS.4105"), "DIS refuses the gateway", "clock"},
			{refused(403, "DIS.4116"), "DIS refuses the gateway", "may use DIS"},
			{refused(400, "DIS.4117"), "DIS refuses the gateway", "--project-id"},
		}
		var log strings.Builder
		asked, lines := 0, 0
		r := newReadiness(func() bool { return false })
		r.untilAnswered(ctx, func(context.Context) error {
			if asked > 0 {
				step := steps[asked-1]
				if step.what != "" {
					lines++
				}
				text := strings.Split(strings.TrimSpace(log.String()), "\n")
				last := text[len(text)-1]
				if len(text) != lines || !strings.Contains(last, step.what) || !strings.Contains(last, step.do) || !strings.Contains(r.why(), step.do) {
					t.Errorf("after %v: %d lines, the last %s, reason %q", step.err, len(text), last, r.why())
				}
			}
			asked++
			if asked > len(steps) {
				return nil
			}
			return steps[asked-1].err
		}, zerolog.New(&log))
		if asked != len(steps)+1 || r.why() != "" {
			t.Errorf("asked %d times, reason %q", asked, r.why())
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
		"outage":     {&dis.Error{Err: errors.New("connection refused")}, []time.Duration{1, 1, 1, 1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []time.Duration
				last := time.Now()
				newReadiness(func() bool { return false }).untilAnswered(t.Context(), func(context.Context) error {
					got = append(got, time.Since(last)/time.Second)
					last = time.Now()
					if len(got) > len(c.pauses) {
						return nil
					}
					return c.err
				}, zerolog.Nop())
				if !slices.Equal(got[1:], c.pauses) {
					t.Errorf("asked after pauses of %d s, want %d", got[1:], c.pauses)
				}
			})
		})
	}
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
		}, newOutage(), zerolog.Nop())
		if r.why() == "" {
			t.Error("ready although DIS never answered")
		}
	})
}

// TestHealthOfTheMetrics: an outage counts when it begins, and only after DIS had
// answered; a drain is none.
func TestHealthOfTheMetrics(t *testing.T) {
	var draining atomic.Bool
	r := newReadiness(draining.Load)
	away := errors.New("connection refused")
	check := func(what string, want healthState) {
		t.Helper()
		if got := r.state(); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	check("at the start", healthState{})
	r.set(away)
	check("never answered", healthState{})
	r.set(nil)
	check("answered", healthState{ready: true, disUp: true})
	r.set(away)
	r.set(away)
	check("away", healthState{outages: 1})
	r.set(nil)
	draining.Store(true)
	check("draining", healthState{disUp: true, outages: 1})
}
