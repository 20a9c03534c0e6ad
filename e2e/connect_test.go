package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// kafkaConnect has the worker of Kafka Connect.
var kafkaConnect = newJavaProject("kafka-connect")

// connectWorker is a running distributed worker.
type connectWorker struct {
	*process
	rest string
}

func startConnect(t *testing.T, broker string) connectWorker {
	t.Helper()
	java := requireProgram(t, "java", "-version")
	requireProgram(t, "mvn", "-v")
	dir, err := kafkaConnect.build()
	if err != nil {
		t.Fatal(err)
	}
	rest := "http://" + freeAddress(t)
	settings := filepath.Join(t.TempDir(), "worker.properties")
	text := []string{
		"bootstrap.servers=" + broker, "group.id=connect", "listeners=" + rest,
		"key.converter=org.apache.kafka.connect.storage.StringConverter",
		"value.converter=org.apache.kafka.connect.storage.StringConverter",
		"config.storage.topic=connect-configs", "config.storage.replication.factor=1",
		"offset.storage.topic=connect-offsets", "offset.storage.replication.factor=1", "offset.storage.partitions=2",
		"status.storage.topic=connect-status", "status.storage.replication.factor=1", "status.storage.partitions=2",
		"offset.flush.interval.ms=500", "scheduled.rebalance.max.delay.ms=0", "heartbeat.interval.ms=500",
	}
	if err := os.WriteFile(settings, []byte(strings.Join(text, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, nil, java, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-cp", filepath.Join(dir, "kafka-connect", "lib", "*"), "org.apache.kafka.connect.cli.ConnectDistributed", settings)
	return connectWorker{p, rest}
}

// put creates a connector; the worker may not be up or may rebalance.
func (w connectWorker) put(t *testing.T, name string, config map[string]string) {
	t.Helper()
	body, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, rebalancePatience, "connector "+name, func() string {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, w.rest+"/connectors/"+name+"/config", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusCreated && answer.StatusCode != http.StatusOK {
			return answer.Status
		}
		return ""
	})
}

// status shows where a connector and its tasks are, or why that is not known.
func (w connectWorker) status(connector string) string {
	answer, err := http.Get(w.rest + "/connectors/" + connector + "/status")
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestConnect: a distributed worker carries the lines of a file through a topic into
// another file. A second worker takes over a part, the first one ends, and the second goes on
// where the stored offsets say.
func TestConnect(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--accept-compact", "--topic", "lines:1")
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	appendLines(t, from, 0, 100)
	first := startConnect(t, d.kafka)
	first.put(t, "source", map[string]string{"connector.class": "FileStreamSource", "file": from, "topic": "lines"})
	first.put(t, "sink", map[string]string{"connector.class": "FileStreamSink", "file": to, "topics": "lines",
		"consumer.override.auto.offset.reset": "earliest"})
	waitForLines(t, to, 100)

	second := startConnect(t, d.kafka)
	eventually(t, rebalancePatience, "the second worker to have a part", func() string {
		shown := second.status("source") + second.status("sink")
		if !strings.Contains(shown, strings.TrimPrefix(second.rest, "http://")) {
			return shown
		}
		return ""
	})
	first.signal(syscall.SIGTERM)
	if code := first.exitCode(rebalancePatience); code != 0 && code != 143 {
		t.Errorf("the first worker ended with %d", code)
	}
	appendLines(t, from, 100, 200)
	waitForLines(t, to, 200)
}

func appendLines(t *testing.T, path string, from, to int) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(file, strings.Join(numbers(from, to), "\n")); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// waitForLines waits until a file has the lines 0 to count, each once and in order: the
// worker that ended did so in an orderly way.
func waitForLines(t *testing.T, path string, count int) {
	t.Helper()
	eventually(t, rebalancePatience, fmt.Sprintf("%d lines", count), func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		if got := strings.Fields(string(text)); !slices.Equal(got, numbers(0, count)) {
			return fmt.Sprintf("%d lines: %.300v", len(got), got)
		}
		return ""
	})
}
