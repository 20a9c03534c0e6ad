package doctor

import (
	"cmp"
	"context"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	// mostSkew is how far the date of a signature may be off, the usual window of API
	// gateways: DIS does not document its own.
	mostSkew = 15 * time.Minute
	// skewNotice is how far a clock may be off before it is worth a warning: the one of
	// a machine that keeps time is off by milliseconds, the date of DIS is in seconds.
	skewNotice = time.Minute
)

// lookCredentials opens the source of keys or tokens, gets them once and makes the
// client for the other checks. Nothing of them is shown.
func lookCredentials(ctx context.Context, e *examination) []Result {
	e.access = e.cfg.DIS
	e.access.AttemptTimeout = e.cfg.Limit * 4 / 5 // so that the call says that it hung, not the check
	e.access.Retry.Attempts = 2
	if err := e.cfg.Identity(&e.access); err != nil {
		return bad(checkSource, "%s: %v", e.cfg.IdentitySource, err)
	}
	kind := "keys"
	if e.access.Tokens != nil {
		kind = "a token"
		if _, err := e.access.Tokens.Token(ctx); err != nil {
			return bad(checkToken, "%s: %v", e.cfg.IdentitySource, err)
		}
	} else if keys, err := e.access.Credentials.Get(ctx); err != nil {
		return bad(checkSource, "%s: %v", e.cfg.IdentitySource, err)
	} else if keys.SecurityToken != "" {
		kind = "temporary keys with their token"
	}
	client, err := dis.New(e.access)
	if err != nil {
		return bad("check the settings for DIS", "%v", err)
	}
	e.client = client
	e.shutDown = append(e.shutDown, client.Close)
	return good("%s: %s", e.cfg.IdentitySource, kind)
}

// lookClock compares the date of the answer with this machine's clock half-way
// between question and answer.
func (p *probe) lookClock() []Result {
	if p.call.Date.IsZero() || p.sent.IsZero() || p.answered.IsZero() {
		return leftOut("no answer with a date came")
	}
	here := p.sent.Add(p.answered.Sub(p.sent) / 2)
	ahead := here.Sub(p.call.Date.Add(time.Second / 2)).Round(time.Second) // DIS cuts off the fraction
	way := "ahead of"
	if ahead < 0 {
		ahead, way = -ahead, "behind"
	}
	refused := dis.HasCode(p.err, wire.CodeDateSkewed)
	switch {
	case refused || ahead >= mostSkew:
		return bad(checkClock, "this machine's clock is %s %s that of DIS, which refuses signatures that are off, usually by %s", ahead, way, mostSkew)
	case ahead >= skewNotice:
		return doubtful(checkClock, "this machine's clock is %s %s that of DIS, which refuses signatures that are off, usually by %s", ahead, way, mostSkew)
	default:
		return good("%s from that of DIS, as exactly as it tells", ahead)
	}
}

// lookIdentity tells what DIS thinks of the one who asked. A missing permission is
// no wrong identity: that is for the checks of permissions.
func (p *probe) lookIdentity() []Result {
	failure := p.failure()
	switch {
	case failure != nil && failure.Throttled():
		return doubtful(waitForDIS, "DIS was too busy to look at it: %v", p.err)
	case !translate.CredentialsRefused(p.err):
		return good("DIS accepts it, in this region and project")
	}
	text := ""
	switch failure.Code {
	case wire.CodeAuthFailed, wire.CodeSignatureMismatch:
		text = "DIS knows the access key, and the signature is wrong: the secret key does not belong to it"
	case wire.CodeAccessKeyMissing, wire.CodeAccessKeyInvalid:
		text = "DIS does not know the access key: wrong, deleted, or temporary and expired"
	case wire.CodeDateSkewed:
		text = "the clock of this machine is wrong, so the signature is not looked at"
	case wire.CodeRegionInvalid:
		text = "the region is not the one of this DIS"
	case wire.CodeProjectInvalid:
		text = "the project is not one of this user in this region"
	case wire.CodeTokenEmpty, wire.CodeTokenInvalid:
		text = "DIS does not accept the token: wrong or expired"
	case wire.CodeIPBlocked:
		text = "DIS has blocked this machine"
	}
	what, do := Explain(p.err)
	return bad(do, "%s: %v", cmp.Or(text, what), p.err)
}
