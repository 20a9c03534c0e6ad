package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// The identity of the embedded DIS's development setup.
const (
	project   = "local"
	region    = "local"
	accessKey = "dev"
	secretKey = "dev-secret"
)

// build makes the gateway's binary from the tree it is run in.
func build(dir string, race bool) (string, error) {
	binary := filepath.Join(dir, "kafka-dis-gateway")
	args := []string{"build", "-o", binary}
	if race {
		args = append(args, "-race")
	}
	command := exec.Command("go", append(args, "github.com/kafka-dis-gateway/kafka-dis-gateway/cmd/kafka-dis-gateway")...)
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("building the gateway: %w", err)
	}
	return binary, nil
}

// server is a running process of the binary under test.
type server struct {
	command *exec.Cmd
	output  *bufio.Reader
	ended   chan struct{}
	flooded atomic.Bool // it was ended because of its log
}

// startTimeout is far more than a server needs to announce its addresses.
const startTimeout = 30 * time.Second

// maxLogBytes bounds the log of a process: one that writes more is broken, and is
// ended. A run of the usual length writes less than a hundredth of it.
const maxLogBytes = 64 << 20

// startServer appends what the process logs to a file.
func startServer(binary, logFile string, args ...string) (*server, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command := exec.Command(binary, args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "KDG_") && !strings.HasPrefix(variable, "HUAWEICLOUD_") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, "HUAWEICLOUD_SDK_AK="+accessKey, "HUAWEICLOUD_SDK_SK="+secretKey,
		"HUAWEICLOUD_SDK_PROJECT_ID="+project, "HUAWEICLOUD_SDK_REGION="+region)
	command.Stderr = log
	reader, writer := io.Pipe()
	command.Stdout = writer
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	s := &server{command: command, output: bufio.NewReader(reader), ended: make(chan struct{})}
	go func() {
		_ = command.Wait() // how it ended shows in its state and its log
		writer.Close()
		close(s.ended)
	}()
	go s.boundLog(logFile)
	return s, nil
}

// boundLog ends a process whose log would fill the disk. Looking at the size costs
// the process nothing, which a pipe would.
func (s *server) boundLog(name string) {
	look := time.NewTicker(500 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-look.C:
		}
		if info, err := os.Stat(name); err == nil && info.Size() > maxLogBytes {
			s.flooded.Store(true)
			s.kill()
			return
		}
	}
}

// announced reads the server's output up to the line that begins with each of
// the names, and returns the words that follow.
func (s *server) announced(names ...string) ([]string, error) {
	timer := time.AfterFunc(startTimeout, func() { _ = s.command.Process.Kill() })
	defer timer.Stop()
	var words []string
	for _, name := range names {
		for {
			line, err := s.output.ReadString('\n')
			if err != nil {
				return nil, fmt.Errorf("%s did not start: %w", s.command.Args[1], err)
			}
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
				words = append(words, fields[1])
				break
			}
		}
	}
	go func() { _, _ = io.Copy(io.Discard, s.output) }() // ends with the process
	return words, nil
}

// kill ends the process at once, as a crash would.
func (s *server) kill() {
	_ = s.command.Process.Kill() // it may have ended by itself
	<-s.ended
}

// terminate asks the process to end and waits until it has; the error says that
// it did not, or with another exit code than 0.
func (s *server) terminate(within time.Duration) error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.ended:
	case <-time.After(within):
		s.kill()
		return fmt.Errorf("%s still ran %v after SIGTERM", s.command.Args[1], within)
	}
	if code := s.command.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with exit code %d after SIGTERM", s.command.Args[1], code)
	}
	return nil
}

// running is false when the process has ended.
func (s *server) running() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}
