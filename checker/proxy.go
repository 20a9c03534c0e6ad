package main

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// proxy passes TCP connections on to a target that may change, and cuts them on
// demand. Its own address stays, so that those in front of it need not know that
// a server was started again.
type proxy struct {
	listener net.Listener
	target   atomic.Pointer[string]
	running  sync.WaitGroup

	mu    sync.Mutex
	conns map[*net.TCPConn]struct{} // both ends of every connection
}

func newProxy(target string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, conns: make(map[*net.TCPConn]struct{})}
	p.target.Store(&target)
	p.running.Go(p.accept)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.pass(conn.(*net.TCPConn)) })
	}
}

// pass joins a connection with one to the target. Where one side ends, the other
// is ended the same way.
func (p *proxy) pass(near *net.TCPConn) {
	defer near.Close()
	far, err := net.Dial("tcp", *p.target.Load())
	if err != nil {
		_ = near.SetLinger(0) // a reset, the nearest to a refused connection
		return
	}
	defer far.Close()
	ends := [2]*net.TCPConn{near, far.(*net.TCPConn)}
	p.track(ends, true)
	defer p.track(ends, false)
	var both sync.WaitGroup
	both.Go(func() { copyOneWay(ends[1], ends[0]) })
	both.Go(func() { copyOneWay(ends[0], ends[1]) })
	both.Wait()
}

func copyOneWay(to, from *net.TCPConn) {
	if _, err := io.Copy(to, from); err != nil {
		// What came half must not look whole.
		_ = errors.Join(to.SetLinger(0), to.Close(), from.Close())
		return
	}
	_ = to.CloseWrite() // fails when the other side is gone already
}

func (p *proxy) track(ends [2]*net.TCPConn, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, end := range ends {
		if open {
			p.conns[end] = struct{}{}
		} else {
			delete(p.conns, end)
		}
	}
}

// cut resets every connection, whatever is on its way, and says how many there
// were.
func (p *proxy) cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for end := range p.conns {
		_ = errors.Join(end.SetLinger(0), end.Close()) // it may have ended by itself
	}
	return len(p.conns) / 2
}

func (p *proxy) close() {
	p.listener.Close()
	p.cut()
	p.running.Wait()
}
