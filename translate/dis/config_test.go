package dis

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDefaults(t *testing.T) {
	got, err := Config{Endpoint: "https://dis.test", Region: "r", ProjectID: "p", Credentials: StaticCredentials(vectorKeys)}.checked()
	if err != nil {
		t.Fatal(err)
	}
	if got.MaxConnections != 128 || got.MaxResponseBytes != 32<<20 || got.AttemptTimeout != time.Minute ||
		got.Retry != (RetryPolicy{Attempts: 5, Initial: 250 * time.Millisecond, Max: 30 * time.Second}) ||
		got.ManagerEndpoint != "https://dis.test" || got.UserAgent == "" ||
		got.Signing != SigningScoped || got.RecordBody != RecordBodyProtobuf || got.Compression != CompressionNone {
		t.Errorf("got %+v", got)
	}
}

// All mistakes at once, each with the name of its setting.
func TestEveryMistakeIsNamed(t *testing.T) {
	_, err := New(Config{
		ManagerEndpoint: "ftp://x", ProjectID: "a/b", MaxConnections: -1, MaxResponseBytes: -1, AttemptTimeout: -1,
		Retry:   RetryPolicy{Attempts: -1, Initial: -1, Max: -1},
		Signing: "v4", RecordBody: "xml", Compression: "gzip",
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, setting := range []string{
		"Endpoint: must be set", "ManagerEndpoint", "Region", "ProjectID", "Credentials", "MaxConnections", "MaxResponseBytes",
		"AttemptTimeout", "Retry.Attempts", "Retry.Initial", "Retry.Max", `Signing: "v4" is none of scoped, unscoped`,
		`RecordBody: "xml" is none of`, `Compression: "gzip" is none of none, lz4, snappy, zstd`,
	} {
		if !strings.Contains(err.Error(), setting) {
			t.Errorf("%s is not named in:\n%v", setting, err)
		}
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != 14 {
		t.Errorf("%d lines, want 14:\n%v", lines, err)
	}
}

// Who calls is said once, and the region only where the signature has a place for it.
func TestIdentity(t *testing.T) {
	keys, token := StaticCredentials(vectorKeys), StaticToken("t")
	for _, test := range []struct {
		name   string
		change func(*Config)
		want   string // part of the error, "" for none
	}{
		{"scoped without a region", func(c *Config) { c.Credentials = keys }, "Region: must be set"},
		{"unscoped without a region", func(c *Config) { c.Credentials, c.Signing = keys, SigningUnscoped }, ""},
		{"token without a region", func(c *Config) { c.Tokens = token }, ""},
		{"token with a region", func(c *Config) { c.Tokens, c.Region = token, "r" }, ""},
		{"token with a bad region", func(c *Config) { c.Tokens, c.Region = token, "a b" }, "Region"},
		{"both", func(c *Config) { c.Tokens, c.Credentials = token, keys }, "together with Tokens"},
		{"nobody", func(c *Config) { c.Region = "r" }, "Credentials: must be set"},
	} {
		cfg := Config{Endpoint: "https://dis.test", ProjectID: "p1"}
		test.change(&cfg)
		_, err := New(cfg)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]string{
		"https://dis.cn-north-4.myhuaweicloud.com":      "https://dis.cn-north-4.myhuaweicloud.com",
		"https://dis.cn-north-4.myhuaweicloud.com:443/": "https://dis.cn-north-4.myhuaweicloud.com",
		"http://DIS.test:80":                            "http://dis.test",
		"http://dis.test:443":                           "http://dis.test:443",
		"http://localhost:9880":                         "http://localhost:9880",
		"http://[::1]:80":                               "http://[::1]",
		"http://127.0.0.1:20004/dis//":                  "http://127.0.0.1:20004/dis",
		"http://dis.test/a prefix~*":                    "http://dis.test/a%20prefix~%2A",
	} {
		if got, err := baseURL("Endpoint", text); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"dis.test", "localhost:9880", "ftp://dis.test", "http://", "http://u:p@dis.test", "http://dis.test?x=1", "http://dis.test#x", "http://a b"} {
		if got, err := baseURL("Endpoint", text); err == nil {
			t.Errorf("%s: got %s, want an error", text, got)
		}
	}
}

func TestUnusableCAFile(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, filepath.Join(t.TempDir(), "missing.pem")} {
		cfg := testConfig("https://dis.test")
		cfg.CAFile = file
		if _, err := New(cfg); err == nil || !strings.HasPrefix(err.Error(), "CAFile: ") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	keys := Keys{AccessKey: "AK", SecretKey: "the-secret", SecurityToken: "the-token"}
	cfg := Config{Credentials: StaticCredentials(keys)}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(form, keys) + fmt.Sprintf(form, cfg); strings.Contains(text, "the-") {
			t.Errorf("%s prints %s", form, text)
		}
	}
}
