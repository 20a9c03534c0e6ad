package gateway

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// receive takes one request off the connection, from its first byte to the
// start of its handler.
func (c *conn) receive() error {
	c.allow(frameTime)
	p, err := readPrefix(c.src)
	if err != nil {
		return err
	}
	a, ok := c.server.apis[p.key]
	if !ok {
		return notServed(p)
	}
	if err := a.accepts(p); err != nil {
		return err
	}
	if err := c.pipe.waitForRoom(c.ctx, a.weight(p)); err != nil {
		return err
	}
	grow, release := c.room(a)
	k, req, err := c.readCall(a, p, grow)
	if err != nil {
		release()
		return err
	}
	k.release = release
	c.pipe.add(k.x)
	defer k.guard()
	a.start(k, req)
	return nil
}

// room is the produce-buffer space of a Produce frame: grow waits for more of it,
// before memory is spent. Only the connection that produces waits.
func (c *conn) room(a *api) (grow func(bytes int) error, release func()) {
	if a.key != kmsg.Produce {
		return func(int) error { return nil }, func() {}
	}
	room := c.server.parts.Produce.NewRoom()
	return func(bytes int) error { return room.Grow(c.waits, int64(bytes)) }, room.Release
}

// readFrame reads what follows the prefix. The peer has frameTime for it, in
// which the time that it had to wait for room does not count.
func (c *conn) readFrame(p prefix, grow func(bytes int) error) ([]byte, error) {
	begin := time.Now()
	return readRest(c.src, p, frameSteps{
		grow: func(bytes int) error {
			asked := time.Now()
			defer func() { begin = begin.Add(time.Since(asked)) }()
			return grow(bytes)
		},
		read: func() { c.allow(frameTime - time.Since(begin)) },
	})
}

func (c *conn) readCall(a *api, p prefix, grow func(bytes int) error) (*call, kmsg.Request, error) {
	rest, err := c.readFrame(p, grow)
	if err != nil {
		return nil, nil, err
	}
	header, req, err := c.decode(a, p, rest)
	if err != nil {
		return nil, nil, err
	}
	c.noteRequest(a, header.clientID)
	x := &exchange{api: a, version: p.version, correlation: header.correlation, bytes: a.weight(p), arrived: c.frameAt}
	return &call{conn: c, x: x, clientID: header.clientID, arrived: c.frameAt}, req, nil
}

// largeFrame is the size from which frames take turns to be decoded. A hostile
// one becomes many times its size before it can be refused.
const largeFrame = 64 << 10

// largeDecodes is how many of them are decoded at a time.
const largeDecodes = 2

func (c *conn) decode(a *api, p prefix, rest []byte) (requestHeader, kmsg.Request, error) {
	if p.length > largeFrame {
		c.server.decoding <- struct{}{} // decoding waits for nobody, so the turn comes soon
		defer func() { <-c.server.decoding }()
	}
	return a.decode(p, rest)
}
