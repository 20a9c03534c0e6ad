package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// goTest runs tests of Go as a user does, in their own process and without the
// race detector, which would have to build all of them once more.
func goTest(t *testing.T, dir string, variables []string, args ...string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append([]string{"-C", dir, "test", "-count=1"}, args...)...)
	cmd.Env = append(cleanEnvironment(), "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-race", ""))
	cmd.Env = append(cmd.Env, variables...)
	printed, err := cmd.CombinedOutput()
	return tail(string(printed), 8000), err
}

// TestGoSDK runs the module that drives the official Go SDK of DIS against the
// embedded DIS. Its tests say what they show.
func TestGoSDK(t *testing.T) {
	t.Parallel()
	const module = "../testdata/clients/go-sdk-v3"
	requireProgram(t, "go", "-C", module, "list", "-deps", "./...") // fetches the SDK, where that is possible
	if output, err := goTest(t, module, []string{"KAFKA_DIS_GATEWAY=" + gatewayBinary}, "./..."); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestLiveContract runs the contract tests as those do who have an account, with
// a process in the place of the service.
func TestLiveContract(t *testing.T) {
	t.Parallel()
	requireProgram(t, "go", "version")
	live := []string{"-tags", "live", "-run", "TestContract", "./translate/dis"}
	account := []string{
		"HUAWEICLOUD_SDK_AK=dev", "HUAWEICLOUD_SDK_SK=dev-secret",
		"HUAWEICLOUD_SDK_PROJECT_ID=live", "HUAWEICLOUD_SDK_REGION=cn-north-4", "KDG_DIS_ENDPOINT=" + startEmbeddedDIS(t),
	}
	if output, err := goTest(t, "..", account, live...); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	output, err := goTest(t, "..", account[1:3], live...)
	if err == nil || !strings.Contains(output, "set HUAWEICLOUD_SDK_AK, HUAWEICLOUD_SDK_REGION.") {
		t.Errorf("without some of the variables: %v\n%s", err, output)
	}
}
