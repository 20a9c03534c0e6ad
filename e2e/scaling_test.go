package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// metadataAge is how often the consumers of these tests ask for metadata. Their
// own defaults are minutes.
const metadataAge = 2 * time.Second

// scaledRecords are stored past the gateway: the first two before consumers
// start, the next two in the partitions that a scale-up adds, the last in one
// that is retired at once.
var scaledRecords = []struct {
	partition int
	value     string
}{{0, "first of 0"}, {1, "first of 1"}, {2, "first of 2"}, {3, "first of 3"}, {3, "last of 3"}, {1, "last of 1"}}

// seen are the values that a consumer has printed or counted.
type seen interface {
	// lacks names those of the values that were not seen, or seen twice; "" for
	// none.
	lacks(values []string) string
}

// TestScalingUnderRunningConsumers: consumers in groups, of three clients, read
// what a scale-up adds from its beginning, and what a scale-down retires to its
// end, without a restart.
func TestScalingUnderRunningConsumers(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T, *serving) seen{
		"franz-go":               startScaledFranz,
		"Java":                   startScaledJava,
		"confluent-kafka-python": startScaledConfluent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServe(t)
			client := newDISClient(t, &dev{dis: s.endpoint})
			createStreams(t, client, "scaled", 1, 2)
			s.waitReady(t)
			put := func(records ...int) (values []string) {
				for _, i := range records {
					r := scaledRecords[i]
					putOne(t, client, "scaled0", r.partition, r.value)
				}
				for _, r := range scaledRecords[:records[len(records)-1]+1] {
					values = append(values, r.value)
				}
				return values
			}

			expected := put(0, 1)
			consumer := start(t, s)
			waitSeen(t, consumer, expected)
			scale(t, client, 4)
			expected = put(2, 3)
			waitSeen(t, consumer, expected)
			expected = put(4, 5)
			scale(t, client, 1)
			waitSeen(t, consumer, expected)
			checkRetiredProduce(t, s)
			waitSeen(t, consumer, append(expected, "for a retired partition"))
		})
	}
}

func waitSeen(t *testing.T, consumer seen, values []string) {
	t.Helper()
	eventually(t, clientTimeout, fmt.Sprintf("%q", values), func() string { return consumer.lacks(values) })
}

// scale changes the number of partitions and waits until DIS has done it.
func scale(t *testing.T, client *dis.Client, partitions int) {
	t.Helper()
	if _, err := client.ChangePartitionCount(t.Context(), "scaled0", partitions); err != nil {
		t.Fatal(err)
	}
	eventually(t, clientTimeout, "the scaling", func() string {
		described, err := client.DescribeStream(t.Context(), "scaled0")
		if err != nil {
			return err.Error()
		}
		active := 0
		for _, p := range described.Partitions {
			if p.Status == wire.PartitionActive {
				active++
			}
		}
		if active != partitions {
			return fmt.Sprintf("%d partitions are active", active)
		}
		return ""
	})
}

// checkRetiredProduce: a record for a retired partition is stored in an active
// one, and the producer is not told an offset, since its would be of another
// partition.
func checkRetiredProduce(t *testing.T, s *serving) {
	t.Helper()
	producer := newFranz(t, s.kafka, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	record, err := producer.ProduceSync(ctx, &kgo.Record{Topic: "scaled0", Partition: 3, Value: []byte("for a retired partition")}).First()
	if err != nil {
		t.Fatal(err)
	}
	if record.Offset != -1 {
		t.Errorf("offset %d, want -1", record.Offset)
	}
}

// tally counts values.
type tally struct {
	mu     sync.Mutex
	values map[string]int
}

func (c *tally) add(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[value]++
}

func (c *tally) lacks(values []string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var wrong []string
	for _, value := range values {
		if n := c.values[value]; n != 1 {
			wrong = append(wrong, fmt.Sprintf("%q was seen %d times", value, n))
		}
	}
	return strings.Join(wrong, ", ")
}

func startScaledFranz(t *testing.T, s *serving) seen {
	consumer := newFranz(t, s.kafka, kgo.ConsumerGroup("franz"), kgo.ConsumeTopics("scaled0"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.MetadataMaxAge(metadataAge), kgo.MetadataMinAge(metadataAge/4))
	counted := &tally{values: map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			fetches := consumer.PollFetches(ctx)
			if fetches.Err0() != nil {
				return // the end of the test
			}
			for _, failure := range fetches.Errors() {
				t.Errorf("polling: %v", failure.Err)
			}
			fetches.EachRecord(func(r *kgo.Record) { counted.add(string(r.Value)) })
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return counted
}

// printed are the values in the output of a program.
type printed struct{ *process }

func (p printed) lacks(values []string) string {
	counted := tally{values: map[string]int{}}
	output := p.stdout.String()
	for _, value := range values {
		counted.values[value] = strings.Count(output, value)
	}
	return counted.lacks(values)
}

func startScaledJava(t *testing.T, s *serving) seen {
	java := newJavaKafka(t, s.kafka)
	return printed{java.join(t, "subscribe", "java", "scaled0", "--count", "1000", "--auto-commit", "true",
		"--metadata-age", fmt.Sprint(metadataAge.Milliseconds())).process}
}

func startScaledConfluent(t *testing.T, s *serving) seen {
	python := requireProgram(t, python3, "-c", "import confluent_kafka")
	return printed{start(t, nil, python, confluentProgram, s.kafka, "follow", "scaled0", "confluent",
		fmt.Sprint(metadataAge.Milliseconds()))}
}
