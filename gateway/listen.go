package gateway

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Listen binds every listener, or none: the error names each address that
// could not be bound. localhost is bound on 127.0.0.1 and, where the machine
// has IPv6, on ::1 at the same port.
func (s *Server) Listen() error {
	var bound []boundListener
	var failures []error
	for _, l := range s.cfg.Listeners {
		sockets, err := l.bind()
		failures = append(failures, err)
		for _, socket := range sockets {
			bound = append(bound, boundListener{socket, l})
		}
	}
	if err := errors.Join(failures...); err != nil {
		for _, l := range bound {
			l.Close() // never used
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = bound
	return nil
}

func (l Listener) bind() ([]net.Listener, error) {
	if l.Host == "localhost" {
		return bindLocalhost(l.Port)
	}
	socket, err := bindTCP(l.Host, l.Port)
	if err != nil {
		return nil, err
	}
	return []net.Listener{socket}, nil
}

// bindLocalhost binds both loopback addresses. A port picked for the first may
// be taken on the second, then another one is picked.
func bindLocalhost(port int) ([]net.Listener, error) {
	const attempts = 10
	for attempt := 1; ; attempt++ {
		v4, err := bindTCP("127.0.0.1", port)
		if err != nil {
			return nil, err
		}
		v6, err := bindTCP("::1", v4.Addr().(*net.TCPAddr).Port)
		switch {
		case err == nil:
			return []net.Listener{v4, v6}, nil
		case noIPv6(err):
			return []net.Listener{v4}, nil
		}
		v4.Close() // never used
		if port != 0 || attempt == attempts {
			return nil, err
		}
	}
}

func bindTCP(host string, port int) (net.Listener, error) {
	return ListenTCP(net.JoinHostPort(host, strconv.Itoa(port)))
}

// ListenTCP opens HOST:PORT. The error says what to do about the usual reasons.
func ListenTCP(address string) (net.Listener, error) {
	socket, err := net.Listen("tcp", address)
	if err == nil {
		return socket, nil
	}
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err // without the address, once more
	}
	advice := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("cannot listen on %s: the address is in use by another program: stop it, or give another address", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = ": give an address of this machine"
	case errors.Is(err, syscall.EACCES):
		advice = ": give a port above 1023, or run with the right to open this one"
	}
	return nil, fmt.Errorf("cannot listen on %s: %w%s", address, err, advice)
}

// noIPv6 tells a machine without IPv6 loopback from a real failure.
func noIPv6(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
}
