package embedded

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// The vectors were produced by the official signers: AK AKEXAMPLE, SK
// SKEXAMPLE, region cn-north-4, date 20240102T030405Z.

const (
	vectorDate  = "20240102T030405Z"
	vectorScope = "SDK-HMAC-SHA256 Credential=AKEXAMPLE/20240102/cn-north-4/dis/sdk_request, "
)

func vectorVerifier() *verifier {
	return newVerifier(Config{
		AccessKeys: map[string]string{"AKEXAMPLE": "SKEXAMPLE"},
		Region:     "cn-north-4",
		AuthStatus: statusAuthFailed,
		ClockSkew:  time.Minute,
		Now:        func() time.Time { return time.Date(2024, 1, 2, 3, 4, 35, 0, time.UTC) },
	})
}

type vector struct {
	method, target, body string
	headers              map[string]string
}

func (v vector) request() *http.Request {
	r := httptest.NewRequest(v.method, v.target, strings.NewReader(v.body))
	for name, value := range v.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("X-Sdk-Date", vectorDate)
	return r
}

// javaHeaders are those that the Java SDK sends and signs.
func javaHeaders(signature string) map[string]string {
	return map[string]string{
		"Accept":        "*/*; charset=utf-8",
		"Content-Type":  "application/json; charset=utf-8",
		"X-Project-Id":  "p1",
		"X-Sdk-Version": "1.3.5-SNAPSHOT/java",
		"Authorization": vectorScope +
			"SignedHeaders=accept;content-type;host;x-project-id;x-sdk-date;x-sdk-version, Signature=" + signature,
	}
}

var vectors = map[string]vector{
	"Java GET": {
		method:  "GET",
		target:  "http://127.0.0.1:8080/v2/p1/cursors/?stream-name=s1&partition-id=shardId-0000000000&starting-sequence-number=0&cursor-type=&",
		headers: javaHeaders("eff767988dd50c9e824f547a8cfe14ced621ea41e6f4732d336d6da27b791511"),
	},
	"Java POST": {
		method:  "POST",
		target:  "https://dis.cn-north-4.myhuaweicloud.com/v2/p1/records/",
		body:    `{"stream_name":"s1","records":[{"data":"aGVsbG8=","partition_key":"k"}]}`,
		headers: javaHeaders("58205bfcda3b02ef76db5db0fa27101b5354d41909033f610aac12a2b7df3117"),
	},
	"Python GET, port not signed, no slash, bare empty key": {
		method: "GET",
		target: "http://127.0.0.1:8080/v2/p1/cursors?stream-name=s1&partition-id=shardId-0000000000&cursor-type=TRIM_HORIZON&starting-sequence-number=",
		headers: map[string]string{
			"Authorization": vectorScope + "SignedHeaders=host;x-sdk-date, Signature=bdd6d214e771e1997783d9aa198053f2ac209f71e6b4ae5cae42095661b13cc1",
		},
	},
	"Go v3 GET": {
		method: "GET",
		target: "http://127.0.0.1:8080/v2/p1/apps/a1",
		headers: map[string]string{
			"User-Agent":   "huaweicloud-usdk-go/3.0",
			"X-Project-Id": "p1",
			"Content-Type": "application/json",
			"Authorization": "SDK-HMAC-SHA256 Access=AKEXAMPLE, SignedHeaders=user-agent;x-project-id;x-sdk-date, " +
				"Signature=38c848db20e5a65aef0c500acaaab39246783e5bf7188bb83dfd4402f5e64740",
		},
	},
	"Go v3 GET, derived": {
		method: "GET",
		target: "http://127.0.0.1:8080/v2/p1/apps/a1",
		headers: map[string]string{
			"User-Agent":   "huaweicloud-usdk-go/3.0",
			"X-Project-Id": "p1",
			"Content-Type": "application/json",
			"Authorization": "V11-HMAC-SHA256 Credential=AKEXAMPLE/20240102/cn-north-4/dis, SignedHeaders=user-agent;x-project-id;x-sdk-date, " +
				"Signature=38d856d758e3971ebf93ebeb6d73deb511b8e6fec9918230be64ca592c807389",
		},
	},
	"Python GET, derived": {
		method: "GET",
		target: "http://127.0.0.1:8080/v2/p1/cursors?stream-name=s1&partition-id=shardId-0000000000&cursor-type=TRIM_HORIZON&starting-sequence-number=",
		headers: map[string]string{
			"Authorization": "V11-HMAC-SHA256 Credential=AKEXAMPLE/20240102/cn-north-4/dis/sdk_request, " +
				"SignedHeaders=host;x-sdk-date, Signature=381ea64fd46231e4d47e76a2fe1f5ce119161f18ecaa5e0818b1cd21617cda9f",
		},
	},
}

func TestVerifierAcceptsOfficialSigners(t *testing.T) {
	for name, v := range vectors {
		t.Run(name, func(t *testing.T) {
			r := v.request()
			r.Header.Set("X-Forwarded-For", "10.0.0.1") // proxies add headers
			if err := vectorVerifier().verifyBody(r, []byte(v.body)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Whatever is signed cannot be changed by one bit.
func TestVerifierRefusesChanges(t *testing.T) {
	changes := map[string]func(r *http.Request, body []byte){
		"method":    func(r *http.Request, _ []byte) { r.Method = "PUT" },
		"path":      func(r *http.Request, _ []byte) { r.URL.Path = "/v2/p2/" + r.URL.Path[len("/v2/p1/"):] },
		"query":     func(r *http.Request, _ []byte) { r.URL.RawQuery += "&limit=1" },
		"date":      func(r *http.Request, _ []byte) { r.Header.Set("X-Sdk-Date", "20240102T030404Z") },
		"signature": func(r *http.Request, _ []byte) { flipLast(r) },
		"added body": func(r *http.Request, body []byte) {
			if len(body) > 0 {
				body[0] ^= 1
			} else {
				r.Header.Set("X-Sdk-Date", "20240102T030406Z")
			}
		},
	}
	for name, v := range vectors {
		for what, change := range changes {
			t.Run(name+", "+what, func(t *testing.T) {
				r, body := v.request(), []byte(v.body)
				change(r, body)
				wantsRefusal(t, vectorVerifier().verifyBody(r, body), 401, wire.CodeSignatureMismatch)
			})
		}
	}
	t.Run("signed header", func(t *testing.T) {
		r := vectors["Java GET"].request()
		r.Header.Set("X-Project-Id", "p2")
		wantsRefusal(t, vectorVerifier().verifyBody(r, nil), 401, wire.CodeSignatureMismatch)
	})
	t.Run("host", func(t *testing.T) {
		r := vectors["Java GET"].request()
		r.Host = "127.0.0.2:8080"
		wantsRefusal(t, vectorVerifier().verifyBody(r, nil), 401, wire.CodeSignatureMismatch)
	})
}

func flipLast(r *http.Request) {
	text := []byte(r.Header.Get("Authorization"))
	text[len(text)-1] ^= 1
	r.Header.Set("Authorization", string(text))
}

func wantsRefusal(t *testing.T, err error, status int, code string) {
	t.Helper()
	refused, ok := err.(*apiError)
	if !ok || refused.status != status || refused.code != code {
		t.Errorf("got %v, want status %d and %s", err, status, code)
	}
}

func TestVerifierErrors(t *testing.T) {
	credential := func(c string) string {
		return "SDK-HMAC-SHA256 Credential=" + c + ", SignedHeaders=host, Signature=00"
	}
	good := "AKEXAMPLE/20240102/cn-north-4/dis/sdk_request"
	tests := []struct {
		name, authorization, date, code string
	}{
		{"no header", "", vectorDate, wire.CodeAuthHeaderEmpty},
		{"blank header", " ", vectorDate, wire.CodeAuthHeaderEmpty},
		{"another algorithm", "V4-HMAC-SHA256 Credential=" + good, vectorDate, wire.CodeAuthHeaderMalformed},
		{"derived without a scope", "V11-HMAC-SHA256 Access=AKEXAMPLE, SignedHeaders=host, Signature=00", vectorDate, wire.CodeAuthHeaderMalformed},
		{"derived, another service", "V11-HMAC-SHA256 Credential=AKEXAMPLE/20240102/cn-north-4/obs, SignedHeaders=host, Signature=00", vectorDate, wire.CodeServiceMissing},
		{"derived, wrong signature", "V11-HMAC-SHA256 Credential=" + good + ", SignedHeaders=host, Signature=00", vectorDate, wire.CodeSignatureMismatch},
		{"derived, another region", "V11-HMAC-SHA256 Credential=AKEXAMPLE/20240102/cn-east-3/dis, SignedHeaders=host, Signature=00", vectorDate, wire.CodeRegionInvalid},
		{"bearer", "Bearer abc", vectorDate, wire.CodeAuthHeaderMalformed},
		{"algorithm alone", "SDK-HMAC-SHA256", vectorDate, wire.CodeAuthFieldsMissing},
		{"no signature", "SDK-HMAC-SHA256 Credential=" + good + ", SignedHeaders=host", vectorDate, wire.CodeAuthFieldsMissing},
		{"no signed headers", "SDK-HMAC-SHA256 Credential=" + good + ", Signature=00", vectorDate, wire.CodeAuthFieldsMissing},
		{"no credential", "SDK-HMAC-SHA256 SignedHeaders=host, Signature=00", vectorDate, wire.CodeAuthFieldsMissing},
		{"empty signature", "SDK-HMAC-SHA256 Credential=" + good + ", SignedHeaders=host, Signature=", vectorDate, wire.CodeSignatureEmpty},
		{"empty signed headers", "SDK-HMAC-SHA256 Credential=" + good + ", SignedHeaders=, Signature=00", vectorDate, wire.CodeSignatureEmpty},
		{"no AK", credential("/20240102/cn-north-4/dis/sdk_request"), vectorDate, wire.CodeAccessKeyMissing},
		{"no AK, unscoped", "SDK-HMAC-SHA256 Access=, SignedHeaders=host, Signature=00", vectorDate, wire.CodeAccessKeyMissing},
		{"no region", credential("AKEXAMPLE/20240102//dis/sdk_request"), vectorDate, wire.CodeRegionInvalid},
		{"another region", credential("AKEXAMPLE/20240102/cn-east-3/dis/sdk_request"), vectorDate, wire.CodeRegionInvalid},
		{"no service", credential("AKEXAMPLE/20240102/cn-north-4"), vectorDate, wire.CodeServiceMissing},
		{"another service", credential("AKEXAMPLE/20240102/cn-north-4/obs/sdk_request"), vectorDate, wire.CodeServiceMissing},
		{"no termination", credential("AKEXAMPLE/20240102/cn-north-4/dis"), vectorDate, wire.CodeAuthHeaderMalformed},
		{"no date", credential(good), "", wire.CodeDateEmpty},
		{"not a date", credential(good), "2024-01-02", wire.CodeDateMalformed},
		{"old date", credential(good), "20240102T030334Z", wire.CodeDateSkewed},
		{"future date", credential(good), "20240102T030536Z", wire.CodeDateSkewed},
		{"scope of another day", credential("AKEXAMPLE/20240103/cn-north-4/dis/sdk_request"), vectorDate, wire.CodeDateSkewed},
		{"unknown AK", credential("AKOTHER/20240102/cn-north-4/dis/sdk_request"), vectorDate, wire.CodeAccessKeyInvalid},
		{"wrong signature", credential(good), vectorDate, wire.CodeSignatureMismatch},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/v2/p1/streams", nil)
			r.Header.Set("Authorization", test.authorization)
			r.Header.Set("X-Sdk-Date", test.date)
			wantsRefusal(t, vectorVerifier().verifyBody(r, nil), 401, test.code)
		})
	}
}

func TestVerifierSettings(t *testing.T) {
	v := vectorVerifier()
	v.status = statusAuthFailed41
	r := vectors["Go v3 GET"].request()
	r.Header.Set("X-Sdk-Date", "20230102T030405Z")
	wantsRefusal(t, v.verifyBody(r, nil), 441, wire.CodeDateSkewed)
	v.clockSkew = -1
	wantsRefusal(t, v.verifyBody(r, nil), 441, wire.CodeSignatureMismatch)
}

// The forms that the SDKs sign beyond those of the vectors, each under a
// signature that the test computes from the form itself.
func TestVerifierForms(t *testing.T) {
	const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	scoped := &authorization{accessKey: "AKEXAMPLE", scope: &scope{"20240102", "cn-north-4", true}}
	unscoped := &authorization{accessKey: "AKEXAMPLE"}
	tests := []struct {
		name      string
		auth      *authorization
		target    string
		signed    string
		headers   map[string]string
		canonical string
		refused   bool
	}{
		{
			name: "legacy Go: slash only in the signed path, wrong content hash header, content-length signed",
			auth: scoped, target: "/v2/p1/records?limit=5", signed: "content-length;host;x-sdk-content-sha256",
			headers:   map[string]string{"X-Sdk-Content-Sha256": emptyHash},
			canonical: "POST\n/v2/p1/records/\nlimit=5\ncontent-length:4\nhost:example.com\nx-sdk-content-sha256:" + emptyHash + "\n\n",
		},
		{
			name: "legacy Go: form escaping of a space", auth: scoped, target: "/v2/p1/apps/?a=x+y", signed: "host",
			canonical: "POST\n/v2/p1/apps/\na=x%20y\nhost:example.com\n\n",
		},
		{
			name: "Java: raw query with a plus sign", auth: scoped, target: "/v2/p1/apps/?b=&a=x+y&", signed: "host",
			canonical: "POST\n/v2/p1/apps/\na=x%2By&b=\nhost:example.com\n\n",
		},
		{
			name: "Java: path encoded twice", auth: scoped, target: "/v2/p1/apps/a%20b/", signed: "host",
			canonical: "POST\n/v2/p1/apps/a%2520b/\n\nhost:example.com\n\n",
		},
		{
			name: "Python: path encoded once", auth: scoped, target: "/v2/p1/apps/a%20b", signed: "host",
			canonical: "POST\n/v2/p1/apps/a%20b/\n\nhost:example.com\n\n",
		},
		{
			name: "Python: entries sorted as a whole", auth: scoped, target: "/v2/p1/cursors?stream=1&stream-name=s", signed: "host",
			canonical: "POST\n/v2/p1/cursors/\nstream-name=s&stream=1\nhost:example.com\n\n",
		},
		{
			name: "white space in a header value collapses", auth: scoped, target: "/v2/p1/apps", signed: "x-a;host",
			headers: map[string]string{"X-A": "one   two"}, canonical: "POST\n/v2/p1/apps\n\nx-a:one two\nhost:example.com\n\n",
		},
		{
			name: "unscoped always signs a slash", auth: unscoped, target: "/v2/p1/apps", signed: "host",
			canonical: "POST\n/v2/p1/apps\n\nhost:example.com\n\n", refused: true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body := "body"
			canonical := test.canonical + test.signed + "\n230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5"
			v := vector{method: "POST", target: test.target, body: body, headers: test.headers}
			r := v.request()
			r.Header.Set("Authorization", testAuthorization(test.auth, test.signed, canonical))
			err := vectorVerifier().verifyBody(r, []byte(body))
			if test.refused != (err != nil) {
				t.Errorf("refused: %v, want %v", err, test.refused)
			}
		})
	}
}

func TestVerifierUnsignedPayload(t *testing.T) {
	const canonical = "POST\n/v2/p1/records/\n\nx-sdk-content-sha256:UNSIGNED-PAYLOAD\n\nx-sdk-content-sha256\nUNSIGNED-PAYLOAD"
	for name, auth := range map[string]*authorization{
		"unscoped": {accessKey: "AKEXAMPLE"},
		"scoped":   {accessKey: "AKEXAMPLE", scope: &scope{"20240102", "cn-north-4", true}},
	} {
		v := vector{method: "POST", target: "/v2/p1/records", headers: map[string]string{
			"X-Sdk-Content-Sha256": "UNSIGNED-PAYLOAD",
			"Authorization":        testAuthorization(auth, "x-sdk-content-sha256", canonical),
		}}
		err := vectorVerifier().verifyBody(v.request(), []byte("anything"))
		if accepted := err == nil; accepted != (name == "unscoped") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseAuthorization(f *testing.F) {
	for _, v := range vectors {
		f.Add(v.headers["Authorization"])
	}
	f.Add("SDK-HMAC-SHA256 Credential=////, SignedHeaders=;;, Signature==")
	f.Fuzz(func(t *testing.T, header string) {
		auth, err := parseAuthorization(header)
		if (auth == nil) == (err == nil) {
			t.Fatalf("auth %v, error %v", auth, err)
		}
		if auth == nil {
			return
		}
		r := vectors["Java GET"].request()
		r.Header.Set("Authorization", header)
		r.URL.RawQuery = header
		_ = vectorVerifier().verifyBody(r, []byte(header)) // must not panic
	})
}
