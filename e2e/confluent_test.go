package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// confluentPython is python3-confluent-kafka, that is librdkafka, through the
// program in testdata/clients: a new process for every step.
type confluentPython struct {
	broker string
	python string
}

const confluentProgram = "../testdata/clients/confluent-kafka-python/client.py"

// python3 is Debian's: another interpreter does not see Debian's packages.
const python3 = "/usr/bin/python3"

func (c confluentPython) run(t *testing.T, input string, args ...string) []message {
	t.Helper()
	output := runClient(t, input, c.python, append([]string{confluentProgram, c.broker}, args...)...)
	var received []message
	for _, line := range splitLines(output) {
		var m struct {
			Topic      string
			Partition  int
			Offset     int64
			Key, Value string
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("the client printed %q: %v", line, err)
		}
		received = append(received, message{m.Topic, m.Partition, m.Offset, m.Key, m.Value})
	}
	return received
}

func (c confluentPython) produce(t *testing.T, topic string, sent []message) {
	var lines strings.Builder
	for _, m := range sent {
		fmt.Fprintf(&lines, "%s\t%s\n", m.key, m.value)
	}
	delivered := c.run(t, lines.String(), "produce", topic)
	if len(delivered) != len(sent) {
		t.Fatalf("%d of %d messages were acknowledged", len(delivered), len(sent))
	}
}

func (c confluentPython) subscribe(t *testing.T, group, topic string, count int) []message {
	return c.run(t, "", "subscribe", topic, group, strconv.Itoa(count))
}

func (c confluentPython) pattern(t *testing.T, group, pattern string, count int) []message {
	return c.run(t, "", "subscribe", pattern, group, strconv.Itoa(count))
}

func (c confluentPython) assign(t *testing.T, topic string, _, count int) []message {
	return c.run(t, "", "assign", topic, strconv.Itoa(count))
}

func TestConfluentKafkaPython(t *testing.T) {
	t.Parallel()
	python := requireProgram(t, python3, "-c", "import confluent_kafka")
	d := startDev(t)
	testClient(t, d.kafka, confluentPython{d.kafka, python})
}
