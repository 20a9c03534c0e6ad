package embedded

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// A token takes the place of a signature, and is looked at first.
func TestTokens(t *testing.T) {
	v := vectorVerifier()
	v.tokens = []string{"MIIother", "MIItoken"}
	tests := []struct{ token, code string }{
		{"MIItoken", ""},
		{"MIIother", ""},
		{"", wire.CodeTokenEmpty},
		{"MIItoke", wire.CodeTokenInvalid},
		{"MIItoken2", wire.CodeTokenInvalid},
	}
	for _, test := range tests {
		for name, r := range map[string]*http.Request{
			"alone":            httptest.NewRequest("GET", "/v2/p1/streams", nil),
			"with a signature": vectors["Java GET"].request(),
		} {
			r.Header.Set("X-Auth-Token", test.token)
			err := v.verifyBody(r, nil)
			switch {
			case test.code != "":
				wantsRefusal(t, err, 401, test.code)
			case err != nil:
				t.Errorf("token %q, %s: %v", test.token, name, err)
			}
		}
	}
}

// Without tokens in the settings none is accepted.
func TestNoTokens(t *testing.T) {
	r := httptest.NewRequest("GET", "/v2/p1/streams", nil)
	r.Header.Set("X-Auth-Token", "MIIabc")
	wantsRefusal(t, vectorVerifier().verifyBody(r, nil), 401, wire.CodeTokenInvalid)
}

// A temporary key comes with its security token, signed or not.
func TestSecurityTokens(t *testing.T) {
	v := vectorVerifier()
	r := vectors["Python GET, derived"].request()
	r.Header.Set("X-Security-Token", "ignored without a setting")
	if err := v.verifyBody(r, nil); err != nil {
		t.Error(err)
	}
	v.securityTokens = map[string]string{"AKEXAMPLE": "temporary"}
	wantsRefusal(t, v.verifyBody(r, nil), 401, wire.CodeAccessKeyInvalid)
	r.Header.Set("X-Security-Token", "temporary")
	if err := v.verifyBody(r, nil); err != nil {
		t.Error(err)
	}
	r.Header.Del("X-Security-Token")
	wantsRefusal(t, v.verifyBody(r, nil), 401, wire.CodeAccessKeyInvalid)
}

func TestInsecure(t *testing.T) {
	s := startService(t, func(c *Config) { c.Insecure, c.AccessKeys = true, nil })
	r := s.request("GET", "/v2/local/streams", "", nil)
	r.Header = http.Header{}
	wants[wire.ListStreamsResponse](t, s.send(r), 200)
	r = s.request("GET", "/v2/local/streams", "", nil)
	r.Header.Set("Authorization", "nonsense")
	wants[wire.ListStreamsResponse](t, s.send(r), 200)
}
