package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// A topic is deleted and made again while clients use it: by a Kafka client, or
// by someone in DIS, of which the gateway is told nothing.
var recreations = map[string]func(t *testing.T, d *dev, topic string){
	"by a Kafka client": recreateInKafka,
	"in DIS":            recreateInDIS,
}

func recreateInKafka(t *testing.T, d *dev, topic string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	admin := kadm.NewClient(newFranz(t, d.kafka))
	if _, err := admin.DeleteTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CreateTopic(ctx, 1, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}

func recreateInDIS(t *testing.T, d *dev, topic string) {
	t.Helper()
	client := newDISClient(t, d)
	if err := client.DeleteStream(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "the end of the stream", func() string {
		if _, err := client.DescribeStream(t.Context(), topic); !dis.HasCode(err, wire.CodeStreamNotFound) {
			return "it is still there"
		}
		return ""
	})
	if err := client.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: topic, PartitionCount: 1}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "the new stream", func() string {
		described, err := client.DescribeStream(t.Context(), topic)
		if err != nil || described.Status != wire.StreamRunning {
			return "it does not run yet"
		}
		return ""
	})
}

// testRecreations runs a test for each way, with 20 records in the first stream
// and nobody creating topics in passing.
func testRecreations(t *testing.T, test func(t *testing.T, d *dev, recreate func())) {
	for name, recreate := range recreations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDev(t, "--no-auto-create-topics", "--topic", "t:1")
			produceNumbers(t, d.kafka, "t", 1, 0, 20)
			test(t, d, func() { recreate(t, d, "t") })
		})
	}
}

// TestFranzGoWhenATopicIsMadeAgain: franz-go never goes over to the new topic by
// itself. It says UNKNOWN_TOPIC_ID until the application takes the topic up anew.
func TestFranzGoWhenATopicIsMadeAgain(t *testing.T) {
	t.Parallel()
	testRecreations(t, func(t *testing.T, d *dev, recreate func()) {
		client := newFranz(t, d.kafka, kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		franz{d.kafka}.poll(t, client, 20)
		recreate()
		produceNumbers(t, d.kafka, "t", 1, 100, 105)

		ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
		defer cancel()
		for told := false; !told; {
			fetches := client.PollFetches(ctx)
			if n := fetches.NumRecords(); n > 0 {
				t.Fatalf("%d records of the new topic under the id of the old one", n)
			}
			for _, failure := range fetches.Errors() {
				if told = errors.Is(failure.Err, kerr.UnknownTopicID); !told {
					t.Fatalf("polling: %v, want UNKNOWN_TOPIC_ID", failure.Err)
				}
			}
		}
		client.PurgeTopicsFromConsuming("t")
		client.AddConsumeTopics("t")
		for i, m := range (franz{d.kafka}).poll(t, client, 5) {
			if want := numbers(100, 105)[i]; m.value != want || m.offset != int64(i) {
				t.Errorf("offset %d: %q, want %q at %d", m.offset, m.value, want, i)
			}
		}
	})
}

// TestConfluentKafkaPythonWhenATopicIsMadeAgain: librdkafka of before topic ids
// finds its offset beyond the end of the new topic and starts over.
func TestConfluentKafkaPythonWhenATopicIsMadeAgain(t *testing.T) {
	t.Parallel()
	python := requireProgram(t, python3, "-c", "import confluent_kafka")
	testRecreations(t, func(t *testing.T, d *dev, recreate func()) {
		follower := start(t, nil, python, confluentProgram, d.kafka, "follow", "t", "followers")
		waitForValues(t, follower, numbers(0, 20))
		recreate()
		produceNumbers(t, d.kafka, "t", 1, 100, 105)
		waitForValues(t, follower, append(numbers(0, 20), numbers(100, 105)...))
	})
}

// waitForValues waits until a follower has printed messages with these values,
// in this order, and no others.
func waitForValues(t *testing.T, follower *process, want []string) {
	t.Helper()
	waitFor(t, follower.stdout, "line with the value "+want[len(want)-1], clientTimeout, func(all []string) (bool, bool) {
		if len(all) < len(want) {
			return false, false
		}
		for i, line := range all {
			if i >= len(want) || !strings.Contains(line, `"value": "`+want[i]+`"`) {
				t.Fatalf("line %d is %s, want %d lines: %v", i, line, len(want), want)
			}
		}
		return true, true
	})
}

// TestIdempotentProducerWhenATopicIsMadeAgain: the producer counts on with its
// sequence, of which the new stream has seen nothing.
func TestIdempotentProducerWhenATopicIsMadeAgain(t *testing.T) {
	t.Parallel()
	testRecreations(t, func(t *testing.T, d *dev, recreate func()) {
		config := saramaClient{d.kafka}.settings()
		config.Producer.Idempotent, config.Net.MaxOpenRequests = true, 1
		config.Producer.RequiredAcks = sarama.WaitForAll
		producer, err := sarama.NewSyncProducer([]string{d.kafka}, config)
		if err != nil {
			t.Fatal(err)
		}
		defer closeClient(t, producer)
		send := func(value string, wanted int64) {
			t.Helper()
			_, offset, err := producer.SendMessage(&sarama.ProducerMessage{Topic: "t", Value: sarama.StringEncoder(value)})
			if err != nil || offset != wanted {
				t.Errorf("%s: offset %d, %v, want offset %d", value, offset, err, wanted)
			}
		}
		send("first", 20)
		send("second", 21)
		before := topicIDs(t, d.kafka)["t"]
		recreate()
		eventually(t, 30*time.Second, "the gateway to know of the new stream", func() string {
			if topicIDs(t, d.kafka)["t"] == before {
				return "the id is the old one"
			}
			return ""
		})
		send("third", 0)
		send("fourth", 1)
	})
}
