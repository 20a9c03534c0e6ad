package dis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/go-resty/resty/v2"
)

// emptyBodyHash is the SHA-256 of nothing.
const emptyBodyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// pending is what an attempt shares with the hook that completes its request
// and with the transport.
type pending struct {
	keys Keys
	body *body
	// sent is set once the transport has written the request's headers; before
	// that DIS cannot have acted on it.
	sent atomic.Bool
}

type pendingKey struct{}

// attempt sends a call once. mayPass tells whether the same request could
// succeed later.
func (c *Client) attempt(ctx context.Context, call *request, number int) (failure *Error, mayPass bool) {
	started := time.Now()
	seen := Call{Operation: call.operation, Attempt: number}
	failure, mayPass = c.exchange(ctx, call, &seen)
	if c.cfg.Observe != nil {
		seen.Latency = time.Since(started)
		if failure != nil {
			asSeen := *failure // the original still changes
			seen.Code, seen.Err = failure.Code, &asSeen
		}
		c.cfg.Observe(seen)
	}
	return failure, mayPass
}

func (c *Client) exchange(ctx context.Context, call *request, seen *Call) (failure *Error, mayPass bool) {
	if err := ctx.Err(); err != nil {
		return notSent(call, err), false
	}
	keys, err := c.cfg.Credentials.Get(ctx)
	if err != nil {
		return notSent(call, fmt.Errorf("get credentials: %w", err)), false
	}
	state := &pending{keys: keys, body: call.body}
	limited, cancel := context.WithTimeout(ctx, c.cfg.AttemptTimeout)
	defer cancel()
	response, err := c.send(limited, call, state)
	if err != nil {
		failure := &Error{Operation: call.operation, NotProcessed: !state.sent.Load()}
		failure.Err, mayPass = c.noAnswer(ctx, limited, err)
		return failure, mayPass
	}
	defer response.Body.Close() // read to its end or given up; nothing is lost by an error here
	seen.HTTPStatus = response.StatusCode
	seen.RequestID = response.Header.Get(headerRequestID)
	answer, err := readAnswer(response, c.cfg.MaxResponseBytes)
	if err != nil {
		failure := answered(call, response)
		failure.Err, mayPass = c.noAnswer(ctx, limited, err)
		return failure, mayPass
	}
	defer answer.release()
	return judge(call, response, answer.bytes)
}

// send hands the request to the transport, by way of beforeSending.
func (c *Client) send(ctx context.Context, call *request, state *pending) (*http.Response, error) {
	ctx = context.WithValue(ctx, pendingKey{}, state)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { state.sent.Store(true) },
	})
	response, err := c.rest.R().SetContext(ctx).Execute(call.method, call.fullURL())
	if err != nil {
		return nil, err
	}
	return response.RawResponse, nil
}

// beforeSending completes a request with body and signature.
func (c *Client) beforeSending(_ *resty.Client, r *http.Request) error {
	state := r.Context().Value(pendingKey{}).(*pending) // every request comes from send
	hash := emptyBodyHash
	if state.body != nil {
		state.body.attach(r)
		hash = state.body.sha256
	}
	sign(r, state.keys, c.cfg.Region, hash, time.Now())
	return nil
}

// noAnswer names the reason why no complete answer arrived and tells whether a
// later attempt could fare better.
func (c *Client) noAnswer(ctx, limited context.Context, err error) (cause error, mayPass bool) {
	var address *url.Error // repeats the operation and shows a whole query
	if errors.As(err, &address) {
		err = address.Err
	}
	var untrusted *tls.CertificateVerificationError
	switch {
	case ctx.Err() != nil:
		return ctx.Err(), false
	case limited.Err() != nil:
		return fmt.Errorf("nothing within %v: %w", c.cfg.AttemptTimeout, err), true
	case errors.As(err, &untrusted), errors.Is(err, ErrAnswerTooLarge):
		return err, false
	default:
		return err, true
	}
}

func notSent(call *request, err error) *Error {
	return &Error{Operation: call.operation, NotProcessed: true, Err: err}
}
