package e2e

import (
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// wireClient speaks the protocol itself, at the version that a request names,
// for what no client would send.
type wireClient struct {
	t    testing.TB
	conn net.Conn
}

func dialWire(t testing.TB, address string) wireClient {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return wireClient{t, conn}
}

// ask sends a request and reads its reply. Both have a header without tags, or
// an empty one with, as the version wants it.
func (c wireClient) ask(req kmsg.Request) kmsg.Response {
	c.t.Helper()
	formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID("wire"))
	if err := c.conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.conn.Write(formatter.AppendRequest(nil, req, 7)); err != nil {
		c.t.Fatal(err)
	}
	frame, err := readReply(c.conn)
	if err != nil {
		c.t.Fatalf("reply to %T version %d: %v", req, req.GetVersion(), err)
	}
	body := frame[4:] // correlation id
	if req.IsFlexible() {
		body = body[1:] // no tags
	}
	resp := req.ResponseKind()
	if err := resp.ReadFrom(body); err != nil {
		c.t.Fatalf("reply to %T version %d: %v", req, req.GetVersion(), err)
	}
	return resp
}
