package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// protocolClient is a client with the consumer protocol of KIP-848.
type protocolClient struct {
	name string
	// join starts a member of group "g" that subscribes to a topic, or to a pattern.
	join func(t *testing.T, broker, kind, name string, settings ...string) protocolMember
	// patterns: the server matches them.
	patterns bool
}

// protocolMember is a running member of a group.
type protocolMember interface {
	// held are the partitions it has now, like "t/0", in order.
	held() []string
	// values are those of the records it has read and committed.
	values() []string
	// leave closes it and returns when it is gone.
	leave()
}

var protocolClients = []protocolClient{
	{name: "franz-go", join: joinFranz},
	{name: "java-4.4", join: joinJava, patterns: true},
	{name: "confluent-kafka", join: joinConfluent, patterns: true},
}

// rebalancePatience is more than the heartbeats of everybody that a rebalance needs.
const rebalancePatience = 40 * time.Second

// TestConsumerProtocol: two members share the partitions, one leaves and the other
// takes over, and the next one goes on after the last commit.
func TestConsumerProtocol(t *testing.T) {
	t.Parallel()
	for _, client := range protocolClients {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			const partitions = 4
			d := startDev(t, "--topic", fmt.Sprintf("t:%d", partitions))
			first := client.join(t, d.kafka, "topic", "t")
			waitForHeld(t, partitions, first)
			second := client.join(t, d.kafka, "topic", "t")
			waitForHeld(t, partitions, first, second)
			checkDescribed(t, d.kafka, 2)

			produceNumbers(t, d.kafka, "t", partitions, 0, 40)
			waitForEach(t, numbers(0, 40), first, second)
			if len(first.values()) == 0 || len(second.values()) == 0 {
				t.Errorf("one member got nothing: %d and %d records", len(first.values()), len(second.values()))
			}

			first.leave()
			produceNumbers(t, d.kafka, "t", partitions, 40, 80)
			waitForHeld(t, partitions, second)
			waitForEach(t, numbers(0, 80), first, second)

			second.leave()
			produceNumbers(t, d.kafka, "t", partitions, 80, 90)
			third := client.join(t, d.kafka, "topic", "t")
			waitForEach(t, numbers(80, 90), third)
			third.leave()
		})
	}
}

// TestConsumerProtocolPattern: the server finds the topics of a pattern, also one
// that is created later.
func TestConsumerProtocolPattern(t *testing.T) {
	t.Parallel()
	for _, client := range protocolClients {
		if !client.patterns {
			continue
		}
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			d := startDev(t, "--topic", "app-a:1", "--topic", "other:1")
			m := client.join(t, d.kafka, "pattern", "app-.*")
			waitForHeld(t, 1, m)
			createTopic(t, d.kafka, "app-b", 2)
			waitForHeld(t, 3, m)
			produceNumbers(t, d.kafka, "app-a", 1, 0, 5)
			produceNumbers(t, d.kafka, "app-b", 2, 5, 10)
			produceNumbers(t, d.kafka, "other", 1, 10, 15)
			waitForEach(t, numbers(0, 10), m)
			m.leave()
		})
	}
}

// TestConsumerProtocolMixed: members of different clients and of both protocols are
// in one group.
func TestConsumerProtocolMixed(t *testing.T) {
	t.Parallel()
	const partitions = 6
	d := startDev(t, "--topic", fmt.Sprintf("t:%d", partitions))
	java := joinJava(t, d.kafka, "topic", "t")
	waitForHeld(t, partitions, java)
	classic := joinJava(t, d.kafka, "topic", "t", "group.protocol=classic", "heartbeat.interval.ms=1000")
	librdkafka := joinConfluent(t, d.kafka, "topic", "t")
	franz := joinFranz(t, d.kafka, "topic", "t")
	all := []protocolMember{java, classic, librdkafka, franz}
	waitForHeld(t, partitions, all...)
	produceNumbers(t, d.kafka, "t", partitions, 0, 60)
	waitForEach(t, numbers(0, 60), all...)

	// When only the classic one is left the group is a classic one.
	java.leave()
	librdkafka.leave()
	franz.leave()
	waitForHeld(t, partitions, classic)
	produceNumbers(t, d.kafka, "t", partitions, 60, 70)
	waitForEach(t, numbers(0, 70), all...)
	classic.leave()
}

// waitForHeld waits until the members have every partition once, and each has some.
func waitForHeld(t *testing.T, partitions int, members ...protocolMember) {
	t.Helper()
	eventually(t, rebalancePatience, "the partitions to be shared", func() string {
		var all []string
		for _, m := range members {
			held := m.held()
			if len(held) == 0 {
				return "a member has nothing"
			}
			all = append(all, held...)
		}
		slices.Sort(all)
		if len(all) != partitions || len(slices.Compact(slices.Clone(all))) != partitions {
			return fmt.Sprintf("held are %v", all)
		}
		return ""
	})
}

// waitForEach waits until the members together have read the values, each once.
func waitForEach(t *testing.T, want []string, members ...protocolMember) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	eventually(t, rebalancePatience, "the records", func() string {
		var all []string
		for _, m := range members {
			all = append(all, m.values()...)
		}
		slices.Sort(all)
		if len(all) > len(want) {
			t.Fatalf("%d records were read, %d were produced", len(all), len(want))
		}
		if !slices.Equal(all, want) {
			return fmt.Sprintf("%d of %d are there", len(all), len(want))
		}
		return ""
	})
}

// checkDescribed: administrators see a group of the consumer protocol.
func checkDescribed(t *testing.T, broker string, members int) {
	t.Helper()
	admin := kadm.NewClient(newFranz(t, broker))
	groups, err := admin.DescribeConsumerGroups(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	g := groups["g"]
	if g.Err != nil || len(g.Members) != members || g.AssignorName != "uniform" {
		t.Errorf("described: %+v", g)
	}
}

// programMember is a member in a program that ends with its input.
type programMember struct {
	*process
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
	return programMember{p, writer}
}

func joinJava(t *testing.T, broker, kind, name string, settings ...string) protocolMember {
	t.Helper()
	client := javaKafka.client(t, "kafka-4.4")
	return joinProgram(t, client.java, client.commandLine("Group", append([]string{broker, "g", kind, name}, settings...))...)
}

func joinConfluent(t *testing.T, broker, kind, name string, settings ...string) protocolMember {
	t.Helper()
	python := requireProgram(t, newestPython, "-c", "import confluent_kafka")
	args := []string{"../testdata/clients/confluent-kafka/group.py", broker, "g", kind, name}
	return joinProgram(t, python, append(args, settings...)...)
}

func (m programMember) held() []string {
	var held []string
	for _, line := range m.stdout.all() {
		if words := strings.Fields(line); words[0] == "assigned" {
			held = slices.Sorted(slices.Values(words[1:]))
		}
	}
	return held
}

func (m programMember) values() []string {
	var values []string
	for _, line := range m.stdout.all() {
		if words := strings.Fields(line); words[0] == "record" {
			values = append(values, words[4])
		}
	}
	return values
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

// franzMember is a franz-go client in this process.
type franzMember struct {
	client *kgo.Client
	ended  chan struct{}

	mu   sync.Mutex
	has  map[string]bool
	read []string
}

func joinFranz(t *testing.T, broker, kind, name string, _ ...string) protocolMember {
	t.Helper()
	if kind != "topic" {
		t.Fatalf("no test of franz-go has a %s", kind)
	}
	m := &franzMember{ended: make(chan struct{}), has: make(map[string]bool)}
	m.client = newFranz(t, broker, kgo.ServerSideBalancer(), kgo.ConsumerGroup("g"), kgo.ConsumeTopics(name),
		kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(m.changed(true)), kgo.OnPartitionsRevoked(m.changed(false)), kgo.OnPartitionsLost(m.changed(false)))
	go m.run(t)
	return m
}

func (m *franzMember) changed(has bool) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for topic, partitions := range topics {
			for _, p := range partitions {
				m.has[fmt.Sprintf("%s/%d", topic, p)] = has
			}
		}
	}
}

func (m *franzMember) run(t *testing.T) {
	defer close(m.ended)
	for {
		fetches := m.client.PollFetches(t.Context())
		if fetches.IsClientClosed() || t.Context().Err() != nil {
			return
		}
		if err := m.client.CommitRecords(t.Context(), fetches.Records()...); err != nil && !fetches.Empty() {
			t.Errorf("commit: %v", err)
		}
		m.mu.Lock()
		fetches.EachRecord(func(r *kgo.Record) { m.read = append(m.read, string(r.Value)) })
		m.mu.Unlock()
		m.client.AllowRebalance()
	}
}

func (m *franzMember) held() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var held []string
	for p, has := range m.has {
		if has {
			held = append(held, p)
		}
	}
	slices.Sort(held)
	return held
}

func (m *franzMember) values() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.read)
}

func (m *franzMember) leave() {
	m.client.CloseAllowingRebalance()
	<-m.ended
}
