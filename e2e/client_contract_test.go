package e2e

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// clientTimeout bounds one step of a client: joins, rebalances and reads on a
// machine that runs many tests at once.
const clientTimeout = 60 * time.Second

// message is a record as a client sees it.
type message struct {
	topic     string
	partition int
	offset    int64
	key       string
	value     string
}

// testedClient is what every client must be able to do, each call with a new
// client instance, as after a restart of the application.
type testedClient interface {
	// produce writes the messages, keyed, in order, and returns when they were
	// sent.
	produce(t *testing.T, topic string, sent []message)
	// subscribe joins group, reads count records, commits exactly those, leaves.
	subscribe(t *testing.T, group, topic string, count int) []message
	// assign reads count records of all partitions from the start, without a group.
	assign(t *testing.T, topic string, partitions, count int) []message
}

// patternClient is a client that subscribes by regular expression.
type patternClient interface {
	pattern(t *testing.T, group, pattern string, count int) []message
}

// testClient runs the life of an application: produce, consume a part in a
// group, commit, restart, resume exactly at the commit.
func testClient(t *testing.T, broker string, client testedClient) {
	const partitions, count, firstPart = 3, 300, 110
	createTopic(t, broker, "orders", partitions)
	createTopic(t, broker, "orders-eu", 1)
	createTopic(t, broker, "payments", 1)
	sent := keyedMessages(count)
	client.produce(t, "orders", sent)

	t.Run("assign", func(t *testing.T) {
		checkMessages(t, sent, client.assign(t, "orders", partitions, count))
	})
	t.Run("subscribe and resume", func(t *testing.T) {
		before := client.subscribe(t, "resume", "orders", firstPart)
		after := client.subscribe(t, "resume", "orders", count-firstPart)
		if len(before) != firstPart {
			t.Errorf("%d records before the restart, want %d", len(before), firstPart)
		}
		checkMessages(t, sent, slices.Concat(before, after))
		checkCommitted(t, broker, "resume", "orders", slices.Concat(before, after))
	})
	t.Run("pattern", func(t *testing.T) {
		byPattern, ok := client.(patternClient)
		if !ok {
			t.Skip("this client has no subscription by pattern")
		}
		more := keyedMessages(20)
		client.produce(t, "orders-eu", more)
		client.produce(t, "payments", more)
		received := byPattern.pattern(t, "pattern", "^orders.*", count+len(more))
		perTopic := map[string]int{}
		for _, m := range received {
			perTopic[m.topic]++
		}
		if want := map[string]int{"orders": count, "orders-eu": len(more)}; !maps.Equal(perTopic, want) {
			t.Errorf("records per topic: %v, want %v", perTopic, want)
		}
	})
}

func keyedMessages(count int) []message {
	var sent []message
	for i := range count {
		sent = append(sent, message{key: fmt.Sprintf("key-%d", i%37), value: fmt.Sprintf("value %d", i)})
	}
	return sent
}

// checkMessages compares what was received with what was sent: each once, the
// offsets of a partition without gaps, in the order sent.
func checkMessages(t *testing.T, sent, received []message) {
	t.Helper()
	position := map[string]int{}
	for i, m := range sent {
		position[m.key+"="+m.value] = i
	}
	nextOffset, last := map[int]int64{}, map[int]int{}
	for _, m := range received {
		if m.offset != nextOffset[m.partition] {
			t.Fatalf("partition %d: offset %d where %d was due", m.partition, m.offset, nextOffset[m.partition])
		}
		at, ok := position[m.key+"="+m.value]
		if !ok {
			t.Fatalf("partition %d, offset %d: %q=%q was never sent, or comes twice", m.partition, m.offset, m.key, m.value)
		}
		delete(position, m.key+"="+m.value)
		if before, any := last[m.partition]; any && at < before {
			t.Fatalf("partition %d: message %d comes after message %d", m.partition, at, before)
		}
		nextOffset[m.partition]++
		last[m.partition] = at
	}
	if len(position) > 0 {
		t.Errorf("%d of %d messages are missing", len(position), len(sent))
	}
}

// checkCommitted asks the gateway for the group's offsets: they must be those
// behind the last message received of each partition.
func checkCommitted(t *testing.T, broker, group, topic string, received []message) {
	t.Helper()
	want := map[int32]int64{}
	for _, m := range received {
		want[int32(m.partition)] = max(want[int32(m.partition)], m.offset+1)
	}
	committed, err := kadm.NewClient(newFranz(t, broker)).FetchOffsets(t.Context(), group)
	if err != nil {
		t.Fatal(err)
	}
	got := map[int32]int64{}
	for partition, offset := range committed[topic] {
		got[partition] = offset.At
	}
	if !maps.Equal(got, want) {
		t.Errorf("committed offsets: %v, want %v", got, want)
	}
}
