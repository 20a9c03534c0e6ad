package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// javaClients are the client programs of testdata/clients/java-dis, built.
type javaClients struct {
	java, dir string
}

// errNoJava says what is missing.
var errNoJava = errors.New("no Java")

// buildJava needs the JDK and Maven. What Maven has fetched before is not asked
// for again.
func buildJava(dir string) (javaClients, error) {
	for _, program := range []string{"java", "javac", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return javaClients{}, fmt.Errorf("%w: %s is not installed", errNoJava, program)
		}
	}
	target := filepath.Join(dir, "java")
	build := func(options ...string) error {
		args := append([]string{"-q", "-B", "-f", "testdata/clients/java-dis", "-Dbuild.root=" + target, "package"}, options...)
		if output, err := exec.Command("mvn", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("mvn %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(output))
		}
		return nil
	}
	if offline := build("-o"); offline != nil {
		if err := build(); err != nil {
			return javaClients{}, errors.Join(err, offline)
		}
	}
	return javaClients{"java", target}, nil
}

// took runs a class of a module that times itself.
func (c javaClients) took(module, class string, options ...string) (time.Duration, error) {
	dir := filepath.Join(c.dir, module)
	args := append([]string{"-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-cp", filepath.Join(dir, module+"-1.jar") + ":" + filepath.Join(dir, "lib", "*"), "client." + class}, options...)
	command := exec.Command(c.java, args...)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("java %s of %s: %w", class, module, err)
	}
	for line := range strings.Lines(string(output)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "took\t"); ok {
			nanoseconds, err := strconv.ParseInt(text, 10, 64)
			return time.Duration(nanoseconds), err
		}
	}
	return 0, fmt.Errorf("java %s of %s printed %q", class, module, output)
}
