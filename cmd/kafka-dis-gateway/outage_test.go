package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func failing(status int, code string, cause error) dis.Call {
	return dis.Call{Operation: "PutRecords", HTTPStatus: status, Code: code,
		Err: &dis.Error{Operation: "PutRecords", HTTPStatus: status, Code: code, Err: cause}}
}

// TestOutage: what makes DIS count as away, after calls for five seconds.
func TestOutage(t *testing.T) {
	refused := errors.New("connection refused")
	for name, c := range map[string]struct {
		calls []dis.Call // one a second, over and over
		away  bool
	}{
		"nobody there":                {[]dis.Call{failing(0, "", refused)}, true},
		"trouble":                     {[]dis.Call{failing(500, wire.CodeInternal, nil), failing(503, "", nil)}, true},
		"keys":                        {[]dis.Call{failing(441, wire.CodeAccessKeyInvalid, nil)}, true},
		"clock":                       {[]dis.Call{failing(401, wire.CodeDateSkewed, nil)}, true},
		"one in three is answered":    {[]dis.Call{failing(0, "", refused), failing(0, "", refused), {Operation: "GetRecords", HTTPStatus: 200}}, false},
		"a stream that is gone":       {[]dis.Call{failing(400, wire.CodeStreamNotFound, nil)}, false},
		"throttling":                  {[]dis.Call{failing(429, "", nil)}, false},
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
		r, away := newReadiness(func() bool { return false }), newOutage()
		call := func(context.Context) error {
			if !down.Load() {
				away.observe(dis.Call{Operation: "ListStreams", HTTPStatus: 200})
				return nil
			}
			failed := failing(0, "", errors.New("connection refused"))
			away.observe(failed)
			return failed.Err
		}
		go r.watch(t.Context(), call, away, zerolog.New(&log))
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
			if why := r.why(); why != "" {
				t.Errorf("round %d: not ready: %s", round, why)
			}
			down.Store(true)
			traffic(time.Minute)
			if why := r.why(); !strings.Contains(why, "connection refused") || !strings.Contains(why, "--dis-endpoint") {
				t.Errorf("round %d: away, the reason is %q", round, why)
			}
			down.Store(false)
			time.Sleep(2 * probePause) // without any traffic
			synctest.Wait()
			if why := r.why(); why != "" {
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
		r, away := newReadiness(func() bool { return false }), newOutage()
		var asked atomic.Int64
		go r.watch(t.Context(), func(context.Context) error {
			asked.Add(1)
			if down.Load() {
				return errors.New("connection refused")
			}
			away.observe(dis.Call{Operation: "ListStreams", HTTPStatus: 200})
			return nil
		}, away, zerolog.New(&log))
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if n := asked.Load(); n < 4 || n > 8 {
			t.Errorf("asked %d times in a minute", n)
		}
		down.Store(true)
		time.Sleep(2*idleTime + time.Second)
		synctest.Wait()
		if r.why() == "" {
			t.Error("ready, and DIS is away")
		}
		down.Store(false)
		time.Sleep(2 * probePause)
		synctest.Wait()
		if lines := strings.Count(log.String(), "\n"); lines != 2 || r.why() != "" {
			t.Errorf("%d lines, not ready because %q:\n%s", lines, r.why(), log.String())
		}
	})
}

// TestOutageOfADISThatHangs: a DIS that takes connections and does not answer makes
// calls fail one by one, after half a minute; the gateway does not wait for three.
func TestOutageOfADISThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		r, away := newReadiness(func() bool { return false }), newOutage()
		call := func(ctx context.Context) error {
			began := time.Now()
			if hangs.Load() {
				<-ctx.Done()
				failed := failing(0, "", ctx.Err())
				failed.Latency = time.Since(began)
				away.observe(failed)
				return failed.Err
			}
			away.observe(dis.Call{Operation: "GetRecords", HTTPStatus: 200})
			return nil
		}
		go r.watch(t.Context(), call, away, zerolog.Nop())
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
		if why := r.why(); why != "" {
			t.Errorf("not ready: %s", why)
		}
		hangs.Store(true)
		time.Sleep(idleTime + idleCheck + probeTimeout + time.Second)
		synctest.Wait()
		if r.why() == "" {
			t.Error("ready, and DIS has answered nothing for 18 seconds")
		}
	})
}
