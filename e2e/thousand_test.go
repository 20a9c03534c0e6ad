package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// TestAThousandTopics: a client lists a thousand topics, one subscribes to some of
// them by pattern, and DIS is asked about each stream once.
func TestAThousandTopics(t *testing.T) {
	t.Parallel()
	const count = 1000
	s := startServe(t, "--initial-rebalance-delay", "0s")
	s.waitReady(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	client := disClientAt(t, s.endpoint)
	var creations errgroup.Group
	creations.SetLimit(16)
	for i := range count {
		creations.Go(func() error {
			return client.CreateStream(ctx, wire.CreateStreamRequest{StreamName: fmt.Sprintf("topic-%03d", i), PartitionCount: 2})
		})
	}
	if err := creations.Wait(); err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	ids := topicIDs(t, s.kafka)
	t.Logf("the first list of %d topics took %v", len(ids), time.Since(began))
	unique := map[kadm.TopicID]bool{}
	for _, id := range ids {
		unique[id] = true
	}
	if len(ids) != count || len(unique) != count || unique[kadm.TopicID{}] {
		t.Fatalf("%d topics with %d ids", len(ids), len(unique))
	}
	produceNumbers(t, s.kafka, "topic-042", 2, 0, 10)
	produceNumbers(t, s.kafka, "topic-043", 2, 10, 20)
	got := franz{s.kafka}.group(t, 20, kgo.ConsumerGroup("g"), kgo.ConsumeRegex(), kgo.ConsumeTopics(`^topic-04\d$`),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if len(got) != 20 {
		t.Errorf("%d records", len(got))
	}
	for range 5 {
		if again := topicIDs(t, s.kafka); len(again) != count {
			t.Fatalf("%d topics", len(again))
		}
	}
	_, metrics := s.ask(t, "/metrics")
	var described int
	for line := range strings.Lines(metrics) {
		if _, err := fmt.Sscanf(line, `kdg_dis_request_seconds_count{code="200",operation="DescribeStream"} %d`, &described); err == nil {
			break
		}
	}
	// Fetching and the group's offsets look at the streams that they read as well.
	if described < count || described > count+200 {
		t.Errorf("%d describes of %d streams", described, count)
	}
}
