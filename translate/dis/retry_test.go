package dis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

var (
	errRefused = errors.New("connection refused")
	errReset   = errors.New("connection reset")
)

// The calls that stand for the classes of repeatable and other calls.
func describe(ctx context.Context, c *Client) error {
	_, err := c.DescribeStream(ctx, "s")
	return err
}

func pacedRead(ctx context.Context, c *Client) error {
	_, err := c.GetRecords(ctx, GetRecordsRequest{Cursor: "c", Paced: true})
	return err
}

func put(ctx context.Context, c *Client) error {
	_, err := c.PutRecords(ctx, &wire.PutRecordsRequest{StreamName: "s", Records: []wire.PutRecord{{Data: []byte("x")}}})
	return err
}

func commit(ctx context.Context, c *Client) error {
	return c.CommitCheckpoint(ctx, wire.CommitCheckpointRequest{AppName: "a", StreamName: "s", PartitionID: "0", SequenceNumber: "7"})
}

func createStream(ctx context.Context, c *Client) error {
	return c.CreateStream(ctx, wire.CreateStreamRequest{StreamName: "s", PartitionCount: 1})
}

func createApp(ctx context.Context, c *Client) error    { return c.CreateApp(ctx, "a") }
func deleteStream(ctx context.Context, c *Client) error { return c.DeleteStream(ctx, "s") }
func deleteApp(ctx context.Context, c *Client) error    { return c.DeleteApp(ctx, "a") }

func TestWhatIsRepeated(t *testing.T) {
	ok := step{status: 200, body: `{}`}
	stored := step{status: 200, body: `{"failed_record_count":0,"records":[{"partition_id":"shardId-0000000000","sequence_number":"1"}]}`}
	untrusted := step{err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, unsent: true}
	tests := []struct {
		name         string
		call         func(context.Context, *Client) error
		steps        []step // all of them must be used
		code         string // of the failure, "" for none
		fails        bool
		notProcessed bool
	}{
		{name: "read after no connection", call: describe, steps: []step{{err: errRefused, unsent: true}, ok}},
		{name: "read after a lost answer", call: describe, steps: []step{{err: errReset}, ok}},
		{name: "read after 500", call: describe, steps: []step{refusal(500, "DIS.5000"), ok}},
		{name: "read after 503 of a proxy", call: describe, steps: []step{{status: 503, body: "<html>busy</html>"}, ok}},
		{name: "read after 429", call: describe, steps: []step{{status: 429}, ok}},
		{name: "read after DIS.4303", call: describe, steps: []step{refusal(400, "DIS.4303"), ok}},
		{name: "paced read after DIS.4303", call: pacedRead, steps: []step{refusal(400, "DIS.4303")}, code: "DIS.4303", fails: true, notProcessed: true},
		{name: "paced read after 500", call: pacedRead, steps: []step{refusal(500, "DIS.5000"), refusal(429, "DIS.4303")}, code: "DIS.4303", fails: true},
		{name: "read after DIS.4305", call: describe, steps: []step{refusal(400, "DIS.4305"), ok}},
		{name: "read of an unknown stream", call: describe, steps: []step{refusal(400, "DIS.4301")}, code: "DIS.4301", fails: true, notProcessed: true},
		{name: "read without permission", call: describe, steps: []step{refusal(403, "DIS.4116")}, code: "DIS.4116", fails: true, notProcessed: true},
		{name: "read with a wrong signature", call: describe, steps: []step{refusal(401, "DIS.4112")}, code: "DIS.4112", fails: true, notProcessed: true},
		{name: "read of nonsense", call: describe, steps: []step{{status: 200, body: "<html>"}}, fails: true},
		{name: "read from a server without a trusted certificate", call: describe, steps: []step{untrusted}, fails: true, notProcessed: true},
		{name: "redirected read", call: describe, steps: []step{{status: 307, header: map[string][]string{"Location": {"http://other.test/"}}}}, fails: true, notProcessed: true},
		{name: "attempts used up", call: describe, steps: []step{{status: 500}, {status: 500}, {status: 500}, {status: 500}, {status: 500}}, fails: true},
		{name: "last word after an unknown outcome", call: commit, steps: []step{{err: errReset}, refusal(400, "DIS.4332")}, code: "DIS.4332", fails: true},
		{name: "never sent", call: commit, steps: []step{{err: errRefused, unsent: true}, {err: errRefused, unsent: true}, {err: errRefused, unsent: true},
			{err: errRefused, unsent: true}, {err: errRefused, unsent: true}}, fails: true, notProcessed: true},

		{name: "commit after a lost answer", call: commit, steps: []step{{err: errReset}, {status: 201}}},
		{name: "commit after 500", call: commit, steps: []step{{status: 500}, {status: 201}}},

		{name: "put answered", call: put, steps: []step{stored}},
		{name: "put without a connection", call: put, steps: []step{{err: errRefused, unsent: true}}, fails: true, notProcessed: true},
		{name: "put with a lost answer", call: put, steps: []step{{err: errReset}}, fails: true},
		{name: "put answered by 500", call: put, steps: []step{refusal(500, "DIS.5000")}, code: "DIS.5000", fails: true},
		{name: "put answered by 429", call: put, steps: []step{{status: 429}}, fails: true, notProcessed: true},
		{name: "put throttled", call: put, steps: []step{refusal(400, "DIS.4303")}, code: "DIS.4303", fails: true, notProcessed: true},
		{name: "put refused under a 500", call: put, steps: []step{refusal(500, "DIS.4303")}, code: "DIS.4303", fails: true, notProcessed: true},
		{name: "put answered by nonsense", call: put, steps: []step{{status: 200, body: `{"records":[`}}, fails: true},
		{name: "put answered for another number of records", call: put, steps: []step{{status: 200, body: `{"records":[]}`}}, fails: true},

		{name: "create of an existing stream", call: createStream, steps: []step{refusal(400, "DIS.4307")}, code: "DIS.4307", fails: true, notProcessed: true},
		{name: "create that had worked", call: createStream, steps: []step{{err: errReset}, refusal(400, "DIS.4307")}},
		{name: "create that had worked behind a 500", call: createStream, steps: []step{{status: 502}, refusal(400, "DIS.4307")}},
		{name: "create that had worked, seen late", call: createStream, steps: []step{{err: errReset}, {err: errRefused, unsent: true}, refusal(400, "DIS.4307")}},
		{name: "create never sent before it met another's stream", call: createStream, steps: []step{{err: errRefused, unsent: true}, refusal(400, "DIS.4307")},
			code: "DIS.4307", fails: true, notProcessed: true},
		{name: "create throttled before it met another's stream", call: createStream, steps: []step{refusal(400, "DIS.4305"), refusal(400, "DIS.4307")},
			code: "DIS.4307", fails: true, notProcessed: true},
		{name: "app that had been created", call: createApp, steps: []step{{err: errReset}, refusal(400, "DIS.4330")}},
		{name: "existing app", call: createApp, steps: []step{refusal(400, "DIS.4330")}, code: "DIS.4330", fails: true, notProcessed: true},
		{name: "stream that had been deleted", call: deleteStream, steps: []step{{status: 504}, refusal(400, "DIS.4301")}},
		{name: "delete of an unknown stream", call: deleteStream, steps: []step{refusal(400, "DIS.4301")}, code: "DIS.4301", fails: true, notProcessed: true},
		{name: "tag that had been deleted", call: func(ctx context.Context, c *Client) error { return c.DeleteTag(ctx, "i", "k") },
			steps: []step{{err: errReset}, refusal(400, "DIS.4604")}},
		{name: "transfer task that had been created", call: func(ctx context.Context, c *Client) error {
			return c.CreateTransferTask(ctx, "s", wire.CreateTransferTaskRequest{})
		}, steps: []step{{err: errReset}, refusal(400, "DIS.4355")}},
		{name: "transfer task that had been deleted", call: func(ctx context.Context, c *Client) error { return c.DeleteTransferTask(ctx, "s", "t") },
			steps: []step{{err: errReset}, refusal(400, "DIS.4354")}},
		{name: "update after a lost answer", call: func(ctx context.Context, c *Client) error {
			return c.UpdateStream(ctx, wire.UpdateStreamRequest{StreamName: "s"})
		}, steps: []step{{err: errReset}, {status: 200}}},
		{name: "app that had been deleted", call: deleteApp, steps: []step{{err: io.ErrUnexpectedEOF}, refusal(400, "DIS.4332")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, script := play(t, nil, test.steps...)
				err := test.call(t.Context(), client)
				if got := len(script.sent); got != len(test.steps) {
					t.Errorf("%d attempts, want %d", got, len(test.steps))
				}
				if !test.fails {
					if err != nil {
						t.Fatalf("failed: %v", err)
					}
					return
				}
				failure := failedWith(t, err)
				if failure.Code != test.code || failure.NotProcessed != test.notProcessed {
					t.Errorf("code %q, not processed %t, want %q, %t: %v", failure.Code, failure.NotProcessed, test.code, test.notProcessed, err)
				}
			})
		})
	}
}

// DIS refuses old dates, so a repeat must carry its own.
func TestEveryAttemptIsSignedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		patient := func(c *Config) { c.Retry = RetryPolicy{Attempts: 3, Initial: 4 * time.Second} }
		client, script := play(t, patient, step{err: errReset}, step{status: 500}, step{status: 201})
		if err := commit(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, request := range script.sent {
			if want := request.at.UTC().Format(signDateForm); request.header.Get(headerDate) != want {
				t.Errorf("dated %s, sent at %s", request.header.Get(headerDate), want)
			}
			seen[request.header.Get(headerDate)+request.header.Get(headerAuthorization)] = true
			if request.body != script.sent[0].body || request.body == "" {
				t.Errorf("body %q, first %q", request.body, script.sent[0].body)
			}
		}
		if len(seen) != 3 {
			t.Errorf("%d different signatures, want 3", len(seen))
		}
	})
}

func TestDelaysDoubleUpToTheMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := func(c *Config) {
			c.Retry = RetryPolicy{Attempts: 6, Initial: time.Second, Max: 5 * time.Second}
		}
		failing := []step{{status: 500}, {status: 500}, {status: 500}, {status: 500}, {status: 500}, {status: 500}}
		client, script := play(t, policy, failing...)
		failedWith(t, describe(t.Context(), client))
		for i, longest := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
			waited := script.sent[i+1].at.Sub(script.sent[i].at)
			if waited < longest/2 || waited > longest {
				t.Errorf("waited %v after attempt %d, want %v to %v", waited, i+1, longest/2, longest)
			}
		}
	})
}

// What the service asks for counts where it is longer, up to the maximum.
func TestRetryAfter(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of every virtual clock
	for _, test := range []struct {
		name   string
		status int
		header string
		want   time.Duration // 0: the policy's own delay of at most 100 ms
	}{
		{"429 in seconds", 429, "3", 3 * time.Second},
		{"503 in seconds", 503, "3", 3 * time.Second},
		{"503 with a date", 503, start.Add(4 * time.Second).Format(http.TimeFormat), 4 * time.Second},
		{"above the maximum", 429, "3600", 5 * time.Second},
		{"far above the maximum", 429, "99999999999999999999", 0},
		{"date in the past", 429, start.Add(-time.Hour).Format(http.TimeFormat), 0},
		{"zero", 429, "0", 0},
		{"negative", 429, "-3", 0},
		{"nonsense", 429, "soon", 0},
		{"absent", 503, "", 0},
		{"other status", 500, "3", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := func(c *Config) { c.Retry = RetryPolicy{Initial: 100 * time.Millisecond, Max: 5 * time.Second} }
				busy := step{status: test.status, header: http.Header{"Retry-After": {test.header}}}
				client, script := play(t, policy, busy, step{status: 200, body: "{}"})
				if err := describe(t.Context(), client); err != nil {
					t.Fatal(err)
				}
				waited := script.sent[1].at.Sub(script.sent[0].at)
				if test.want == 0 && waited > 100*time.Millisecond || test.want > 0 && waited != test.want {
					t.Errorf("waited %v, want %v", waited, test.want)
				}
			})
		})
	}
}

// A put is not repeated here; its caller learns how long to wait.
func TestRetryAfterOfAPut(t *testing.T) {
	client, _ := play(t, nil, step{status: 429, header: http.Header{"Retry-After": {"120"}}})
	if failure := failedWith(t, put(t.Context(), client)); failure.RetryAfter != 2*time.Minute || !failure.Throttled() {
		t.Errorf("retry after %v: %v", failure.RetryAfter, failure)
	}
}

func TestDelayOfManyAttemptsDoesNotOverflow(t *testing.T) {
	policy := RetryPolicy{Initial: time.Second, Max: 1 << 62}
	if got := policy.delay(200); got <= 0 {
		t.Errorf("delay %v", got)
	}
}

func TestCancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		slow := func(c *Config) { c.Retry.Initial = time.Hour; c.Retry.Max = time.Hour }
		client, _ := play(t, slow, refusal(400, "DIS.4305"))
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		err := createStream(ctx, client)
		if failure := failedWith(t, err); failure.Code != "DIS.4305" || !failure.NotProcessed {
			t.Errorf("lost what DIS said: %v", err)
		}
		if !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// Waiting is pointless when the deadline passes before the next attempt.
func TestNoWaitBeyondTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		slow := func(c *Config) { c.Retry.Initial = 10 * time.Second }
		client, _ := play(t, slow, step{status: 500})
		start := time.Now()
		err := describe(ctx, client)
		if !errors.Is(err, context.DeadlineExceeded) || failedWith(t, err).HTTPStatus != 500 || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short := func(c *Config) { c.AttemptTimeout = 3 * time.Second; c.Retry.Attempts = 2 }
		client, script := play(t, short, step{silence: time.Hour}, step{silence: time.Second, status: 200, body: "{}"})
		if err := describe(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		if waited := script.sent[1].at.Sub(script.sent[0].at); waited < 3*time.Second || waited > 4*time.Second {
			t.Errorf("second attempt after %v", waited)
		}
	})
}

func TestCancelledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, script := play(t, nil, step{silence: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		err := put(ctx, client)
		if !errors.Is(err, context.Canceled) || failedWith(t, err).NotProcessed {
			t.Errorf("cancelled while waiting for the answer: %v", err)
		}
		err = put(ctx, client)
		if !errors.Is(err, context.Canceled) || !failedWith(t, err).NotProcessed || len(script.sent) != 1 {
			t.Errorf("cancelled before: %v, %d requests sent", err, len(script.sent))
		}
	})
}

type failingCredentials struct{ err error }

func (f failingCredentials) Get(context.Context) (Keys, error) { return Keys{}, f.err }

func TestFailedCredentialsAreNotSent(t *testing.T) {
	broken := errors.New("metadata endpoint is down")
	client, _ := play(t, func(c *Config) { c.Credentials = failingCredentials{broken} })
	err := describe(t.Context(), client)
	if !errors.Is(err, broken) || !errors.Is(err, ErrNoIdentity) || !failedWith(t, err).NotProcessed {
		t.Errorf("got %v", err)
	}
}

func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []Call
		client, _ := play(t, func(c *Config) { c.Observe = func(call Call) { calls = append(calls, call) } },
			step{err: errReset, silence: time.Second},
			step{status: 400, body: `{"errorCode":"DIS.4303","message":"slow"}`, header: map[string][]string{"X-Request-Id": {"r2"}}},
			step{status: 201, header: map[string][]string{"X-Request-Id": {"r3"}, "Date": {"Sun, 01 Mar 2026 12:00:00 GMT"}}})
		if err := commit(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		if len(calls) != 3 {
			t.Fatalf("%d calls seen, want 3", len(calls))
		}
		want := []Call{
			{Operation: "CommitCheckpoint", Stream: "s", Attempt: 1, Latency: time.Second},
			{Operation: "CommitCheckpoint", Stream: "s", Attempt: 2, HTTPStatus: 400, Code: "DIS.4303", RequestID: "r2"},
			{Operation: "CommitCheckpoint", Stream: "s", Attempt: 3, HTTPStatus: 201, RequestID: "r3", Date: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		}
		for i, got := range calls {
			if (got.Err != nil) != (i < 2) {
				t.Errorf("call %d: error %v", i+1, got.Err)
			}
			got.Err = nil
			if got != want[i] {
				t.Errorf("call %d: got %+v, want %+v", i+1, got, want[i])
			}
		}
	})
}
