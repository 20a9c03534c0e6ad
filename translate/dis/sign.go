package dis

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	signAlgorithm = "SDK-HMAC-SHA256"
	signService   = "dis"
	signEnd       = "sdk_request"
	// signDateForm is the form of X-Sdk-Date; its first 8 characters are the
	// date of the scope.
	signDateForm = "20060102T150405Z"
)

// toSign is what a signature covers.
type toSign struct {
	Method string
	// Path is the path as it is sent, percent-encoded once.
	Path string
	// Query holds the decoded parameters.
	Query url.Values
	// Headers are the signed ones, by lower-case name.
	Headers map[string]string
	// BodyHash is the lower-case hex SHA-256 of the bytes sent.
	BodyHash string
	Date     time.Time
}

// canonical is the text that is hashed: method, path, query, headers, their
// names and the body's hash, each on lines of their own. The path ends with a
// slash whether or not the sent one does, and is encoded a second time.
func (s toSign) canonical() string {
	names := s.headerNames()
	text := make([]byte, 0, 512)
	text = append(text, s.Method...)
	text = append(text, '\n')
	text = appendEscaped(text, s.Path, true)
	if !strings.HasSuffix(s.Path, "/") {
		text = append(text, '/')
	}
	text = append(text, '\n')
	text = append(text, canonicalQuery(s.Query)...)
	text = append(text, '\n')
	for _, name := range names {
		text = append(text, name...)
		text = append(text, ':')
		text = appendCollapsed(text, s.Headers[name])
		text = append(text, '\n')
	}
	text = append(text, '\n')
	text = append(text, strings.Join(names, ";")...)
	text = append(text, '\n')
	text = append(text, s.BodyHash...)
	return string(text)
}

func (s toSign) headerNames() []string {
	names := make([]string, 0, len(s.Headers))
	for name := range s.Headers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// authorization is the value of the Authorization header: the scoped scheme of
// the Java SDK, whose key is derived from the secret, the day, the region and
// the service.
func (s toSign) authorization(keys Keys, region string) string {
	date := s.Date.UTC().Format(signDateForm)
	scope := date[:8] + "/" + region + "/" + signService + "/" + signEnd
	message := signAlgorithm + "\n" + date + "\n" + scope + "\n" + hexSHA256([]byte(s.canonical()))
	signature := hex.EncodeToString(hmacSHA256(signingKey(keys.SecretKey, date[:8], region), message))
	return signAlgorithm + " Credential=" + keys.AccessKey + "/" + scope +
		", SignedHeaders=" + strings.Join(s.headerNames(), ";") + ", Signature=" + signature
}

func signingKey(secret, day, region string) []byte {
	key := []byte("SDK" + secret)
	for _, part := range []string{day, region, signService, signEnd} {
		key = hmacSHA256(key, part)
	}
	return key
}

func hmacSHA256(key []byte, message string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(message)) // never fails
	return mac.Sum(nil)
}

func hexSHA256(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// appendCollapsed copies a header value with each run of white space as one space.
func appendCollapsed(dst []byte, value string) []byte {
	inSpace := false
	for i := range len(value) {
		space := strings.IndexByte(" \t\n\v\f\r", value[i]) >= 0
		if space && !inSpace {
			dst = append(dst, ' ')
		} else if !space {
			dst = append(dst, value[i])
		}
		inSpace = space
	}
	return dst
}

// Headers of a signed request. The names are in Go's canonical form, which is
// how they travel; header names have no case.
const (
	headerAuthorization = "Authorization"
	headerContentType   = "Content-Type"
	headerDate          = "X-Sdk-Date"
	headerProject       = "X-Project-Id"
	headerToken         = "X-Security-Token"
	headerRequestID     = "X-Request-Id"
)

// sign dates and signs a request that is complete but for that. Only headers
// that no proxy touches are signed.
func sign(r *http.Request, keys Keys, region, bodyHash string, now time.Time) {
	r.Header.Set(headerDate, now.UTC().Format(signDateForm))
	if keys.SecurityToken != "" {
		r.Header.Set(headerToken, keys.SecurityToken)
	}
	headers := map[string]string{"host": r.URL.Host}
	for _, name := range []string{headerContentType, headerDate, headerProject, headerToken} {
		if value := r.Header.Get(name); value != "" {
			headers[strings.ToLower(name)] = value
		}
	}
	unsigned := toSign{
		Method:   r.Method,
		Path:     r.URL.EscapedPath(),
		Query:    r.URL.Query(),
		Headers:  headers,
		BodyHash: bodyHash,
		Date:     now,
	}
	r.Header.Set(headerAuthorization, unsigned.authorization(keys, region))
}
