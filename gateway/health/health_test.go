package health

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// TestState: an outage counts when it begins, and only after DIS had answered; a drain
// is none.
func TestState(t *testing.T) {
	var draining atomic.Bool
	h := New(Config{Draining: draining.Load, Explain: explain, Logger: zerolog.Nop()})
	check := func(what string, want State) {
		t.Helper()
		if got := h.State(); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	check("at the start", State{})
	h.readiness.failed(errRefused)
	check("never answered", State{})
	h.readiness.answered(1, time.Now())
	check("answered", State{Ready: true, DISUp: true})
	h.readiness.failed(errRefused)
	h.readiness.failed(errRefused)
	check("away", State{Outages: 1})
	h.readiness.answered(2, time.Now())
	draining.Store(true)
	check("draining", State{DISUp: true, Outages: 1})
}

// TestWhomAFailureConcerns is what is made of it: what fails for a stream makes the
// gateway degraded, what fails for all not ready, and what fails for the request neither.
func TestWhomAFailureConcerns(t *testing.T) {
	for what, c := range map[string]struct {
		call            dis.Call
		ready, degraded bool
	}{
		"all":     {failing(0, "", errRefused), false, false},
		"stream":  {forbidden("PutRecords", "orders", "x"), true, true},
		"request": {failing(400, "DIS.4301", nil), true, false},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var fails atomic.Bool
				var h *Health
				h = newHealth(func(context.Context) error {
					call := dis.Call{Operation: "ListStreams", HTTPStatus: 200}
					if fails.Load() && !c.ready {
						call = c.call
					}
					h.Observe(call)
					return call.Err
				}, io.Discard)
				go h.Watch(t.Context())
				time.Sleep(time.Second)
				fails.Store(true)
				for range 40 {
					h.Observe(c.call)
					time.Sleep(time.Second)
				}
				synctest.Wait()
				if ready, degraded := h.NotReady() == "", len(h.Degraded()) > 0; ready != c.ready || degraded != c.degraded {
					t.Errorf("not ready %q, degraded %q", h.NotReady(), h.Degraded())
				}
				if got := h.RefusedStreams()["writes"]; (got == 1) != c.degraded {
					t.Errorf("%d streams of which writes are refused", got)
				}
			})
		})
	}
}
