package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// adminHeaderTime is for the head of a request, adminWriteTime for taking the
	// answer: a peer that is slower is cut off. Profiles have their own time on top.
	adminHeaderTime = 10 * time.Second
	adminWriteTime  = 30 * time.Second
	// adminHeaderBytes has room for the cookies that a browser keeps for localhost,
	// which those of all ports share.
	adminHeaderBytes = 64 << 10
	// maxScrapes is how many answers of /metrics are made at a time. One can be
	// megabytes, and a Prometheus asks one question at a time.
	maxScrapes = 8
)

// bodiless answers without the body of a request, which no page has a use for: the
// connection does not stay open until it has arrived.
func bodiless(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody {
			w.Header().Set("Connection", "close")
			if err := http.NewResponseController(w).SetReadDeadline(time.Now()); err != nil {
				answer(w, http.StatusRequestEntityTooLarge, "requests have no body here")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// localNames refuses requests under a name that anyone on the internet may own. A page
// of such a site, open in a browser on this machine, can let its own name point to
// 127.0.0.1 and then read whatever answers there as its own (DNS rebinding). own is
// the host of the setting.
func localNames(own string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := hostOf(r.Host); !isLocalName(name) && !strings.EqualFold(name, own) {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			answer(w, http.StatusMisdirectedRequest, fmt.Sprintf("%q is no name of this machine: ask for localhost or an IP address", name))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostOf is the host of a Host header, which may have a port.
func hostOf(header string) string {
	if host, _, err := net.SplitHostPort(header); err == nil {
		return host
	}
	return strings.Trim(header, "[]")
}

// isLocalName reports whether a host is an address or a name that no site of the
// internet has: one without a dot, or below a domain that is set aside for this
// machine (RFC 6761) or for private use, such as host.docker.internal. Clients from
// before HTTP/1.1 name none.
func isLocalName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return !strings.Contains(host, ".") || net.ParseIP(host) != nil ||
		strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal")
}
