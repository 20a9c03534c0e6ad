package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// parseServe parses a serve command line in an environment that names project
// and region, and the keys if wanted.
func parseServe(t *testing.T, keys bool, args ...string) (*serveCommand, error) {
	t.Helper()
	for name, value := range map[string]string{"AK": "", "SK": "", "PROJECT_ID": "p", "REGION": "r"} {
		t.Setenv("HUAWEICLOUD_SDK_"+name, value)
	}
	if keys {
		t.Setenv(dis.EnvAccessKey, "ak")
		t.Setenv(dis.EnvSecretKey, "sk")
	}
	chosen, err := parse(append([]string{"serve"}, args...), os.Stdout, os.Stderr)
	if err != nil {
		return nil, err
	}
	return chosen.(*serveCommand), nil
}

func TestSourceOfKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(file, []byte("access_key: from-file\nsecret_key: s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keys      bool
		args      []string
		accessKey string // "" for a token or keys that are fetched later
		token     string
	}{
		"environment":          {keys: true, accessKey: "ak"},
		"environment, by name": {keys: true, args: []string{"--dis-credentials=environment"}, accessKey: "ak"},
		"a named file":         {keys: true, args: []string{"--dis-credentials-file", file}, accessKey: "from-file"},
		"file without keys":    {args: []string{"--dis-credentials=file", "--dis-credentials-file", file}, accessKey: "from-file"},
		"metadata":             {args: []string{"--dis-credentials=metadata", "--dis-metadata-endpoint=http://127.0.0.1:1"}},
		"token":                {args: []string{"--dis-token-file", token}, token: "t"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parseServe(t, c.keys, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			var backend dis.Config
			if err := s.applyTo(&backend, zerolog.Nop()); err != nil {
				t.Fatal(err)
			}
			if (backend.Tokens != nil) != (c.token != "") || (backend.Credentials != nil) != (c.token == "") {
				t.Fatalf("credentials %v, tokens %v", backend.Credentials, backend.Tokens)
			}
			if c.token != "" {
				if got, err := backend.Tokens.Token(t.Context()); got != c.token || err != nil {
					t.Errorf("token %q, %v", got, err)
				}
			}
			if c.accessKey != "" {
				if got, err := backend.Credentials.Get(t.Context()); got.AccessKey != c.accessKey || err != nil {
					t.Errorf("keys %v, %v", got, err)
				}
			}
		})
	}
}

func TestFormsOfDISRequests(t *testing.T) {
	s, err := parseServe(t, true)
	if err != nil {
		t.Fatal(err)
	}
	var backend dis.Config
	if err := s.applyTo(&backend, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	if backend.Signing != dis.SigningScoped || backend.RecordBody != dis.RecordBodyProtobuf || backend.Compression != dis.CompressionNone {
		t.Errorf("defaults: %v, %v, %v", backend.Signing, backend.RecordBody, backend.Compression)
	}
	if s.DISMetadataEndpoint != dis.DefaultMetadataEndpoint {
		t.Errorf("metadata endpoint: %s", s.DISMetadataEndpoint)
	}
	s, err = parseServe(t, true, "--dis-signing=unscoped", "--dis-record-body=json", "--dis-compression=zstd")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.applyTo(&backend, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	if backend.Signing != dis.SigningUnscoped || backend.RecordBody != dis.RecordBodyJSON || backend.Compression != dis.CompressionZstd {
		t.Errorf("chosen: %v, %v, %v", backend.Signing, backend.RecordBody, backend.Compression)
	}
}

func TestContradictingSourcesOfKeys(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no keys":                 {nil, "set HUAWEICLOUD_SDK_AK, HUAWEICLOUD_SDK_SK"},
		"file without a name":     {[]string{"--dis-credentials=file"}, "--dis-credentials: the source file needs --dis-credentials-file"},
		"a file that is not read": {[]string{"--dis-credentials=metadata", "--dis-credentials-file=x"}, "--dis-credentials-file: is not read while --dis-credentials is metadata"},
		"token and file":          {[]string{"--dis-token-file=t", "--dis-credentials-file=x"}, "--dis-token-file: a token replaces keys"},
		"unknown source":          {[]string{"--dis-credentials=vault"}, `--dis-credentials: "vault" is not allowed, give one of auto, environment, file, metadata`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseServe(t, false, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	_, err := parseServe(t, true, "--dis-credentials-file", filepath.Join(t.TempDir(), "missing"))
	if err == nil || !strings.HasPrefix(err.Error(), "--dis-credentials-file: ") || !strings.Contains(err.Error(), "missing: no such file") {
		t.Errorf("a missing file: %v", err)
	}
}
