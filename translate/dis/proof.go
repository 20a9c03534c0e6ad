package dis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// proof tells DIS who sends a request: a signature or a token.
type proof interface {
	// add completes a request that is complete but for that.
	add(r *http.Request, body *body, now time.Time)
	// hide takes out of an answer what nobody else may know.
	hide(answer []byte) []byte
}

// ErrNoIdentity is among the causes of an Error when there were no keys and no token
// to prove an identity with.
var ErrNoIdentity = errors.New("no identity")

// noIdentity is why there are no keys or no token.
type noIdentity struct{ error }

func (n noIdentity) Unwrap() error { return n.error }

func (noIdentity) Is(target error) bool { return target == ErrNoIdentity }

// proof gets the keys or the token that are valid now.
func (c *Client) proof(ctx context.Context) (proof, error) {
	if c.cfg.Tokens != nil {
		token, err := c.cfg.Tokens.Token(ctx)
		if err != nil {
			return nil, noIdentity{fmt.Errorf("get token: %w", err)}
		}
		return tokenProof(token), nil
	}
	keys, err := c.cfg.Credentials.Get(ctx)
	if err != nil {
		return nil, noIdentity{fmt.Errorf("get credentials: %w", err)}
	}
	return signature{keys: keys, scheme: c.cfg.Signing, region: c.cfg.Region, derived: &c.signingKeys}, nil
}

// tokenProof is an IAM token.
type tokenProof string

func (t tokenProof) add(r *http.Request, _ *body, _ time.Time) {
	r.Header.Set(headerAuthToken, string(t))
}

func (t tokenProof) hide(answer []byte) []byte { return hidden(answer, string(t)) }

// signature makes the Authorization header.
type signature struct {
	keys    Keys
	scheme  Signing
	region  string
	derived *signingKeys
}

// signedHeaders are the headers that are signed where they are set: none that a
// proxy touches. The unscoped scheme knows no content type and no host.
var signedHeaders = withLowerCase(
	headerContentType, headerDate, headerProject, headerSecurityToken,
	headerContentEncoding, headerAcceptEncoding, headerLZ4Length, headerZstdLength,
)

// headerName is a name as it is set and as it is signed.
type headerName struct{ canonical, lower string }

func withLowerCase(names ...string) (both []headerName) {
	for _, name := range names {
		both = append(both, headerName{name, strings.ToLower(name)})
	}
	return both
}

func (s signature) add(r *http.Request, body *body, now time.Time) {
	r.Header.Set(headerDate, now.UTC().Format(signDateForm))
	if s.keys.SecurityToken != "" {
		r.Header.Set(headerSecurityToken, s.keys.SecurityToken)
	}
	unsigned := toSign{
		Method:   r.Method,
		Path:     r.URL.EscapedPath(),
		Query:    r.URL.Query(),
		Headers:  s.headers(r),
		BodyHash: body.hash(),
		Date:     now,
	}
	if s.scheme == SigningUnscoped {
		r.Header.Set(headerAuthorization, unsigned.unscoped(s.keys))
		return
	}
	r.Header.Set(headerAuthorization, unsigned.scoped(s.keys, s.region, s.derived.derive))
}

// signatureValue is the part of the Authorization header that would let others send
// the request again.
var signatureValue = regexp.MustCompile(`Signature=[0-9a-fA-F]{16,}`)

func (s signature) hide(answer []byte) []byte {
	answer = signatureValue.ReplaceAll(answer, []byte("Signature="+hiddenText))
	return hidden(answer, s.keys.SecretKey, s.keys.SecurityToken)
}

// hiddenText stands in the place of what was hidden.
const hiddenText = "(hidden)"

// hidden replaces secrets in an answer. What stands in front of DIS may repeat in a
// refusal what it was sent.
func hidden(answer []byte, secrets ...string) []byte {
	for _, secret := range secrets {
		if secret != "" {
			answer = bytes.ReplaceAll(answer, []byte(secret), []byte(hiddenText))
		}
	}
	return answer
}

func (s signature) headers(r *http.Request) map[string]string {
	headers := map[string]string{}
	for _, name := range signedHeaders {
		if value := r.Header.Get(name.canonical); value != "" {
			headers[name.lower] = value
		}
	}
	if s.scheme == SigningUnscoped {
		delete(headers, "content-type")
	} else {
		headers["host"] = r.URL.Host
	}
	return headers
}
