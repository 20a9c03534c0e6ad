package oracle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// patience is how long an answer may take before the scenario gives up:
	// longer than the session and rebalance timeouts of scenarios.
	patience = 30 * time.Second

	// maxPending is how many requests of a connection may wait for their answers.
	maxPending = 100

	correlationID = 7
)

// Conn is a connection with a name. It connects when it is first used, and again
// when it is used after the server has closed it.
type Conn struct {
	r      *Run
	name   string
	socket net.Conn
	queue  chan *Pending // requests of the socket, in order
}

// Conn makes a connection, whose name is also its client id.
func (r *Run) Conn(name string) *Conn {
	c := &Conn{r: r, name: name}
	r.conns = append(r.conns, c)
	return c
}

// Close hangs up, as a client that dies does.
func (c *Conn) Close() {
	if c.socket != nil {
		_ = c.socket.Close() // nothing can be lost with a connection that is given up
		close(c.queue)
		c.socket = nil
	}
}

func (c *Conn) dial() {
	if c.socket != nil {
		return
	}
	socket, err := net.DialTimeout("tcp", c.r.address, patience)
	if err != nil {
		c.r.Fatalf("connection %s: %v", c.name, err)
	}
	c.socket, c.queue = socket, make(chan *Pending, maxPending)
	queue := c.queue
	c.r.closed.Go(func() {
		for p := range queue {
			frame, err := readFrame(socket)
			p.answer <- answer{frame, err}
		}
	})
}

func readFrame(socket net.Conn) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(socket, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(socket, frame)
	return frame, err
}

// Pending is a request whose answer is to come.
type Pending struct {
	conn   *Conn
	label  string
	req    kmsg.Request // nil for bytes
	from   int64        // lowest offset of the records that are shown
	answer chan answer
	got    answer
}

type answer struct {
	frame []byte
	err   error
}

// Begin sends a request and returns at once. The label becomes a step when the
// answer is waited for; "" is not written down. Answers of one connection come
// in the order of its requests.
func (c *Conn) Begin(label string, req kmsg.Request) *Pending {
	return c.begin(label, req, c.frame(req))
}

func (c *Conn) frame(req kmsg.Request) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID(c.name)).AppendRequest(nil, req, correlationID)
}

func (c *Conn) begin(label string, req kmsg.Request, frame []byte) *Pending {
	c.dial()
	p := &Pending{conn: c, label: label, req: req, answer: make(chan answer, 1)}
	// A failure to write shows when the answer is read: the server has closed.
	_, _ = c.socket.Write(frame)
	c.queue <- p
	return p
}

// Send sends a request that gets no answer, as Produce with acks=0.
func (c *Conn) Send(req kmsg.Request) {
	c.dial()
	if _, err := c.socket.Write(c.frame(req)); err != nil {
		c.r.Fatalf("connection %s: %v", c.name, err)
	}
}

// Ask sends a request, waits for the answer and writes it down as a step; a
// label of "" writes nothing. It returns nil when the server closes the
// connection instead.
func (c *Conn) Ask(label string, req kmsg.Request) kmsg.Response { return c.Begin(label, req).Wait() }

// Raw sends a frame of any bytes; its length goes before it. What is written down
// is whether the server closes the connection, or the answer in hexadecimal.
func (c *Conn) Raw(label string, frame []byte) {
	c.begin(label, nil, append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)).Wait()
}

// RawAsk sends a frame of any bytes in place of the request, whose answer it
// expects.
func (c *Conn) RawAsk(label string, frame []byte, like kmsg.Request) kmsg.Response {
	return c.begin(label, like, append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)).Wait()
}

// Waits reports whether there is no answer within d.
func (p *Pending) Waits(d time.Duration) bool {
	select {
	case a := <-p.answer:
		p.answer <- a
		return false
	case <-time.After(d):
		return true
	}
}

// Wait waits for the answer and writes it down as a step. It returns nil when
// the server closes the connection instead.
func (p *Pending) Wait() kmsg.Response {
	resp := p.settle(p.await())
	if p.label != "" {
		p.conn.r.step(p.label, p.show(resp))
	}
	return resp
}

func (p *Pending) await() (a answer) {
	select {
	case a = <-p.answer:
	case <-time.After(patience):
		p.conn.r.Fatalf("no answer to %q within %s", p.label, patience)
	}
	return a
}

// settle takes note of the answer, and makes the response of it if it is one.
func (p *Pending) settle(a answer) kmsg.Response {
	if p.got = a; a.err != nil {
		p.conn.Close()
		return nil
	}
	if p.req == nil {
		return nil
	}
	resp, err := decode(p.req, a.frame)
	if err != nil {
		p.conn.r.Fatalf("the answer to %q does not decode: %v", p.label, err)
	}
	return resp
}

// show writes down the answer that settle has got.
func (p *Pending) show(resp kmsg.Response) []string {
	c := p.conn
	switch {
	case errors.Is(p.got.err, net.ErrClosed):
		return []string{c.name + ": hung up"}
	case p.got.err != nil:
		return []string{c.name + ": connection closed"}
	case resp == nil:
		return []string{fmt.Sprintf("%s: answer 0x%x", c.name, p.got.frame)}
	}
	return c.r.describe(c.name, resp, p.from)
}

func decode(req kmsg.Request, frame []byte) (kmsg.Response, error) {
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if len(frame) < 4 || binary.BigEndian.Uint32(frame) != correlationID {
		return nil, fmt.Errorf("%T begins with % x, not with the correlation id", resp, frame[:min(4, len(frame))])
	}
	body := frame[4:]
	// The header of ApiVersions answers never has tags, so that any client can
	// read them (KIP-511).
	if req.IsFlexible() && req.Key() != kmsg.ApiVersions.Int16() {
		body = body[1:]
	}
	const unsupportedVersion = 35
	if resp.Key() == kmsg.ApiVersions.Int16() && binary.BigEndian.Uint16(body) == unsupportedVersion {
		resp.SetVersion(0) // the one that any client reads (KIP-511)
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%T version %d: %w", resp, resp.GetVersion(), err)
	}
	return resp, nil
}
