package gateway

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
)

// memoryOffsets keeps committed offsets in memory for a real coordinator.
type memoryOffsets struct {
	mu     sync.Mutex
	stored map[string]map[groupcoord.TopicPartition]int64
}

func (m *memoryOffsets) Commit(_ context.Context, group string, commits []groupcoord.OffsetCommit) []groupcoord.CommittedOffset {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stored[group] == nil {
		m.stored[group] = map[groupcoord.TopicPartition]int64{}
	}
	var results []groupcoord.CommittedOffset
	for _, c := range commits {
		m.stored[group][c.TopicPartition] = c.Offset
		results = append(results, groupcoord.CommittedOffset{TopicPartition: c.TopicPartition, Offset: c.Offset})
	}
	return results
}

func (m *memoryOffsets) Fetch(_ context.Context, group string, partitions []groupcoord.TopicPartition) []groupcoord.CommittedOffset {
	m.mu.Lock()
	defer m.mu.Unlock()
	var results []groupcoord.CommittedOffset
	for _, p := range partitions {
		offset, ok := m.stored[group][p]
		if !ok {
			offset = -1
		}
		results = append(results, groupcoord.CommittedOffset{TopicPartition: p, Offset: offset})
	}
	return results
}

func (m *memoryOffsets) FetchAll(ctx context.Context, group string) ([]groupcoord.CommittedOffset, error) {
	m.mu.Lock()
	var partitions []groupcoord.TopicPartition
	for p := range m.stored[group] {
		partitions = append(partitions, p)
	}
	m.mu.Unlock()
	return m.Fetch(ctx, group, partitions), nil
}

func (m *memoryOffsets) Oldest(_ context.Context, partitions []groupcoord.TopicPartition) []groupcoord.CommittedOffset {
	return make([]groupcoord.CommittedOffset, len(partitions))
}

func (m *memoryOffsets) Groups(context.Context) ([]string, error) { return nil, nil }

func (m *memoryOffsets) Exists(context.Context, string) (bool, error) { return false, nil }

func (m *memoryOffsets) Delete(context.Context, string) (int16, string) { return 69, "" }

// TestFranzGo runs an unmodified client against the server: it negotiates,
// produces with idempotence, consumes in a group and resumes at its commit.
func TestFranzGo(t *testing.T) {
	b := newBench(t, func(c *Config) { c.AutoCreateTopics, c.DefaultPartitions = true, 2 })
	coordinator := groupcoord.New(groupcoord.Config{Logger: zerolog.Nop()},
		&memoryOffsets{stored: map[string]map[groupcoord.TopicPartition]int64{}}, &groupcoord.MemoryStore{}, &groupcoord.LocalOwners{})
	server, err := New(b.server.cfg, Parts{Catalog: b.catalog, Produce: b.log, Fetch: reader{b.log}, Groups: coordinator})
	if err != nil {
		t.Fatal(err)
	}
	b.server = server
	address := b.listen()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := coordinator.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()

	produceNumbers(t, ctx, address, 0, 100)
	consumeNumbers(t, ctx, address, 0, 100)
	produceNumbers(t, ctx, address, 100, 150)
	consumeNumbers(t, ctx, address, 100, 150)
	if lines := b.lines.all(); len(lines) != 0 {
		t.Errorf("log %q, want none", lines)
	}
}

func produceNumbers(t *testing.T, ctx context.Context, address string, from, to int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic("numbers"), kgo.AllowAutoTopicCreation())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var records []*kgo.Record
	for i := from; i < to; i++ {
		records = append(records, kgo.KeyStringRecord(fmt.Sprint(i%7), fmt.Sprint(i)))
	}
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// consumeNumbers expects exactly the values from..to-1, commits and leaves.
func consumeNumbers(t *testing.T, ctx context.Context, address string, from, to int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumerGroup("counters"), kgo.ConsumeTopics("numbers"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	seen := map[string]bool{}
	for len(seen) < to-from {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d records: %v", len(seen), err)
		}
		for _, r := range fetches.Records() {
			if seen[string(r.Value)] {
				t.Errorf("%s came twice", r.Value)
			}
			seen[string(r.Value)] = true
		}
	}
	for i := from; i < to; i++ {
		if !seen[fmt.Sprint(i)] {
			t.Errorf("%d is missing", i)
		}
	}
	if err := client.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
}
