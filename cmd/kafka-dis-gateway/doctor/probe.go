package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// endpoint is one address of DIS.
type endpoint struct {
	url     *url.URL
	setting string
	// ask makes a call that changes nothing.
	ask func(ctx context.Context, client *dis.Client) error
}

// absent is a name for apps and streams that are asked for and should not exist.
const absent = "kdg-doctor"

// endpoints are the addresses that the gateway would call. Records and streams may
// have different ones.
func (e *examination) endpoints() []endpoint {
	askRecords := func(ctx context.Context, client *dis.Client) error {
		_, err := client.GetCheckpoint(ctx, dis.CheckpointKey{App: absent, StreamName: absent})
		return err
	}
	askManager := func(ctx context.Context, client *dis.Client) error {
		_, err := client.ListStreams(ctx)
		return err
	}
	records, err := url.Parse(e.cfg.DIS.Endpoint)
	if err != nil {
		return nil // the settings have been refused for it
	}
	if e.cfg.DIS.ManagerEndpoint == "" || e.cfg.DIS.ManagerEndpoint == e.cfg.DIS.Endpoint {
		return []endpoint{{records, e.cfg.EndpointSetting, askManager}}
	}
	manager, err := url.Parse(e.cfg.DIS.ManagerEndpoint)
	if err != nil {
		return nil
	}
	return []endpoint{{records, e.cfg.EndpointSetting, askRecords}, {manager, "--dis-manager-endpoint", askManager}}
}

// probe is one call to an endpoint on a connection of its own, and what happened on
// the way.
type probe struct {
	endpoint endpoint
	proxy    *url.URL // nil: none

	mu        sync.Mutex // calls end while connections are still being made
	resolved  stage
	addresses []net.IPAddr
	connected stage
	peer      string // the address that answered, or else the last one tried
	secured   stage
	tls       tls.ConnectionState
	sent      time.Time
	answered  time.Time
	call      dis.Call
	err       error
}

// stage is a part of the way.
type stage struct {
	begun, done bool
	err         error
}

// good reports whether the stage was passed.
func (s stage) good() bool { return s.done && s.err == nil }

// run makes the call. It returns when the call ends, or at the latest with ctx.
func (p *probe) run(ctx context.Context, access dis.Config) error {
	access.Retry.Attempts = 1
	access.Observe = func(call dis.Call) { p.locked(func() { p.call = call }) }
	client, err := dis.New(access)
	if err != nil {
		return err
	}
	defer client.Close()
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: p.endpoint.url})
	if err != nil {
		return err
	}
	err = p.endpoint.ask(httptrace.WithClientTrace(ctx, p.trace()), client)
	p.locked(func() { p.err, p.proxy = err, proxy })
	return nil
}

// locked changes the probe, and keeps what it says once it has ended: a connection
// that is made too late is of no interest.
func (p *probe) locked(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *probe) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { p.locked(func() { p.resolved.begun = true }) },
		DNSDone: func(info httptrace.DNSDoneInfo) {
			p.locked(func() { p.resolved.done, p.resolved.err, p.addresses = true, info.Err, info.Addrs })
		},
		ConnectStart: func(_, address string) { p.locked(func() { p.connected.begun, p.peer = true, address }) },
		ConnectDone: func(_, address string, err error) {
			p.locked(func() { // of several addresses one is enough
				if !p.connected.good() {
					p.connected.done, p.connected.err, p.peer = true, err, address
				}
			})
		},
		TLSHandshakeStart: func() { p.locked(func() { p.secured.begun = true }) },
		TLSHandshakeDone: func(state tls.ConnectionState, err error) {
			p.locked(func() { p.secured.done, p.secured.err, p.tls = true, err, state })
		},
		WroteRequest:         func(httptrace.WroteRequestInfo) { p.locked(func() { p.sent = time.Now() }) },
		GotFirstResponseByte: func() { p.locked(func() { p.answered = time.Now() }) },
	}
}

// known are the answers of DIS to someone who may ask, about what does not exist or
// cannot be used now.
var known = []string{
	wire.CodeStreamNotFound, wire.CodePartitionNotFound, wire.CodePartitionExpired, wire.CodeStreamNotRunning,
	wire.CodeAppNotFound, wire.CodeNoCheckpoint,
}

// accepted reports whether DIS has accepted who asks: it has answered, if only that
// there is no such thing.
func accepted(err error) bool { return err == nil || dis.HasCode(err, known...) }

// failure is the call's error from DIS, nil when it got no answer.
func (p *probe) failure() *dis.Error {
	var failure *dis.Error
	if errors.As(p.err, &failure) && failure.HTTPStatus != 0 {
		return failure
	}
	return nil
}
