package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// rawRequest sends text to an address and gives the status of the answer, and whether
// the server then closes the connection by itself.
func rawRequest(t *testing.T, address, text string) (status int, closed bool) {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(nc, text); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(nc)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatalf("%.60q: %v", text, err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatalf("%.60q: %v", text, err)
	}
	if !resp.Close {
		return resp.StatusCode, false
	}
	_, err = reader.ReadByte()
	return resp.StatusCode, err == io.EOF
}

func adminAt(t *testing.T, address string) *adminServer {
	t.Helper()
	admin, err := listenAdmin(address, testPages(func() string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.close(); err != nil {
			t.Error(err)
		}
	})
	return admin
}

// TestForeignNamesOnLoopback: what a browser asks for in the name of some site gets
// nothing of what listens on this machine alone.
func TestForeignNamesOnLoopback(t *testing.T) {
	address := adminAt(t, "localhost:0").address().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:" + port: 200, "127.0.0.1:" + port: 200, "[::1]:" + port: 200, "[::1]": 200, "gateway": 200,
		"gateway.localhost": 200, "host.docker.internal:9644": 200, "localhost.": 200, "": 200,
		"evil.example": 421, "evil.example:" + port: 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "evil.example.": 421,
	} {
		for _, page := range []string{"/metrics", "/readyz", "/debug/pprof/"} {
			if status, _ := rawRequest(t, address, "GET "+page+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); status != want {
				t.Errorf("%s of %q: %d, want %d", page, host, status, want)
			}
		}
	}
	if status, _ := rawRequest(t, address, "GET /metrics HTTP/1.0\r\n\r\n"); status != 200 {
		t.Errorf("HTTP/1.0 without a name: %d", status)
	}
	if status, _ := rawRequest(t, adminAt(t, ":0").address().String(), "GET /metrics HTTP/1.1\r\nHost: gateway.example\r\n\r\n"); status != 200 {
		t.Errorf("on every interface: %d", status)
	}
}

// TestTheNameOfTheSetting is one of this machine, whoever owns it.
func TestTheNameOfTheSetting(t *testing.T) {
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for host, want := range map[string]int{"gw.example:9644": 200, "GW.EXAMPLE": 200, "other.example": 421} {
		if status := statusOf(localNames("gw.example", next), host); status != want {
			t.Errorf("%s: %d, want %d", host, status, want)
		}
	}
}

func statusOf(h http.Handler, host string) int {
	seen := &statusOnly{header: http.Header{}, status: http.StatusOK}
	h.ServeHTTP(seen, &http.Request{Host: host})
	return seen.status
}

type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }

// TestBodiesAreNotWaitedFor: the answer comes before the body, and the connection ends
// with it.
func TestBodiesAreNotWaitedFor(t *testing.T) {
	address := adminAt(t, "127.0.0.1:0").address().String()
	for _, c := range []struct {
		method, head string
		status       int
	}{
		{"GET", "Content-Length: 1000", 200},
		{"GET", "Transfer-Encoding: chunked", 200},
		{"POST", "Content-Length: 1000", 405},
		{"POST", "Content-Length: 1000000000000", 405},
	} {
		began := time.Now()
		status, closed := rawRequest(t, address, fmt.Sprintf("%s /metrics HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", c.method, c.head))
		if status != c.status || !closed {
			t.Errorf("%s with %s: %d, closed: %v", c.method, c.head, status, closed)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s with %s took %s", c.method, c.head, took)
		}
	}
}

func TestLongHeadersAreRefused(t *testing.T) {
	address := adminAt(t, "127.0.0.1:0").address().String()
	for size, want := range map[int]int{40 << 10: 200, 200 << 10: 431} {
		if status, _ := rawRequest(t, address, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nCookie: "+strings.Repeat("c", size)+"\r\n\r\n"); status != want {
			t.Errorf("%d bytes: %d, want %d", size, status, want)
		}
	}
}
