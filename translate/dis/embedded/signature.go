package embedded

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
)

// The four signature schemes differ in the key and in one line of what is
// signed:
//
//	scheme           algorithm        key                                       SDKs
//	scoped           SDK-HMAC-SHA256  chain over the scope from the secret key  Java, legacy Go, Python by setting
//	unscoped         SDK-HMAC-SHA256  the secret key                            all v3 SDKs
//	derived          V11-HMAC-SHA256  derived from keys and scope               v3 SDKs by setting
//	derived, scoped  V11-HMAC-SHA256  chain over the scope from the derived key Python

const (
	unsignedPayload = "UNSIGNED-PAYLOAD"
	derivedKeyBytes = 32
)

// payloadHash is the hash of the body, as text. The v3 SDKs leave a body out by saying
// so in x-sdk-content-sha256; other values of that header do not count, since
// the legacy Go SDK sends a wrong one.
func (a *authorization) payloadHash(r *http.Request, body [sha256.Size]byte) string {
	if !a.chained() && r.Header.Get("X-Sdk-Content-Sha256") == unsignedPayload {
		return unsignedPayload
	}
	return hex.EncodeToString(body[:])
}

func (a *authorization) stringToSign(canonicalRequest string) string {
	sum := sha256.Sum256([]byte(canonicalRequest))
	text := a.algorithm() + "\n" + a.date + "\n"
	if a.scope != nil {
		text += a.scope.String() + "\n"
	}
	return text + hex.EncodeToString(sum[:])
}

func (a *authorization) signingKey(secretKey string) []byte {
	if a.derived {
		secretKey = derivedKey(a.accessKey, secretKey, a.scope.info())
	}
	if !a.chained() {
		return []byte(secretKey)
	}
	key := []byte("SDK" + secretKey)
	for _, part := range []string{a.scope.date, a.scope.region, signService, signTermination} {
		key = hmacSHA256(key, part)
	}
	return key
}

// derivedKey is used as text, in hexadecimal.
func derivedKey(accessKey, secretKey, info string) string {
	key, err := hkdf.Key(sha256.New, []byte(secretKey), []byte(accessKey), info, derivedKeyBytes)
	if err != nil { // only a length that the hash cannot give
		panic(err)
	}
	return hex.EncodeToString(key)
}

func hmacSHA256(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
