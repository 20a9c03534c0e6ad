package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
)

// TestSaramaOfOldProtocols: sarama speaks the protocol of the broker version it
// is told, without asking: message sets of magic 0 and 1, from and to. Each
// version writes a topic in each of its codecs, each reads them all, and a
// client of today reads what it reads.
func TestSaramaOfOldProtocols(t *testing.T) {
	t.Parallel()
	versions := []sarama.KafkaVersion{sarama.V0_8_2_0, sarama.V0_9_0_0, sarama.V0_10_0_0, sarama.V0_10_2_0, sarama.V0_11_0_0, sarama.V2_1_0_0}
	for _, compression := range []string{"none", "gzip", "lz4"} { // kcat reads the others below
		t.Run("fetched in "+compression, func(t *testing.T) {
			t.Parallel()
			d := startDev(t, "--fetch-compression", compression)
			var topics []string
			times := map[string]bool{} // topics whose producer sends times
			for _, version := range versions {
				for codec := sarama.CompressionNone; codec <= sarama.CompressionZSTD; codec++ {
					config := oldSarama(version, codec)
					if config.Validate() != nil { // the version has no such codec
						continue
					}
					topic := strings.NewReplacer(".", "_").Replace(fmt.Sprintf("v%s-%s", version, codec))
					createTopic(t, d.kafka, topic, 1)
					produceOld(t, d.kafka, topic, config)
					topics = append(topics, topic)
					times[topic] = version.IsAtLeast(sarama.V0_10_0_0)
				}
			}
			for _, version := range versions {
				consumeOld(t, d.kafka, topics, oldSarama(version, sarama.CompressionNone), times)
			}
		})
	}
}

func oldSarama(version sarama.KafkaVersion, codec sarama.CompressionCodec) *sarama.Config {
	config := saramaClient{}.settings()
	config.Version = version
	config.Producer.Compression = codec
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	return config
}

const oldCount = 300

// oldTime is the time of record i.
func oldTime(i int) time.Time { return time.UnixMilli(1_600_000_000_000 + int64(i)) }

// oldValue has some of several kinds: long ones, empty ones, null ones.
func oldValue(i int) sarama.Encoder {
	switch i % 10 {
	case 3:
		return nil
	case 4:
		return sarama.StringEncoder("")
	case 5:
		return sarama.StringEncoder(strings.Repeat(fmt.Sprintf("long value %d, ", i), 500))
	}
	return sarama.StringEncoder(fmt.Sprintf("value %d", i))
}

func produceOld(t *testing.T, broker, topic string, config *sarama.Config) {
	t.Helper()
	producer, err := sarama.NewSyncProducer([]string{broker}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, producer)
	var batch []*sarama.ProducerMessage
	for i := range oldCount {
		m := &sarama.ProducerMessage{Topic: topic, Value: oldValue(i), Timestamp: oldTime(i)}
		if i%7 != 0 {
			m.Key = sarama.StringEncoder(fmt.Sprintf("key-%d", i))
		}
		batch = append(batch, m)
	}
	if err := producer.SendMessages(batch); err != nil {
		t.Fatalf("producing to %s: %v", topic, err)
	}
	for i, m := range batch {
		if m.Offset != int64(i) {
			t.Fatalf("producing to %s: message %d was told offset %d", topic, i, m.Offset)
		}
	}
}

// consumeOld reads all topics at the same time.
func consumeOld(t *testing.T, broker string, topics []string, config *sarama.Config, times map[string]bool) {
	t.Helper()
	consumer, err := sarama.NewConsumer([]string{broker}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, consumer)
	all := make(chan *sarama.ConsumerMessage)
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	for _, topic := range topics {
		partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
		if err != nil {
			t.Fatal(err)
		}
		defer partition.AsyncClose()
		go forward(ctx, partition.Messages(), all)
	}
	next := map[string]int{}
	for range len(topics) * oldCount {
		select {
		case m := <-all:
			if problem := checkOld(m, next[m.Topic], times[m.Topic] && config.Version.IsAtLeast(sarama.V0_10_0_0)); problem != "" {
				t.Fatalf("%s read by %s: %s", m.Topic, config.Version, problem)
			}
			next[m.Topic]++
		case <-ctx.Done():
			t.Fatalf("read by %s: of %d messages each arrived only %v", config.Version, oldCount, next)
		}
	}
}

func checkOld(m *sarama.ConsumerMessage, i int, times bool) string {
	value, key := "", ""
	if encoder := oldValue(i); encoder != nil {
		encoded, _ := encoder.Encode() // a string always can
		value = string(encoded)
	}
	if i%7 != 0 {
		key = fmt.Sprintf("key-%d", i)
	}
	switch {
	case m.Offset != int64(i):
		return fmt.Sprintf("offset %d where %d was due", m.Offset, i)
	case string(m.Key) != key || (m.Key == nil) != (key == ""):
		return fmt.Sprintf("message %d has key %q, want %q", i, m.Key, key)
	case string(m.Value) != value || (m.Value == nil) != (oldValue(i) == nil):
		return fmt.Sprintf("message %d has value %.40q, want %.40q", i, m.Value, value)
	case times && !m.Timestamp.Equal(oldTime(i)):
		return fmt.Sprintf("message %d has time %v, want %v", i, m.Timestamp, oldTime(i))
	}
	return ""
}

// TestKcatOfOldProtocols: librdkafka against a broker that it takes for an old
// one, so that it writes magic 0, and lz4 with the checksum of those times. The
// client checks the checksums of what it reads.
func TestKcatOfOldProtocols(t *testing.T) {
	t.Parallel()
	requireProgram(t, "kcat", "-V")
	for _, compression := range []string{"snappy", "zstd"} {
		t.Run("fetched in "+compression, func(t *testing.T) {
			t.Parallel()
			k := newKcat(t, startDev(t, "--fetch-compression", compression))
			for broker, codecs := range map[string][]string{"0.8.2": {"gzip"}, "0.9.0": {"none", "gzip", "snappy", "lz4"}} {
				old := []string{"-X", "api.version.request=false", "-X", "broker.version.fallback=" + broker}
				for _, codec := range codecs {
					topic := "v" + strings.ReplaceAll(broker, ".", "_") + "-" + codec
					createTopic(t, k.dev.kafka, topic, 2)
					sent := numberedLines(2000)
					k.produce(topic, strings.Join(sent, "\n")+"\n", append(old, "-z", codec)...)
					read := append(old, "-X", "check.crcs=true")
					compareKeyedLines(t, sent, k.consume(topic, `%p %o %k:%s`, read...), 2)
				}
			}
		})
	}
}
