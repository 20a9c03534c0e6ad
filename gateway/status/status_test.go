package status

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// get asks for a page of a status.
func get(t *testing.T, s *Status, path string) (header http.Header, body string) {
	t.Helper()
	mux := http.NewServeMux()
	s.Register(mux)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.Code != http.StatusOK {
		t.Fatalf("%s: %d %v\n%s", path, answer.Code, err, text)
	}
	return answer.Header(), string(text)
}

// TestPageShowsTheState: every part of it, by what a reader would look for.
func TestPageShowsTheState(t *testing.T) {
	f := &fake{
		degraded:  []string{"DIS has refused every write to orders for 45s"},
		listeners: []gateway.ListenerInfo{{Address: "0.0.0.0:9092", Advertised: "kafka.example:9092", Auth: "none"}},
		clients: []gateway.ClientInfo{{
			Connection: 7, Address: "192.0.2.9:4711", ClientID: "billing-1", Software: "librdkafka", Version: "2.6.1",
			Since: time.Now().Add(-time.Hour), Requests: 12345, LastAPI: "Fetch", LastAt: time.Now(),
		}},
		topics: []*translate.Topic{{Name: "orders", Partitions: make([]translate.Partition, 3)}},
		groups: []groupcoord.Overview{{Name: "billing", State: "Stable", Type: "consumer", Members: 2}},
		lags: map[string]gateway.GroupLag{
			"billing": {Partitions: 4, Unknown: 1, Records: 1500, WorstRecords: 900, Worst: groupcoord.TopicPartition{Topic: "orders", Partition: 2}},
			"gone":    {Partitions: 1, Records: 0, Worst: groupcoord.TopicPartition{Topic: "orders"}},
		},
	}
	f.errors.Observe(dis.Call{
		Operation: "PutRecords", Stream: "orders", HTTPStatus: 403, Code: "DIS.4116", RequestID: "req-1",
		Err: &dis.Error{Operation: "PutRecords", HTTPStatus: 403, Code: "DIS.4116", Message: "no permission", RequestID: "req-1"},
	})
	_, page := get(t, f.status(), "/")
	for _, wanted := range []string{
		"Ready, but degraded", "DIS has refused every write to orders for 45s", "1.2.3", "0.0.0.0:9092", "kafka.example:9092",
		"192.0.2.9:4711", "billing-1", "librdkafka", "2.6.1", "12\u2009345", "1 h 0 min ago", "Fetch, 0 s ago",
		">orders<", ">billing<", "Stable", "KIP-848", "1\u2009500", "+ 1 unknown", "2: 900", ">gone<", "Empty",
		"PutRecords", "DIS.4116", "no permission", "req-1",
	} {
		if !strings.Contains(page, wanted) {
			t.Errorf("the page does not show %q", wanted)
		}
	}
	f.notReady = "DIS refuses the gateway"
	if _, page = get(t, f.status(), "/"); !strings.Contains(page, "Not ready") || !strings.Contains(page, f.notReady) {
		t.Error("the page does not tell that the gateway is not ready, or why")
	}
}

// hostile is a name that would be markup, and would turn the text around behind it.
const hostile = "<script>alert(1)</script>\"'&\u202e\x00\xff"

// TestNamesAreText wherever clients or DIS choose them.
func TestNamesAreText(t *testing.T) {
	f := &fake{
		notReady: hostile,
		degraded: []string{hostile},
		clients:  []gateway.ClientInfo{{ClientID: hostile, Software: hostile, Version: hostile}},
		topics:   []*translate.Topic{{Name: hostile}},
		groups:   []groupcoord.Overview{{Name: hostile}},
		lags:     map[string]gateway.GroupLag{hostile: {Partitions: 1, WorstRecords: 1, Worst: groupcoord.TopicPartition{Topic: hostile}}},
	}
	f.errors.Observe(dis.Call{Stream: hostile, RequestID: hostile, Err: &dis.Error{Code: hostile, Message: hostile}})
	_, page := get(t, f.status(), "/")
	if found := regexp.MustCompile(`<script[^>]*>`).FindAllString(page, -1); len(found) != 1 || !strings.Contains(found[0], `src="/status.js"`) {
		t.Errorf("scripts in the page: %q", found)
	}
	if n := strings.Count(page, "&lt;script&gt;alert(1)&lt;/script&gt;"); n < 11 {
		t.Errorf("the name is shown %d times as text", n)
	}
	_, data := get(t, f.status(), "/status.json")
	for what, text := range map[string]string{"page": page, "JSON": data} {
		if strings.ContainsAny(text, "\u202e\x00") || !utf8.ValidString(text) || strings.Contains(text, `\u202e`) || strings.Contains(text, `\u0000`) {
			t.Errorf("the %s has control characters of a name", what)
		}
	}
}

// TestPolicy: the browser is told to load nothing from elsewhere, and the page asks
// for nothing of the kind.
func TestPolicy(t *testing.T) {
	s := (&fake{}).status()
	for path, kind := range map[string]string{
		"/": "text/html", "/status.json": "application/json", "/status.css": "text/css", "/status.js": "text/javascript",
	} {
		header, body := get(t, s, path)
		if policy := header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") ||
			strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "http") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if !strings.HasPrefix(header.Get("Content-Type"), kind) || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", path, header)
		}
		if strings.Contains(body, "http://") || strings.Contains(body, "https://") || strings.Contains(body, "//cdn") {
			t.Errorf("%s names another address", path)
		}
	}
	mux := http.NewServeMux()
	s.Register(mux)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/nothing", nil))
	if answer.Code != http.StatusNotFound {
		t.Errorf("an unknown page: %d", answer.Code)
	}
}

// TestListsAreBounded: with thousands of everything the page is as large as with a
// hundred, says what is left out, and leaves out what matters least.
func TestListsAreBounded(t *testing.T) {
	const all = 5000
	f := crowded(all)
	for i := range 3 * maxShown {
		f.errors.Observe(dis.Call{Operation: "GetRecords", Stream: "s", Err: &dis.Error{Code: "DIS.4301", Message: strings.Repeat("x", i)}})
	}
	s := f.status()
	shot := s.Snapshot()
	for what, list := range map[string][3]int{
		"clients": {shot.Clients.Total, shot.Clients.LeftOut, len(shot.Clients.Items)},
		"topics":  {shot.Topics.Total, shot.Topics.LeftOut, len(shot.Topics.Items)},
		"groups":  {shot.Groups.Total, shot.Groups.LeftOut, len(shot.Groups.Items)},
	} {
		if list != [3]int{all, all - maxShown, maxShown} {
			t.Errorf("%s: total, left out, shown: %v", what, list)
		}
	}
	if shot.Errors.Total != 3*maxShown || len(shot.Errors.Items) != maxShown {
		t.Errorf("errors: %d of %d", len(shot.Errors.Items), shot.Errors.Total)
	}
	if first := shot.Groups.Items[0]; first.Lag.Records != all-1 {
		t.Errorf("the first group is %+v, not the one that is furthest behind", first)
	}
	_, page := get(t, s, "/")
	if len(page) > 200<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if n := strings.Count(page, "4\u2009900 more"); n != 3 {
		t.Errorf("the page says %d times how many are left out", n)
	}
}

// TestManyWatchersCostOneLook: the state is gathered once a second, whoever asks.
func TestManyWatchersCostOneLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := f.status()
		for range 100 {
			s.Snapshot()
		}
		if f.gathered != 1 {
			t.Errorf("gathered %d times in a moment", f.gathered)
		}
		time.Sleep(freshFor)
		s.Snapshot()
		if f.gathered != 2 {
			t.Errorf("gathered %d times after a second", f.gathered)
		}
	})
}

// TestRates: they come up with the traffic and go back to nothing after it, also for
// a topic that is created again.
func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{topics: []*translate.Topic{{Name: "orders"}, {Name: "quiet"}}}
		s := f.status()
		running := make(chan struct{})
		go func() { defer close(running); s.Run(t.Context()) }()
		t.Cleanup(func() { <-running })
		look := func() Topic {
			time.Sleep(freshFor)
			synctest.Wait()
			return s.Snapshot().Topics.Items[0]
		}
		if got := look(); got.Name != "orders" || got.In != (Rate{}) || got.Out != (Rate{}) {
			t.Errorf("before any traffic: %+v", got)
		}
		for i := range int64(20) {
			f.carries(gateway.TopicTraffic{Topic: "orders", StoredRecords: 100 * i, StoredBytes: 5000 * i, FetchedRecords: 10 * i, FetchedBytes: 700 * i})
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if got := look(); got.In.Records < 90 || got.In.Records > 101 || got.In.Bytes < 4500 || got.In.Bytes > 5050 || got.Out.Records < 9 || got.Out.Bytes < 630 {
			t.Errorf("under 100 records/s: %+v", got)
		}
		time.Sleep(rateWindow + 2*rateEvery)
		if got := look(); got.In != (Rate{}) || got.Out != (Rate{}) {
			t.Errorf("after the traffic: %+v", got)
		}
		f.carries(gateway.TopicTraffic{Topic: "orders", StoredRecords: 5})
		time.Sleep(rateEvery)
		if got := look(); got.In.Records < 0 || got.Out.Records < 0 {
			t.Errorf("after the topic began anew: %+v", got)
		}
	})
}

// TestErrorsOfAnOutageAreOneEntry, which leaves the others in place and comes first.
func TestErrorsOfAnOutageAreOneEntry(t *testing.T) {
	var e Errors
	throttled := dis.Call{Operation: "PutRecords", Stream: "s", HTTPStatus: 200, Records: 3, Refused: 1, RefusalCode: "DIS.4303", RefusalMessage: "slow down", RequestID: "a"}
	e.Observe(throttled)
	for _, id := range []string{"b", "c", "d"} {
		e.Observe(dis.Call{Operation: "ListStreams", HTTPStatus: 503, RequestID: id, Err: &dis.Error{HTTPStatus: 503, Message: "busy"}})
	}
	list := e.list()
	if len(list.Items) != 2 || list.Total != 2 {
		t.Fatalf("%d entries: %+v", len(list.Items), list.Items)
	}
	if got := list.Items[0]; got.Operation != "ListStreams" || got.Count != 3 || got.RequestID != "d" || got.HTTPStatus != 503 || got.Message != "busy" {
		t.Errorf("the latest: %+v", got)
	}
	if got := list.Items[1]; got.Code != "DIS.4303" || got.Message != "slow down" || got.Stream != "s" || got.Count != 1 {
		t.Errorf("the other: %+v", got)
	}
	e.Observe(throttled)
	if list = e.list(); list.Items[0].Code != "DIS.4303" || list.Items[0].Count != 2 {
		t.Errorf("an entry that comes again: %+v", list.Items[0])
	}
}

// TestNormalAnswersAreNoErrors: no such topic yet, nothing committed yet, and calls
// that were given up.
func TestNormalAnswersAreNoErrors(t *testing.T) {
	var e Errors
	answer := func(operation, code string) {
		e.Observe(dis.Call{Operation: operation, HTTPStatus: 400, Code: code, Err: &dis.Error{HTTPStatus: 400, Code: code}})
	}
	for operation, codes := range answers {
		for _, code := range codes {
			answer(operation, code)
		}
	}
	answer("DescribeStream", "DIS.4301")
	e.Observe(dis.Call{Operation: "GetRecords", Err: &dis.Error{Err: context.Canceled}})
	e.Observe(dis.Call{Operation: "PutRecords", HTTPStatus: 200, Records: 3})
	if list := e.list(); list.Total != 0 || len(list.Items) != 0 {
		t.Errorf("%+v", list.Items)
	}
	for i, operation := range []string{"PutRecords", "GetCursor", "GetRecords", "CommitCheckpoint", "DeleteStream"} {
		answer(operation, "DIS.4301")
		if list := e.list(); list.Total != i+1 || list.Items[0].Operation != operation {
			t.Errorf("a stream that is gone, as %s says: %+v", operation, list.Items)
		}
	}
}

const documentPath = "../../docs/status-page.md"

// TestDocumentNamesEveryField of the JSON, and no other.
func TestDocumentNamesEveryField(t *testing.T) {
	f := crowded(1)
	f.listeners = []gateway.ListenerInfo{{Address: "a", Advertised: "b"}}
	f.notReady, f.degraded = "no", []string{"x"}
	f.errors.Observe(dis.Call{Operation: "ListStreams", Err: &dis.Error{}})
	_, text := get(t, f.status(), "/status.json")
	var shot any
	if err := json.Unmarshal([]byte(text), &shot); err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	collect(shot, "", fields)
	document, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(document), -1) {
		documented[row[1]] = true
	}
	for field := range fields {
		if !documented[field] {
			t.Errorf("%s does not describe %s", documentPath, field)
		}
	}
	for field := range documented {
		if !fields[field] {
			t.Errorf("%s describes %s, which is not there", documentPath, field)
		}
	}
}

// collect names the fields of an object, with those of objects in it behind dots and
// of those in lists behind brackets.
func collect(value any, path string, to map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			to[at] = true
			collect(inner, at, to)
		}
	case []any:
		for _, inner := range v {
			collect(inner, path+"[]", to)
		}
	}
}
