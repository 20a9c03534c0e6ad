package gateway

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// handler begins one request. It runs on the connection's reader, so requests
// reach it in the order in which the client sent them, and it must not wait.
// Each call is finished exactly once, now or later and from any goroutine.
type handler func(*call, kmsg.Request)

// call is one request on its way to a reply.
type call struct {
	conn     *conn
	x        *exchange
	clientID string
	arrived  time.Time
	// release gives the produce-buffer space of the frame back; nil but for
	// Produce.
	release func()
}

// reply answers at the version of the request.
func (c *call) reply(resp kmsg.Response) {
	resp.SetVersion(c.x.version)
	c.finish(resp, nil)
}

// silent finishes a request that gets no reply: Produce with acks=0.
func (c *call) silent() { c.finish(nil, nil) }

// fail closes the connection once the replies before this one have left.
func (c *call) fail(err error) { c.finish(nil, err) }

func (c *call) finish(resp kmsg.Response, err error) {
	if c.release != nil {
		c.release()
	}
	c.conn.pipe.finish(c.x, resp, err)
}

// turn tells when it was the call's turn on its connection, see pipeline.turn. It
// holds on to nothing of the request, which may be large.
func (c *call) turn() func() (time.Time, bool) {
	pipe, x := c.conn.pipe, c.x
	return func() (time.Time, bool) { return pipe.turn(x) }
}

// guard, deferred around a call's work, turns a panic into the end of the
// connection.
func (c *call) guard() {
	if value := recover(); value != nil {
		c.fail(asPanicked(value))
	}
}

// ctx ends with the connection.
func (c *call) ctx() context.Context { return dis.WithCallers(c.conn.ctx, c.caller()) }

// waits ends with the connection, or when a shutdown releases what only waits.
func (c *call) waits() context.Context { return dis.WithCallers(c.conn.waits, c.caller()) }

// detached is for work that goes on when its connection dies.
func (c *call) detached() context.Context { return dis.WithCallers(c.conn.server.life, c.caller()) }

// caller is what log lines call the request, here and of the calls that DIS gets
// because of it.
func (c *call) caller() dis.Caller {
	return c.conn.caller(c.x)
}

func (c *call) client() groupcoord.Client {
	client := c.conn.client(c.clientID)
	client.Request = groupcoord.Request(c.caller())
	return client
}

// broker is the address under which the client finds this gateway.
func (c *call) broker() (host string, port int32) {
	host, p := c.conn.listener.advertised(c.conn.nc.LocalAddr())
	return host, int32(p)
}

// atOnce answers on the reader what needs nobody else.
func atOnce[Q kmsg.Request](answer func(*call, Q) kmsg.Response) handler {
	return func(c *call, req kmsg.Request) { c.reply(answer(c, req.(Q))) }
}

// longestWait is the time to answer in, however long DIS takes or the client
// would wait: request timeouts of clients begin at 30 s.
const longestWait = 25 * time.Second

// shortestTry is left to a request whose turn came late.
const shortestTry = 5 * time.Second

// waiting answers in a goroutine of its own what may wait for DIS, but not
// longer than longestWait. An error closes the connection.
func waiting[Q kmsg.Request](answer func(context.Context, *call, Q) (kmsg.Response, error)) handler {
	return func(c *call, req kmsg.Request) {
		c.lookUp(func() {
			// Time spent in the queue counts, but what has had its turn gets a try.
			patience := max(longestWait-time.Since(c.arrived), shortestTry)
			ctx, cancel := context.WithTimeout(c.ctx(), patience)
			defer cancel()
			resp, err := answer(ctx, c, req.(Q))
			if err != nil {
				c.fail(err)
				return
			}
			c.reply(resp)
		})
	}
}

// maxLookupsOpen is how many requests of a connection that only ask for
// something are open at a time: from their beginning until the reply has left.
// Such a reply may be large and may cost calls of DIS, so a client that sends
// requests and does not read must not have many of them. They begin in order,
// so the one whose reply is due next is always among them.
const maxLookupsOpen = 8

// lookUp answers, in a goroutine of its own, a request that only asks.
func (c *call) lookUp(answer func()) {
	written := c.conn.pipe.awaitWritten(c.x)
	c.conn.lookups.run(c.conn.spawn, func() {
		defer c.guard()
		if c.abandoned() {
			return
		}
		answer()
		c.await(written)
	})
}

// ask is lookUp for an answer that comes later: begin, which must not wait, is
// called at once, on the reader, unless too many requests are open.
func (c *call) ask(begin func()) {
	if !c.conn.lookups.claim() {
		c.lookUp(begin)
		return
	}
	written := c.conn.pipe.awaitWritten(c.x)
	c.conn.spawn(func() {
		c.await(written)
		c.conn.lookups.work()
	})
	begin()
}

// abandoned reports that the connection has ended, so that nobody gets the reply.
// What was still to be begun need not be.
func (c *call) abandoned() bool { return c.conn.ctx.Err() != nil }

func (c *call) await(written <-chan struct{}) {
	select {
	case <-written:
	case <-c.conn.ctx.Done():
	}
}
