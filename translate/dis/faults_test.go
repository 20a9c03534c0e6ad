//go:build !live

package dis_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// faulty is a client of an embedded DIS that misbehaves, with a stream of two
// partitions that was created before.
type faulty struct {
	t      *testing.T
	client *dis.Client
}

// startFaulty lets the faults hit nothing while the stream is created.
func startFaulty(t *testing.T, faults ...embedded.Fault) *faulty {
	t.Helper()
	config := startEmbedded(t, embedded.Config{Faults: &embedded.FaultPlan{Seed: 1, Faults: faults}})
	config.Retry = dis.RetryPolicy{Attempts: 3, Initial: time.Millisecond, Max: 2 * time.Millisecond}
	f := &faulty{t: t, client: connect(t, config)}
	if err := f.client.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: "s", PartitionCount: 2}); err != nil {
		t.Fatal(err)
	}
	return f
}

// put stores records for partition 0 and tells what became of each, and of the
// request.
func (f *faulty) put(data ...string) (string, error) {
	f.t.Helper()
	put := wire.PutRecordsRequest{StreamName: "s"}
	for _, d := range data {
		put.Records = append(put.Records, wire.PutRecord{Data: []byte(d), PartitionID: "0"})
	}
	results, err := f.client.PutRecords(f.t.Context(), &put)
	if err != nil {
		return "", err
	}
	var became []string
	for _, r := range results.Records {
		became = append(became, r.SequenceNumber+r.ErrorCode)
	}
	return strings.Join(became, " "), nil
}

func (f *faulty) wantsPut(want string, data ...string) {
	f.t.Helper()
	if got, err := f.put(data...); err != nil || got != want {
		f.t.Errorf("put of %v: %q, %v; want %q", data, got, err, want)
	}
}

// stored reads partition 0 until its end.
func (f *faulty) stored() string {
	f.t.Helper()
	cursor := f.cursor()
	var all []string
	for {
		page, err := f.client.GetRecords(f.t.Context(), dis.GetRecordsRequest{Cursor: cursor})
		if err != nil {
			f.t.Fatal(err)
		}
		if len(page.Records) == 0 {
			return strings.Join(all, " ")
		}
		for _, r := range page.Records {
			all = append(all, r.SequenceNumber+string(r.Data))
		}
		cursor = page.NextPartitionCursor
	}
}

func (f *faulty) cursor() string {
	f.t.Helper()
	cursor, err := f.client.GetCursor(f.t.Context(), dis.CursorRequest{StreamName: "s", Type: wire.CursorTrimHorizon})
	if err != nil {
		f.t.Fatal(err)
	}
	return cursor
}

func (f *faulty) end() string {
	f.t.Helper()
	stream, err := f.client.DescribeStream(f.t.Context(), "s")
	if err != nil {
		f.t.Fatal(err)
	}
	return *stream.Partitions[0].SequenceNumberRange
}

// wantsFailure checks what the client makes of a failed request.
func (f *faulty) wantsFailure(err error, status int, code string, notProcessed bool) {
	f.t.Helper()
	var failure *dis.Error
	if !errors.As(err, &failure) || failure.HTTPStatus != status || failure.Code != code || failure.NotProcessed != notProcessed {
		f.t.Errorf("got %+v, want status %d, code %q, not processed: %v", err, status, code, notProcessed)
	}
}

func puts(kind embedded.FaultKind, count int) embedded.Fault {
	return embedded.Fault{Kind: kind, Operations: []string{"PutRecords"}, Count: count}
}

// TestFaults: what the client sees of each fault that the embedded DIS can be
// asked for, and that the service is itself again afterwards.
func TestFaults(t *testing.T) {
	t.Run("latency", func(t *testing.T) {
		const latency = 60 * time.Millisecond
		f := startFaulty(t, embedded.Fault{Kind: embedded.FaultLatency, Latency: embedded.FaultDuration(latency), Operations: []string{"PutRecords"}})
		begin := time.Now()
		f.wantsPut("0", "a")
		if took := time.Since(begin); took < latency {
			t.Errorf("answered after %v", took)
		}
	})
	t.Run("error-5xx", func(t *testing.T) {
		f := startFaulty(t, puts(embedded.FaultError, 1), embedded.Fault{Kind: embedded.FaultError, Status: 503, Operations: []string{"ListStreams"}, Count: 2})
		_, err := f.put("a")
		f.wantsFailure(err, 500, wire.CodeInternal, false)
		if streams, err := f.client.ListStreams(t.Context()); err != nil || len(streams) != 1 { // the third attempt
			t.Errorf("%v, %v", streams, err)
		}
		f.wantsPut("0", "a")
	})
	t.Run("error-429", func(t *testing.T) {
		f := startFaulty(t, puts(embedded.FaultTooMany, 1))
		_, err := f.put("a")
		f.wantsFailure(err, 429, wire.CodeThrottled, true)
		f.wantsPut("0", "a")
	})
	t.Run("throttle", func(t *testing.T) {
		f := startFaulty(t, puts(embedded.FaultThrottle, 1))
		_, err := f.put("a")
		f.wantsFailure(err, 400, wire.CodeThrottled, true)
		f.wantsPut("0", "a")
	})
	t.Run("throttle-suffix", func(t *testing.T) {
		f := startFaulty(t, embedded.Fault{Kind: embedded.FaultThrottleSuffix, From: 1, Count: 1})
		f.wantsPut("0 DIS.4303 DIS.4303", "a", "b", "c")
		f.wantsPut("1 2", "b", "c")
	})
	t.Run("hole", func(t *testing.T) {
		f := startFaulty(t, puts(embedded.FaultHole, 1))
		f.wantsPut("0 DIS.4303 1", "a", "b", "c")
		if got := f.stored(); got != "0a 1c" {
			t.Errorf("stored: %s", got)
		}
	})
	t.Run("lost-reply", func(t *testing.T) {
		f := startFaulty(t, puts(embedded.FaultLostReply, 1))
		_, err := f.put("a", "b")
		f.wantsFailure(err, 0, "", false)
		if got := f.stored(); got != "0a 1b" {
			t.Errorf("stored: %s", got)
		}
	})
	t.Run("expired-cursors", func(t *testing.T) {
		f := startFaulty(t, embedded.Fault{Kind: embedded.FaultExpiredCursors, Count: 1})
		f.wantsPut("0", "a")
		_, err := f.client.GetRecords(t.Context(), dis.GetRecordsRequest{Cursor: f.cursor()})
		f.wantsFailure(err, 400, wire.CodeCursorExpired, true)
		if got := f.stored(); got != "0a" {
			t.Errorf("stored: %s", got)
		}
	})
	t.Run("sequence-gaps", func(t *testing.T) {
		f := startFaulty(t, embedded.Fault{Kind: embedded.FaultSequenceGaps, By: 5, Count: 1})
		f.wantsPut("0 6", "a", "b")
		f.wantsPut("7", "c")
		if got := f.stored(); got != "0a 6b 7c" {
			t.Errorf("stored: %s", got)
		}
	})
	t.Run("stale-end", func(t *testing.T) {
		f := startFaulty(t, embedded.Fault{Kind: embedded.FaultStaleEnd, By: 2, Count: 1})
		f.wantsPut("0 1 2", "a", "b", "c")
		if old, now := f.end(), f.end(); old != "[0 : 1]" || now != "[0 : 3]" {
			t.Errorf("ends %s and %s", old, now)
		}
	})
	t.Run("empty-reads", func(t *testing.T) {
		f := startFaulty(t, embedded.Fault{Kind: embedded.FaultEmptyReads, Count: 1})
		f.wantsPut("0", "a")
		page, err := f.client.GetRecords(t.Context(), dis.GetRecordsRequest{Cursor: f.cursor()})
		if err != nil || len(page.Records) != 0 || page.NextPartitionCursor == "" {
			t.Errorf("%+v, %v", page, err)
		}
		if got := f.stored(); got != "0a" {
			t.Errorf("stored: %s", got)
		}
	})
	t.Run("scaling", func(t *testing.T) { // by the ordinary call
		f := startFaulty(t)
		f.wantsPut("0", "a")
		for _, target := range []int{1, 3, 2} {
			if _, err := f.client.ChangePartitionCount(t.Context(), "s", target); err != nil {
				t.Fatal(err)
			}
		}
		f.wantsPut("1", "b")
		if got := f.stored(); got != "0a 1b" {
			t.Errorf("stored: %s", got)
		}
	})
}
