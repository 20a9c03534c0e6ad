package gateway

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// frame makes a frame by hand.
func frame(length int32, key, version int16, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(length))
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	return append(b, rest...)
}

// noise is 1 MB of random bytes whose first four are no valid frame length.
func noise() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 1<<20)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	b[0] |= 0x80
	return b
}

func TestBadInputEndsItsConnectionAlone(t *testing.T) {
	for _, c := range []struct {
		name    string
		input   []byte
		closing bool // the client closes after the input
		says    string
	}{
		{"random bytes", noise(), false, "frame length -"},
		{"HTTP request", []byte("GET / HTTP/1.1\r\nHost: localhost:9092\r\n\r\n"), false, "looks like an HTTP request"},
		{"HTTP POST", []byte("POST /topics HTTP/1.1\r\n\r\n"), false, "looks like an HTTP request"},
		{"TLS hello", []byte{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03}, false, "looks like a TLS hello"},
		{"length 2^31-1", frame(1<<31-1, 3, 9), false, "frame length 2147483647 is outside"},
		{"length 0", []byte{0, 0, 0, 0}, false, "frame length 0 is outside"},
		{"frame cut in the middle", frame(200, 3, 9, 0, 0, 0, 1, 0, 4, 'c', 'u', 't'), true, "the peer closed after 13 bytes of a frame of 200 bytes"},
		{"length cut in the middle", []byte{0, 0}, true, "the peer closed after 2 bytes of a frame length"},
		{"unknown API key", frame(10, 999, 0, 0, 0, 0, 1, 0xff, 0xff), false, "unknown API key 999"},
		{"login", frame(19, 17, 1, 0, 0, 0, 1, 0xff, 0xff, 0, 5, 'P', 'L', 'A', 'I', 'N'), false,
			"SaslHandshake (API key 17): the client wants to log in, and there is no authentication of clients; its setting is security.protocol=PLAINTEXT, without SASL"},
		{"login, second step", frame(14, 36, 0, 0, 0, 0, 1, 0xff, 0xff, 0, 0, 0, 0), false, "SaslAuthenticate (API key 36): the client wants to log in"},
		{"an API between brokers", frame(10, 4, 7, 0, 0, 0, 1, 0xff, 0xff), false, "LeaderAndISR (API key 4), version 7, is not served"},
		{"version too high", frame(10, 3, 99, 0, 0, 0, 1, 0xff, 0xff), false, "Metadata version 99; this gateway speaks 0 to 13"},
		{"version below zero", frame(10, 0, -1, 0, 0, 0, 1, 0xff, 0xff), false, "Produce version -1"},
		{"too large for its API", frame(17<<20, 3, 9), false, "Metadata request of 17825792 bytes; the limit is"},
		{"client id beyond the frame", frame(10, 18, 0, 0, 0, 0, 1, 0x7f, 0xff), false, "client id of 32767 bytes"},
		{"broken tagged fields", frame(12, 18, 3, 0, 0, 0, 1, 0xff, 0xff, 0x05, 0x01), false, "tagged fields"},
		{"body cut short", frame(12, 3, 1, 0, 0, 0, 1, 0xff, 0xff, 0, 0), false, "malformed Metadata request, version 1: request did not contain enough data"},
		{"array longer than the body", frame(14, 3, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff), false, "malformed Metadata request, version 1"},
		{"follower fetch", newClientFrame(fetchByReplica()), false, "no broker to replicate from"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			address := b.listen()
			bystander := dial(t, address)
			bystander.ask(metadataFor(9, "t"))

			bad := dial(t, address)
			bad.patience(5 * time.Second)
			bad.nc.Write(c.input) // the server may close before it has read all
			if c.closing {
				bad.nc.(*net.TCPConn).CloseWrite()
			}
			bystander.ask(metadataFor(9, "t"))
			bad.closed()
			bystander.ask(metadataFor(9, "t"))

			lines := b.lines.all()
			if len(lines) != 1 || !strings.Contains(lines[0], c.says) || !strings.Contains(lines[0], bad.nc.LocalAddr().String()) {
				t.Errorf("log %q, want one line with the peer's address that says %q", lines, c.says)
			}
		})
	}
}

func fetchByReplica() *kmsg.FetchRequest {
	req := fetchFrom(11, "t", 0, 0)
	req.ReplicaID = 2
	return req
}

func newClientFrame(req kmsg.Request) []byte { return (&client{}).encode(req) }

func TestPanicEndsItsConnectionAlone(t *testing.T) {
	b := newBench(t)
	b.catalog.lookup = panicOn("boom")
	address := b.listen()
	bystander := dial(t, address)
	for _, req := range []kmsg.Request{metadataFor(9, "boom"), metadataFor(9, "t", "boom"), fetchFrom(11, "boom", 0, 0), produceTo("boom", 0, 1, nil)} {
		bad := dial(t, address)
		bad.patience(5 * time.Second)
		bad.send(req)
		bad.closed()
		bystander.ask(metadataFor(9, "t"))
	}
	lines := b.lines.all()
	if len(lines) != 4 {
		t.Fatalf("log %q, want 4 lines", lines)
	}
	for _, line := range lines {
		if !strings.Contains(line, "as ordered") || !strings.Contains(line, "goroutine ") || !strings.Contains(line, `"level":"error"`) {
			t.Errorf("the line lacks panic, stack or level: %s", line)
		}
	}
	b.log.mu.Lock()
	defer b.log.mu.Unlock()
	if b.log.reserved() != 0 {
		t.Errorf("%d bytes of the produce buffer are lost", b.log.reserved())
	}
}
