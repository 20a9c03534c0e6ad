package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxInFlight and maxInFlightBytes bound the requests of one connection
	// whose replies are not written yet.
	maxInFlight      = 1000
	maxInFlightBytes = 16 << 20
)

// exchange is one request and, once it is complete, its reply. The reply is
// nil for a request that gets none (acks=0).
type exchange struct {
	api         *api
	version     int16
	correlation int32
	bytes       int64
	arrived     time.Time // its first byte

	first time.Time // when it became the oldest; guarded by pipeline.mu

	complete bool // guarded by pipeline.mu, as are the next two until it is true
	reply    kmsg.Response
	err      error
	written  chan struct{} // closed when the reply has left; made by awaitWritten
}

// pipeline holds the exchanges of one connection in the order of the requests.
// The reader adds, handlers complete in any order, the writer takes from the
// front what is complete.
type pipeline struct {
	mu    sync.Mutex
	queue []*exchange
	bytes int64
	ready chan struct{} // capacity 1: the front may be complete
	room  chan struct{} // capacity 1: there may be room, or nothing left
}

func newPipeline() *pipeline {
	return &pipeline{ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// waitForRoom blocks the reader until a request of so many bytes fits. One that
// exceeds the limit by itself waits until it is alone.
func (p *pipeline) waitForRoom(ctx context.Context, bytes int64) error {
	return p.waitUntil(ctx, func() bool {
		return len(p.queue) == 0 || (len(p.queue) < maxInFlight && p.bytes+bytes <= maxInFlightBytes)
	})
}

// waitEmpty blocks the reader until every reply has left.
func (p *pipeline) waitEmpty(ctx context.Context) error {
	return p.waitUntil(ctx, func() bool { return len(p.queue) == 0 })
}

func (p *pipeline) waitUntil(ctx context.Context, reached func() bool) error {
	for {
		p.mu.Lock()
		ok := reached()
		p.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-p.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (p *pipeline) empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue) == 0
}

func (p *pipeline) add(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		x.first = time.Now()
	}
	p.queue = append(p.queue, x)
	p.bytes += x.bytes
}

// finish completes an exchange; only the first call counts.
func (p *pipeline) finish(x *exchange, reply kmsg.Response, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.complete {
		return
	}
	x.complete, x.reply, x.err = true, reply, err
	signal(p.ready)
}

// awaitWritten returns a channel that is closed once the reply has left. It
// must be called before the exchange is finished.
func (p *pipeline) awaitWritten(x *exchange) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.written == nil {
		x.written = make(chan struct{})
	}
	return x.written
}

// next returns the i-th exchange when it and all before it are complete.
func (p *pipeline) next(i int) *exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i < len(p.queue) && p.queue[i].complete {
		return p.queue[i]
	}
	return nil
}

// front blocks the writer until the oldest exchange is complete.
func (p *pipeline) front(ctx context.Context) (*exchange, error) {
	for {
		if x := p.next(0); x != nil {
			return x, nil
		}
		select {
		case <-p.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// retire drops the n oldest exchanges: their replies have left.
func (p *pipeline) retire(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, x := range p.queue[:n] {
		p.bytes -= x.bytes
		if x.written != nil {
			close(x.written)
		}
		p.queue[i] = nil
	}
	p.queue = p.queue[n:]
	if len(p.queue) > 0 {
		p.queue[0].first = time.Now()
	} else {
		p.queue = nil // an idle connection holds no memory for its past
	}
	signal(p.room)
}

// turn tells when an exchange became the oldest that is not answered, and whether
// it has. A client that sends ahead does not count on more: brokers of Kafka
// begin a request of a connection when they have answered the one before.
func (p *pipeline) turn(x *exchange) (at time.Time, come bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return x.first, !x.first.IsZero()
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
