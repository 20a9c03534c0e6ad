package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// gatewayBinary is the gateway under test, built once for all tests.
var gatewayBinary string

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kafka-dis-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	gatewayBinary = filepath.Join(dir, "kafka-dis-gateway")
	args := []string{"build", "-o", gatewayBinary}
	if raceEnabled {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "../cmd/kafka-dis-gateway")...)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the binary under test:", err)
		return 1
	}
	return m.Run()
}

// lookAtSources makes the sources part of what a test depends on: the go command
// keeps a result until a file that a test looked at changes, and it does not
// see what the build of the binary reads. What happens before the first test
// does not count.
var lookAtSources = sync.OnceValue(func() error {
	const root = ".."
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		switch filepath.Ext(path) {
		case ".go", ".mod", ".py", ".java", ".xml", ".js", ".conf":
			_, err = os.Stat(path)
		}
		return err
	})
})
