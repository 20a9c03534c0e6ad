package e2e

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestBadInput sends what does not belong on a Kafka port. Each ends its own
// connection with one log line; a client at work meanwhile notices nothing, and
// no goroutine is left behind.
func TestBadInput(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:1", "--admin-listen", "127.0.0.1:0")
	admin := waitForPrefix(t, d.stdout, "Admin ", startTimeout)
	worker := startWorker(t, d.kafka)
	eventually(t, 10*time.Second, "the worker to be at work", func() string { return worker.progress(20) })
	linesBefore := len(d.stderr.all())

	if len(connectionGoroutines(t, admin)) == 0 {
		t.Fatal("no goroutine serves the worker: the profile does not show what is looked for")
	}

	cases := badInputs()
	for i, c := range cases {
		done := worker.count.Load()
		sendBytes(t, d.kafka, c.bytes, c.hangUp)
		eventually(t, 10*time.Second, "one log line for "+c.name, func() string {
			if got := len(d.stderr.all()) - linesBefore; got != i+1 {
				return fmt.Sprintf("%d lines instead of %d:\n%s", got, i+1, d.stderr)
			}
			return ""
		})
		eventually(t, 10*time.Second, "the worker to go on after "+c.name, func() string { return worker.progress(done + 5) })
	}

	worker.stop()
	eventually(t, 20*time.Second, "the goroutines of all connections to end", func() string {
		return strings.Join(connectionGoroutines(t, admin), "\n\n")
	})
	if got := len(d.stderr.all()) - linesBefore; got != len(cases) {
		t.Errorf("%d log lines for %d bad inputs:\n%s", got, len(cases), d.stderr)
	}
}

type badInput struct {
	name   string
	bytes  []byte
	hangUp bool // the client goes away itself, after the bytes
}

func badInputs() []badInput {
	random := make([]byte, 1<<20)
	source := rand.NewChaCha8([32]byte{7: 42})
	source.Read(random)
	return []badInput{
		{name: "1 MB of random bytes", bytes: random},
		{name: "an HTTP request", bytes: []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")},
		{name: "a TLS hello", bytes: []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")},
		{name: "a length of 2^31-1", bytes: []byte{0x7f, 0xff, 0xff, 0xff}},
		{name: "a negative length", bytes: []byte{0xff, 0xff, 0xff, 0xff}},
		{name: "a frame cut in the middle", bytes: requestFrame(3, 1, 200)[:60], hangUp: true},
		{name: "an unknown API key", bytes: requestFrame(999, 0, 10)},
		{name: "a version that is too high", bytes: requestFrame(3, 99, 10)},
		{name: "a body that does not decode", bytes: append(requestFrame(3, 1, 4)[:14], 0x7f, 0xff, 0xff, 0xff)},
	}
}

// requestFrame is a frame with a valid header (no client id) and a body of zeros.
func requestFrame(key, version int16, body int) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(10+body))
	frame = binary.BigEndian.AppendUint16(frame, uint16(key))
	frame = binary.BigEndian.AppendUint16(frame, uint16(version))
	frame = binary.BigEndian.AppendUint32(frame, 7)      // correlation id
	frame = binary.BigEndian.AppendUint16(frame, 0xffff) // client id: null
	return append(frame, make([]byte, body)...)
}

// sendBytes writes to the Kafka port and waits for the gateway to close.
func sendBytes(t *testing.T, address string, bytes []byte, hangUp bool) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The gateway may close before all is written: that is no mistake.
	_, _ = conn.Write(bytes)
	if hangUp {
		return
	}
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := io.Copy(io.Discard, conn); errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("the connection stays open after %d bad bytes", len(bytes))
	}
}

// connectionGoroutines are the stacks of the goroutines that serve a connection
// of a Kafka client or one of its requests. Their number is exact, unlike that of
// all goroutines, to which the connections to DIS belong that are kept open.
func connectionGoroutines(t *testing.T, admin string) (stacks []string) {
	t.Helper()
	answer, err := http.Get("http://" + admin + "/debug/pprof/goroutine?debug=2")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(string(all), "\n\n") {
		if strings.Contains(stack, "/gateway.(*conn)") || strings.Contains(stack, "/gateway.(*call)") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
