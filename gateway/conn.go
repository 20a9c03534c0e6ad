package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
)

// Ends of a connection that are nobody's fault and are not logged.
var (
	errPeerClosed = errors.New("the peer closed the connection")
	errIdle       = errors.New("idle for too long")
	errDrained    = errors.New("every reply was sent before the shutdown")
	errAborted    = errors.New("the server stopped")
)

// panicked is a bug that a request ran into.
type panicked struct {
	value any
	stack []byte
}

func (p panicked) Error() string { return "a request panicked" }

// asPanicked keeps the stack of a panic that was passed on.
func asPanicked(value any) panicked {
	if p, ok := value.(panicked); ok {
		return p
	}
	return panicked{value, debug.Stack()}
}

// conn is one client connection.
//
// Locks: mu guards only what its comment names and is never held while another
// lock is taken.
type conn struct {
	server   *Server
	id       int64 // counts from 1, and is never used again
	since    time.Time
	listener Listener
	nc       net.Conn
	src      *bufio.Reader
	frameAt  time.Time // when the frame at hand began to arrive; the reader's own
	pipe     *pipeline

	ctx    context.Context // ends with the connection, its cause says why
	cancel context.CancelCauseFunc
	// waits ends with ctx, or earlier when a shutdown releases what only waits.
	waits       context.Context
	stopWaiting context.CancelFunc

	produce, fetch lane
	lookups        lane                      // see maxLookupsOpen
	failedLookups  map[topicRef]failedLookup // used by the produce lane alone
	ending         sync.Once

	mu           sync.Mutex // guards the fields below
	noMoreFrames bool
	groupMember  bool // group requests came by: never muted
	mutedUntil   time.Time
	seen         seen
	lastReply    time.Time // when the last one was written
}

func newConn(s *Server, l Listener, nc net.Conn) *conn {
	c := &conn{
		server: s, id: s.connsEver.Add(1), since: time.Now(),
		listener: l, pipe: newPipeline(), lookups: lane{width: maxLookupsOpen},
	}
	c.nc = s.metrics.counted(nc)
	c.src = newFrameSource(c.nc)
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.waits, c.stopWaiting = context.WithCancel(c.ctx)
	return c
}

// run serves the connection until it ends.
func (c *conn) run() {
	writer := make(chan struct{})
	go func() {
		defer close(writer)
		defer c.recoverPanic(c.end)
		c.end(c.writeReplies())
	}()
	c.end(c.readRequests())
	<-writer
}

// readRequests is the reader; its error says why there are no more requests.
func (c *conn) readRequests() (err error) {
	defer c.recoverPanic(func(p error) { err = p })
	for {
		err := c.readRequest()
		if err == nil {
			continue
		}
		if c.stopped() {
			if err := c.pipe.waitEmpty(c.ctx); err != nil {
				return err
			}
			c.farewell()
			return errDrained
		}
		return err
	}
}

func (c *conn) readRequest() error {
	if err := c.awaitFrame(); err != nil {
		return err
	}
	if err := c.waitMuted(); err != nil {
		return err
	}
	return c.receive()
}

// awaitFrame waits for the first byte of a frame. While a reply is due the
// connection is not idle, however long that takes.
func (c *conn) awaitFrame() error {
	for {
		c.allow(c.server.cfg.IdleTimeout)
		_, err := c.src.Peek(1)
		switch {
		case c.stopped():
			return errDrained
		case err == nil:
			c.frameAt = time.Now()
			return nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return errPeerClosed
		case c.pipe.empty():
			return errIdle
		}
	}
}

// allow gives the peer so long for the next read.
func (c *conn) allow(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.noMoreFrames {
		c.nc.SetReadDeadline(time.Now().Add(d)) // fails only when closed, and then the read does too
	}
}

// stopReading makes the reader end after the frame that it has, and what only
// waits return; replies still leave.
func (c *conn) stopReading() {
	c.mu.Lock()
	c.noMoreFrames = true
	c.nc.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
	c.mu.Unlock()
	c.stopWaiting()
}

func (c *conn) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noMoreFrames
}

// farewellTime is how long a reply may be on its way to the client.
const farewellTime = time.Second

// farewell tells the client that nothing follows the last replies, and waits until it
// has closed too. A connection that is closed with requests unread, or that requests
// reach afterwards, is reset, and with it go replies that the client has not read: it
// would send again what is written. A client that has its replies for a while is
// not waited for.
func (c *conn) farewell() {
	c.mu.Lock()
	until := c.lastReply.Add(farewellTime)
	c.mu.Unlock()
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || time.Until(until) <= 0 || half.CloseWrite() != nil {
		return
	}
	c.nc.SetReadDeadline(until)
	_, _ = io.Copy(io.Discard, c.nc) // however it ends, the connection is closed next
}

// end closes the connection; the first cause counts. Closing with nothing left
// to read sends FIN, so that the client sees a clean end.
func (c *conn) end(cause error) {
	c.ending.Do(func() {
		c.cancel(cause)
		c.stopWaiting()
		c.logEnd(cause)
		c.nc.Close() // nothing depends on the outcome
	})
}

// recoverPanic, deferred, turns a panic into the end of this connection alone.
func (c *conn) recoverPanic(handle func(error)) {
	if value := recover(); value != nil {
		handle(asPanicked(value))
	}
}

// spawn runs work that belongs to this connection; a panic ends the connection.
func (c *conn) spawn(work func()) {
	c.server.tasks.Go(func() {
		defer c.recoverPanic(c.end)
		work()
	})
}

// client is who sits at the other end. The host has a slash before it, as in
// Kafka, whose tools show it so.
func (c *conn) client(id string) groupcoord.Client {
	host, _, err := net.SplitHostPort(c.nc.RemoteAddr().String())
	if err != nil {
		host = c.nc.RemoteAddr().String()
	}
	return groupcoord.Client{ID: id, Host: "/" + host}
}

// quiet are the ends that happen in normal operation.
func quiet(cause error) bool {
	for _, normal := range []error{errPeerClosed, errIdle, errDrained, errAborted, net.ErrClosed, io.EOF} {
		if errors.Is(cause, normal) {
			return true
		}
	}
	return false
}
