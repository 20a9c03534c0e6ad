package embedded

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// presigned is a request whose signature is part of the query: what is signed
// is spelled out, the signature is computed with the vectors' signing key.
func presigned(seconds string) *http.Request {
	query := "X-Sdk-Algorithm=SDK-HMAC-SHA256&X-Sdk-Credential=AKEXAMPLE%2F20240102%2Fcn-north-4%2Fdis%2Fsdk_request" +
		"&X-Sdk-Date=" + vectorDate + "&X-Sdk-Expires=" + seconds + "&X-Sdk-SignedHeaders=host&limit=5"
	scoped := &authorization{accessKey: "AKEXAMPLE", scope: &scope{"20240102", "cn-north-4", true}}
	header := testAuthorization(scoped, "host", fmt.Sprintf("GET\n/v2/p1/streams\n%s\nhost:example.com\n\nhost\n"+
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", query))
	_, signature, _ := strings.Cut(header, "Signature=")
	// On the wire the order of the query is another one.
	return httptest.NewRequest("GET", "/v2/p1/streams?limit=5&X-Sdk-Signature="+signature+"&"+strings.TrimSuffix(query, "&limit=5"), nil)
}

func TestPresigned(t *testing.T) {
	at := func(now time.Time) *verifier {
		v := vectorVerifier()
		v.now = func() time.Time { return now }
		return v
	}
	signed := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := at(signed.Add(time.Hour)).verifyBody(presigned("3600"), nil); err != nil {
		t.Error(err)
	}
	wantsRefusal(t, at(signed.Add(time.Hour+time.Second)).verifyBody(presigned("3600"), nil), 401, wire.CodeDateSkewed)
	wantsRefusal(t, at(signed.Add(-2*time.Minute)).verifyBody(presigned("3600"), nil), 401, wire.CodeDateSkewed)
	wantsRefusal(t, at(signed).verifyBody(presigned("3600"), []byte("a body")), 401, wire.CodeSignatureMismatch)
	for _, seconds := range []string{"0", "-1", "604801", "", "x", "99999999999999999999"} {
		wantsRefusal(t, at(signed).verifyBody(presigned(seconds), nil), 401, wire.CodeAuthHeaderMalformed)
	}
	for _, missing := range []string{"X-Sdk-Credential", "X-Sdk-SignedHeaders"} {
		r := presigned("60")
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, missing, "Other", 1)
		wantsRefusal(t, at(signed).verifyBody(r, nil), 401, wire.CodeAuthFieldsMissing)
	}
}
