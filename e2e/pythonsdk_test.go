package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pythonSDK is a process with the official Python SDK of DIS, which makes one
// call per line of its input.
type pythonSDK struct {
	t       *testing.T
	calls   io.WriteCloser
	answers *bufio.Scanner
}

// with holds the arguments of a call by name.
type with = map[string]any

// object is a JSON object of an answer.
type object = map[string]any

// pythonEnvironment is where .ci/run installs what the client needs.
const pythonEnvironment = "../testdata/clients/python-dis/.venv/bin/python"

func startPythonSDK(t *testing.T, url, project string, options ...string) *pythonSDK {
	t.Helper()
	python := requireProgram(t, pythonEnvironment, "-c", "import dis_sdk_python")
	args := append([]string{"../testdata/clients/python-dis/client.py", url, project}, options...)
	cmd := exec.Command(python, args...)
	cmd.Env = append(cleanEnvironment(), "NO_PROXY=127.0.0.1")
	log := newLines()
	cmd.Stderr = log
	calls, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() }) // a call that never ends fails the test
	t.Cleanup(func() {
		_ = calls.Close() // the end of its input ends the client
		if err := cmd.Wait(); err != nil {
			t.Errorf("the Python client ended: %v", err)
		}
		watchdog.Stop()
		if t.Failed() {
			t.Logf("log of the Python client:\n%s", tail(log.String(), 4000))
		}
	})
	scanner := bufio.NewScanner(answers)
	scanner.Buffer(nil, 16<<20)
	return &pythonSDK{t, calls, scanner}
}

// pythonAnswer is what the SDK made of an answer, or its exception.
type pythonAnswer struct {
	Status int
	Body   json.RawMessage
	Error  string
}

func (p *pythonSDK) do(method string, arguments with) (answer pythonAnswer) {
	p.t.Helper()
	line, err := json.Marshal(object{"call": method, "with": arguments})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(p.calls, "%s\n", line); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	if !p.answers.Scan() {
		p.t.Fatalf("%s: no answer: %v", method, p.answers.Err())
	}
	if err := json.Unmarshal(p.answers.Bytes(), &answer); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	return answer
}

// call makes a call that must succeed with a status and returns its body.
func (p *pythonSDK) call(status int, method string, arguments with) object {
	p.t.Helper()
	answer := p.do(method, arguments)
	if answer.Status != status || answer.Error != "" {
		p.t.Fatalf("%s: got %d %s, want %d", method, answer.Status, answer.Error, status)
	}
	var body object
	if string(answer.Body) != `""` {
		if err := json.Unmarshal(answer.Body, &body); err != nil {
			p.t.Fatalf("%s: body %s: %v", method, answer.Body, err)
		}
	}
	return body
}

// refused makes a call that must raise an exception with these texts.
func (p *pythonSDK) refused(method string, arguments with, texts ...string) {
	p.t.Helper()
	answer := p.do(method, arguments)
	for _, text := range texts {
		if !strings.Contains(answer.Error, text) {
			p.t.Errorf("%s: got %d %q, want an exception with %q", method, answer.Status, answer.Error, text)
		}
	}
}

// same compares a part of an answer with what it should be, both as JSON.
func (p *pythonSDK) same(what string, got, want any) {
	p.t.Helper()
	if diff := cmp.Diff(p.decoded(want), p.decoded(got)); diff != "" {
		p.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (p *pythonSDK) decoded(value any) (decoded any) {
	p.t.Helper()
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &decoded)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return decoded
}

// at walks into an answer: names of objects, indices of lists.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := value.(object)
			value = fields[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}
