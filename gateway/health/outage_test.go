package health

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// TestOutage: what makes DIS count as away, after calls for five seconds.
func TestOutage(t *testing.T) {
	for name, c := range map[string]struct {
		calls []dis.Call // one a second, over and over
		away  bool
	}{
		"nobody there":                {[]dis.Call{failing(0, "", errRefused)}, true},
		"trouble":                     {[]dis.Call{failing(500, wire.CodeInternal, nil), failing(503, "", nil)}, true},
		"keys":                        {[]dis.Call{failing(441, wire.CodeAccessKeyInvalid, nil)}, true},
		"clock":                       {[]dis.Call{failing(401, wire.CodeDateSkewed, nil)}, true},
		"one in three is answered":    {[]dis.Call{failing(0, "", errRefused), failing(0, "", errRefused), {Operation: "GetRecords", HTTPStatus: 200}}, false},
		"a stream that is gone":       {[]dis.Call{failing(400, wire.CodeStreamNotFound, nil)}, false},
		"throttling":                  {[]dis.Call{failing(429, "", nil)}, false},
		"throttling, with a 5xx":      {[]dis.Call{failing(503, wire.CodeThrottled, nil)}, false},
		"no permission for a stream":  {[]dis.Call{failing(403, wire.CodeForbidden, nil)}, false},
		"callers that went away":      {[]dis.Call{failing(0, "", fmt.Errorf("read: %w", context.Canceled))}, false},
		"callers that waited briefly": {[]dis.Call{failing(0, "", context.DeadlineExceeded)}, false},
		"no answer at all": {[]dis.Call{{Operation: "PutRecords", Latency: 30 * time.Second,
			Err: &dis.Error{Operation: "PutRecords", Err: context.DeadlineExceeded}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutage()
				for second := range 6 {
					o.observe(c.calls[second%len(c.calls)])
					if second == 1 && len(o.noticed) > 0 {
						t.Error("two calls were enough")
					}
					time.Sleep(time.Second)
				}
				if got := len(o.noticed) > 0; got != c.away {
					t.Errorf("away: %v, want %v", got, c.away)
				}
			})
		})
	}
}

// TestLaterOutage: the gateway is not ready while DIS is away, says why, and is
// ready again; each time with one line for the begin and one for the end.
func TestLaterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		var log strings.Builder
		var h *Health
		call := func(context.Context) error {
			if !down.Load() {
				h.Observe(dis.Call{Operation: "ListStreams", HTTPStatus: 200})
				return nil
			}
			failed := failing(0, "", errRefused)
			h.Observe(failed)
			return failed.Err
		}
		h = newHealth(call, &log)
		go h.Watch(t.Context())
		traffic := func(length time.Duration) {
			for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				for range 20 { // partitions
					_ = call(t.Context()) // what it does is observed
				}
			}
			synctest.Wait()
		}
		for round := 1; round <= 2; round++ {
			traffic(10 * time.Second)
			if why := h.NotReady(); why != "" {
				t.Errorf("round %d: not ready: %s", round, why)
			}
			down.Store(true)
			traffic(time.Minute)
			if why := h.NotReady(); !strings.Contains(why, "connection refused") || !strings.Contains(why, "look at the network") {
				t.Errorf("round %d: away, the reason is %q", round, why)
			}
			down.Store(false)
			time.Sleep(2 * probePause) // without any traffic
			synctest.Wait()
			if why := h.NotReady(); why != "" {
				t.Errorf("round %d: back, but not ready: %s", round, why)
			}
			if lines := strings.Count(log.String(), "\n"); lines != 2*round {
				t.Errorf("round %d: %d lines:\n%s", round, lines, log.String())
			}
		}
	})
}

// TestOutageOfAnIdleGateway: without any client, DIS is asked now and then.
func TestOutageOfAnIdleGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		var log strings.Builder
		var h *Health
		var asked atomic.Int64
		h = newHealth(func(context.Context) error {
			asked.Add(1)
			if down.Load() {
				return errRefused
			}
			h.Observe(dis.Call{Operation: "ListStreams", HTTPStatus: 200})
			return nil
		}, &log)
		go h.Watch(t.Context())
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if n := asked.Load(); n < 4 || n > 8 {
			t.Errorf("asked %d times in a minute", n)
		}
		down.Store(true)
		time.Sleep(2*idleTime + time.Second)
		synctest.Wait()
		if h.NotReady() == "" {
			t.Error("ready, and DIS is away")
		}
		down.Store(false)
		time.Sleep(2 * probePause)
		synctest.Wait()
		if lines := strings.Count(log.String(), "\n"); lines != 2 || h.NotReady() != "" {
			t.Errorf("%d lines, not ready because %q:\n%s", lines, h.NotReady(), log.String())
		}
	})
}

// TestOutageOfADISThatHangs: a DIS that takes connections and does not answer makes
// calls fail one by one, after half a minute; the gateway does not wait for three.
func TestOutageOfADISThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		var h *Health
		call := func(ctx context.Context) error {
			began := time.Now()
			if hangs.Load() {
				<-ctx.Done()
				failed := failing(0, "", ctx.Err())
				failed.Latency = time.Since(began)
				h.Observe(failed)
				return failed.Err
			}
			h.Observe(dis.Call{Operation: "GetRecords", HTTPStatus: 200})
			return nil
		}
		h = newHealth(call, io.Discard)
		go h.Watch(t.Context())
		go func() {
			for {
				attempt, cancel := context.WithTimeout(t.Context(), 8*time.Second)
				_ = call(attempt) // what it does is observed
				cancel()
				select {
				case <-t.Context().Done():
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if why := h.NotReady(); why != "" {
			t.Errorf("not ready: %s", why)
		}
		hangs.Store(true)
		time.Sleep(idleTime + idleCheck + probeTimeout + time.Second)
		synctest.Wait()
		if h.NotReady() == "" {
			t.Error("ready, and DIS has answered nothing for 18 seconds")
		}
	})
}
