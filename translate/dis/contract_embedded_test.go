//go:build !live

package dis_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
)

// newTarget starts an embedded DIS, which is asked over HTTP.
func newTarget(t *testing.T) target {
	t.Helper()
	return target{config: startEmbedded(t, embedded.Config{}), ctx: t.Context(), patience: 10 * time.Second}
}

// startEmbedded runs a DIS, with the development keys unless others are set, and
// returns how to call it.
func startEmbedded(t *testing.T, config embedded.Config) dis.Config {
	t.Helper()
	config.DataDir, config.DumpDir = t.TempDir(), t.TempDir()
	config.ProjectID, config.Region = embedded.DevProjectID, embedded.DevRegion
	if config.AccessKeys == nil {
		config.AccessKeys = map[string]string{embedded.DevAccessKey: embedded.DevSecretKey}
	}
	server, err := embedded.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		listener.Close()
		if err := server.Close(); err != nil {
			t.Errorf("closing the embedded DIS: %v", err)
		}
	})
	return dis.Config{
		Endpoint: listener.URL, Region: embedded.DevRegion, ProjectID: embedded.DevProjectID,
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: embedded.DevAccessKey, SecretKey: embedded.DevSecretKey}),
	}
}
