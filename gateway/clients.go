package gateway

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// seen is what the requests of a connection told of its client.
type seen struct {
	clientID string
	// software and version are what the client calls itself, empty until it has.
	software, version string
	requests          int64
	api               *api // of the last request
	at                time.Time
}

// noteRequest remembers what the rules above and the log need to know.
func (c *conn) noteRequest(a *api, clientID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.clientID, c.seen.api, c.seen.at = cut(clientID), a, time.Now()
	c.seen.requests++
	c.groupMember = c.groupMember || a.class == classGroup
}

// ClientInfo describes an open connection. The client id comes from the client and may
// hold anything; it is cut where it is longer than a name would be.
type ClientInfo struct {
	// Connection is the number under which log lines name the connection.
	Connection int64
	// Address is the client's, host and port.
	Address  string
	ClientID string
	// Software and Version are what the client's library says of itself
	// (KIP-511), empty for one that does not, "other" for what is no name.
	Software, Version string
	// Since is when the connection was accepted.
	Since time.Time
	// Requests counts those that were read; LastAPI is that of the last of them,
	// read at LastAt. Both are zero before the first.
	Requests int64
	LastAPI  string
	LastAt   time.Time
}

// Clients describes open connections, at most so many: those that asked for
// something last. The total counts all of them.
func (s *Server) Clients(most int) (shown []ClientInfo, total int) {
	conns := s.connections()
	shown = make([]ClientInfo, len(conns))
	for i, c := range conns {
		shown[i] = c.info()
	}
	slices.SortFunc(shown, func(a, b ClientInfo) int {
		return cmp.Or(b.LastAt.Compare(a.LastAt), cmp.Compare(a.Connection, b.Connection))
	})
	return shown[:min(most, len(shown))], len(conns)
}

// longestName bounds, in bytes, the names from clients that are shown and logged. They
// may choose ones of 32 KiB, and of a megabyte since KIP-482.
const longestName = 200

func (c *conn) info() ClientInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	info := ClientInfo{
		Connection: c.id, Address: c.nc.RemoteAddr().String(), Since: c.since,
		ClientID: cut(c.seen.clientID), Software: c.seen.software, Version: c.seen.version,
		Requests: c.seen.requests, LastAt: c.seen.at,
	}
	if c.seen.api != nil {
		info.LastAPI = c.seen.api.name
	}
	return info
}

func cut(text string) string {
	if len(text) <= longestName {
		return text
	}
	return strings.Clone(text[:longestName])
}

// ListenerInfo describes an address that is open for Kafka clients.
type ListenerInfo struct {
	// Address is the bound one.
	Address string
	// Advertised is where clients are told to connect, "" for the local address
	// of each connection.
	Advertised string
	// Auth is how clients prove who they are.
	Auth string
}

// Listeners describes what Listen opened, in the order of the settings.
func (s *Server) Listeners() []ListenerInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	infos := make([]ListenerInfo, len(s.listeners))
	for i, l := range s.listeners {
		infos[i] = ListenerInfo{Address: l.Addr().String(), Auth: l.settings.Auth}
		if !l.settings.AdvertiseAuto {
			host, port := l.settings.advertised(l.Addr())
			infos[i].Advertised = net.JoinHostPort(host, strconv.Itoa(port))
		}
	}
	return infos
}
