package dis

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
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

// canonicalScoped is the text that the scoped scheme hashes: method, path, query,
// headers, their names and the body's hash, each on lines of their own. The path
// is encoded a second time, and ends with a slash whether or not the sent one does.
func (s toSign) canonicalScoped() string {
	return s.canonical(appendEscaped(nil, s.Path, true), appendCollapsed)
}

// canonicalUnscoped is the same for the unscoped scheme, with the path as it is
// sent but for the slash.
func (s toSign) canonicalUnscoped() string {
	return s.canonical([]byte(s.Path), func(dst []byte, value string) []byte {
		return append(dst, strings.TrimSpace(value)...)
	})
}

func (s toSign) canonical(path []byte, appendValue func(dst []byte, value string) []byte) string {
	names := s.headerNames()
	text := make([]byte, 0, 512)
	text = append(text, s.Method...)
	text = append(text, '\n')
	text = append(text, path...)
	if !strings.HasSuffix(s.Path, "/") {
		text = append(text, '/')
	}
	text = append(text, '\n')
	text = append(text, canonicalQuery(s.Query)...)
	text = append(text, '\n')
	for _, name := range names {
		text = append(text, name...)
		text = append(text, ':')
		text = appendValue(text, s.Headers[name])
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

// scoped is the value of the Authorization header in the scheme of the DIS SDKs,
// whose key derive gives: from the secret, the day, the region and the service.
func (s toSign) scoped(keys Keys, region string, derive func(secret, day, region string) []byte) string {
	date := s.Date.UTC().Format(signDateForm)
	scope := date[:8] + "/" + region + "/" + signService + "/" + signEnd
	message := signAlgorithm + "\n" + date + "\n" + scope + "\n" + hexSHA256([]byte(s.canonicalScoped()))
	return s.authorization("Credential="+keys.AccessKey+"/"+scope, derive(keys.SecretKey, date[:8], region), message)
}

// unscoped is the value of the Authorization header in the scheme of the v3 SDKs,
// whose key is the secret itself.
func (s toSign) unscoped(keys Keys) string {
	date := s.Date.UTC().Format(signDateForm)
	message := signAlgorithm + "\n" + date + "\n" + hexSHA256([]byte(s.canonicalUnscoped()))
	return s.authorization("Access="+keys.AccessKey, []byte(keys.SecretKey), message)
}

func (s toSign) authorization(who string, key []byte, message string) string {
	return signAlgorithm + " " + who + ", SignedHeaders=" + strings.Join(s.headerNames(), ";") +
		", Signature=" + hex.EncodeToString(hmacSHA256(key, message))
}

func signingKey(secret, day, region string) []byte {
	key := []byte("SDK" + secret)
	for _, part := range []string{day, region, signService, signEnd} {
		key = hmacSHA256(key, part)
	}
	return key
}

// signingKeys remembers the key that was derived last: one holds for a day, and takes
// four HMACs where a signature takes one. It is safe for use by many goroutines.
type signingKeys struct{ last atomic.Pointer[derivedKey] }

type derivedKey struct {
	secret, day, region string
	key                 []byte
}

func (k *signingKeys) derive(secret, day, region string) []byte {
	if last := k.last.Load(); last != nil && last.secret == secret && last.day == day && last.region == region {
		return last.key
	}
	key := signingKey(secret, day, region)
	k.last.Store(&derivedKey{secret, day, region, key})
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
