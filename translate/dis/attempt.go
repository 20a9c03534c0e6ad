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

// pending is what an attempt shares with the hook that completes its request
// and with the transport.
type pending struct {
	call  *request
	body  *body
	proof proof
	// sent is set once the transport has written the request's headers; before
	// that DIS cannot have acted on it.
	sent atomic.Bool
}

type pendingKey struct{}

// attempt sends a call once. mayPass tells whether the same request could
// succeed later.
func (c *Client) attempt(ctx context.Context, call *request, body *body, number int) (failure *Error, mayPass bool) {
	started := time.Now()
	seen := Call{Operation: call.operation, Stream: call.stream, Attempt: number}
	failure, mayPass = c.exchange(ctx, call, body, &seen)
	if failure == nil {
		c.accepted.Store(true)
	} else {
		failure.KnownIdentity, failure.IdentitySource = c.accepted.Load(), c.cfg.IdentitySource
	}
	seen.Latency = time.Since(started)
	if failure == nil && call.summarize != nil {
		call.summarize(&seen)
	}
	c.observe(ctx, seen, failure)
	return failure, mayPass
}

func (c *Client) exchange(ctx context.Context, call *request, body *body, seen *Call) (failure *Error, mayPass bool) {
	if err := ctx.Err(); err != nil {
		return notSent(call, err), false
	}
	proof, err := c.proof(ctx)
	if err != nil {
		return notSent(call, err), false
	}
	state := &pending{call: call, body: body, proof: proof}
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
	seen.Date, _ = http.ParseTime(response.Header.Get(headerAnswerDate)) // zero without a good one
	answer, err := c.readAnswer(call, response)
	if err != nil {
		failure := answered(call, response)
		failure.Err, mayPass = c.noAnswer(ctx, limited, err)
		return failure, mayPass
	}
	defer answer.release()
	return judge(call, response, answer.bytes, c.cfg.MaxResponseBytes, proof.hide)
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

// beforeSending completes a request with body and proof.
func (c *Client) beforeSending(_ *resty.Client, r *http.Request) error {
	state := r.Context().Value(pendingKey{}).(*pending) // every request comes from send
	r.Header.Set(headerContentType, "application/json; charset=utf-8")
	r.Header.Set("Accept", "application/json")
	if state.call.protobuf {
		// A read has no body, so its Content-Type says what the answer shall be.
		r.Header.Set(headerContentType, "application/x-protobuf; charset=utf-8")
		r.Header.Set("Accept", "*/*") // as the Java SDK; errors stay JSON
	}
	state.body.attach(r)
	state.proof.add(r, state.body, time.Now())
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
