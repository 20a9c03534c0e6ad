package embedded

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// startFaulty has one stream of two partitions, made before the faults begin.
func startFaulty(t *testing.T, list ...Fault) *service {
	t.Helper()
	s := startService(t, func(c *Config) { c.Faults = &FaultPlan{} })
	s.createStream("s", 2)
	s.setFaults(list...)
	return s
}

func (s *service) setFaults(list ...Fault) {
	s.t.Helper()
	if err := s.server.SetFaults(FaultPlan{Seed: 1, Faults: list}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) wantsHits(want ...int) {
	s.t.Helper()
	var got []int
	for _, f := range s.server.Faults().Faults {
		got = append(got, f.Hits)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("hits: %s", diff)
	}
}

// codes are the error codes of a put's records, - for a stored one.
func codes(r wire.PutRecordsResponse) string {
	var list []string
	failed := 0
	for _, one := range r.Records {
		if one.ErrorCode == "" {
			list = append(list, one.SequenceNumber)
		} else {
			failed++
			list = append(list, "-"+one.ErrorCode)
		}
	}
	return fmt.Sprintf("%d: %s", failed, strings.Join(list, " "))
}

func sixRecords() []wire.PutRecord {
	return []wire.PutRecord{to(0, "a0"), to(1, "b0"), to(0, "a1"), to(0, "a2"), to(1, "b1"), to(0, "a3")}
}

func TestThrottleSuffix(t *testing.T) {
	s := startFaulty(t, Fault{Kind: FaultThrottleSuffix, From: 2, Count: 1})
	for i, want := range []string{
		"2: 0 0 1 -DIS.4303 1 -DIS.4303", // partition 1 has only two records
		"0: 2 2 3 4 3 5",
	} {
		if got := codes(s.put("s", sixRecords()...)); got != want {
			t.Errorf("put %d: %s, want %s", i, got, want)
		}
	}
	s.wantsHits(1)
	s.setFaults(Fault{Kind: FaultThrottleSuffix, From: 2})
	s.put("s", to(0, "x"), to(1, "x"))
	s.wantsHits(0) // nothing was in reach
	s.setFaults(Fault{Kind: FaultThrottleSuffix})
	if got := codes(s.put("s", to(0, "x"))); got != "1: -DIS.4303" {
		t.Error(got)
	}
}

func TestHole(t *testing.T) {
	s := startFaulty(t, Fault{Kind: FaultHole})
	if got := codes(s.put("s", sixRecords()...)); got != "2: 0 -DIS.4303 -DIS.4303 1 0 2" {
		t.Error(got)
	}
	if got := codes(s.put("s", to(0, "x"), to(1, "x"))); got != "0: 3 1" {
		t.Error(got)
	}
	s.wantsHits(1)
	var kept []string
	for _, r := range s.readAll("s", 0) {
		kept = append(kept, string(r.Data))
	}
	if diff := cmp.Diff([]string{"a0", "a2", "a3", "x"}, kept); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedBeforeStoring(t *testing.T) {
	tests := []struct {
		fault         Fault
		status        int
		code, message string
	}{
		{Fault{Kind: FaultError}, 500, "DIS.5000", "System error. [fault]"},
		{Fault{Kind: FaultError, Status: 503}, 503, "DIS.5000", "System error. [fault]"},
		{Fault{Kind: FaultTooMany}, 429, "DIS.4303", "Traffic control limit is exceeded. [fault]"},
		{Fault{Kind: FaultThrottle}, 400, "DIS.4303", "Traffic control limit is exceeded. [fault]"},
		{Fault{Kind: FaultForbidden}, 403, "DIS.4116", "Invalid RBAC. [fault]"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.status), func(t *testing.T) {
			test.fault.Operations = []string{"PutRecords", "CreateApp"}
			test.fault.Count = 2
			s := startFaulty(t, test.fault)
			put := wire.PutRecordsRequest{StreamName: "s", Records: sixRecords()}
			wantsError(t, s.call("POST", "records", "", put), test.status, test.code, test.message)
			if got := s.numbers("s", 0); got.Next != 0 {
				t.Errorf("%v", got)
			}
			wantsError(t, s.call("POST", "apps", "", wire.CreateAppRequest{AppName: "a"}), test.status, test.code, test.message)
			s.createApp("a")
			s.put("s", sixRecords()...)
			s.wantsHits(2)
		})
	}
}

// The records are stored, the client sees a cut connection.
func TestLostReply(t *testing.T) {
	s := startFaulty(t, Fault{Kind: FaultLostReply, Operations: []string{"PutRecords"}, Count: 1})
	r := s.request("POST", "/v2/local/records", "", wire.PutRecordsRequest{StreamName: "s", Records: sixRecords()})
	response, err := s.http.Client().Do(r)
	if err == nil {
		_ = response.Body.Close()
		t.Fatalf("status %d", response.StatusCode)
	}
	if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("%v", err)
	}
	if got := s.numbers("s", 0).Next; got != 4 {
		t.Errorf("%d records are stored", got)
	}
	// A request that is refused loses no reply.
	s.setFaults(Fault{Kind: FaultLostReply})
	wantsError(t, s.call("DELETE", "apps/none", "", nil), 400, "DIS.4332", "App does not exist. [none][local]")
	s.wantsHits(0)
}

func TestLatencyFault(t *testing.T) {
	const latency = 80 * time.Millisecond
	s := startFaulty(t,
		Fault{Kind: FaultLatency, Latency: FaultDuration(latency), Operations: []string{"ListApps", "DeleteApp"}},
		Fault{Kind: FaultError, Operations: []string{"DeleteApp"}})
	for call, delayed := range map[string]bool{"GET apps": true, "GET streams": false, "DELETE apps/x": true} {
		method, path, _ := strings.Cut(call, " ")
		begin := time.Now()
		s.call(method, path, "", nil)
		if took := time.Since(begin); (took >= latency) != delayed {
			t.Errorf("%s took %v", call, took)
		}
	}
}

func TestExpiredCursors(t *testing.T) {
	s := startFaulty(t, Fault{Kind: FaultExpiredCursors, Count: 1})
	s.put("s", to(0, "x"))
	cursor := s.cursor("s", 0, wire.CursorTrimHorizon, "")
	wantsError(t, s.call("GET", "records", "partition-cursor="+cursor, nil), 400, "DIS.4225", "Partition cursor is expired. ["+cursor+"]")
	if got := s.get(cursor, ""); len(got.Records) != 1 {
		t.Errorf("%+v", got)
	}
	s.wantsHits(1)
}

func TestEmptyReads(t *testing.T) {
	s := startFaulty(t, Fault{Kind: FaultEmptyReads, Count: 2})
	cursor := s.cursor("s", 0, wire.CursorTrimHorizon, "")
	s.get(cursor, "")
	s.wantsHits(0) // it was empty anyway
	s.put("s", to(0, "x"))
	for i := range 3 {
		page := s.get(cursor, "")
		if got, want := len(page.Records), i/2; got != want {
			t.Errorf("read %d: %d records, want %d", i, got, want)
		}
		cursor = page.NextPartitionCursor
	}
	s.wantsHits(2)
}

func TestStaleEnd(t *testing.T) {
	s := startFaulty(t, Fault{Kind: FaultStaleEnd, By: 3, Count: 2})
	if got := s.numbers("s", 0).Next; got != 0 {
		t.Errorf("end %d of an empty partition", got)
	}
	s.put("s", sixRecords()...)
	for i, want := range [][2]int64{{1, 0}, {1, 0}, {4, 2}} {
		d := s.describe("s")
		for p, end := range want {
			if got := *d.Partitions[p].SequenceNumberRange; got != (wire.SequenceRange{Next: end}).String() {
				t.Errorf("describe %d, partition %d: %s, want end %d", i, p, got, end)
			}
		}
	}
	if got := len(s.readAll("s", 0)); got != 4 {
		t.Errorf("%d records are readable", got)
	}
	s.wantsHits(2)
}

// Numbers are left out inside a put; readers, cursors, time lookups, expiry and
// a restart pass over them.
func TestSequenceGaps(t *testing.T) {
	s := startFaulty(t, Fault{Kind: FaultSequenceGaps, By: 10, Count: 2})
	s.put("s", sixRecords()[3]) // a2 comes behind a gap at the very beginning
	if got := codes(s.put("s", sixRecords()...)); got != "0: 11 0 12 23 11 24" {
		t.Error(got)
	}
	s.put("s", to(0, "last"))
	s.wantsHits(2)
	want := []string{"10 a2", "11 a0", "12 a1", "23 a2", "24 a3", "25 last"}
	check := func(when string, want []string) {
		t.Helper()
		var got []string
		for _, r := range s.readAll("s", 0) {
			got = append(got, r.SequenceNumber+" "+string(r.Data))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	check("stored", want)
	s.reopen()
	check("reopened", want)
	if got := s.numbers("s", 0); got != (wire.SequenceRange{Oldest: 0, Next: 26}) {
		t.Errorf("%v", got)
	}
	for from, want := range map[int]string{0: "10", 9: "10", 13: "23", 22: "23", 23: "23", 25: "25"} {
		page := s.get(s.cursor("s", 0, wire.CursorAtSequence, fmt.Sprint("&starting-sequence-number=", from)), "&limit=1")
		if got := page.Records[0].SequenceNumber; got != want {
			t.Errorf("from %d: record %s, want %s", from, got, want)
		}
	}
	now := s.clock.now().UnixMilli()
	cursor, err := wire.DecodeCursor(s.cursor("s", 0, wire.CursorAtTimestamp, "&timestamp="+number(now)))
	if err != nil || cursor.StartingSequenceNumber != 10 {
		t.Errorf("%+v, %v", cursor, err)
	}
	s.clock.advance(25 * time.Hour)
	s.put("s", to(0, "new"))
	s.server.sweep()
	check("expired", []string{"26 new"})
}

// Equal seeds give equal faults; each fault draws for itself.
func TestFaultsAreSeeded(t *testing.T) {
	draw := func(seed uint64, list ...Fault) string {
		f := newFaults(&FaultPlan{Seed: seed, Faults: list})
		var drawn strings.Builder
		for range 64 {
			_, hit := f.hit(FaultHole, "PutRecords")
			fmt.Fprint(&drawn, map[bool]string{true: "x", false: "."}[hit])
			f.hit(FaultStaleEnd, "DescribeStream")
		}
		return drawn.String()
	}
	half := Fault{Kind: FaultHole, Probability: 0.5}
	first := draw(7, half)
	if hits := strings.Count(first, "x"); hits < 16 || hits > 48 {
		t.Errorf("%d of 64 hits at a probability of a half", hits)
	}
	if again := draw(7, half, Fault{Kind: FaultStaleEnd, Probability: 0.3}); again != first {
		t.Errorf("another fault changed the hits:\n%s\n%s", first, again)
	}
	if other := draw(8, half); other == first {
		t.Error("another seed gave the same hits")
	}
}

func TestFaultControl(t *testing.T) {
	s := startFaulty(t)
	control := func(method, body string) answer {
		r, err := http.NewRequest(method, s.http.URL+"/faults", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return s.send(r) // without a signature
	}
	plan := `{"seed":7,"faults":[{"kind":"latency","latency":"1ms","count":2,"hits":9},{"kind":"throttle-suffix","from":1,"operations":["PutRecords"],"probability":1}]}`
	wants[FaultPlan](t, control("PUT", plan), 200)
	s.put("s", sixRecords()...)
	want := FaultPlan{Seed: 7, Faults: []Fault{
		{Kind: FaultLatency, Latency: FaultDuration(time.Millisecond), Count: 2, Hits: 1},
		{Kind: FaultThrottleSuffix, From: 1, Operations: []string{"PutRecords"}, Probability: 1, Hits: 1},
	}}
	shown := control("GET", "")
	if diff := cmp.Diff(want, wants[FaultPlan](t, shown, 200)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(shown.body), `"latency":"1ms"`) || shown.header.Get("Content-Type") != "application/json" {
		t.Errorf("%v %s", shown.header, shown.body)
	}
	for body, message := range map[string]string{
		`{"faults":[{"kind":"hole","probabilty":1}]}`: `json: unknown field "probabilty"`,
		`{"faults":[{"kind":"latency"}]}`:             "fault 0: latency: latency 0s: want more than 0",
		`{`:                                           "unexpected EOF",
	} {
		if a := control("PUT", body); a.status != 400 || !strings.Contains(strings.ReplaceAll(string(a.body), `\"`, `"`), message) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	wants[empty](t, control("DELETE", ""), 204)
	if got := string(control("GET", "").body); got != `{"seed":0,"faults":[]}` {
		t.Error(got)
	}
	if a := control("POST", "{}"); a.status != 404 {
		t.Errorf("status %d", a.status)
	}
}

// Without the setting there is no endpoint, nor another way in.
func TestNoFaults(t *testing.T) {
	s := startService(t)
	response, err := s.http.Client().Get(s.http.URL + "/faults")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 401 {
		t.Errorf("status %d without a signature", response.StatusCode)
	}
	wantsError(t, s.send(s.request("GET", "/faults", "", nil)), 404, "DIS.4200", "API does not exist. [GET][/faults]")
	if err := s.server.SetFaults(FaultPlan{}); err == nil {
		t.Error("faults were set")
	}
	if got := s.server.Faults(); len(got.Faults) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestParseFault(t *testing.T) {
	good := map[string]Fault{
		"hole":                                   {Kind: FaultHole},
		"throttle-suffix,from=5,probability=0.1": {Kind: FaultThrottleSuffix, From: 5, Probability: 0.1},
		"lost-reply,operations=PutRecords+CommitCheckpoint,count=3": {Kind: FaultLostReply, Operations: []string{"PutRecords", "CommitCheckpoint"}, Count: 3},
		"latency,latency=150ms": {Kind: FaultLatency, Latency: FaultDuration(150 * time.Millisecond)},
		"error-5xx,status=502":  {Kind: FaultError, Status: 502},
		"stale-end,by=7":        {Kind: FaultStaleEnd, By: 7},
	}
	for text, want := range good {
		got, err := ParseFault(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	bad := map[string]string{
		"":                                  `kind ""`,
		"flood":                             `kind "flood"`,
		"hole,probability=2":                "probability 2: want more than 0 and at most 1",
		"hole,probability=NaN":              "probability NaN",
		"hole,count=-1":                     "count -1",
		"hole,count=x":                      "count: strconv",
		"hole,size=3":                       `"size": want operations`,
		"hole,operations=GetRecords":        "it can hit only PutRecords",
		"latency,latency=1s,operations=Put": `operation "Put": there is no such call`,
		"latency,latency=1":                 "missing unit",
		"error-5xx,status=404":              "status 404: want 500 to 599",
		"sequence-gaps,by=1000001":          "by 1000001",
	}
	for text, want := range bad {
		if _, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
