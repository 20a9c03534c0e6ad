package e2e

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/segmentio/kafka-go"
)

// kafkaGo is segmentio/kafka-go with its default settings as a client under
// test. Those defaults write with acks=0, which has no answer. It has no
// subscription by pattern.
type kafkaGo struct{ broker string }

func (k kafkaGo) produce(t *testing.T, topic string, sent []message) {
	writer := &kafka.Writer{Addr: kafka.TCP(k.broker), Topic: topic}
	defer closeClient(t, writer)
	var batch []kafka.Message
	for _, m := range sent {
		batch = append(batch, kafka.Message{Key: []byte(m.key), Value: []byte(m.value)})
	}
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	if err := writer.WriteMessages(ctx, batch...); err != nil {
		t.Fatal(err)
	}
}

// assign reads every partition with a Reader of its own.
func (k kafkaGo) assign(t *testing.T, topic string, partitions, count int) []message {
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	var (
		mu       sync.Mutex
		received []message
		readers  sync.WaitGroup
	)
	for p := range partitions {
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{k.broker}, Topic: topic, Partition: p})
		readers.Go(func() {
			defer closeClient(t, reader) // takes as long as its last fetch may wait, 10 s
			for {
				m, err := reader.ReadMessage(ctx)
				if err != nil {
					return
				}
				mu.Lock()
				received = append(received, fromKafkaGo(m))
				if len(received) == count {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	readers.Wait()
	if len(received) < count {
		t.Fatalf("only %d of %d messages arrived", len(received), count)
	}
	return slices.SortedStableFunc(slices.Values(received), func(a, b message) int { return cmp.Compare(a.partition, b.partition) })
}

func fromKafkaGo(m kafka.Message) message {
	return message{m.Topic, m.Partition, m.Offset, string(m.Key), string(m.Value)}
}

func (k kafkaGo) subscribe(t *testing.T, group, topic string, count int) []message {
	return k.group(t, kafka.ReaderConfig{Brokers: []string{k.broker}, GroupID: group, Topic: topic}, count)
}

func (k kafkaGo) group(t *testing.T, config kafka.ReaderConfig, count int) []message {
	reader := kafka.NewReader(config)
	defer closeClient(t, reader)
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	var received []message
	for len(received) < count {
		m, err := reader.FetchMessage(ctx)
		if err != nil {
			t.Fatalf("after %d of %d messages: %v", len(received), count, err)
		}
		received = append(received, fromKafkaGo(m))
		if len(received) == count {
			commitAll(t, ctx, reader, received)
		}
	}
	return received
}

// commitAll commits the last message of each partition.
func commitAll(t *testing.T, ctx context.Context, reader *kafka.Reader, received []message) {
	t.Helper()
	var last []kafka.Message
	for _, m := range received {
		last = append(last, kafka.Message{Topic: m.topic, Partition: m.partition, Offset: m.offset})
	}
	if err := reader.CommitMessages(ctx, last...); err != nil {
		t.Fatalf("committing: %v", err)
	}
}

func TestKafkaGo(t *testing.T) {
	t.Parallel()
	d := startDev(t)
	testClient(t, d.kafka, kafkaGo{d.kafka})
}

// TestKafkaGoSeveralTopics: a group that reads two topics.
func TestKafkaGoSeveralTopics(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "a:1", "--topic", "b:1")
	client := kafkaGo{d.kafka}
	sent := keyedMessages(30)
	client.produce(t, "a", sent)
	client.produce(t, "b", sent)
	config := kafka.ReaderConfig{Brokers: []string{d.kafka}, GroupID: "both", GroupTopics: []string{"a", "b"}}
	perTopic := map[string][]message{}
	for _, m := range client.group(t, config, 2*len(sent)) {
		perTopic[m.topic] = append(perTopic[m.topic], m)
	}
	checkMessages(t, sent, perTopic["a"])
	checkMessages(t, sent, perTopic["b"])
}
