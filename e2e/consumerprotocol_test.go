package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// protocolClient is a client with the consumer protocol of KIP-848.
type protocolClient struct {
	name string
	// join starts a member of group "g" that subscribes to a topic, or to a pattern.
	join func(t *testing.T, broker, kind, name string, settings ...string) protocolMember
	// patterns: the server matches them.
	patterns bool
}

var protocolClients = []protocolClient{
	{name: "franz-go", join: joinFranzProtocol},
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
	franz := joinFranzProtocol(t, d.kafka, "topic", "t")
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
		var each [][]string
		idle := false
		for _, m := range members {
			held := m.held()
			idle = idle || len(held) == 0
			all, each = append(all, held...), append(each, held)
		}
		slices.Sort(all)
		if idle || len(all) != partitions || len(slices.Compact(slices.Clone(all))) != partitions {
			return fmt.Sprintf("the members have %v", each)
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
