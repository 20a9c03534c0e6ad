package e2e

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a started program; the test's end stops it.
type process struct {
	t              testing.TB
	cmd            *exec.Cmd
	stdout, stderr *lines
	ended          chan struct{}
	err            error
}

// start runs a program with variables added to an environment that holds no
// settings of the gateway.
func start(t testing.TB, variables []string, program string, args ...string) *process {
	t.Helper()
	return startWithInput(t, nil, variables, program, args...)
}

// startWithInput is start for a program that reads its standard input.
func startWithInput(t testing.TB, input io.Reader, variables []string, program string, args ...string) *process {
	t.Helper()
	if err := lookAtSources(); err != nil {
		t.Fatalf("looking at the sources of the binary under test: %v", err)
	}
	p := &process{t: t, stdout: newLines(), stderr: newLines(), ended: make(chan struct{})}
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = append(cleanEnvironment(), variables...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = input, p.stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", program, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.cleanup)
	return p
}

func cleanEnvironment() []string {
	var kept []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "KDG_") && !strings.HasPrefix(variable, "HUAWEICLOUD_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

// signal sends to this process alone, by its id.
func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("signalling process %d: %v", p.cmd.Process.Pid, err)
	}
}

// kill ends the process at once, as a crash would.
func (p *process) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// exitCode waits for the end of the process.
func (p *process) exitCode(timeout time.Duration) int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(timeout):
		p.t.Fatalf("%s still runs after %s; it printed:\n%s%s", p.cmd.Path, timeout, p.stdout, p.stderr)
		return 0
	}
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *process) cleanup() {
	if p.running() {
		p.signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(3 * time.Second):
			p.signal(syscall.SIGKILL)
			<-p.ended
		}
	}
	log := p.stderr.String()
	if strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic: ") || strings.Contains(log, "fatal error: ") {
		p.t.Errorf("%s broke down:\n%s", p.cmd.Path, log)
	} else if p.t.Failed() && log != "" {
		p.t.Logf("log of %s %s:\n%s", p.cmd.Path, strings.Join(p.cmd.Args[1:], " "), tail(log, 8000))
	}
}

func tail(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return "...\n" + text[len(text)-bytes:]
}
