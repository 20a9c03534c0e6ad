package e2e

import (
	"net"
	"strings"
	"testing"
	"time"
)

// startTimeout is for a binary with the race detector on a busy machine.
const startTimeout = 30 * time.Second

// dev is a running `kafka-dis-gateway dev`.
type dev struct {
	*process
	kafka   string // address of the Kafka listener
	dis     string // base URL of the embedded DIS
	dataDir string
}

// startDev runs dev on free ports and a new data folder.
func startDev(t testing.TB, args ...string) *dev {
	t.Helper()
	return startDevOn(t, "127.0.0.1:0", t.TempDir(), args...)
}

// startDevOn runs dev on a given address and data folder.
func startDevOn(t testing.TB, kafka, dataDir string, args ...string) *dev {
	t.Helper()
	args = append([]string{"dev", "--listen", kafka, "--dis-listen", "127.0.0.1:0", "--data-dir", dataDir,
		"--log-format", "json"}, args...)
	d := &dev{process: start(t, nil, gatewayBinary, args...), dataDir: dataDir}
	d.kafka = waitForPrefix(t, d.stdout, "Kafka ", startTimeout)
	d.dis, _, _ = strings.Cut(waitForPrefix(t, d.stdout, "DIS ", startTimeout), " ")
	return d
}

// freeAddress is an address nobody listens on at the moment. Only for tests
// that must know the address before the start.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
