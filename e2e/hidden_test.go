package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// TestHiddenTopics: a hidden topic does not exist for clients, whatever they do, and
// the refusal to create one names the setting.
func TestHiddenTopics(t *testing.T) {
	t.Parallel()
	a := startAliased(t, "--auto-create-topics")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := newFranz(t, a.kafka, kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(1), kgo.RecordDeliveryTimeout(5*time.Second))
	admin := kadm.NewClient(client)
	for _, hidden := range []string{"secret-1", "secret-new", "events", "orders_v1"} {
		topics, err := admin.ListTopics(ctx, hidden)
		if err != nil || topics[hidden].Err != kerr.UnknownTopicOrPartition {
			t.Errorf("%s: metadata %+v, %v", hidden, topics[hidden], err)
		}
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: hidden, Value: []byte("x")}).FirstErr(); !errors.Is(err, kerr.UnknownTopicOrPartition) {
			t.Errorf("%s: produce: %v", hidden, err)
		}
		ends, err := admin.ListEndOffsets(ctx, hidden)
		if err != nil || !errors.Is(ends.Error(), kerr.UnknownTopicOrPartition) {
			t.Errorf("%s: list offsets %v, %v", hidden, ends, err)
		}
		offsets := make(kadm.Offsets)
		offsets.AddOffset(hidden, 0, 1, -1)
		if committed, err := admin.CommitOffsets(ctx, "g", offsets); err != nil || !errors.Is(committed.Error(), kerr.UnknownTopicOrPartition) {
			t.Errorf("%s: commit %v, %v", hidden, committed, err)
		}
		configs, err := admin.DescribeTopicConfigs(ctx, hidden)
		if err != nil || configs[0].Err != kerr.UnknownTopicOrPartition {
			t.Errorf("%s: configuration %+v, %v", hidden, configs, err)
		}
		deleted, err := admin.DeleteTopics(ctx, hidden)
		if err != nil || deleted[hidden].Err != kerr.UnknownTopicOrPartition {
			t.Errorf("%s: delete %+v, %v", hidden, deleted, err)
		}
	}
	a.checkHiddenByID(t)
	for topic, want := range map[string]string{
		"secret-new": "--hide-topics has secret-*",
		"orders_v1":  "by --alias its stream is the topic orders.v1",
	} {
		created, err := admin.CreateTopics(ctx, 1, 1, nil, topic)
		if err != nil || created[topic].Err != kerr.PolicyViolation || !strings.Contains(created[topic].ErrMessage, want) {
			t.Errorf("create %s: %+v, %v", topic, created[topic], err)
		}
	}
	if created, err := admin.CreateTopics(ctx, 1, 1, nil, "no.alias"); err != nil || created["no.alias"].Err != kerr.InvalidTopicException ||
		!strings.Contains(created["no.alias"].ErrMessage, "--alias no.alias,stream=NAME") {
		t.Errorf("create a topic that needs an alias: %+v, %v", created["no.alias"], err)
	}
	streams, err := a.ours.ListStreams(ctx)
	if err != nil || len(streams) != 2 {
		t.Errorf("streams %+v, %v; want those of the start", streams, err)
	}
}

// checkHiddenByID: not even one who knows the id of a hidden topic finds it.
func (a aliased) checkHiddenByID(t *testing.T) {
	t.Helper()
	described, err := a.ours.DescribeStream(t.Context(), "secret-1")
	if err != nil {
		t.Fatal(err)
	}
	id := topics.TopicID("local", described.StreamID)
	if answer := fetchByID(t, a.kafka, id); answer.ErrorCode != kerr.UnknownTopicID.Code {
		t.Errorf("fetch by the id of a hidden topic: %+v", answer)
	}
	byID := kmsg.NewPtrMetadataRequest()
	byID.Version = 12
	topic := kmsg.NewMetadataRequestTopic()
	topic.TopicID = id
	byID.Topics = append(byID.Topics, topic)
	if answer := ask(t, a.kafka, byID).(*kmsg.MetadataResponse); answer.Topics[0].ErrorCode != kerr.UnknownTopicID.Code {
		t.Errorf("metadata by the id of a hidden topic: %+v", answer.Topics[0])
	}
}

// TestManyClientsNameANewTopic: it is created once, under its alias as well.
func TestManyClientsNameANewTopic(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--auto-create-topics", "--default-partitions", "3", "--alias", "new.topic,stream=new_topic")
	s.waitReady(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var clients sync.WaitGroup
	for range 20 {
		client := newFranz(t, s.kafka, kgo.AllowAutoTopicCreation())
		clients.Go(func() {
			for _, topic := range []string{"new.topic", "plain"} {
				if err := client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("x")}).FirstErr(); err != nil {
					t.Errorf("%s: %v", topic, err)
				}
			}
		})
	}
	clients.Wait()
	for topic, stream := range map[string]string{"new.topic": "new_topic", "plain": "plain"} {
		described, err := disClientAt(t, s.endpoint).DescribeStream(ctx, stream)
		if err != nil || len(described.Partitions) != 3 {
			t.Errorf("the stream of %s: %+v, %v", topic, described, err)
		}
	}
	_, metrics := s.ask(t, "/metrics")
	creations := slices.DeleteFunc(strings.Split(metrics, "\n"), func(line string) bool {
		return !strings.HasPrefix(line, "kdg_dis_request_seconds_count{") || !strings.Contains(line, `"CreateStream"`)
	})
	if len(creations) != 1 || !strings.HasSuffix(creations[0], " 2") {
		t.Errorf("creations of two streams: %q", creations)
	}
}
