package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// clientProgram is a running program of testdata/clients with the common
// command line, which takes its commands from its standard input.
type clientProgram struct {
	name     string
	cmd      *exec.Cmd
	commands io.WriteCloser
	answers  *bufio.Scanner
	log      *lines
	running  string       // the command that was begun last
	finished func() error // waits for its end
}

// startClientProgram starts a program; the end of owner ends it.
func startClientProgram(owner testing.TB, name, program string, args ...string) (*clientProgram, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(cleanEnvironment(), "PYTHONIOENCODING=utf-8")
	commands, stdinErr := cmd.StdinPipe()
	answers, stdoutErr := cmd.StdoutPipe()
	if err := errors.Join(stdinErr, stdoutErr); err != nil {
		return nil, err
	}
	p := &clientProgram{name: name, cmd: cmd, commands: commands, answers: bufio.NewScanner(answers), log: newLines()}
	p.finished = sync.OnceValue(cmd.Wait)
	cmd.Stderr = p.log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	owner.Cleanup(func() {
		_ = p.commands.Close() // the end of its input ends the program
		killer := time.AfterFunc(3*time.Second, p.kill)
		defer killer.Stop()
		_ = p.finished() // what went wrong was told by do
	})
	return p, nil
}

func (p *clientProgram) kill() { _ = p.cmd.Process.Kill() }

// do runs a command and returns the lines that it printed.
func (p *clientProgram) do(t testing.TB, timeout time.Duration, command ...string) []string {
	t.Helper()
	p.begin(t, command...)
	return p.finish(t, timeout)
}

// begin starts a command.
func (p *clientProgram) begin(t testing.TB, command ...string) {
	t.Helper()
	p.running = strings.Join(command, " ")
	if _, err := fmt.Fprintln(p.commands, p.running); err != nil {
		t.Fatalf("%s, %s: %v", p.name, p.running, err)
	}
}

// finish waits for the end of the command and returns the lines that it printed.
func (p *clientProgram) finish(t testing.TB, timeout time.Duration) []string {
	t.Helper()
	watchdog := time.AfterFunc(timeout, p.kill)
	defer watchdog.Stop()
	var printed []string
	for p.answers.Scan() {
		if p.answers.Text() == "ok" {
			return printed
		}
		printed = append(printed, p.answers.Text())
	}
	t.Fatalf("%s, %.200s: after %d lines, at most %s: %v\n%s", p.name, p.running, len(printed), timeout, p.finished(), tail(p.log.String(), 4000))
	return nil
}

// buildGoClients builds the programs in Go and returns their folder.
var buildGoClients = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(gatewayBinary), "clients")
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, name := range []string{"franz-go", "kafka-go", "sarama"} {
		args = append(args, "../testdata/clients/"+name)
	}
	if output, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the client programs: %w\n%s", err, output)
	}
	return dir, nil
})
