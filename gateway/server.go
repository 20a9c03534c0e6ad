package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Server accepts Kafka connections and serves them from its parts.
//
// Listen binds, Serve accepts until Shutdown or the end of its context, and
// Shutdown drains.
type Server struct {
	cfg     Config
	parts   Parts
	apis    map[int16]*api
	metrics *metrics
	// tasks are the goroutines of connections and requests.
	tasks    sync.WaitGroup
	draining atomic.Bool
	// connsEver is how many connections there have been.
	connsEver atomic.Int64
	// decoding holds a token per large frame that is being decoded.
	decoding chan struct{}
	// life ends with the server: the context of work that outlives its
	// connection.
	life context.Context
	kill context.CancelFunc

	mu        sync.Mutex // guards the fields below
	listeners []boundListener
	conns     map[*conn]struct{}
	stopped   bool          // no new connections
	quiet     chan struct{} // capacity 1: the last connection has ended
}

type boundListener struct {
	net.Listener
	settings Listener
}

// New checks the settings, naming every mistake, and builds the server. From
// then on the server owns the parts: Shutdown closes them.
func New(cfg Config, parts Parts) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := errors.Join(cfg.validate(), parts.validate()); err != nil {
		return nil, fmt.Errorf("gateway settings: %w", err)
	}
	s := &Server{
		cfg: cfg, parts: parts,
		apis:     map[int16]*api{},
		conns:    map[*conn]struct{}{},
		quiet:    make(chan struct{}, 1),
		decoding: make(chan struct{}, largeDecodes),
	}
	var err error
	if s.metrics, err = newMetrics(cfg.Metrics, newSoftwareCollector(s)); err != nil {
		return nil, fmt.Errorf("register the gateway's metrics: %w", err)
	}
	s.life, s.kill = context.WithCancel(context.Background())
	for _, a := range apiTable(cfg, parts) {
		s.apis[a.key.Int16()] = a
	}
	return s, nil
}

// Addrs are the addresses bound by Listen, in the order of the settings.
func (s *Server) Addrs() []net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	addrs := make([]net.Addr, len(s.listeners))
	for i, l := range s.listeners {
		addrs[i] = l.Addr()
	}
	return addrs
}

// Draining reports that Shutdown has begun: a load balancer should send new
// clients elsewhere.
func (s *Server) Draining() bool { return s.draining.Load() }

// Serve accepts connections until Shutdown has finished, and returns nil then.
// When ctx ends first, listeners and connections are closed at once, answered or
// not. Either way every goroutine of the server has ended when it returns.
func (s *Server) Serve(ctx context.Context) error {
	s.mu.Lock()
	listeners := s.listeners
	s.mu.Unlock()
	if len(listeners) == 0 {
		return errors.New("serve: call Listen first")
	}
	stop := context.AfterFunc(ctx, func() {
		s.stopAccepting()
		s.abort()
	})
	defer stop()
	failures := make([]error, len(listeners))
	var accepting sync.WaitGroup
	for i, l := range listeners {
		accepting.Go(func() { failures[i] = s.accept(l) })
	}
	accepting.Wait()
	s.tasks.Wait()
	return errors.Join(failures...)
}

// accept hands connections to goroutines of their own. An error that may pass,
// such as too many open files, is tried again after a moment.
func (s *Server) accept(l boundListener) error {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			pause = shortest
			s.serve(nc, l.settings)
		case errors.Is(err, net.ErrClosed):
			return nil
		default:
			if pause == shortest {
				s.cfg.Logger.Warn().Err(err).Str("address", l.Addr().String()).Msg("cannot accept connections, trying again")
			}
			time.Sleep(pause)
			pause = min(2*pause, longest)
		}
	}
}

// serve begins a connection.
func (s *Server) serve(nc net.Conn, l Listener) {
	c := newConn(s, l, nc)
	if !s.enter(c) {
		nc.Close() // came while the server stopped
		return
	}
	s.tasks.Go(func() {
		defer s.leave(c)
		c.run()
	})
}

func (s *Server) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.conns[c] = struct{}{}
	s.metrics.connections.Set(float64(len(s.conns)))
	return true
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.metrics.connections.Set(float64(len(s.conns)))
	if len(s.conns) == 0 {
		signal(s.quiet)
	}
}

// connections are those that are open, in no order.
func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}
