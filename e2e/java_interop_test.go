package e2e

import (
	"fmt"
	"slices"
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
