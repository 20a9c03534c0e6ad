package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Shutdown drains: everything is served on, also on new connections, until no
// connection is left or Config.DrainReserve before ctx's deadline. Then no more
// requests are read, waiting fetches and joins are released, started writes and
// commits finished, their replies sent and the connections closed. At the
// deadline what is left is cut off, which the error says.
//
// Shutdown closes the parts. It is called once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.serveOn(ctx)
	s.stopAccepting()
	for _, c := range s.connections() {
		c.stopReading()
	}
	finished := s.finish(ctx)
	var cutOff error
	if !s.waitQuiet(ctx, nil) {
		cutOff = fmt.Errorf("%d connections were cut off with requests unanswered", s.abort())
	}
	err := errors.Join(<-finished, cutOff)
	s.parts.Fetch.Close()
	s.kill()
	return err
}

// finish lets groups and writes come to their end, while the connections wait for
// the replies: joins are released, and batches that are not begun, which may be
// many when writes are paced, are refused for the client to send elsewhere.
func (s *Server) finish(ctx context.Context) <-chan error {
	finished := make(chan error, 1)
	go func() {
		groups := make(chan error, 1)
		go func() { groups <- wrap("close the groups", s.parts.Groups.Close(ctx)) }()
		writes := wrap("finish writes", s.parts.Produce.Close(ctx))
		finished <- errors.Join(<-groups, writes)
	}()
	return finished
}

// serveOn is the part of the grace period in which nothing changes for clients.
func (s *Server) serveOn(ctx context.Context) {
	deadline, ok := ctx.Deadline()
	if !ok {
		s.waitQuiet(ctx, nil)
		return
	}
	patience := max(0, time.Until(deadline)-s.cfg.DrainReserve)
	if open := len(s.connections()); open > 0 {
		s.cfg.Logger.Info().Int("connections", open).Str("for_at_most", patience.Round(time.Millisecond).String()).
			Msg("draining: clients are served on until they are gone")
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	s.waitQuiet(ctx, timer.C)
	if open := len(s.connections()); open > 0 && ctx.Err() == nil {
		s.cfg.Logger.Info().Int("connections", open).Msg("drained for as long as allowed: what has begun is finished, then connections are closed")
	}
}

// waitQuiet reports whether the last connection ended before ctx or expired.
func (s *Server) waitQuiet(ctx context.Context, expired <-chan time.Time) bool {
	for len(s.connections()) > 0 {
		select {
		case <-s.quiet:
		case <-expired:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// stopAccepting closes the listeners and turns connections away that were
// accepted a moment ago.
func (s *Server) stopAccepting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, l := range s.listeners {
		l.Close() // a second close is harmless
	}
}

// abort ends every connection as it is, and work that outlives its connection.
// It returns how many connections there were.
func (s *Server) abort() int {
	s.kill()
	conns := s.connections()
	for _, c := range conns {
		c.end(errAborted)
	}
	return len(conns)
}

func wrap(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
