package e2e

import (
	"encoding/binary"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// cutter is a proxy in front of the gateway that cuts every connection in the
// middle of a request or of a reply. Which one, and where, comes from a seed and
// the number of the connection.
type cutter struct {
	t        *testing.T
	listener net.Listener
	seed     uint64

	mu      sync.Mutex
	cutting bool // otherwise everything passes
	links   map[*link]bool
	clients map[string]cuts // by client id
}

// cuts is what happened to the Produce requests of a client.
type cuts struct {
	mostInFlight int // of one connection without a reply
	inRequest    int // connections cut in the middle of a request
	inReply      int // connections cut in the middle of a reply
	unanswered   int // requests that were forwarded, and their reply was not
}

// link is a connection through the cutter.
type link struct {
	client, server net.Conn
	abort          bool // it ends without the goodbye of TCP, and drops what is under way
	there, back    lifetime

	// Guarded by cutter.mu.
	clientID   string
	unanswered []kmsg.Key
	ended      bool
}

// lifetime is where a direction of a connection ends: after so many whole
// frames, and a part of the next one.
type lifetime struct {
	frames int
	part   float64
}

// mostFrames pass a direction of a connection. Cut much earlier, clients would
// spend the test in the pauses that they make before they connect again.
const mostFrames = 50

func newCutter(t *testing.T, seed uint64) *cutter {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &cutter{t: t, listener: listener, seed: seed, links: map[*link]bool{}, clients: map[string]cuts{}}
}

func (c *cutter) address() string { return c.listener.Addr().String() }

// forwardTo starts the proxy, which the end of the test ends.
func (c *cutter) forwardTo(address string) {
	var running sync.WaitGroup
	running.Go(func() {
		for number := uint64(0); ; number++ {
			client, err := c.listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				c.t.Errorf("cutter: %v", err)
				client.Close()
				return
			}
			l := c.open(client, server, number)
			running.Go(func() { c.forward(l, client, server, l.there, (*cutter).request) })
			running.Go(func() { c.forward(l, server, client, l.back, (*cutter).reply) })
		}
	})
	c.t.Cleanup(func() {
		c.listener.Close()
		c.mu.Lock()
		open := maps.Clone(c.links)
		c.mu.Unlock()
		for l := range open {
			c.end(l)
		}
		running.Wait()
	})
}

func (c *cutter) open(client, server net.Conn, number uint64) *link {
	rng := rand.New(rand.NewPCG(c.seed, number))
	l := &link{client: client, server: server, abort: rng.IntN(2) == 0,
		there: lifetime{rng.IntN(mostFrames), rng.Float64()}, back: lifetime{rng.IntN(mostFrames), rng.Float64()}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links[l] = true
	return l
}

// forward passes frames on until one of the sides ends or the connection is cut.
func (c *cutter) forward(l *link, from, to net.Conn, life lifetime, note func(*cutter, *link, []byte, bool)) {
	defer c.end(l)
	for passed := 0; ; passed++ {
		frame := make([]byte, 4)
		if _, err := io.ReadFull(from, frame); err != nil {
			return
		}
		frame = append(frame, make([]byte, binary.BigEndian.Uint32(frame))...)
		if _, err := io.ReadFull(from, frame[4:]); err != nil {
			return
		}
		whole := c.passes(l, frame, passed < life.frames, note)
		if !whole {
			frame = frame[:int(life.part*float64(len(frame)))]
		}
		if _, err := to.Write(frame); err != nil || !whole {
			return
		}
	}
}

// passes takes down what becomes of a frame, and reports whether it passes as a
// whole.
func (c *cutter) passes(l *link, frame []byte, whole bool, note func(*cutter, *link, []byte, bool)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	whole = whole || !c.cutting
	note(c, l, frame[4:], whole)
	return whole
}

func (c *cutter) request(l *link, frame []byte, whole bool) {
	key := kmsg.Key(binary.BigEndian.Uint16(frame))
	if id := int(int16(binary.BigEndian.Uint16(frame[8:]))); id > 0 {
		l.clientID = string(frame[10 : 10+id])
	}
	seen := c.clients[l.clientID]
	if whole {
		l.unanswered = append(l.unanswered, key)
		seen.mostInFlight = max(seen.mostInFlight, l.unansweredProduces())
	} else if key == kmsg.Produce {
		seen.inRequest++
	}
	c.clients[l.clientID] = seen
}

func (c *cutter) reply(l *link, _ []byte, whole bool) {
	if whole {
		l.unanswered = l.unanswered[1:]
	} else if l.unanswered[0] == kmsg.Produce {
		seen := c.clients[l.clientID]
		seen.inReply++
		c.clients[l.clientID] = seen
	}
}

func (l *link) unansweredProduces() (count int) {
	for _, key := range l.unanswered {
		if key == kmsg.Produce {
			count++
		}
	}
	return count
}

// end closes both sides of a connection.
func (c *cutter) end(l *link) {
	c.mu.Lock()
	if !l.ended {
		l.ended = true
		delete(c.links, l)
		seen := c.clients[l.clientID]
		seen.unanswered += l.unansweredProduces()
		c.clients[l.clientID] = seen
	}
	c.mu.Unlock()
	for _, side := range []net.Conn{l.client, l.server} {
		if l.abort {
			_ = side.(*net.TCPConn).SetLinger(0) // fails when it is closed already
		}
		side.Close()
	}
}

// cut says whether connections are cut from now on.
func (c *cutter) cut(cutting bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutting = cutting
}

// of gives what happened to a client.
func (c *cutter) of(clientID string) cuts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clients[clientID]
}
