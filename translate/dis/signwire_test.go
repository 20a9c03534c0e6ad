package dis

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// The signature covers what arrives: the server computes it from its own view
// of the request.
func TestSignatureCoversWhatArrives(t *testing.T) {
	for _, signing := range []Signing{SigningScoped, SigningUnscoped} {
		for _, recordBody := range []RecordBody{RecordBodyJSON, RecordBodyProtobuf} {
			for _, compression := range []Compression{CompressionNone, CompressionLZ4, CompressionSnappy, CompressionZstd} {
				t.Run(fmt.Sprintf("%s/%s/%s", signing, recordBody, compression), func(t *testing.T) {
					cfg := testConfig("")
					cfg.Signing, cfg.RecordBody, cfg.Compression = signing, recordBody, compression
					cfg.Credentials = StaticCredentials(Keys{AccessKey: " AKEXAMPLE ", SecretKey: "SKEXAMPLE\n", SecurityToken: "tok en"})
					callSigned(t, cfg)
				})
			}
		}
	}
}

// callSigned makes calls of every kind to a server that checks the signature.
func callSigned(t *testing.T, cfg Config) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		checkSignature(t, cfg.Signing, r)
		w.WriteHeader(http.StatusTeapot)
	})
	cfg.Endpoint = server.URL + "/a prefix~*"
	client := dial(t, cfg)
	for _, call := range []func(context.Context, *Client) error{
		describe, put, commit, createStream, deleteStream, cursor(CursorRequest{StreamName: "ä +&=/~*", Type: wire.CursorLatest}),
		func(ctx context.Context, c *Client) error { return c.DeleteApp(ctx, "a/b c%2F*ü") },
		func(ctx context.Context, c *Client) error {
			_, err := c.GetRecords(ctx, GetRecordsRequest{Cursor: "a=b"})
			return err
		},
	} {
		if failure := failedWith(t, call(t.Context(), client)); failure.HTTPStatus != http.StatusTeapot {
			t.Error(failure)
		}
	}
}

func checkSignature(t *testing.T, signing Signing, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		t.Errorf("read body: %v", err)
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	values, err := url.ParseQuery(query)
	if err != nil || canonicalQuery(values) != query {
		t.Errorf("query %q is not canonical: %v", query, err)
	}
	request := toSign{Method: r.Method, Path: path, Query: values, BodyHash: hexSHA256(content), Headers: map[string]string{}}
	if request.Date, err = time.Parse(signDateForm, r.Header.Get(headerDate)); err != nil {
		t.Error(err)
	}
	_, signed, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	signed, _, _ = strings.Cut(signed, ",")
	for name := range strings.SplitSeq(signed, ";") {
		request.Headers[name] = r.Header.Get(name)
	}
	wantSigned := []string{"x-project-id", "x-sdk-date", "x-security-token"}
	for _, name := range []string{"accept-encoding", "content-encoding", "x-dis-lz4-content-length", "x-dis-zstd-content-length"} {
		if r.Header.Get(name) != "" {
			wantSigned = append(wantSigned, name)
		}
	}
	want := ""
	if signing == SigningUnscoped {
		want = request.unscoped(vectorKeys)
	} else {
		wantSigned = append(wantSigned, "content-type", "host")
		request.Headers["host"] = r.Host
		want = request.scoped(vectorKeys, vectorRegion, signingKey)
	}
	slices.Sort(wantSigned)
	if signed != strings.Join(wantSigned, ";") {
		t.Errorf("signed headers %s, want %v", signed, wantSigned)
	}
	if got := r.Header.Get("Authorization"); got != want {
		t.Errorf("%s %s\ngot  %s\nwant %s", r.Method, r.RequestURI, got, want)
	}
	if r.ContentLength != int64(len(content)) {
		t.Errorf("%s %s: content length %d for %d bytes", r.Method, r.RequestURI, r.ContentLength, len(content))
	}
}

// A token takes the place of the signature.
func TestToken(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Auth-Token") != "the-token" || r.Header.Get("Authorization") != "" || r.Header.Get("X-Project-Id") != "p1" {
			t.Errorf("headers %v", r.Header)
		}
		w.WriteHeader(http.StatusCreated)
	})
	client := dial(t, Config{Endpoint: server.URL, ProjectID: "p1", Tokens: StaticToken(" the-token\n")})
	if err := commit(t.Context(), client); err != nil {
		t.Error(err)
	}
}

func TestEmptyTokenIsNotSent(t *testing.T) {
	client, _ := play(t, func(c *Config) { c.Credentials, c.Tokens = nil, StaticToken("  ") })
	if failure := failedWith(t, commit(t.Context(), client)); !failure.NotProcessed || failure.HTTPStatus != 0 {
		t.Error(failure)
	}
}
