package embedded

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const signDateLayout = "20060102T150405Z"

// verifier decides whether a request comes from someone who knows a secret key
// or a token. signature.go has the schemes.
type verifier struct {
	open           bool              // everything is accepted
	secretKeys     map[string]string // by access key
	securityTokens map[string]string // by access key, of temporary keys
	tokens         []string
	region         string        // empty: any
	clockSkew      time.Duration // negative: any date
	status         int
	now            func() time.Time
}

func newVerifier(config Config) *verifier {
	return &verifier{
		open:           config.Insecure,
		secretKeys:     config.AccessKeys,
		securityTokens: config.SecurityTokens,
		tokens:         config.Tokens,
		region:         config.Region,
		clockSkew:      config.ClockSkew,
		status:         config.AuthStatus,
		now:            config.Now,
	}
}

// hashes reports whether the hash of a request's body matters.
func (v *verifier) hashes(r *http.Request) bool {
	_, token := r.Header["X-Auth-Token"]
	return !v.open && !token
}

// verify reports why a request is not authentic. The hash is that of the body as
// it was sent, before any decoding.
func (v *verifier) verify(r *http.Request, body [sha256.Size]byte) error {
	if v.open {
		return nil
	}
	if err := v.check(r, body); err != nil {
		err.status = v.status
		return err
	}
	return nil
}

// check looks at a token first when both a token and a signature are sent.
func (v *verifier) check(r *http.Request, body [sha256.Size]byte) *apiError {
	if tokens, sent := r.Header["X-Auth-Token"]; sent {
		return v.checkToken(tokens[0])
	}
	auth, err := readAuthorization(r)
	if err != nil {
		return err
	}
	if err := v.checkDate(auth); err != nil {
		return err
	}
	if auth.scope != nil {
		if auth.scope.date != auth.date[:len("YYYYMMDD")] {
			return refuse(wire.CodeDateSkewed, "X-Sdk-Date is invalid. [%s][%s]", auth.date, auth.scope.date)
		}
		if v.region != "" && auth.scope.region != v.region {
			return refuse(wire.CodeRegionInvalid, "Region is invalid. [%s]", auth.scope.region)
		}
	}
	secretKey, known := v.secretKeys[auth.accessKey]
	if !known {
		return refuse(wire.CodeAccessKeyInvalid, "AK is invalid. [%s]", auth.accessKey)
	}
	if wanted := v.securityTokens[auth.accessKey]; wanted != "" && !same(r.Header.Get("X-Security-Token"), wanted) {
		return refuse(wire.CodeAccessKeyInvalid, "AK is invalid: the security token does not belong to it. [%s]", auth.accessKey)
	}
	if !auth.matches(r, body, secretKey) {
		return refuse(wire.CodeSignatureMismatch, "Authorization is invalid: the signature does not match. [%s]", auth.accessKey)
	}
	return nil
}

func (v *verifier) checkToken(sent string) *apiError {
	if sent == "" {
		return refuse(wire.CodeTokenEmpty, "X-Auth-Token cannot be empty.")
	}
	for _, token := range v.tokens {
		if same(sent, token) {
			return nil
		}
	}
	return refuse(wire.CodeTokenInvalid, "X-Auth-Token is invalid.")
}

// same compares secrets in a time that does not depend on where they differ.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func (v *verifier) checkDate(auth *authorization) *apiError {
	if auth.date == "" {
		return refuse(wire.CodeDateEmpty, "X-Sdk-Date cannot be empty.")
	}
	signedAt, err := time.Parse(signDateLayout, auth.date)
	if err != nil {
		return refuse(wire.CodeDateMalformed, "X-Sdk-Date cannot be parsed. [%s]", auth.date)
	}
	age := v.now().Sub(signedAt)
	if v.clockSkew >= 0 && (age > max(v.clockSkew, auth.lifetime) || -age > v.clockSkew) {
		return refuse(wire.CodeDateSkewed, "X-Sdk-Date is invalid. [%s]", auth.date)
	}
	return nil
}

// matches tries every form in which the request may have been signed.
func (a *authorization) matches(r *http.Request, body [sha256.Size]byte, secretKey string) bool {
	key := a.signingKey(secretKey)
	payload := a.payloadHash(r, body)
	queries := canonicalQueries(a.query)
	headers := canonicalHeaders(r, a.signedHeaders)
	for _, path := range canonicalPaths(r.URL.EscapedPath(), a.chained()) {
		for _, query := range queries {
			for _, header := range headers {
				canonical := strings.Join([]string{r.Method, path, query, header, a.signedText, payload}, "\n")
				signature := hex.EncodeToString(hmacSHA256(key, a.stringToSign(canonical)))
				if hmac.Equal([]byte(signature), []byte(a.signature)) {
					return true
				}
			}
		}
	}
	return false
}
