package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAdapterProducerIsReadByKcat: records of the adapter are Kafka records with
// their keys and values.
func TestAdapterProducerIsReadByKcat(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:3")
	k := newKcat(t, d)
	sent := keyedMessages(200)
	sent = append(sent, message{key: "kéy 中", value: "vælue 文"}, message{key: "", value: "without a key"})
	newAdapter(t, d.dis).produce(t, "t", sent)

	var want []string
	for _, m := range sent {
		want = append(want, fmt.Sprintf("%s:%s", m.key, m.value))
	}
	got := k.consume("t", "%k:%s")
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestGroupMovesBetweenKafkaAndTheAdapter: an application that moves from Kafka's
// client to the adapter, and back, goes on where it was.
func TestGroupMovesBetweenKafkaAndTheAdapter(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:3")
	kafka, adapter := newJavaKafka(t, d.kafka), newAdapter(t, d.dis)
	sent := keyedMessages(200)
	kafka.produce(t, "t", sent)
	received := slices.Concat(
		kafka.subscribe(t, "g", "t", 50),
		adapter.subscribe(t, "g", "t", 50),
		kafka.subscribe(t, "g", "t", 50),
		adapter.subscribe(t, "g", "t", 50),
	)
	checkMessages(t, sent, received)
	checkCommitted(t, d.kafka, "g", "t", received)
}

// TestKeysStayInTheirPartitions: with the partitioner that the page on migrating shows,
// Kafka's producer sends every key to the partition to which the adapter's records of
// that key went.
func TestKeysStayInTheirPartitions(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "of-adapter:5", "--topic", "of-kafka:5")
	k := newKcat(t, d)
	sent := keyedMessages(200)
	sent = append(sent, message{key: "kéy 中", value: "v"})
	newAdapter(t, d.dis).produce(t, "of-adapter", sent)
	kafkaClient := javaApplication{javaDIS.client(t, "kafka", "--bootstrap", d.kafka, "--partitioner", "client.DisPartitioner")}
	kafkaClient.produce(t, "of-kafka", sent)

	places := func(topic string) []string {
		lines := k.consume(topic, "%k in %p")
		slices.Sort(lines)
		return lines
	}
	adapter, kafka := places("of-adapter"), places("of-kafka")
	if len(adapter) != len(sent) || !slices.Equal(adapter, kafka) {
		t.Errorf("the adapter's keys: %q\nKafka's: %q", adapter, kafka)
	}
	if !slices.ContainsFunc(adapter, func(line string) bool { return strings.HasSuffix(line, "in 4") }) {
		t.Error("no key is in the last partition")
	}
}
