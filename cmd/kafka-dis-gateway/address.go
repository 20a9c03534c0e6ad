package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// validAddress refuses what is no HOST:PORT to listen on.
func validAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("%q is not HOST:PORT (an IPv6 address needs brackets)", text)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q has no valid port; allowed: 0 to 65535", text)
	}
	return nil
}

// listenTCP opens the address of a setting, which the error names.
func listenTCP(setting, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("--%s: %s is in use by another program", setting, address)
	}
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", setting, err)
	}
	return listener, nil
}
