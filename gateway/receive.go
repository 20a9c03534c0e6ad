package gateway

import "github.com/twmb/franz-go/pkg/kmsg"

// receive takes one request off the connection, from its first byte to the
// start of its handler.
func (c *conn) receive() error {
	c.allow(frameStall)
	p, err := readPrefix(c.src)
	if err != nil {
		return err
	}
	a, ok := c.server.apis[p.key]
	if !ok {
		return badFramef("unknown API key %d, version %d", p.key, p.version)
	}
	if err := a.accepts(p); err != nil {
		return err
	}
	if err := c.pipe.waitForRoom(c.ctx, a.weight(p)); err != nil {
		return err
	}
	release, err := c.reserve(a, p)
	if err != nil {
		return err
	}
	k, req, err := c.readCall(a, p)
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

// reserve waits for produce-buffer space for a Produce frame, before memory is
// spent on it. Only the connection that produces waits.
func (c *conn) reserve(a *api, p prefix) (release func(), err error) {
	if a.key != kmsg.Produce {
		return func() {}, nil
	}
	return c.server.parts.Produce.Reserve(c.waits, int64(p.length))
}

func (c *conn) readCall(a *api, p prefix) (*call, kmsg.Request, error) {
	rest, err := readRest(c.src, p, func() { c.allow(frameStall) })
	if err != nil {
		return nil, nil, err
	}
	header, req, err := c.decode(a, p, rest)
	if err != nil {
		return nil, nil, err
	}
	c.noteRequest(a, header.clientID)
	x := &exchange{api: a, version: p.version, correlation: header.correlation, bytes: a.weight(p)}
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
