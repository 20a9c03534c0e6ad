package embedded

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDirVariable); dir != "" {
		crashingChild(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// testClock is a clock that only tests move.
type testClock struct{ ms atomic.Int64 }

func newTestClock() *testClock {
	c := &testClock{}
	c.ms.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *testClock) now() time.Time          { return time.UnixMilli(c.ms.Load()) }
func (c *testClock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// service is an embedded DIS behind a real socket, with a client that signs by
// itself.
type service struct {
	t      testing.TB
	server *Server
	http   *httptest.Server
	clock  *testClock
	config Config
}

func startService(t testing.TB, adjust ...func(*Config)) *service {
	t.Helper()
	clock := newTestClock()
	config := Config{
		DataDir:    t.TempDir(),
		ProjectID:  DevProjectID,
		Region:     DevRegion,
		AccessKeys: map[string]string{DevAccessKey: DevSecretKey},
		Now:        clock.now,
	}
	for _, change := range adjust {
		change(&config)
	}
	s := &service{t: t, clock: clock, config: config}
	s.open()
	t.Cleanup(s.close)
	return s
}

func (s *service) open() {
	s.t.Helper()
	server, err := Open(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.server, s.http = server, httptest.NewServer(server.Handler())
}

func (s *service) close() {
	s.t.Helper()
	s.http.Client().CloseIdleConnections()
	s.http.Close()
	if err := s.server.Close(); err != nil {
		s.t.Errorf("close: %v", err)
	}
}

func (s *service) reopen() {
	s.t.Helper()
	s.close()
	s.open()
}

// answer is what came back for a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call sends a signed request. The path is that behind the project; the body
// is nil, a string that is sent as it is, or a value that is sent as JSON.
func (s *service) call(method, path string, query string, body any) answer {
	s.t.Helper()
	return s.send(s.request(method, "/v2/"+DevProjectID+"/"+path, query, body))
}

func (s *service) request(method, path, query string, body any) *http.Request {
	s.t.Helper()
	var content []byte
	switch b := body.(type) {
	case nil:
	case string:
		content = []byte(b)
	default:
		var err error
		if content, err = json.Marshal(b); err != nil {
			s.t.Fatal(err)
		}
	}
	target := s.http.URL + path
	if query != "" {
		target += "?" + query
	}
	r, err := http.NewRequest(method, target, bytes.NewReader(content))
	if err != nil {
		s.t.Fatal(err)
	}
	signScoped(r, content, DevAccessKey, DevSecretKey, DevRegion, s.clock.now())
	return r
}

func (s *service) send(r *http.Request) answer {
	s.t.Helper()
	response, err := s.http.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, body}
}

// signScoped signs as section "Authentication" of the API describes it for the
// Java SDK: every header, path as sent, raw query.
func signScoped(r *http.Request, body []byte, ak, sk, region string, now time.Time) {
	date := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Sdk-Date", date)
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	lines := []string{"host:" + r.URL.Host + "\n"}
	names := []string{"host"}
	for name := range r.Header {
		names = append(names, strings.ToLower(name))
		lines = append(lines, strings.ToLower(name)+":"+r.Header.Get(name)+"\n")
	}
	sort.Strings(names)
	sort.Strings(lines)
	var pairs []string
	for piece := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if piece == "" {
			continue
		}
		k, v, _ := strings.Cut(piece, "=")
		if plain, err := url.QueryUnescape(v); err == nil {
			v = plain
		}
		pairs = append(pairs, url.QueryEscape(k)+"="+strings.ReplaceAll(url.QueryEscape(v), "+", "%20"))
	}
	sort.Strings(pairs)
	hash := func(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:]) }
	mac := func(key []byte, text string) []byte {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(text))
		return m.Sum(nil)
	}
	canonical := fmt.Sprintf("%s\n%s\n%s\n%s\n%s\n%s", r.Method, r.URL.Path, strings.Join(pairs, "&"),
		strings.Join(lines, ""), strings.Join(names, ";"), hash(body))
	scope := date[:8] + "/" + region + "/dis/sdk_request"
	key := mac(mac(mac(mac([]byte("SDK"+sk), date[:8]), region), "dis"), "sdk_request")
	signature := hex.EncodeToString(mac(key, "SDK-HMAC-SHA256\n"+date+"\n"+scope+"\n"+hash([]byte(canonical))))
	r.Header.Set("Authorization", fmt.Sprintf("SDK-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
		ak, scope, strings.Join(names, ";"), signature))
}

// wants fails the test unless the answer has the status, and decodes its body.
func wants[T any](t testing.TB, a answer, status int) T {
	t.Helper()
	var value T
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if len(a.body) > 0 {
		if err := json.Unmarshal(a.body, &value); err != nil {
			t.Fatalf("decode %s: %v", a.body, err)
		}
	}
	return value
}

// empty is the body of answers that have none.
type empty struct{}

// wantsError fails the test unless the answer is that error in all four fields.
func wantsError(t testing.TB, a answer, status int, code, message string) {
	t.Helper()
	var body wire.ErrorBody
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatalf("status %d, decode %q: %v", a.status, a.body, err)
	}
	want := wire.ErrorBody{ErrorCode: code, Message: message, ErrorCodeV3: code, ErrorMsgV3: message}
	if a.status != status || body != want {
		t.Fatalf("got status %d %+v\nwant   %d %+v", a.status, body, status, want)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	if a.header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
}

func (s *service) createStream(name string, partitions int) {
	s.t.Helper()
	wants[empty](s.t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: name, PartitionCount: partitions}), 201)
}

func (s *service) createApp(name string) {
	s.t.Helper()
	wants[empty](s.t, s.call("POST", "apps", "", wire.CreateAppRequest{AppName: name}), 201)
}

func (s *service) describe(name string) wire.DescribeStreamResponse {
	s.t.Helper()
	return wants[wire.DescribeStreamResponse](s.t, s.call("GET", "streams/"+name, "", nil), 200)
}

// numbers is the sequence number range of a partition.
func (s *service) numbers(stream string, partition int) wire.SequenceRange {
	s.t.Helper()
	text := s.describe(stream).Partitions[partition].SequenceNumberRange
	if text == nil {
		s.t.Fatalf("partition %d of %s has no sequence numbers", partition, stream)
	}
	numbers, err := wire.ParseSequenceRange(*text)
	if err != nil {
		s.t.Fatal(err)
	}
	return numbers
}

// to is a record for a partition.
func to(partition int, data string) wire.PutRecord {
	return wire.PutRecord{Data: []byte(data), PartitionID: wire.Text(fmt.Sprint(partition))}
}

// at gives a record a time.
func at(ms int64, r wire.PutRecord) wire.PutRecord {
	r.Timestamp = &ms
	return r
}

func (s *service) put(stream string, records ...wire.PutRecord) wire.PutRecordsResponse {
	s.t.Helper()
	return wants[wire.PutRecordsResponse](s.t, s.call("POST", "records", "",
		wire.PutRecordsRequest{StreamName: stream, Records: records}), 200)
}

// cursorQuery asks for a cursor; more is appended.
func cursorQuery(stream string, partition int, kind wire.CursorType, more string) string {
	return fmt.Sprintf("stream-name=%s&partition-id=%d&cursor-type=%s%s", stream, partition, kind, more)
}

func (s *service) cursor(stream string, partition int, kind wire.CursorType, more string) string {
	s.t.Helper()
	return wants[wire.CursorResponse](s.t, s.call("GET", "cursors", cursorQuery(stream, partition, kind, more), nil), 200).PartitionCursor
}

func (s *service) get(cursor, more string) wire.GetRecordsResponse {
	s.t.Helper()
	return wants[wire.GetRecordsResponse](s.t, s.call("GET", "records", "partition-cursor="+cursor+more, nil), 200)
}

// readAll reads a partition from its oldest record to its end.
func (s *service) readAll(stream string, partition int) []wire.Record {
	s.t.Helper()
	cursor := s.cursor(stream, partition, wire.CursorTrimHorizon, "")
	var all []wire.Record
	for {
		page := s.get(cursor, "&limit=10000")
		if len(page.Records) == 0 {
			return all
		}
		all = append(all, page.Records...)
		cursor = page.NextPartitionCursor
	}
}
