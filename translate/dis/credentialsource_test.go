package dis

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func setEnvironment(t *testing.T, access, secret, token string) {
	t.Helper()
	t.Setenv(EnvAccessKey, access)
	t.Setenv(EnvSecretKey, secret)
	t.Setenv(EnvSecurityToken, token)
}

func TestEnvironmentCredentials(t *testing.T) {
	for _, test := range []struct {
		access, secret, token string
		want                  Keys
		missing               []string
	}{
		{"a", "s", "", Keys{AccessKey: "a", SecretKey: "s"}, nil},
		{" a\n", "s ", " t", Keys{AccessKey: "a", SecretKey: "s", SecurityToken: "t"}, nil},
		{"", "topsecret", "", Keys{}, []string{EnvAccessKey}},
		{"a", " ", "", Keys{}, []string{EnvSecretKey}},
		{"", "", "topsecret", Keys{}, []string{EnvAccessKey, EnvSecretKey}},
	} {
		setEnvironment(t, test.access, test.secret, test.token)
		credentials, err := EnvironmentCredentials()
		if test.missing != nil {
			if err == nil || !strings.HasSuffix(err.Error(), "set "+strings.Join(test.missing, ", ")) {
				t.Errorf("%v, want %v to be missing", err, test.missing)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := credentials.Get(t.Context()); err != nil || got != test.want {
			t.Errorf("got %s, %v, want %s", got, err, test.want)
		}
	}
}

func TestChosenCredentials(t *testing.T) {
	file := newKeyFile(t, keysText("from-file")).path
	for _, test := range []struct {
		name        string
		cfg         CredentialsConfig
		environment bool
		want        string // the credentials as printed, or the error
	}{
		{"the environment", CredentialsConfig{}, true, "keys of from-environment"},
		{"a named file before the environment", CredentialsConfig{File: file}, true, "keys in " + file},
		{"nothing", CredentialsConfig{}, false, "set " + EnvAccessKey},
		{"auto by name", CredentialsConfig{Source: CredentialsAuto}, true, "keys of from-environment"},
		{"metadata elsewhere", CredentialsConfig{Source: CredentialsFromMetadata, MetadataEndpoint: "http://127.0.0.1:1"}, false, "keys of http://127.0.0.1:1"},
		{"metadata in spite of the environment", CredentialsConfig{Source: CredentialsFromMetadata}, true, "keys of http://169.254.169.254"},
		{"file", CredentialsConfig{Source: CredentialsFromFile, File: file}, true, "keys in " + file},
		{"file without one", CredentialsConfig{Source: CredentialsFromFile}, true, "needs a File"},
		{"environment with a file", CredentialsConfig{Source: CredentialsFromEnvironment, File: file}, true, "no other source takes one"},
		{"environment without keys", CredentialsConfig{Source: CredentialsFromEnvironment}, false, "set " + EnvAccessKey},
		{"unknown", CredentialsConfig{Source: "vault"}, true, `"vault" is none of auto, environment, file, metadata`},
		{"missing file", CredentialsConfig{File: filepath.Join(t.TempDir(), "missing")}, true, "no such file"},
		{"bad metadata endpoint", CredentialsConfig{Source: CredentialsFromMetadata, MetadataEndpoint: "x"}, false, "metadata endpoint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			setEnvironment(t, "", "", "")
			if test.environment {
				setEnvironment(t, "from-environment", "s", "")
			}
			credentials, err := NewCredentials(test.cfg)
			got := fmt.Sprint(credentials)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// One variable alone is a mistake to report, not a reason to look elsewhere.
func TestHalfAnEnvironment(t *testing.T) {
	setEnvironment(t, "", "s", "")
	if _, err := NewCredentials(CredentialsConfig{}); err == nil || !strings.Contains(err.Error(), EnvAccessKey) {
		t.Errorf("got %v", err)
	}
}

func TestSourcesAreNotPrinted(t *testing.T) {
	file := newKeyFile(t, "access_key: a\nsecret_key: topsecret\nsecurity_token: topsecret\n").path
	fromFile, err := FileCredentials(file, zerolog.Nop())
	mustDo(t, err)
	metadata := newMetadataCredentials("http://metadata.test", zerolog.Nop(), nil)
	metadata.keys = Keys{AccessKey: "a", SecretKey: "topsecret", SecurityToken: "topsecret"}
	tokenFile := newKeyFile(t, "topsecret")
	fromTokenFile, err := FileToken(tokenFile.path, zerolog.Nop())
	mustDo(t, err)
	for _, source := range []any{fromFile, metadata, StaticToken("topsecret"), fromTokenFile, Config{Credentials: fromFile, Tokens: fromTokenFile}} {
		for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(form, source); strings.Contains(text, "topsecret") {
				t.Errorf("%s prints %s", form, text)
			}
		}
	}
}
