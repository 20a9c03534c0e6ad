package dis

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-resty/resty/v2"
)

// Client calls DIS. It is safe for use by many goroutines.
type Client struct {
	cfg     Config
	rest    *resty.Client
	records string // base of records, cursors and checkpoints, project included
	manager string // base of streams, apps and the rest, project included
	// managerV3 is the base of the one call that is not of version 2.
	managerV3 string
	// accepted is set once a call has succeeded, see Error.KnownIdentity.
	accepted    atomic.Bool
	signingKeys signingKeys
}

// New checks the settings and builds a client; the error names every bad
// setting. It does not call DIS.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(cfg)
	if err != nil {
		return nil, err
	}
	return newClient(cfg, transport), nil
}

func newClient(cfg Config, transport http.RoundTripper) *Client {
	project := escapeSegment(cfg.ProjectID)
	c := &Client{
		cfg:       cfg,
		records:   cfg.Endpoint + "/v2/" + project,
		manager:   cfg.ManagerEndpoint + "/v2/" + project,
		managerV3: cfg.ManagerEndpoint + "/v3/" + project,
	}
	c.rest = resty.NewWithClient(&http.Client{
		Transport: transport,
		// The signature covers host and path, so a redirected request could only be refused.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	c.rest.SetHeader("User-Agent", cfg.UserAgent).
		SetHeader(headerProject, cfg.ProjectID).
		SetDoNotParseResponse(true). // answers are read into pooled memory
		SetPreRequestHook(c.beforeSending)
	return c
}

// Close closes the connections that no call uses.
func (c *Client) Close() { c.rest.GetClient().CloseIdleConnections() }

// newTransport keeps exactly as many connections as there may be calls at once.
// A smaller idle limit would close and open a connection for nearly every call
// under load; an absent upper limit would let dials race ahead of connections
// that are about to be free.
func newTransport(cfg Config) (*http.Transport, error) {
	pool, err := trustedCAs(cfg.CAFile)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		MaxConnsPerHost:     cfg.MaxConnections,
		MaxIdleConns:        2 * cfg.MaxConnections, // two endpoints
		MaxIdleConnsPerHost: cfg.MaxConnections,
		// Below the minute after which load balancers usually close: a write that
		// meets a closing connection has an unknown outcome.
		IdleConnTimeout:    50 * time.Second,
		DisableCompression: true, // base64 of mostly random bytes; costs more than it saves
	}, nil
}
