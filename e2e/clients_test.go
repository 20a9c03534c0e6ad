package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// requireProgram returns the path of a client program. A missing one skips the
// test, or fails it when REQUIRE_CLIENTS=1.
func requireProgram(t testing.TB, name string, probe ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil && len(probe) > 0 {
		var output []byte
		if output, err = exec.Command(path, probe...).CombinedOutput(); err != nil {
			t.Logf("%s %s: %s", name, strings.Join(probe, " "), output)
		}
	}
	if err == nil {
		return path
	}
	if os.Getenv("REQUIRE_CLIENTS") == "1" {
		t.Fatalf("client %s is missing: %v", name, err)
	}
	t.Skipf("client %s is missing: %v", name, err)
	return ""
}

// runClient runs a client program to its end and returns what it printed.
func runClient(t testing.TB, input string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, tail(stderr.String(), 4000))
	}
	return stdout.String()
}
