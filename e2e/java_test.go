package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The projects of the Java clients, one Maven module for each class path:
// javaDIS has the DIS SDK, the DIS Kafka adapter and Kafka's own client,
// javaKafka has Kafka's own client in several releases, kafkaTools its tools.
var (
	javaDIS    = newJavaProject("java-dis")
	javaKafka  = newJavaProject("java-kafka")
	kafkaTools = newJavaProject("kafka-tools")
)

// javaProject is built once, where it is needed first.
type javaProject struct {
	build func() (dir string, err error) // the folder of its modules
}

// newJavaProject is a project of testdata/clients. What Maven has fetched before
// is not asked for again.
func newJavaProject(name string) javaProject {
	return javaProject{sync.OnceValues(func() (string, error) {
		dir := filepath.Join(filepath.Dir(gatewayBinary), name)
		offline := maven(name, dir, "-o")
		if offline == nil {
			return dir, nil
		}
		if err := maven(name, dir); err != nil {
			return "", errors.Join(err, offline)
		}
		return dir, nil
	})}
}

func maven(project, dir string, options ...string) error {
	args := append([]string{"-q", "-B", "-f", "../testdata/clients/" + project, "-Dbuild.root=" + dir, "package"}, options...)
	if output, err := exec.Command("mvn", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("mvn %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(output))
	}
	return nil
}

// javaClient is a module of the Java clients with the options of every call.
type javaClient struct {
	java string
	args []string // of java, in front of the class
	opts []string
}

// client is a module of the project; a missing Java skips the test.
func (p javaProject) client(t testing.TB, module string, options ...string) javaClient {
	t.Helper()
	java := requireProgram(t, "java", "-version")
	requireProgram(t, "mvn", "-v")
	requireProgram(t, "javac", "-version")
	dir, err := p.build()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, module)
	return javaClient{
		java: java,
		// Keys become text in the charset of the platform.
		args: []string{"-Dfile.encoding=UTF-8", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
			"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
			"-cp", filepath.Join(dir, module+"-1.jar") + ":" + filepath.Join(dir, "lib", "*")},
		opts: options,
	}
}

func (c javaClient) commandLine(class string, options []string) []string {
	args := append(append([]string{}, c.args...), "client."+class)
	return append(append(args, c.opts...), options...)
}

// run runs a program to its end and returns the lines that it printed, by words.
func (c javaClient) run(t testing.TB, input, class string, options ...string) [][]string {
	t.Helper()
	var printed [][]string
	for _, line := range splitLines(runClient(t, input, c.java, c.commandLine(class, options)...)) {
		printed = append(printed, strings.Split(line, "\t"))
	}
	return printed
}

// start runs a program until it is stopped.
func (c javaClient) start(t testing.TB, class string, options ...string) *process {
	t.Helper()
	return start(t, nil, c.java, c.commandLine(class, options)...)
}
