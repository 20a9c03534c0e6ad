package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// newFranz is a franz-go client that the test's end closes.
func newFranz(t testing.TB, broker string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(broker)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func createTopic(t testing.TB, broker, topic string, partitions int32) {
	t.Helper()
	client := newFranz(t, broker)
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), partitions, 1, nil, topic); err != nil {
		t.Fatalf("creating topic %s: %v", topic, err)
	}
}

// franz is franz-go with its default settings as a client under test.
type franz struct{ broker string }

func (f franz) produce(t *testing.T, topic string, sent []message) {
	client := newFranz(t, f.broker)
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	var records []*kgo.Record
	for _, m := range sent {
		records = append(records, &kgo.Record{Topic: topic, Key: []byte(m.key), Value: []byte(m.value)})
	}
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func (f franz) subscribe(t *testing.T, group, topic string, count int) []message {
	return f.group(t, count, kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic))
}

func (f franz) pattern(t *testing.T, group, pattern string, count int) []message {
	return f.group(t, count, kgo.ConsumerGroup(group), kgo.ConsumeRegex(), kgo.ConsumeTopics(pattern))
}

// group reads count records as a member, commits exactly those and leaves.
func (f franz) group(t *testing.T, count int, options ...kgo.Opt) []message {
	client := newFranz(t, f.broker, options...)
	received := f.poll(t, client, count)
	if err := client.CommitUncommittedOffsets(t.Context()); err != nil {
		t.Fatalf("committing: %v", err)
	}
	client.Close()
	return received
}

func (f franz) assign(t *testing.T, topic string, partitions, count int) []message {
	offsets := map[int32]kgo.Offset{}
	for p := range int32(partitions) {
		offsets[p] = kgo.NewOffset().AtStart()
	}
	client := newFranz(t, f.broker, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: offsets}))
	return f.poll(t, client, count)
}

func (f franz) poll(t *testing.T, client *kgo.Client, count int) []message {
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	var received []message
	for len(received) < count {
		fetches := client.PollRecords(ctx, count-len(received))
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d of %d records: %v", len(received), count, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			received = append(received, message{r.Topic, int(r.Partition), r.Offset, string(r.Key), string(r.Value)})
		})
	}
	return received
}

func TestFranzGo(t *testing.T) {
	t.Parallel()
	d := startDev(t)
	testClient(t, d.kafka, franz{d.kafka})
}

// TestFranzGoCommitWithoutMembership: a consumer in assign mode keeps its
// place in a group that has no members.
func TestFranzGoCommitWithoutMembership(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:2")
	admin := kadm.NewClient(newFranz(t, d.kafka))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	produceNumbers(t, d.kafka, "t", 2, 0, 20)
	offsets := make(kadm.Offsets)
	offsets.AddOffset("t", 0, 7, -1)
	if err := admin.CommitAllOffsets(ctx, "simple", offsets); err != nil {
		t.Fatal(err)
	}
	committed, err := admin.FetchOffsets(ctx, "simple")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := committed.Lookup("t", 0); !ok || got.At != 7 || got.LeaderEpoch != -1 {
		t.Errorf("committed: %+v, want offset 7 without an epoch", got.Offset)
	}
}
