package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// startDIS runs an embedded DIS and returns its address: on a free port and with a
// folder of its own, unless args have others.
func startDIS(t testing.TB, environment []string, args ...string) (dis *process, endpoint string) {
	t.Helper()
	dis = start(t, environment, gatewayBinary, append([]string{"embedded-dis", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(),
		"--log-format", "json"}, args...)...)
	endpoint, _, _ = strings.Cut(waitForPrefix(t, dis.stdout, "DIS ", startTimeout), " ")
	return dis, endpoint
}

// startEmbeddedDIS runs one for programs that know DIS alone, transfer tasks included,
// and returns its address.
func startEmbeddedDIS(t *testing.T, args ...string) string {
	t.Helper()
	_, endpoint := startDIS(t, nil, append([]string{"--dump-dir", t.TempDir()}, args...)...)
	return endpoint
}

// provoke puts a plan of faults into an embedded DIS.
func provoke(t *testing.T, dis, plan string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, strings.TrimSuffix(dis, "/")+"/faults", strings.NewReader(plan))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode >= 300 {
		t.Fatalf("faults %s: %s %v", plan, answer.Status, err)
	}
}
