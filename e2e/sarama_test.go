package e2e

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/IBM/sarama"
)

// saramaClient is IBM/sarama with its default settings as a client under test.
type saramaClient struct{ broker string }

// settings are the defaults, but for what the API demands: a SyncProducer wants
// successes returned, and a new group starts at the end unless told otherwise.
func (s saramaClient) settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Producer.Return.Successes = true
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	return config
}

func (s saramaClient) produce(t *testing.T, topic string, sent []message) {
	producer, err := sarama.NewSyncProducer([]string{s.broker}, s.settings())
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, producer)
	var batch []*sarama.ProducerMessage
	for _, m := range sent {
		batch = append(batch, &sarama.ProducerMessage{Topic: topic,
			Key: sarama.StringEncoder(m.key), Value: sarama.StringEncoder(m.value)})
	}
	if err := producer.SendMessages(batch); err != nil {
		t.Fatal(err)
	}
}

func (s saramaClient) assign(t *testing.T, topic string, partitions, count int) []message {
	consumer, err := sarama.NewConsumer([]string{s.broker}, s.settings())
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, consumer)
	all := make(chan *sarama.ConsumerMessage)
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	for p := range int32(partitions) {
		partition, err := consumer.ConsumePartition(topic, p, sarama.OffsetOldest)
		if err != nil {
			t.Fatal(err)
		}
		defer closeClient(t, partition)
		go forward(ctx, partition.Messages(), all)
	}
	var received []message
	for len(received) < count {
		select {
		case m := <-all:
			received = append(received, fromSarama(m))
		case <-ctx.Done():
			t.Fatalf("only %d of %d messages arrived", len(received), count)
		}
	}
	return received
}

func forward(ctx context.Context, from <-chan *sarama.ConsumerMessage, to chan<- *sarama.ConsumerMessage) {
	for {
		select {
		case m, ok := <-from:
			if !ok {
				return
			}
			select {
			case to <- m:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func fromSarama(m *sarama.ConsumerMessage) message {
	return message{m.Topic, int(m.Partition), m.Offset, string(m.Key), string(m.Value)}
}

func (s saramaClient) subscribe(t *testing.T, group, topic string, count int) []message {
	return s.group(t, group, []string{topic}, count)
}

// pattern lists the topics and matches them in the client, as applications with
// sarama do: it has no subscription by pattern of its own.
func (s saramaClient) pattern(t *testing.T, group, pattern string, count int) []message {
	client, err := sarama.NewClient([]string{s.broker}, s.settings())
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, client)
	topics, err := client.Topics()
	if err != nil {
		t.Fatal(err)
	}
	matching := regexp.MustCompile(pattern)
	topics = slices.DeleteFunc(topics, func(topic string) bool { return !matching.MatchString(topic) })
	return s.group(t, group, topics, count)
}

func (s saramaClient) group(t *testing.T, group string, topics []string, count int) []message {
	consumer, err := sarama.NewConsumerGroup([]string{s.broker}, group, s.settings())
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, consumer)
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	reader := &saramaReader{count: count, enough: make(chan struct{})}
	go func() {
		select {
		case <-reader.enough:
			cancel()
		case <-ctx.Done():
		}
	}()
	for ctx.Err() == nil {
		if err := consumer.Consume(ctx, topics, reader); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d of %d messages: %v", len(reader.received), count, err)
		}
	}
	if len(reader.received) < count {
		t.Fatalf("only %d of %d messages arrived", len(reader.received), count)
	}
	return reader.received
}

// saramaReader reads count messages over all partitions and marks exactly
// those; the session commits the marks when it ends.
type saramaReader struct {
	count    int
	mu       sync.Mutex
	received []message
	enough   chan struct{}
}

func (r *saramaReader) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (r *saramaReader) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (r *saramaReader) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case m, ok := <-claim.Messages():
			if !ok || !r.take(session, m) {
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func (r *saramaReader) take(session sarama.ConsumerGroupSession, m *sarama.ConsumerMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.received) == r.count {
		return false
	}
	r.received = append(r.received, fromSarama(m))
	session.MarkMessage(m, "")
	if len(r.received) == r.count {
		close(r.enough)
		return false
	}
	return true
}

func closeClient(t *testing.T, client interface{ Close() error }) {
	if err := client.Close(); err != nil {
		t.Errorf("closing the client: %v", err)
	}
}

func TestSarama(t *testing.T) {
	t.Parallel()
	d := startDev(t)
	testClient(t, d.kafka, saramaClient{d.kafka})
}
