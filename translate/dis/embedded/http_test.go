package embedded

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// The Java SDK ends paths with a slash, leaves values raw, ends the query with
// an ampersand and repeats the fields of the path in it.
func TestLoosePathsAndQueries(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	for _, query := range []string{
		"partition-id=shardId-0000000000&stream-name=s&cursor-type=LATEST&",
		"&&cursor-type=LATEST&unknown=%zz&stream-name=s&stream-id=&partition-id=0",
		"stream%2Dname=%73&partition-id=0&cursor-type=LATEST",
	} {
		for _, path := range []string{"cursors", "cursors/"} {
			r := s.request("GET", "/v2/local/"+path, "", nil)
			r.URL.RawQuery = query
			signScopedRaw(r, s.clock.now(), query)
			if a := s.send(r); a.status != 200 {
				t.Errorf("%s?%s: %d %s", path, query, a.status, a.body)
			}
		}
	}
	wants[empty](t, s.call("PUT", "streams/s/", "", wire.ChangePartitionCountRequest{StreamName: "s", TargetPartitionCount: 2}), 200)
	wants[wire.DescribeStreamResponse](t, s.call("GET", "streams/s/", "stream_name=s&start_partitionId=&limit_partitions=100&", nil), 200)
	wants[empty](t, s.call("DELETE", "streams/s/", "stream_name=s&", nil), 204)
}

// signScopedRaw signs a query that the harness cannot sign: its values are
// taken as they are, or decoded where they can be.
func signScopedRaw(r *http.Request, now time.Time, query string) {
	r.Header = http.Header{}
	signScoped(r, nil, DevAccessKey, DevSecretKey, DevRegion, now)
	if strings.Contains(query, "%2D") {
		again := r.Clone(context.Background())
		again.Header = http.Header{}
		again.URL.RawQuery = "stream-name=s&partition-id=0&cursor-type=LATEST"
		signScoped(again, nil, DevAccessKey, DevSecretKey, DevRegion, now)
		r.Header = again.Header
	}
}

func TestUnknownCalls(t *testing.T) {
	s := startService(t)
	for _, call := range []string{"GET /", "GET /v2/local", "GET /v1/local/streams", "PATCH /v2/local/streams", "GET /v2/local/streams/a/b", "GET /v2//streams"} {
		method, path, _ := strings.Cut(call, " ")
		wantsError(t, s.send(s.request(method, path, "", nil)), 404, "DIS.4200", fmt.Sprintf("API does not exist. [%s][%s]", method, path))
	}
}

func TestAuthenticationOverHTTP(t *testing.T) {
	s := startService(t, func(c *Config) { c.AuthStatus = statusAuthFailed41 })
	bare := s.request("GET", "/v2/local/streams", "", nil)
	bare.Header.Del("Authorization")
	wantsError(t, s.send(bare), 441, "DIS.4101", "Authorization header cannot be empty.")

	wrong := s.request("GET", "/v2/local/streams", "", nil)
	wrong.Header = http.Header{}
	signScoped(wrong, nil, DevAccessKey, "another", DevRegion, s.clock.now())
	wantsError(t, s.send(wrong), 441, "DIS.4112", "Authorization is invalid: the signature does not match. [dev]")

	late := s.request("GET", "/v2/local/streams", "", nil)
	s.clock.advance(15*time.Minute + time.Second)
	wantsError(t, s.send(late), 441, "DIS.4105", "X-Sdk-Date is invalid. ["+late.Header.Get("X-Sdk-Date")+"]")
}

// Every answer has a request id of its own and the type that the Java SDK needs.
func TestAnswerHeaders(t *testing.T) {
	s := startService(t)
	ids := map[string]bool{}
	for range 3 {
		a := s.call("GET", "streams", "", nil)
		ids[a.header.Get("X-Request-Id")] = true
		if got := a.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %q", got)
		}
	}
	if len(ids) != 3 || ids[""] {
		t.Errorf("request ids %v", ids)
	}
	created := s.call("POST", "apps", "", wire.CreateAppRequest{AppName: "g"})
	if got := created.header.Get("Content-Type"); got != "application/json" || created.header.Get("Content-Length") != "0" {
		t.Errorf("headers of an empty answer: %v", created.header)
	}
}

func TestBodyTooLarge(t *testing.T) {
	s := startService(t)
	want := fmt.Sprintf("Request entity too large. [body][%d]", maxBodyBytes)
	r := s.request("POST", "/v2/local/records", "", nil)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), maxBodyBytes+1
	connection := s.dial()
	fmt.Fprintf(connection, "POST /v2/local/records HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", maxBodyBytes+1)
	response, err := http.ReadResponse(bufio.NewReader(connection), r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	wantsError(t, answer{response.StatusCode, response.Header, body}, 413, "DIS.4200", want)

	chunked := s.request("POST", "/v2/local/records", "", nil)
	chunked.Body, chunked.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", maxBodyBytes+1))), -1
	wantsError(t, s.send(chunked), 413, "DIS.4200", want)
}

func (s *service) dial() net.Conn {
	s.t.Helper()
	connection, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = connection.Close() })
	return connection
}

func TestLatency(t *testing.T) {
	s := startService(t, func(c *Config) { c.Latency = 50 * time.Millisecond })
	start := time.Now()
	s.createStream("s", 1)
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("answered after %v", took)
	}
	s.put("s", to(0, "x"))
}

// A client that goes away ends the wait, and so does closing the server.
func TestLatencyEnds(t *testing.T) {
	s := startService(t, func(c *Config) { c.Latency = time.Hour })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.http.Client().Do(s.request("GET", "/v2/local/streams", "", nil).WithContext(ctx)); err == nil {
		t.Error("answered at once")
	}
	answered := make(chan int)
	go func() { answered <- s.call("GET", "streams", "", nil).status }()
	time.Sleep(20 * time.Millisecond) // so that the request is most likely waiting
	if err := s.server.Close(); err != nil {
		t.Error(err)
	}
	if status := <-answered; status != 200 && status != 503 {
		t.Errorf("status %d", status)
	}
}

func TestClosed(t *testing.T) {
	s := startService(t)
	if err := s.server.Close(); err != nil {
		t.Fatal(err)
	}
	wantsError(t, s.call("GET", "streams", "", nil), 503, "DIS.5000", "System error. [shutting down]")
	if err := s.server.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// A panic and a failure of the store answer 500 and leave the server working.
func TestFailuresInside(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	s.put("s", to(0, "x"))
	st, err := s.server.catalog.stream(DevProjectID, "s", "")
	if err != nil {
		t.Fatal(err)
	}
	cursor := s.cursor("s", 0, wire.CursorTrimHorizon, "")

	st.partitions[0].stored.Store(5) // records that are not there
	wantsError(t, s.call("GET", "records", "partition-cursor="+cursor, nil), 500, "DIS.5000", "System error.")
	st.partitions[0].stored.Store(1)

	partitions := st.partitions
	st.partitions = make([]*partition, 1) // a nil partition panics
	wantsError(t, s.call("GET", "records", "partition-cursor="+cursor, nil), 500, "DIS.5000", "System error.")
	st.partitions = partitions

	broken := fmt.Errorf("no space left on device")
	s.server.store.failed.Store(&broken)
	wantsError(t, s.call("POST", "records", "", wire.PutRecordsRequest{StreamName: "s", Records: []wire.PutRecord{to(0, "y")}}),
		500, "DIS.5000", "System error.")
	if got := s.readAll("s", 0); len(got) != 1 {
		t.Errorf("%d records are readable", len(got))
	}
}
