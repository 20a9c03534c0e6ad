package gateway

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// AuthNone is the authentication mode that lets everyone in.
const AuthNone = "none"

// Listener is one address that the gateway accepts Kafka connections on, and
// the address under which clients find it again.
type Listener struct {
	// Host and Port are bound. Host is an IP address, a name, or empty for all
	// interfaces; Port 0 picks a free one.
	Host string
	Port int
	// AdvertiseHost and AdvertisePort are what Metadata tells clients. An empty
	// host means Host and the bound port.
	AdvertiseHost string
	AdvertisePort int
	// AdvertiseAuto tells each client the local address of its own connection.
	AdvertiseAuto bool
	// Auth is how clients prove who they are: AuthNone is the only mode.
	Auth string
}

// ParseListener reads `ADDR[,advertise=HOST:PORT|auto][,auth=none]`. ADDR is
// HOST:PORT, [IPV6]:PORT or :PORT; the last, 0.0.0.0 and [::] stand for every
// interface and need advertise, since clients cannot connect to them. Every
// mistake is named with what is allowed.
func ParseListener(text string) (Listener, error) {
	parts := strings.Split(text, ",")
	l := Listener{Auth: AuthNone}
	var err error
	if l.Host, l.Port, err = splitAddress(parts[0], 0); err != nil {
		return Listener{}, fmt.Errorf("listener %q: %w", text, err)
	}
	seen := map[string]bool{}
	for _, option := range parts[1:] {
		key, value, found := strings.Cut(option, "=")
		switch {
		case !found:
			err = fmt.Errorf("option %q has no value; options are advertise=HOST:PORT, advertise=auto and auth=none", option)
		case seen[key]:
			err = fmt.Errorf("option %s is given twice", key)
		default:
			seen[key] = true
			err = l.setOption(key, value)
		}
		if err != nil {
			return Listener{}, fmt.Errorf("listener %q: %w", text, err)
		}
	}
	if l.wildcard() && !l.AdvertiseAuto && l.AdvertiseHost == "" {
		return Listener{}, fmt.Errorf("listener %q: it listens on every interface, so clients cannot be told where to connect: "+
			"add advertise=HOST:PORT, or advertise=auto for the local address of each connection", text)
	}
	return l, nil
}

func (l *Listener) setOption(key, value string) error {
	switch key {
	case "advertise":
		return l.setAdvertise(value)
	case "auth":
		if value != AuthNone {
			return fmt.Errorf("auth=%s is not supported; allowed: auth=none", value)
		}
		return nil
	case "tls":
		return errors.New("tls is not supported; terminate it in front of the gateway")
	default:
		return fmt.Errorf("unknown option %q; options are advertise and auth", key)
	}
}

func (l *Listener) setAdvertise(value string) error {
	if value == "auto" {
		l.AdvertiseAuto = true
		return nil
	}
	host, port, err := splitAddress(value, 1)
	if err != nil {
		return fmt.Errorf("advertise: %w", err)
	}
	if host == "" || unspecified(host) {
		return fmt.Errorf("advertise=%s is no address that a client can connect to; allowed: HOST:PORT or auto", value)
	}
	l.AdvertiseHost, l.AdvertisePort = host, port
	return nil
}

// Refusal is why this listener must not be opened, or nil: without
// authentication only this machine may connect, unless the operator insists.
func (l Listener) Refusal(insecure bool) error {
	if l.Auth == AuthNone && !l.loopback() && !insecure {
		return fmt.Errorf("listener %s has no authentication and can be reached from other machines: "+
			"listen on localhost, or allow it with --insecure", l.Address())
	}
	return nil
}

// loopback trusts only what cannot be anything else: other names may resolve to
// any address.
func (l Listener) loopback() bool {
	return l.Host == "localhost" || net.ParseIP(l.Host).IsLoopback()
}

func (l Listener) wildcard() bool { return l.Host == "" || unspecified(l.Host) }

// Address is HOST:PORT to bind.
func (l Listener) Address() string { return net.JoinHostPort(l.Host, strconv.Itoa(l.Port)) }

// advertised is the address for a client whose connection ends at local.
func (l Listener) advertised(local net.Addr) (host string, port int) {
	boundHost, boundPort := "", l.Port
	if tcp, ok := local.(*net.TCPAddr); ok {
		boundHost, boundPort = tcp.IP.String(), tcp.Port
	}
	switch {
	case l.AdvertiseHost != "":
		return l.AdvertiseHost, l.AdvertisePort
	case l.AdvertiseAuto:
		return boundHost, boundPort
	default:
		return l.Host, boundPort
	}
}

func unspecified(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsUnspecified()
}

func splitAddress(text string, lowestPort int) (host string, port int, err error) {
	host, portText, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not HOST:PORT (an IPv6 address needs brackets)", text)
	}
	port, err = strconv.Atoi(portText)
	if err != nil || port < lowestPort || port > 65535 {
		return "", 0, fmt.Errorf("%q has no valid port; allowed: %d to 65535", text, lowestPort)
	}
	return host, port, nil
}
