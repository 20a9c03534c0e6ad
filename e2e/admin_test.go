package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// adminClient is an admin client, and what is peculiar to it.
type adminClient struct {
	name    string
	program func(t testing.TB, name string) (string, []string)
	// lacks are the steps that it has no call for.
	lacks []string
	// unsupported is its code for an API that it knows from ApiVersions not to be there.
	unsupported int
	// ownTexts says that it shows its own texts of errors, not those of the server.
	ownTexts bool
}

var adminClients = []adminClient{
	{name: "franz-go", program: goProgram, unsupported: 35},
	{name: "sarama", program: goProgram, unsupported: 35},
	{name: "kafka-go", program: goProgram, lacks: []string{"delete-records"}},
	{name: "kafka-python", program: adminProgram(pythonProgram("kafka-python", newestPython, "kafka")), unsupported: 35},
	{name: "confluent-kafka", program: adminProgram(pythonProgram("confluent-kafka", newestPython, "confluent_kafka")), unsupported: -165},
	{name: "kafkajs", program: adminProgram(nodeProgram), lacks: []string{"alter"}, unsupported: 35, ownTexts: true},
}

// adminProgram is the admin program beside the client program.
func adminProgram(program func(testing.TB, string) (string, []string)) func(testing.TB, string) (string, []string) {
	return func(t testing.TB, name string) (string, []string) {
		t.Helper()
		program, args := program(t, name)
		return program, []string{strings.Replace(args[0], "/client.", "/admin.", 1)}
	}
}

// administrator runs the steps of an admin client on a topic and a group of its own.
type administrator struct {
	t      *testing.T
	client adminClient
	*clientProgram
	broker, topic string
	dis           *dis.Client
}

// TestAdminClients: admin clients of several languages create, list, describe, alter and
// delete, and what they did is done in DIS. What cannot be is refused with the code
// and, where the client shows it, the text of the gateway.
func TestAdminClients(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--no-auto-create-topics")
	streams := newDISClient(t, d)
	for _, client := range adminClients {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			program, args := client.program(t, client.name)
			started, err := startClientProgram(t, client.name, program, args...)
			if err != nil {
				t.Fatal(err)
			}
			a := &administrator{t, client, started, d.kafka, "by-" + client.name, streams}
			a.creates()
			a.alters()
			a.readsGroupsAndOffsets()
			a.deletes()
		})
	}
}

// step runs one and gives the lines that it printed; nil where the client has no
// call for it.
func (a *administrator) step(name string, args ...string) []string {
	a.t.Helper()
	printed := a.do(a.t, clientTimeout, append([]string{"admin", a.broker, name}, args...)...)
	if slices.Contains(a.client.lacks, name) {
		a.want(name, printed, "none")
		return nil
	}
	return printed
}

func (a *administrator) want(what string, got []string, want ...string) {
	a.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		a.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// refuses runs a step that must fail with a code and a text.
func (a *administrator) refuses(code int, reason, name string, args ...string) {
	a.t.Helper()
	printed := a.step(name, args...)
	if slices.Contains(a.client.lacks, name) {
		return
	}
	if a.client.ownTexts {
		reason = ""
	}
	line := strings.Join(printed, "\n")
	if !regexp.MustCompile(fmt.Sprintf("^refused %d .*%s.*$", code, reason)).MatchString(line) {
		a.t.Errorf("%s %q: %s\nwant refused %d with %q", name, args, line, code, reason)
	}
}

// has checks that the lines of a step are among those printed.
func (a *administrator) has(what string, got []string, want ...string) {
	a.t.Helper()
	for _, line := range want {
		if !slices.Contains(got, line) {
			a.t.Errorf("%s: no line %q in %q", what, line, got)
		}
	}
}

// stream is what DIS has: how many partitions, for how many hours, data and stream
// type.
func (a *administrator) stream() string {
	a.t.Helper()
	found, err := a.dis.DescribeStream(a.t.Context(), a.topic)
	if err != nil {
		return err.Error()
	}
	active := 0
	for _, p := range found.Partitions {
		if p.Status == wire.PartitionActive {
			active++
		}
	}
	return fmt.Sprintf("%d %d %s %s", active, found.RetentionPeriod, found.DataType, found.StreamType)
}

func (a *administrator) wantStream(want string) {
	a.t.Helper()
	if got := a.stream(); got != want {
		a.t.Errorf("the stream in DIS: %s, want %s", got, want)
	}
}

func (a *administrator) creates() {
	a.t.Helper()
	a.want("cluster", a.step("cluster"), "broker 1 "+a.broker, "controller 1")
	a.want("create", a.step("create", a.topic, "3", "retention.ms=172800000", "dis.stream.type=ADVANCED"))
	a.wantStream("3 48 BLOB ADVANCED")
	a.refuses(36, "exists", "create", a.topic, "3")
	a.refuses(40, "DIS does not compact", "create", a.topic+"-compacted", "1", "cleanup.policy=compact")
	a.refuses(17, "has characters that a DIS stream name cannot have", "create", a.topic+".dotted", "1")
	topics := a.step("topics")
	a.has("topics", topics, "topic "+a.topic)
	if slices.Contains(topics, "topic "+a.topic+"-compacted") {
		a.t.Errorf("a topic is there that was refused: %q", topics)
	}
	a.want("topic", a.step("topic", a.topic), partitionLines(3)...)
	a.has("configs", a.step("configs", a.topic), "config retention.ms=172800000", "config dis.stream.type=ADVANCED",
		"config dis.data.type=BLOB", "config cleanup.policy=delete", "config max.message.bytes=1048576")
}

func partitionLines(count int) (lines []string) {
	for p := range count {
		lines = append(lines, fmt.Sprintf("partition %d leader 1 replicas [1] isr [1]", p))
	}
	return lines
}

func (a *administrator) alters() {
	a.t.Helper()
	a.want("partitions", a.step("partitions", a.topic, "4"))
	a.want("topic with more partitions", a.step("topic", a.topic), partitionLines(4)...)
	a.refuses(37, "the number of a topic never falls", "partitions", a.topic, "2")
	if altered := a.step("alter", a.topic, "retention.ms=259200000", "dis.data.type=JSON"); altered != nil {
		a.t.Errorf("alter: %q", altered)
	} else if !slices.Contains(a.client.lacks, "alter") {
		a.wantStream("4 72 JSON ADVANCED")
	}
	a.refuses(40, `segment\.bytes=1: streams have no such setting`, "alter", a.topic, "segment.bytes=1")
	a.want("replace", a.step("replace", a.topic, "retention.ms=432000000", "dis.data.type=CSV"))
	a.wantStream("4 120 CSV ADVANCED")
	a.has("configs that were replaced", a.step("configs", a.topic), "config retention.ms=432000000", "config dis.data.type=CSV")
	a.refuses(40, "DIS does not compact", "replace", a.topic, "cleanup.policy=compact")
	a.wantStream("4 120 CSV ADVANCED")
}

// join starts a member that has all four partitions and has read something. It is
// one of kafka-go, which cannot read what newer members than its own tell of
// themselves.
func (a *administrator) join(group string) *kafka.Reader {
	a.t.Helper()
	member := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{a.broker}, GroupID: group, Topic: a.topic,
		Dialer: &kafka.Dialer{ClientID: "reader"}, MaxWait: 100 * time.Millisecond}) // closing waits for a fetch
	ctx, cancel := context.WithTimeout(a.t.Context(), clientTimeout)
	defer cancel()
	if _, err := member.ReadMessage(ctx); err != nil {
		a.t.Fatal(err)
	}
	return member
}

// readsGroupsAndOffsets has a member in a group, and two records in each partition.
func (a *administrator) readsGroupsAndOffsets() {
	a.t.Helper()
	produceNumbers(a.t, a.broker, a.topic, 4, 0, 8)
	group := a.topic + "-readers"
	member := a.join(group)
	a.want("offsets", a.step("offsets", a.topic, "4"), "offsets 0 0 2", "offsets 1 0 2", "offsets 2 0 2", "offsets 3 0 2")
	a.refuses(a.client.unsupported, "", "delete-records", a.topic, "0", "1")
	a.has("groups", a.step("groups"), "group "+group)
	all := fmt.Sprintf("%[1]s/0,%[1]s/1,%[1]s/2,%[1]s/3", a.topic)
	a.want("group", a.step("group", group), "state Stable", "member reader "+all)
	closeClient(a.t, member)
	a.want("group without members", a.step("group", group), "state Empty")
}

func (a *administrator) deletes() {
	a.t.Helper()
	a.want("delete", a.step("delete", a.topic))
	if _, err := a.dis.DescribeStream(a.t.Context(), a.topic); !dis.HasCode(err, wire.CodeStreamNotFound) {
		a.t.Errorf("the stream after the topic was deleted: %v", err)
	}
	a.refuses(3, "", "delete", a.topic)
	a.refuses(3, "", "topic", a.topic)
	if topics := a.step("topics"); slices.Contains(topics, "topic "+a.topic) {
		a.t.Errorf("topics after the deletion: %q", topics)
	}
}
