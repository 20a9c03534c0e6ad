package embedded

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	signDateLayout  = "20060102T150405Z"
	unsignedPayload = "UNSIGNED-PAYLOAD"
)

// verifier checks the signature of requests: the scoped scheme of the Java,
// Python and legacy Go SDKs and the unscoped one of the v3 SDKs.
type verifier struct {
	secretKeys map[string]string // by access key
	region     string            // empty: any
	clockSkew  time.Duration     // negative: any date
	status     int
	now        func() time.Time
}

func newVerifier(config Config) *verifier {
	return &verifier{
		secretKeys: config.AccessKeys,
		region:     config.Region,
		clockSkew:  config.ClockSkew,
		status:     config.AuthStatus,
		now:        config.Now,
	}
}

// verify reports why a request is not authentic; body is what was sent, before
// any decoding.
func (v *verifier) verify(r *http.Request, body []byte) error {
	if err := v.check(r, body); err != nil {
		err.status = v.status
		return err
	}
	return nil
}

func (v *verifier) check(r *http.Request, body []byte) *apiError {
	if err := checkToken(r); err != nil {
		return err
	}
	auth, err := parseAuthorization(r.Header.Get("Authorization"))
	if err != nil {
		return err
	}
	date := r.Header.Get("X-Sdk-Date")
	if err := v.checkDate(date); err != nil {
		return err
	}
	if auth.scope != nil {
		if auth.scope.date != date[:len("YYYYMMDD")] {
			return refuse(wire.CodeDateSkewed, "X-Sdk-Date is invalid. [%s][%s]", date, auth.scope.date)
		}
		if v.region != "" && auth.scope.region != v.region {
			return refuse(wire.CodeRegionInvalid, "Region is invalid. [%s]", auth.scope.region)
		}
	}
	secretKey, known := v.secretKeys[auth.accessKey]
	if !known {
		return refuse(wire.CodeAccessKeyInvalid, "AK is invalid. [%s]", auth.accessKey)
	}
	if !auth.matches(r, body, secretKey, date) {
		return refuse(wire.CodeSignatureMismatch, "Authorization is invalid: the signature does not match. [%s]", auth.accessKey)
	}
	return nil
}

// checkToken refuses the alternative to a signature, which comes first when
// both are sent: no tokens are issued here.
func checkToken(r *http.Request) *apiError {
	tokens, sent := r.Header["X-Auth-Token"]
	switch {
	case !sent:
		return nil
	case tokens[0] == "":
		return refuse(wire.CodeTokenEmpty, "X-Auth-Token cannot be empty.")
	default:
		return refuse(wire.CodeTokenInvalid, "X-Auth-Token is invalid.")
	}
}

func (v *verifier) checkDate(date string) *apiError {
	if date == "" {
		return refuse(wire.CodeDateEmpty, "X-Sdk-Date cannot be empty.")
	}
	signedAt, err := time.Parse(signDateLayout, date)
	if err != nil {
		return refuse(wire.CodeDateMalformed, "X-Sdk-Date cannot be parsed. [%s]", date)
	}
	if v.clockSkew >= 0 && v.now().Sub(signedAt).Abs() > v.clockSkew {
		return refuse(wire.CodeDateSkewed, "X-Sdk-Date is invalid. [%s]", date)
	}
	return nil
}

// matches tries every form in which the request may have been signed.
func (a *authorization) matches(r *http.Request, body []byte, secretKey, date string) bool {
	key := a.signingKey(secretKey)
	payload := a.payloadHash(r, body)
	queries := canonicalQueries(r.URL.RawQuery)
	headers := canonicalHeaders(r, a.signedHeaders)
	for _, path := range canonicalPaths(r.URL.EscapedPath(), a.scope != nil) {
		for _, query := range queries {
			for _, header := range headers {
				canonical := strings.Join([]string{r.Method, path, query, header, a.signedText, payload}, "\n")
				signature := hex.EncodeToString(hmacSHA256(key, a.stringToSign(date, canonical)))
				if hmac.Equal([]byte(signature), []byte(a.signature)) {
					return true
				}
			}
		}
	}
	return false
}

// payloadHash is the hash of the body. The v3 SDKs leave a body out by saying
// so in x-sdk-content-sha256; other values of that header do not count, since
// the legacy Go SDK sends a wrong one.
func (a *authorization) payloadHash(r *http.Request, body []byte) string {
	if a.scope == nil && r.Header.Get("X-Sdk-Content-Sha256") == unsignedPayload {
		return unsignedPayload
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func (a *authorization) stringToSign(date, canonicalRequest string) string {
	sum := sha256.Sum256([]byte(canonicalRequest))
	hash := hex.EncodeToString(sum[:])
	if a.scope == nil {
		return signAlgorithm + "\n" + date + "\n" + hash
	}
	return signAlgorithm + "\n" + date + "\n" + a.scope.String() + "\n" + hash
}

// signingKey is the secret key itself, or the key derived for the scope.
func (a *authorization) signingKey(secretKey string) []byte {
	if a.scope == nil {
		return []byte(secretKey)
	}
	key := []byte("SDK" + secretKey)
	for _, part := range []string{a.scope.date, a.scope.region, signService, signTermination} {
		key = hmacSHA256(key, part)
	}
	return key
}

func hmacSHA256(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
