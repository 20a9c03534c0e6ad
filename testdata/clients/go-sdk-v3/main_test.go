package gosdkv3

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	accessKey = "dev"
	secretKey = "dev-secret"
)

// The services under test: one without limits of throughput and quotas, one
// with those that are documented and with nowhere to write dumps to.
var unlimited, limited service

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "go-sdk-v3-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary, err := gatewayBinary(dir)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, unlimited.stop(), limited.stop()) }()
	if err := unlimited.start(binary, "--data-dir", filepath.Join(dir, "unlimited"), "--dump-dir", filepath.Join(dir, "dump")); err != nil {
		return 1, err
	}
	if err := limited.start(binary, "--data-dir", filepath.Join(dir, "limited"), "--limits", "documented"); err != nil {
		return 1, err
	}
	code = m.Run()
	if code == 0 && flag.Lookup("test.run").Value.String() == "" {
		err = uncalled()
	}
	return code, err
}

// gatewayBinary is the program that holds the embedded DIS, built when nobody
// has done so.
func gatewayBinary(dir string) (string, error) {
	if built := os.Getenv("KAFKA_DIS_GATEWAY"); built != "" {
		return filepath.Abs(built)
	}
	binary := filepath.Join(dir, "kafka-dis-gateway")
	build := exec.Command("go", "build", "-o", binary, "./cmd/kafka-dis-gateway")
	build.Dir = filepath.Join("..", "..", "..")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the embedded DIS: %w\n%s", err, output)
	}
	return binary, nil
}

// service is a running embedded DIS.
type service struct {
	url string
	cmd *exec.Cmd
	log strings.Builder
}

// start returns when the service accepts connections.
func (s *service) start(binary string, args ...string) error {
	s.cmd = exec.Command(binary, append([]string{"embedded-dis", "--listen", "127.0.0.1:0"}, args...)...)
	s.cmd.Env = withoutSettings(os.Environ())
	s.cmd.Stderr = &s.log
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("starting the embedded DIS: %w", err)
	}
	first, err := bufio.NewReader(stdout).ReadString('\n')
	if words := strings.Fields(first); err == nil && len(words) >= 2 && words[0] == "DIS" {
		s.url = words[1]
		go func() { _, _ = io.Copy(io.Discard, stdout) }() // the process must never wait for a reader
		return nil
	}
	return fmt.Errorf("the embedded DIS printed %q: %w", first, errors.Join(err, s.stop()))
}

// stop ends the service and reports what it logged: in normal operation nothing.
func (s *service) stop() error {
	if s.cmd == nil || s.cmd.Process == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := s.cmd.Wait()
	if err != nil || s.log.Len() > 0 {
		return fmt.Errorf("the embedded DIS ended: %w\n%s", err, s.log.String())
	}
	return nil
}

// withoutSettings removes what would configure the service or the SDK.
func withoutSettings(environment []string) []string {
	var kept []string
	for _, variable := range environment {
		if !strings.HasPrefix(variable, "KDG_") && !strings.HasPrefix(variable, "HUAWEICLOUD_") {
			kept = append(kept, variable)
		}
	}
	return kept
}
