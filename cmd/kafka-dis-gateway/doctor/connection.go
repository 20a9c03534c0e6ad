package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"crypto/tls"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// certificateNotice is how long before its end a certificate is worth a warning.
const certificateNotice = 21 * 24 * time.Hour

// connectionChecks are the checks of one endpoint, from its name to its answer. The
// first makes the call that all of them look at.
func (e *examination) connectionChecks(at endpoint) []check {
	host := at.url.Host
	p := &probe{endpoint: at}
	e.probes[host] = p
	view := func(look func(*probe) []Result) func(context.Context, *examination) []Result {
		return func(context.Context, *examination) []Result {
			p.mu.Lock()
			defer p.mu.Unlock()
			return look(p)
		}
	}
	return []check{
		{name: "dns", subject: host, needs: []string{"credentials"}, run: func(ctx context.Context, e *examination) []Result {
			if err := p.run(ctx, e.access); err != nil {
				return bad(at.setting, "%v", err)
			}
			return view((*probe).lookName)(ctx, e)
		}},
		{name: "tcp", subject: host, needs: []string{"dns " + host}, run: view((*probe).lookConnection)},
		{name: "tls", subject: host, needs: []string{"tcp " + host}, run: view((*probe).lookCertificate)},
		{name: "answer", subject: host, needs: []string{"tls " + host}, run: view((*probe).lookAnswer)},
		{name: "clock", subject: host, needs: []string{"tls " + host}, run: view((*probe).lookClock)},
		{name: "identity", subject: host, needs: []string{"answer " + host}, run: view((*probe).lookIdentity)},
	}
}

// through names the proxy, for the end of a sentence.
func (p *probe) through() string {
	if p.proxy == nil {
		return ""
	}
	return " by the proxy " + p.proxy.Redacted() + " (HTTPS_PROXY)"
}

func (p *probe) lookName() []Result {
	name := p.endpoint.url.Hostname()
	if p.proxy != nil {
		name = p.proxy.Hostname()
	}
	remedy := "check " + p.endpoint.setting + " for spelling, and the name resolution of this machine"
	if p.proxy != nil {
		remedy = "check HTTPS_PROXY, and the name resolution of this machine"
	}
	switch {
	case net.ParseIP(name) != nil:
		return good("an address, no name%s", p.through())
	case p.resolved.err != nil:
		return bad(remedy, "%s is no name that this machine can resolve: %v", name, p.resolved.err)
	case !p.resolved.done && p.resolved.begun:
		return bad(remedy, "the resolution of %s does not end", name)
	case !p.resolved.done && p.connected.begun:
		return good("known%s", p.through())
	case !p.resolved.done:
		return failedCall(p.err)
	}
	var all []string
	for _, address := range p.addresses {
		all = append(all, address.String())
	}
	if p.proxy != nil {
		return good("%s of the proxy is %s", name, strings.Join(all, ", "))
	}
	return good("%s", strings.Join(all, ", "))
}

func (p *probe) lookConnection() []Result {
	remedy := "check " + p.endpoint.setting + " (host and port), the proxy (HTTPS_PROXY, NO_PROXY) and the firewalls on the way"
	switch {
	case p.connected.good():
		return good("connected to %s%s", p.peer, p.through())
	case p.connected.done:
		return bad(remedy, "no connection to %s%s: %v", p.peer, p.through(), p.connected.err)
	default:
		return bad(remedy, "nothing answers at %s%s", p.peer, p.through())
	}
}

func (p *probe) lookCertificate() []Result {
	if p.endpoint.url.Scheme == "http" {
		if isLoopback(p.endpoint.url.Hostname()) {
			return good("none: http:// to this machine")
		}
		return doubtful("give https:// in "+p.endpoint.setting, "none: records and identities can be read on the way over http://")
	}
	failure := p.secured.err
	switch {
	case failure == nil && p.secured.good():
		return p.lookExpiry()
	case failure == nil && p.proxy != nil && !p.secured.begun:
		return bad("check that the proxy may connect to the host and port of "+p.endpoint.setting+", and the password in HTTPS_PROXY",
			"no connection to %s%s: %v", p.endpoint.url.Host, p.through(), cause(p.err))
	case failure == nil:
		return bad(checkScheme, "no end of the handshake: %v", cause(p.err))
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(failure, &certificate) {
		return bad(unanswered(failure), "the certificate cannot be trusted: %v", certificate.Err)
	}
	return bad(cmp.Or(remedyUnless(unanswered(failure), checkNetwork), checkScheme), "no TLS: %v", failure)
}

// remedyUnless gives remedy unless it is the one that says least.
func remedyUnless(remedy, vague string) string {
	if remedy == vague {
		return ""
	}
	return remedy
}

func (p *probe) lookExpiry() []Result {
	leaf := p.tls.PeerCertificates[0]
	text := fmt.Sprintf("%s, certificate by %s until %s", tls.VersionName(p.tls.Version),
		cmp.Or(leaf.Issuer.CommonName, leaf.Issuer.String()), leaf.NotAfter.UTC().Format(time.DateOnly))
	if left := time.Until(leaf.NotAfter); left < certificateNotice {
		return doubtful("have the certificate of "+p.endpoint.setting+" renewed", "%s, which is in %d days", text, int(left/(24*time.Hour)))
	}
	return good("%s", text)
}

// lookAnswer tells DIS from other servers, and one in trouble.
func (p *probe) lookAnswer() []Result {
	failure := p.failure()
	took := p.call.Latency.Round(time.Millisecond)
	switch {
	case p.err == nil:
		return good("DIS answers after %s", took)
	case failure == nil:
		return bad("wait for DIS; if it goes on, check "+p.endpoint.setting+" and the proxy (HTTPS_PROXY)", "no answer: %v", cause(p.err))
	case failure.Throttled():
		return doubtful(waitForDIS, "DIS is busy: %v", p.err)
	case failure.HTTPStatus >= 500:
		return failedCall(p.err)
	case failure.Code == "" && whatToDo(p.err) == checkAddress:
		return bad("check "+p.endpoint.setting+": what answers there does not answer as DIS does", "no DIS answers: %v", p.err)
	default:
		return good("DIS answers after %s", took)
	}
}

// cause is what an error of the client says beyond that there was no answer.
func cause(err error) error {
	var failure *dis.Error
	if errors.As(err, &failure) && failure.Err != nil {
		return failure.Err
	}
	return err
}

func isLoopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }
