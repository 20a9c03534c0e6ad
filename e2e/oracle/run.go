package oracle

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// Scenario is one script, which gets a transcript of its own.
type Scenario struct {
	// Name is the name of the golden file; letters, digits and -, at most 32, as
	// it becomes a part of topic names.
	Name string
	// About is one line that says what the scenario is for.
	About string
	Do    func(*Run)
}

// Play runs the scenario against the server at address and returns the
// transcript. An error means that the scenario could not be carried out; what
// the server answers, refusals and closed connections too, is in the transcript.
// Scenarios may play at the same time, against one server too.
func (s Scenario) Play(address string) (t Transcript, err error) {
	r := &Run{address: address, prefix: s.Name + "-", names: newNames()}
	r.Transcript.About = s.About
	r.names.hide(r.prefix, "")
	defer r.close()
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("scenario %s, after step %q: %s", s.Name, r.lastStep(), problem)
		default:
			err = fmt.Errorf("scenario %s, after step %q: panic: %v\n%s", s.Name, r.lastStep(), problem, debug.Stack())
		}
		t = r.Transcript
	}()
	s.Do(r)
	return r.Transcript, nil
}

// Run is a scenario in progress. Its methods and those of its connections and
// members are called from the goroutine of the scenario alone.
type Run struct {
	Transcript

	address string
	prefix  string
	names   *names
	conns   []*Conn
	closed  sync.WaitGroup
}

type failure string

// Fatalf ends a scenario that cannot go on.
func (r *Run) Fatalf(format string, args ...any) {
	panic(failure(fmt.Sprintf(format, args...)))
}

// Name makes the name of a topic or group of this scenario alone. It is shown
// as name in the transcript.
func (r *Run) Name(name string) string { return r.prefix + name }

// Note writes a line of the scenario's own as a step.
func (r *Run) Note(label, format string, args ...any) {
	r.step(label, []string{r.names.clean(fmt.Sprintf(format, args...))})
}

func (r *Run) step(label string, lines []string) {
	for _, s := range r.Steps {
		if s.Label == label {
			r.Fatalf("two steps are called %q", label)
		}
	}
	if strings.ContainsAny(label, "\n|") || label == "" {
		r.Fatalf("%q is no label of a step", label)
	}
	r.Steps = append(r.Steps, Step{Label: label, Lines: lines})
}

func (r *Run) lastStep() string {
	if len(r.Steps) == 0 {
		return ""
	}
	return r.Steps[len(r.Steps)-1].Label
}

// Eventually asks until the answer satisfies done and writes that one down: for
// what a broker does after it has replied.
func (r *Run) Eventually(what string, done func() bool) {
	for deadline := time.Now().Add(patience); !done(); {
		if time.Now().After(deadline) {
			r.Fatalf("not within %s: %s", patience, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (r *Run) close() {
	for _, c := range r.conns {
		c.Close()
	}
	r.closed.Wait()
}
