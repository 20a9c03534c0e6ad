package embedded

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
)

// testAuthorization signs a canonical request that a test spells out.
func testAuthorization(auth *authorization, signedHeaders, canonical string) string {
	mac := func(key []byte, text string) []byte {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(text))
		return m.Sum(nil)
	}
	hash := sha256.Sum256([]byte(canonical))
	if auth.scope == nil {
		text := fmt.Sprintf("SDK-HMAC-SHA256\n%s\n%x", vectorDate, hash)
		return fmt.Sprintf("SDK-HMAC-SHA256 Access=%s, SignedHeaders=%s, Signature=%x",
			auth.accessKey, signedHeaders, mac([]byte("SKEXAMPLE"), text))
	}
	// The signing key of the official Java signer for that day and region.
	key, err := hex.DecodeString("f2c7a8199e27170ded5a8bfaf448841a2213511eaed8256064325f0b0a8826eb")
	if err != nil {
		panic(err)
	}
	text := fmt.Sprintf("SDK-HMAC-SHA256\n%s\n20240102/cn-north-4/dis/sdk_request\n%x", vectorDate, hash)
	return fmt.Sprintf("%sSignedHeaders=%s, Signature=%x", vectorScope, signedHeaders, mac(key, text))
}

// verifyBody hashes as the server does while it reads.
func (v *verifier) verifyBody(r *http.Request, body []byte) error {
	return v.verify(r, sha256.Sum256(body))
}
