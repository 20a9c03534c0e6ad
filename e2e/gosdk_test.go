package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestGoSDK runs the module that drives the official Go SDK of DIS against the
// embedded DIS. It is a module of its own, and its tests say what they show.
func TestGoSDK(t *testing.T) {
	t.Parallel()
	const module = "../testdata/clients/go-sdk-v3"
	goCommand := requireProgram(t, "go", "-C", module, "list", "-deps", "./...") // fetches the SDK, where that is possible
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	test := exec.CommandContext(ctx, goCommand, "-C", module, "test", "-count=1", "./...")
	// The race detector has nothing to find there and triples the time to build.
	test.Env = append(cleanEnvironment(), "KAFKA_DIS_GATEWAY="+gatewayBinary,
		"GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-race", ""))
	if output, err := test.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", test, err, tail(string(output), 8000))
	}
}
