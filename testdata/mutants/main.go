// Command mutants checks the checks: each patch in this folder breaks a promise
// of the gateway on purpose, and the tests and checker runs that the patch names
// must notice.
//
//	go run ./testdata/mutants                 # all
//	go run ./testdata/mutants -only NAME      # one patch
//	go run ./testdata/mutants -tests          # without the checker
//
// A patch begins with a sentence about the mutant, and lines that say who catches
// it:
//
//	test: ./translate/produce TestThrottledRecordsGoFirst
//	checker: -kinds throttle-suffix -seed 3: order broken
//
// The first means that the test fails, the second that the checker finds a
// violation of the rule behind the colon, and shows evidence of it. A mutant that one of them misses, a
// patch that does not apply to the tree as it is, or one that does not compile,
// fails the run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const folder = "testdata/mutants"

func main() {
	only := flag.String("only", "", "the one patch to try, without .patch")
	tests := flag.Bool("tests", false, "only the tests, not the checker")
	flag.Parse()
	if err := run(*only, *tests); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(only string, testsOnly bool) error {
	patches, err := filepath.Glob(filepath.Join(folder, "*.patch"))
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "kafka-dis-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	t := tree{filepath.Join(scratch, "tree"), filepath.Join(scratch, "gateway"), filepath.Join(scratch, "checker")}
	if err := t.copy(); err != nil {
		return fmt.Errorf("copying the tree: %w", err)
	}
	var failures []error
	tried := 0
	for _, file := range patches {
		name := strings.TrimSuffix(filepath.Base(file), ".patch")
		if only != "" && name != only {
			continue
		}
		tried++
		if err := t.try(name, file, testsOnly); err != nil {
			fmt.Printf("%-40s %v\n", name, err)
			failures = append(failures, fmt.Errorf("%s: %w", name, err))
		}
	}
	if tried == 0 {
		failures = append(failures, fmt.Errorf("no patch %q in %s", only, folder))
	}
	return errors.Join(failures...)
}

// tree is a copy of the sources that mutants are made in.
type tree struct{ dir, gateway, checker string }

// copy takes what git knows of and what it would add, as it is now.
func (t tree) copy() error {
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return err
	}
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for file := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and git does not know yet
		}
		if err != nil {
			return err
		}
		to := filepath.Join(t.dir, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			return err
		}
	}
	_, err = t.command("go", "build", "-o", t.checker, "./checker")
	return err
}

// command runs in the tree, without its folder in what is compiled, so that a
// next run finds it in the build cache.
func (t tree) command(name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Dir = t.dir
	command.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GIT_CEILING_DIRECTORIES="+filepath.Dir(t.dir))
	output, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, output)
	}
	return string(output), err
}

// try applies a patch, lets everyone whom it names have a look, and takes it
// back. The error is that it was not caught, or could not be tried.
func (t tree) try(name, file string, testsOnly bool) (err error) {
	catchers, err := readCatchers(file)
	if err != nil {
		return err
	}
	patch, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if _, err := t.command("git", "apply", patch); err != nil {
		return fmt.Errorf("the patch does not apply any more, make it again: %w", err)
	}
	defer func() {
		if _, undo := t.command("git", "apply", "-R", patch); undo != nil {
			err = errors.Join(err, undo)
		}
	}()
	if _, err := t.command("go", "build", "-o", t.gateway, "./cmd/kafka-dis-gateway"); err != nil {
		return fmt.Errorf("the mutant does not compile: %w", err)
	}
	var together errgroup.Group
	for _, c := range catchers {
		if testsOnly && c.rule != "" {
			continue
		}
		together.Go(func() error {
			began := time.Now()
			err := t.mustCatch(c)
			if err == nil {
				fmt.Printf("%-40s caught in %4.1fs by %s\n", name, time.Since(began).Seconds(), c)
			}
			return err
		})
	}
	return together.Wait()
}

// mustCatch runs a test or the checker; the error says that it noticed nothing.
func (t tree) mustCatch(c catcher) error {
	if c.rule != "" {
		command := exec.Command(t.checker, append([]string{"-binary", t.gateway}, c.args...)...)
		command.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(t.dir)) // where it leaves the evidence of a failed run
		output, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(output), "violation: "+c.rule) {
			return fmt.Errorf("NOT CAUGHT by %s (%v):\n%s", c, err, output)
		}
		if !strings.Contains(string(output), "history.log: ") {
			return fmt.Errorf("%s shows no evidence:\n%s", c, output)
		}
		return nil
	}
	output, err := t.command("go", "test", "-count=1", c.args[0], "-run", "^"+c.args[1]+"$")
	if err == nil || !strings.Contains(output, "--- FAIL: "+c.args[1]) {
		return fmt.Errorf("NOT CAUGHT by %s:\n%s", c, output)
	}
	return nil
}

// catcher is one line of a patch's head.
type catcher struct {
	args []string // package and test, or flags of the checker
	rule string   // of the checker
}

func (c catcher) String() string {
	if c.rule == "" {
		return "test " + strings.Join(c.args, " ")
	}
	return "checker " + strings.Join(c.args, " ") + ": " + c.rule
}

func readCatchers(file string) (all []catcher, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	head, _, _ := strings.Cut(string(text), "\ndiff ")
	for line := range strings.SplitSeq(head, "\n") {
		if rest, found := strings.CutPrefix(line, "test: "); found {
			c := catcher{args: strings.Fields(rest)}
			if len(c.args) != 2 {
				return nil, fmt.Errorf("%q: want a package and a test", line)
			}
			all = append(all, c)
		}
		if rest, found := strings.CutPrefix(line, "checker: "); found {
			args, rule, named := strings.Cut(rest, ": ")
			if !named {
				return nil, fmt.Errorf("%q: want flags, a colon and a rule", line)
			}
			all = append(all, catcher{strings.Fields(args), rule})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the patch does not say who catches it")
	}
	return all, nil
}
