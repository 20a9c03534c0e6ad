package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
)

// staticMembers are the clients with static membership (KIP-345), with the assignor
// "range" and an instance id of their own. kafka-go and kafkajs have none.
var staticMembers = []joinsGroup{
	func(t *testing.T, broker string) protocolMember {
		return joinJava(t, broker, "topic", "t", "group.protocol=classic", "heartbeat.interval.ms=500", "group.instance.id=java",
			"partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor")
	},
	func(t *testing.T, broker string) protocolMember {
		return joinConfluent(t, broker, "topic", "t", "group.protocol=classic", "heartbeat.interval.ms=500", "group.instance.id=librdkafka",
			"partition.assignment.strategy=range")
	},
	func(t *testing.T, broker string) protocolMember {
		return joinSarama(t, broker, "t", func(config *sarama.Config) {
			config.Version = sarama.V2_4_0_0 // the first with static members is 2.3
			config.Consumer.Group.InstanceId = "sarama"
		})
	},
	func(t *testing.T, broker string) protocolMember {
		return joinPython("kafka-python", "kafka")(t, broker, "topic", "t", "heartbeat_interval_ms=500", "group_instance_id=kafka-python")
	},
	func(t *testing.T, broker string) protocolMember {
		return joinPython("aiokafka", "aiokafka")(t, broker, "topic", "t", "heartbeat_interval_ms=500", "group_instance_id=aiokafka")
	},
	func(t *testing.T, broker string) protocolMember {
		return joinFranz(t, broker, "t", kgo.Balancers(kgo.RangeBalancer()), kgo.HeartbeatInterval(quickHeartbeat), kgo.InstanceID("franz-go"))
	},
}

// TestOneGroupStatic: each of the static members is restarted, the leader too, and
// comes back to the partitions that it had; the others do not notice.
func TestOneGroupStatic(t *testing.T) {
	t.Parallel()
	const partitions = 12
	d := startDev(t, "--topic", "t:12")
	load := startLoad(t, d.kafka, "t", partitions)
	var members []protocolMember
	for _, join := range staticMembers {
		members = append(members, join(t, d.kafka))
		waitForHeld(t, partitions, members...)
	}
	all := slices.Clone(members)
	for i, join := range staticMembers {
		had, before := members[i].held(), assignments(members)
		members[i].leave()
		members[i] = join(t, d.kafka)
		all = append(all, members[i])
		waitForReading(t, members[i])
		if has := members[i].held(); !slices.Equal(has, had) {
			t.Errorf("member %d had %v before its restart and has %v", i, had, has)
		}
		after := assignments(members)
		before[i], after[i] = 0, 0
		if !slices.Equal(before, after) {
			t.Errorf("the restart of member %d: assignments of the members %v before it, %v after it", i, before, after)
		}
	}
	waitForSettled(t, load.stop(), all...)
	for _, m := range members {
		m.leave()
	}
	checkNoLag(t, d.kafka)
}

// assignments is how often each of the members was assigned something.
func assignments(members []protocolMember) []int {
	counts := make([]int, len(members))
	for i, m := range members {
		for _, entry := range m.entries() {
			if strings.HasPrefix(entry, "assigned") {
				counts[i]++
			}
		}
	}
	return counts
}
