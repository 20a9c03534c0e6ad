package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// quickHeartbeat is how often members of classic groups look for a rebalance.
const quickHeartbeat = 500 * time.Millisecond

// joinsGroup starts a member of the group "g" on the topic "t".
type joinsGroup func(t *testing.T, broker string) protocolMember

// eagerMembers have the assignor "range" in common.
var eagerMembers = map[string]joinsGroup{
	"java": func(t *testing.T, broker string) protocolMember {
		return joinJava(t, broker, "topic", "t", "group.protocol=classic", "heartbeat.interval.ms=500",
			"partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor")
	},
	"librdkafka": func(t *testing.T, broker string) protocolMember {
		return joinConfluent(t, broker, "topic", "t", "group.protocol=classic", "heartbeat.interval.ms=500",
			"partition.assignment.strategy=range")
	},
	"sarama": func(t *testing.T, broker string) protocolMember {
		return joinSarama(t, broker, "t", nil)
	},
	"kafka-go": func(t *testing.T, broker string) protocolMember {
		return joinKafkaGo(t, broker, "t")
	},
	"kafkajs": func(t *testing.T, broker string) protocolMember {
		return joinKafkaJS(t, broker, "topic", "t", "heartbeatInterval=500", "maxWaitTimeInMs=200")
	},
	"kafka-python": func(t *testing.T, broker string) protocolMember {
		return joinPython("kafka-python", "kafka")(t, broker, "topic", "t", "heartbeat_interval_ms=500")
	},
	"aiokafka": func(t *testing.T, broker string) protocolMember {
		return joinPython("aiokafka", "aiokafka")(t, broker, "topic", "t", "heartbeat_interval_ms=500")
	},
	"franz-go": func(t *testing.T, broker string) protocolMember {
		return joinFranz(t, broker, "t", kgo.Balancers(kgo.RangeBalancer()), kgo.HeartbeatInterval(quickHeartbeat))
	},
}

// TestOneGroupEager: seven clients in one classic group. The oldest leaves first,
// so that several of them lead it.
func TestOneGroupEager(t *testing.T) {
	t.Parallel()
	joinAndLeave(t, startDev(t, "--topic", "t:10"), 10,
		eager("java", "librdkafka", "sarama", "kafkajs", "kafka-python", "aiokafka", "franz-go"))
}

// TestOneGroupKafkaGo: kafka-go says that its subscription has version 1 and leaves
// out what belongs to that version, whichever server it talks to. The leaders of
// Java, librdkafka and franz-go do not read that; those of sarama and kafkajs do.
func TestOneGroupKafkaGo(t *testing.T) {
	t.Parallel()
	joinAndLeave(t, startDev(t, "--topic", "t:5"), 5, eager("sarama", "kafka-go", "kafkajs"))
}

func eager(names ...string) (joins []joinsGroup) {
	for _, name := range names {
		joins = append(joins, eagerMembers[name])
	}
	return joins
}

// TestOneGroupCooperative: the clients with the assignor "cooperative-sticky" in
// one group.
func TestOneGroupCooperative(t *testing.T) {
	t.Parallel()
	joinAndLeave(t, startDev(t, "--topic", "t:6"), 6, []joinsGroup{cooperativeJava, cooperativeFranz, cooperativeConfluent})
}

func cooperativeJava(t *testing.T, broker string) protocolMember {
	return joinJava(t, broker, "topic", "t", "group.protocol=classic", "heartbeat.interval.ms=500",
		"partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor")
}

func cooperativeFranz(t *testing.T, broker string) protocolMember {
	return joinFranz(t, broker, "t", kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.HeartbeatInterval(quickHeartbeat))
}

func cooperativeConfluent(t *testing.T, broker string) protocolMember {
	return joinConfluent(t, broker, "topic", "t", "group.protocol=classic", "heartbeat.interval.ms=500",
		"partition.assignment.strategy=cooperative-sticky")
}

// TestOneGroupConsumerProtocol: the clients with the consumer protocol in one group,
// one of them with a pattern.
func TestOneGroupConsumerProtocol(t *testing.T) {
	t.Parallel()
	joinAndLeave(t, startDev(t, "--topic", "t:8"), 8, []joinsGroup{
		func(t *testing.T, broker string) protocolMember { return joinJava(t, broker, "topic", "t") },
		func(t *testing.T, broker string) protocolMember { return joinJava(t, broker, "pattern", "[s-u]") },
		func(t *testing.T, broker string) protocolMember { return joinConfluent(t, broker, "topic", "t") },
		func(t *testing.T, broker string) protocolMember {
			return joinFranz(t, broker, "t", kgo.ServerSideBalancer())
		},
	})
}

// joinAndLeave lets members join one after another while records are produced,
// and leave in the same order. In the end the group has read and committed every
// record, each once.
func joinAndLeave(t *testing.T, d *dev, partitions int, joins []joinsGroup) {
	t.Helper()
	load := startLoad(t, d.kafka, "t", partitions)
	var members []protocolMember
	for _, join := range joins {
		members = append(members, join(t, d.kafka))
		waitForHeld(t, partitions, members...)
	}
	for _, m := range members {
		waitForReading(t, m)
	}
	last := len(members) - 1
	for i, m := range members[:last] {
		m.leave()
		waitForHeld(t, partitions, members[i+1:]...)
	}
	waitForSettled(t, load.stop(), members...)
	members[last].leave()
	checkNoLag(t, d.kafka)
}

// waitForReading waits until a member has read a record.
func waitForReading(t *testing.T, m protocolMember) {
	t.Helper()
	eventually(t, rebalancePatience, "a member to read", func() string {
		if len(m.values()) == 0 {
			return fmt.Sprintf("it has read nothing from %v", m.held())
		}
		return ""
	})
}
