package health

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// answering is a DIS that is there.
func answering() bool { return true }

func askForIt(error) (what, do string) { return "DIS refuses it", "ask for it" }

func noRemedy(error) (what, do string) { return "DIS refuses it", "" }

// forbidden is a call that DIS does not permit.
func forbidden(operation, stream, request string) dis.Call {
	err := &dis.Error{Operation: operation, HTTPStatus: 403, Code: "DIS.4116", Message: "no permission", RequestID: request, NotProcessed: true}
	return dis.Call{Operation: operation, Stream: stream, HTTPStatus: 403, Code: err.Code, RequestID: request, Err: err}
}

// TestRefusals: what DIS refuses for 30 s is degraded, once in the log with what to
// do, until it is taken again.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRefusals(askForIt, answering, zerolog.New(&log))
		for i := range 29 {
			r.observe(forbidden("PutRecords", "orders", fmt.Sprint(i)))
			r.observe(dis.Call{Operation: "ListStreams", HTTPStatus: 200})
			r.observe(dis.Call{Operation: "PutRecords", Stream: "payments", HTTPStatus: 200, Records: 2, Refused: 1, RefusalCode: "DIS.4116"})
			time.Sleep(time.Second)
		}
		if got := r.sentences(); len(got) != 0 || log.Len() != 0 {
			t.Errorf("before 30 s: %q, log %s", got, log.String())
		}
		for range 10 {
			time.Sleep(time.Second)
			r.observe(forbidden("PutRecords", "orders", "last"))
		}
		got := r.sentences()
		if len(got) != 1 || got[0] != "DIS has refused every write to orders for 39s: DIS PutRecords: DIS.4116 no permission (HTTP 403): ask for it" {
			t.Errorf("after 39 s: %q", got)
		}
		if counts := r.streams(); counts["writes"] != 1 || counts["reads"] != 0 || counts["commits"] != 0 || len(counts) != 3 {
			t.Errorf("counts %v", counts)
		}
		r.observe(dis.Call{Operation: "PutRecords", Stream: "orders", HTTPStatus: 200, Records: 1})
		if got := r.sentences(); len(got) != 0 {
			t.Errorf("after a success: %q", got)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "ask for it") {
			t.Errorf("%d lines, want one for the begin and one for the end:\n%s", lines, log.String())
		}
	})
}

// TestWhatIsNoRefusal of the gateway: what the caller of the call can help, and what
// nobody waited for.
func TestWhatIsNoRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRefusals(noRemedy, answering, zerolog.Nop())
		for range 100 {
			for _, call := range []dis.Call{
				{Err: &dis.Error{HTTPStatus: 400, Code: "DIS.4301"}},
				{Err: &dis.Error{HTTPStatus: 413}},
				{Err: &dis.Error{Err: context.Canceled}},
				{Err: &dis.Error{Err: context.DeadlineExceeded}, Latency: slowCall - time.Millisecond},
				{Err: errors.New("of our own")},
			} {
				call.Operation, call.Stream = "PutRecords", "orders"
				r.observe(call)
			}
			r.observe(forbidden("DescribeStream", "orders", "x"))
			time.Sleep(time.Second)
		}
		if got := r.sentences(); len(got) != 0 {
			t.Errorf("degraded: %q", got)
		}
	})
}

// TestThrottledThroughout: that DIS throttles some calls is how it works, but not that
// it throttles all.
func TestThrottledThroughout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRefusals(askForIt, answering, zerolog.Nop())
		for range 40 {
			for _, call := range []dis.Call{
				{Stream: "crowded", HTTPStatus: 200, Records: 2, Refused: 2, RefusalCode: "DIS.4303", RefusalMessage: "limit"},
				{Stream: "refused", HTTPStatus: 429, Err: &dis.Error{HTTPStatus: 429, Code: "DIS.4303"}},
				{Stream: "busy", HTTPStatus: 200, Records: 2, Refused: 2, RefusalCode: "DIS.4303"},
				{Stream: "busy", HTTPStatus: 200, Records: 2, Refused: 1, RefusalCode: "DIS.4303"},
			} {
				call.Operation = "PutRecords"
				r.observe(call)
			}
			time.Sleep(time.Second)
		}
		got := r.sentences()
		if len(got) != 1 || got[0] != "DIS has refused every write to crowded, refused for 40s: DIS PutRecords: DIS.4303 limit (HTTP 200): ask for it" {
			t.Errorf("degraded: %q", got)
		}
	})
}

// TestTheRemedyIsThatOfTheReason: what is refused for one reason may come to be for another.
func TestTheRemedyIsThatOfTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRefusals(func(err error) (what, do string) { return "", "about " + err.Error() }, answering, zerolog.Nop())
		for range 20 {
			r.observe(dis.Call{Operation: "PutRecords", Stream: "a", HTTPStatus: 200, Records: 2, Refused: 2, RefusalCode: "DIS.4303", RefusalMessage: "limit"})
			time.Sleep(time.Second)
		}
		for range 20 {
			r.observe(forbidden("PutRecords", "a", "x"))
			time.Sleep(time.Second)
		}
		why := "DIS PutRecords: DIS.4116 no permission (HTTP 403)"
		if got := r.sentences(); len(got) != 1 || got[0] != "DIS has refused every write to a for 40s: "+why+": about "+why {
			t.Errorf("degraded: %q", got)
		}
	})
}

// TestEveryKindOfRefusal: reads and commits as well as writes, refused records as well
// as requests, no answer as well as a no; many streams are counted and not all named.
func TestEveryKindOfRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRefusals(noRemedy, answering, zerolog.Nop())
		for range 40 {
			for i := range 5 {
				r.observe(forbidden("GetCursor", fmt.Sprint("stream-", i), "x"))
			}
			r.observe(dis.Call{Operation: "CommitCheckpoint", Stream: "orders", HTTPStatus: 500, Err: &dis.Error{HTTPStatus: 500, Message: "trouble"}})
			r.observe(dis.Call{Operation: "PutRecords", Stream: "a", HTTPStatus: 200, Records: 2, Refused: 2, RefusalCode: "DIS.4116", RefusalMessage: "no"})
			r.observe(dis.Call{Operation: "PutRecords", Stream: "b", Err: &dis.Error{Err: errors.New("reset")}})
			time.Sleep(time.Second)
		}
		got := strings.Join(r.sentences(), "\n")
		for _, wanted := range []string{"every write to a, b for", "every read of stream-0, stream-1, stream-2 and 2 more streams for", "every commit for orders for"} {
			if !strings.Contains(got, wanted) {
				t.Errorf("%q is not in\n%s", wanted, got)
			}
		}
		time.Sleep(forgottenAfter + time.Second)
		if got := r.sentences(); len(got) != 0 {
			t.Errorf("nobody has tried for long: %q", got)
		}
	})
}

// TestAnOutageIsNoRefusal: while DIS is away every call fails, and that has its own
// words. What failed then counts for nothing afterwards; what was refused before is
// told again once DIS is there, and its end once.
func TestAnOutageIsNoRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		present := true
		r := newRefusals(noRemedy, func() bool { return present }, zerolog.New(&log))
		failing := func(operation string, seconds int) {
			for range seconds {
				r.observe(dis.Call{Operation: operation, Stream: "orders", Latency: slowCall, Err: &dis.Error{Operation: operation, Err: context.DeadlineExceeded}})
				time.Sleep(time.Second)
			}
		}
		failing("GetRecords", 10) // until it is noticed
		present = false
		failing("GetRecords", 60)
		if got := r.sentences(); len(got) != 0 {
			t.Errorf("while DIS is away: %q", got)
		}
		present = true
		failing("GetRecords", 20)
		if got := r.sentences(); len(got) != 0 || log.Len() != 0 {
			t.Errorf("20 s after the outage: %q, log %s", got, log.String())
		}
		failing("GetRecords", 20)
		if got := r.sentences(); len(got) != 1 {
			t.Errorf("40 s after the outage: %q", got)
		}
		present = false
		failing("GetRecords", 5)
		if got, counts := r.sentences(), r.streams(); len(got) != 0 || counts["reads"] != 0 {
			t.Errorf("in the second outage: %q, %v", got, counts)
		}
		present = true
		if got := r.sentences(); len(got) != 1 {
			t.Errorf("after the second outage, nothing was read yet: %q", got)
		}
		r.observe(dis.Call{Operation: "GetRecords", Stream: "orders", HTTPStatus: 200})
		if lines := strings.Count(log.String(), "\n"); lines != 2 || len(r.sentences()) != 0 {
			t.Errorf("%d lines, want one for the begin and one for the end:\n%s", lines, log.String())
		}
	})
}

// TestRefusedRecordsHaveTheirRemedy: DIS answers the request and refuses each of its
// records. What to do comes from that refusal, as if DIS had refused the request.
func TestRefusedRecordsHaveTheirRemedy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []error
		explain := func(err error) (what, do string) {
			asked = append(asked, err)
			return askForIt(err)
		}
		r := newRefusals(explain, answering, zerolog.Nop())
		for range 31 {
			r.observe(dis.Call{Operation: "PutRecords", Stream: "orders", HTTPStatus: 200, RequestID: "x",
				Records: 2, Refused: 2, RefusalCode: "DIS.4116", RefusalMessage: "no permission"})
			time.Sleep(time.Second)
		}
		if len(asked) != 1 || !dis.HasCode(asked[0], "DIS.4116") {
			t.Errorf("what to do was asked of %v", asked)
		}
		want := "DIS has refused every write to orders for 31s: DIS PutRecords: DIS.4116 no permission (HTTP 200): ask for it"
		if got := r.sentences(); len(got) != 1 || got[0] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
