package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

// matrixClient is a client of the matrix and what is peculiar to it.
type matrixClient struct {
	name string
	// program is the command that runs it; a missing one skips the test.
	program func(t testing.TB, name string) (string, []string)
	codecs  []string
	// writes says whether the client can write a record; nil: any.
	writes func(records.Record) bool
	// shows is the record as the client shows it that it has read; nil: as it is.
	shows func(line) line
}

// topic of a client and codec, in the letters that a stream may have.
func (c matrixClient) topic(codec string) string {
	return strings.ReplaceAll(c.name, ".", "-") + "_" + codec
}

var (
	allCodecs     = []string{"none", "gzip", "snappy", "lz4", "zstd"}
	codecsBefore2 = allCodecs[:4] // Kafka has zstd since 2.1
)

var matrixClients = []matrixClient{
	{name: "franz-go", program: goProgram, codecs: allCodecs},
	{name: "sarama", program: goProgram, codecs: allCodecs},
	{name: "kafka-go", program: goProgram, codecs: allCodecs, shows: emptyAsNull},
	{name: "java-0.10.2", program: javaProgram, codecs: codecsBefore2, shows: withoutHeaders},
	{name: "java-0.11", program: javaProgram, codecs: codecsBefore2},
	{name: "java-1.1", program: javaProgram, codecs: codecsBefore2},
	{name: "java-2.8", program: javaProgram, codecs: allCodecs},
	{name: "java-3.9", program: javaProgram, codecs: allCodecs},
	{name: "java-4.4", program: javaProgram, codecs: allCodecs},
	{name: "kcat", program: kcatProgram, codecs: allCodecs, writes: kcatWrites},
	{name: "confluent-kafka", program: pythonProgram("confluent-kafka", newestPython, "confluent_kafka"), codecs: allCodecs},
	{name: "kafka-python-2.0.2", program: pythonProgram("kafka-python", kafkaPython2, "kafka"), codecs: allCodecs, writes: kafkaPythonWrites},
	{name: "kafka-python", program: pythonProgram("kafka-python", newestPython, "kafka"), codecs: allCodecs, writes: kafkaPythonWrites},
	{name: "aiokafka", program: pythonProgram("aiokafka", newestPython, "aiokafka"), codecs: allCodecs, writes: notAllNull},
	{name: "kafkajs", program: nodeProgram, codecs: allCodecs, writes: noNullHeader, shows: headersByName},
}

func goProgram(t testing.TB, name string) (string, []string) {
	t.Helper()
	dir, err := buildGoClients()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name), nil
}

func javaProgram(t testing.TB, name string) (string, []string) {
	t.Helper()
	client := javaKafka.client(t, "kafka-"+strings.TrimPrefix(name, "java-"))
	return client.java, client.commandLine("Main", nil)
}

// The environments with the clients in Python, and the shared part of the programs.
const (
	newestPython = "../testdata/clients/python/.venv/bin/python"
	kafkaPython2 = "../testdata/clients/python/.venv-kafka-python-2.0.2/bin/python"
)

func pythonProgram(folder, python, module string) func(testing.TB, string) (string, []string) {
	return func(t testing.TB, _ string) (string, []string) {
		t.Helper()
		return requireProgram(t, python, "-c", "import "+module), []string{"../testdata/clients/" + folder + "/client.py"}
	}
}

func kcatProgram(t testing.TB, _ string) (string, []string) {
	t.Helper()
	requireProgram(t, "kcat")
	return requireProgram(t, python3, "--version"), []string{"../testdata/clients/kcat/client.py"}
}

func nodeProgram(t testing.TB, _ string) (string, []string) {
	t.Helper()
	const program = "../testdata/clients/kafkajs/client.js"
	return requireProgram(t, "node", "-e", "require('../testdata/clients/kafkajs/codecs')"), []string{program}
}

func notAllNull(r records.Record) bool { return r.Key != nil || r.Value != nil }

func noNullHeader(r records.Record) bool {
	return !slices.ContainsFunc(r.Headers, func(h records.Header) bool { return h.Value == nil })
}

func kafkaPythonWrites(r records.Record) bool { return notAllNull(r) && noNullHeader(r) }

// kcatWrites: kcat has one option that makes empty keys and values null, both or
// neither; it passes over records of nothing; its headers have a name.
func kcatWrites(r records.Record) bool {
	nothing := len(r.Key) == 0 && len(r.Value) == 0 && (r.Key == nil || r.Value == nil)
	return !nothing && !slices.ContainsFunc(r.Headers, func(h records.Header) bool { return h.Key == "" })
}

func withoutHeaders(l line) line {
	l.headers = untold
	return l
}

// emptyAsNull: a Reader of kafka-go makes no difference.
func emptyAsNull(l line) line {
	null := func(text string) string {
		if text == records.Text([]byte{}) {
			return records.Text(nil)
		}
		return text
	}
	l.key, l.value = null(l.key), null(l.value)
	pairs := l.pairs()
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		pairs[i] = name + "=" + null(value)
	}
	return l.withPairs(pairs)
}

// headersByName: in kafkajs the headers of one name stand together.
func headersByName(l line) line {
	pairs := l.pairs()
	first := map[string]int{}
	place := func(pair string) int {
		name, _, _ := strings.Cut(pair, "=")
		return first[name]
	}
	for i, pair := range slices.Backward(pairs) {
		name, _, _ := strings.Cut(pair, "=")
		first[name] = i
	}
	slices.SortStableFunc(pairs, func(a, b string) int { return place(a) - place(b) })
	return l.withPairs(pairs)
}
