package e2e

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// protocolMember is a running member of a group.
type protocolMember interface {
	// held are the partitions it has now, like "t/0", in order.
	held() []string
	// values are those of the records it has read.
	values() []string
	// entries are the lines it has written.
	entries() []string
	// leave closes it and returns when it is gone.
	leave()
}

// diary is what members of groups write, in the words of testdata/clients/README.md.
type diary struct{ written *lines }

func (d diary) entries() []string { return d.written.all() }

func (d diary) held() []string {
	var held []string
	for _, line := range d.entries() {
		if words := strings.Fields(line); words[0] == "assigned" {
			held = slices.Sorted(slices.Values(words[1:]))
		}
	}
	return held
}

func (d diary) values() []string {
	var values []string
	for _, line := range d.entries() {
		if words := strings.Fields(line); words[0] == "record" {
			values = append(values, words[4])
		}
	}
	return values
}

// programMember is a member in a program that ends with its input.
type programMember struct {
	*process
	diary
	input io.Closer
}

func joinProgram(t *testing.T, program string, args ...string) programMember {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := startWithInput(t, reader, nil, program, args...)
	_ = reader.Close() // the program has its own
	t.Cleanup(func() { _ = writer.Close() })
	return programMember{p, diary{p.stdout}, writer}
}

func (m programMember) leave() {
	m.t.Helper()
	if err := m.input.Close(); err != nil {
		m.t.Fatal(err)
	}
	if code := m.exitCode(20 * time.Second); code != 0 {
		m.t.Fatalf("%s ended with %d:\n%s", m.cmd.Path, code, tail(m.stderr.String(), 4000))
	}
}

func joinJava(t *testing.T, broker, kind, name string, settings ...string) protocolMember {
	t.Helper()
	client := javaKafka.client(t, "kafka-4.4")
	return joinProgram(t, client.java, client.commandLine("Group", append([]string{broker, "g", kind, name}, settings...))...)
}

func joinConfluent(t *testing.T, broker, kind, name string, settings ...string) protocolMember {
	t.Helper()
	return joinPython("confluent-kafka", "confluent_kafka")(t, broker, kind, name, settings...)
}

// joinPython starts the program group.py of a folder.
func joinPython(folder, module string) func(t *testing.T, broker, kind, name string, settings ...string) protocolMember {
	return func(t *testing.T, broker, kind, name string, settings ...string) protocolMember {
		t.Helper()
		python := requireProgram(t, newestPython, "-c", "import "+module)
		args := []string{"../testdata/clients/" + folder + "/group.py", broker, "g", kind, name}
		return joinProgram(t, python, append(args, settings...)...)
	}
}

func joinKafkaJS(t *testing.T, broker, kind, name string, settings ...string) protocolMember {
	t.Helper()
	node := requireProgram(t, "node", "-e", "require('../testdata/clients/kafkajs/node_modules/kafkajs')")
	args := []string{"../testdata/clients/kafkajs/group.js", broker, "g", kind, name}
	return joinProgram(t, node, append(args, settings...)...)
}
