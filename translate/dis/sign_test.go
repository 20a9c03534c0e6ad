package dis

import (
	"bytes"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"
	"time"
)

// The vectors were produced by the official Java SDK's signer.
var (
	vectorKeys = Keys{AccessKey: "AKEXAMPLE", SecretKey: "SKEXAMPLE"}
	vectorDate = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
)

const vectorRegion = "cn-north-4"

func vectorHeaders(host string) map[string]string {
	return map[string]string{
		"accept":        "*/*; charset=utf-8",
		"content-type":  "application/json; charset=utf-8",
		"host":          host,
		"x-project-id":  "p1",
		"x-sdk-date":    "20240102T030405Z",
		"x-sdk-version": "1.3.5-SNAPSHOT/java",
	}
}

func TestSigningKey(t *testing.T) {
	got := hex.EncodeToString(signingKey(vectorKeys.SecretKey, "20240102", vectorRegion))
	if want := "f2c7a8199e27170ded5a8bfaf448841a2213511eaed8256064325f0b0a8826eb"; got != want {
		t.Errorf("signing key %s, want %s", got, want)
	}
}

func TestTheRememberedSigningKeyIsOfTheSameSecretDayAndRegion(t *testing.T) {
	keys := new(signingKeys)
	of := [][3]string{
		{"s1", "20240102", "r1"}, {"s1", "20240102", "r1"}, {"s2", "20240102", "r1"}, {"s1", "20240102", "r1"},
		{"s1", "20240103", "r1"}, {"s1", "20240103", "r2"}, {"s1", "20240102", "r1"}, {"", "", ""},
	}
	for _, f := range of {
		if got, want := keys.derive(f[0], f[1], f[2]), signingKey(f[0], f[1], f[2]); !bytes.Equal(got, want) {
			t.Errorf("%v: key %x, want %x", f, got, want)
		}
	}
	if first, again := keys.derive("s1", "20240102", "r1"), keys.derive("s1", "20240102", "r1"); &first[0] != &again[0] {
		t.Error("the key was derived twice")
	}
}

func TestSignatureVectors(t *testing.T) {
	body := `{"stream_name":"s1","records":[{"data":"aGVsbG8=","partition_key":"k"}]}`
	tests := []struct {
		name          string
		request       toSign
		canonicalHash string
		signature     string
	}{
		{
			name: "A1, GET with an empty parameter",
			request: toSign{
				Method: "GET",
				Path:   "/v2/p1/cursors/",
				Query: url.Values{
					"stream-name": {"s1"}, "partition-id": {"shardId-0000000000"},
					"starting-sequence-number": {"0"}, "cursor-type": {""},
				},
				Headers:  vectorHeaders("127.0.0.1:8080"),
				BodyHash: emptyBodyHash,
			},
			canonicalHash: "d131d12f788d0d0efd627132fa99308107e2a77bc1a6b64665b48068c5d63049",
			signature:     "eff767988dd50c9e824f547a8cfe14ced621ea41e6f4732d336d6da27b791511",
		},
		{
			name: "A2, POST with a body",
			request: toSign{
				Method:   "POST",
				Path:     "/v2/p1/records/",
				Headers:  vectorHeaders("dis.cn-north-4.myhuaweicloud.com"),
				BodyHash: hexSHA256([]byte(body)),
			},
			canonicalHash: "4f722177c22ec48cc60336d8cc3b00c6918071f3a4891925cfe872b86fffdbe7",
			signature:     "58205bfcda3b02ef76db5db0fa27101b5354d41909033f610aac12a2b7df3117",
		},
		{
			name: "A2 with the path as this client sends it",
			request: toSign{
				Method:   "POST",
				Path:     "/v2/p1/records",
				Headers:  vectorHeaders("dis.cn-north-4.myhuaweicloud.com"),
				BodyHash: "79957303714ff679ed90c746ef8fafccd6190c57ab555fdb56a545aecef9231f",
			},
			canonicalHash: "4f722177c22ec48cc60336d8cc3b00c6918071f3a4891925cfe872b86fffdbe7",
			signature:     "58205bfcda3b02ef76db5db0fa27101b5354d41909033f610aac12a2b7df3117",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.request.Date = vectorDate
			if got := hexSHA256([]byte(test.request.canonicalScoped())); got != test.canonicalHash {
				t.Errorf("canonical request hashes to %s, want %s:\n%s", got, test.canonicalHash, test.request.canonicalScoped())
			}
			want := "SDK-HMAC-SHA256 Credential=AKEXAMPLE/20240102/cn-north-4/dis/sdk_request, " +
				"SignedHeaders=accept;content-type;host;x-project-id;x-sdk-date;x-sdk-version, Signature=" + test.signature
			if got := test.request.scoped(vectorKeys, vectorRegion, signingKey); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// B1 was produced by the official Go SDK v3's signer.
func TestUnscopedSignatureVector(t *testing.T) {
	for name, path := range map[string]string{"as signed": "/v2/p1/apps/a1/", "as sent": "/v2/p1/apps/a1"} {
		request := toSign{
			Method: "GET", Path: path, BodyHash: emptyBodyHash, Date: vectorDate,
			Headers: map[string]string{
				"user-agent": "huaweicloud-usdk-go/3.0", "x-project-id": "p1", "x-sdk-date": "20240102T030405Z",
			},
		}
		if got, want := hexSHA256([]byte(request.canonicalUnscoped())), "d3737da23e40c99165ce1c6ed2dfb3bc2d5fb49dab67936a8e534dfaa0cf27ad"; got != want {
			t.Errorf("%s: canonical request hashes to %s, want %s:\n%s", name, got, want, request.canonicalUnscoped())
		}
		want := "SDK-HMAC-SHA256 Access=AKEXAMPLE, SignedHeaders=user-agent;x-project-id;x-sdk-date, " +
			"Signature=38c848db20e5a65aef0c500acaaab39246783e5bf7188bb83dfd4402f5e64740"
		if got := request.unscoped(vectorKeys); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

func TestSignatureUsesTheUTCDay(t *testing.T) {
	request := toSign{Method: "GET", Path: "/", Headers: map[string]string{"host": "h"}, BodyHash: emptyBodyHash, Date: vectorDate}
	inUTC := request.scoped(vectorKeys, vectorRegion, signingKey) + request.unscoped(vectorKeys)
	request.Date = vectorDate.In(time.FixedZone("east", 14*3600))
	if got := request.scoped(vectorKeys, vectorRegion, signingKey) + request.unscoped(vectorKeys); got != inUTC {
		t.Errorf("in another zone %s, in UTC %s", got, inUTC)
	}
}

func TestCanonicalRequest(t *testing.T) {
	request := toSign{
		Method:   "GET",
		Path:     "/v2/p1/streams/" + escapeSegment("a b/ü*~"),
		Query:    url.Values{"b": {"2", "1"}, "a/b": {"x y+z"}, "a": {"中"}},
		Headers:  map[string]string{"x-b": "two  words\t here", "host": "h:1"},
		BodyHash: "hash",
	}
	want := "GET\n" +
		"/v2/p1/streams/a%2520b%252F%25C3%25BC%252A~/\n" +
		"a=%E4%B8%AD&a%2Fb=x%20y%2Bz&b=1&b=2\n" +
		"host:h:1\n" +
		"x-b:two words here\n" +
		"\n" +
		"host;x-b\n" +
		"hash"
	if got := request.canonicalScoped(); got != want {
		t.Errorf("scoped: got\n%s\nwant\n%s", got, want)
	}
	once := strings.ReplaceAll(want, "%25", "%")
	spaces := strings.Replace(once, "two words here", "two  words\t here", 1)
	if got := request.canonicalUnscoped(); got != spaces {
		t.Errorf("unscoped: got\n%s\nwant\n%s", got, spaces)
	}
}

// "a" sorts before "a-b" although "=" sorts after "-": keys decide, not the text.
func TestCanonicalQuerySortsByKey(t *testing.T) {
	got := canonicalQuery(url.Values{"a-b": {"1"}, "a": {"2"}, "a_b": {""}})
	if want := "a=2&a-b=1&a_b="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
