package gateway

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

func createTopic(name string, change ...func(*kmsg.CreateTopicsRequestTopic)) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 6, 30_000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
	for _, f := range change {
		f(&topic)
	}
	req.Topics = append(req.Topics, topic)
	return req
}

func partitions(n int32) func(*kmsg.CreateTopicsRequestTopic) {
	return func(t *kmsg.CreateTopicsRequestTopic) { t.NumPartitions = n }
}

func replicas(n int16) func(*kmsg.CreateTopicsRequestTopic) {
	return func(t *kmsg.CreateTopicsRequestTopic) { t.ReplicationFactor = n }
}

func assigned(ids ...int32) func(*kmsg.CreateTopicsRequestTopic) {
	return func(t *kmsg.CreateTopicsRequestTopic) {
		for _, id := range ids {
			a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
			a.Partition, a.Replicas = id, []int32{nodeID}
			t.ReplicaAssignment = append(t.ReplicaAssignment, a)
		}
	}
}

func with(name, value string) func(*kmsg.CreateTopicsRequestTopic) {
	return func(t *kmsg.CreateTopicsRequestTopic) {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = name, &value
		t.Configs = append(t.Configs, c)
	}
}

func TestCreateTopics(t *testing.T) {
	for _, tc := range []struct {
		name    string
		compact bool
		req     *kmsg.CreateTopicsRequest
		want    topics.CreateRequest
	}{
		{"defaults", false, createTopic("a"), topics.CreateRequest{Partitions: 4}},
		{"partitions, replicas ignored", false, createTopic("a", partitions(7)), topics.CreateRequest{Partitions: 7}},
		{"manual assignment", false, createTopic("a", assigned(2, 0, 1)), topics.CreateRequest{Partitions: 3}},
		{"retention of a week", false, createTopic("a", with("retention.ms", "604800000")), topics.CreateRequest{Partitions: 4, RetentionHours: 168}},
		{"retention rounded up", false, createTopic("a", with("retention.ms", "86400001")), topics.CreateRequest{Partitions: 4, RetentionHours: 48}},
		{"stream and data type", false, createTopic("a", with("dis.stream.type", "advanced"), with("dis.data.type", "JSON")),
			topics.CreateRequest{Partitions: 4, StreamType: "ADVANCED", DataType: "JSON"}},
		{"scaled by DIS", false, createTopic("a", with("dis.auto.scale", "2-10")), topics.CreateRequest{Partitions: 4, AutoScale: translate.AutoScale{Min: 2, Max: 10}}},
		{"not scaled by DIS", false, createTopic("a", with("dis.auto.scale", "off")), topics.CreateRequest{Partitions: 4}},
		{"the default of a key", false, createTopic("a", func(t *kmsg.CreateTopicsRequestTopic) {
			t.Configs = append(t.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: "retention.ms"})
		}), topics.CreateRequest{Partitions: 4}},
		{"harmless keys", false, createTopic("a", with("cleanup.policy", "delete"), with("segment.bytes", "1")), topics.CreateRequest{Partitions: 4}},
		{"timestamps", false, createTopic("a", with("message.timestamp.type", "LogAppendTime")),
			topics.CreateRequest{Partitions: 4, TimestampType: "LogAppendTime"}},
		{"endless retention accepted", true, createTopic("a", with("retention.ms", "-1")), topics.CreateRequest{Partitions: 4, RetentionHours: 168}},
		{"compact accepted", true, createTopic("a", with("cleanup.policy", "compact,delete")), topics.CreateRequest{Partitions: 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.DefaultPartitions, c.AcceptCompact = 4, tc.compact })
			answer := dial(t, b.listen()).ask(tc.req).(*kmsg.CreateTopicsResponse).Topics[0]
			if answer.ErrorCode != 0 || answer.NumPartitions != int32(tc.want.Partitions) {
				t.Fatalf("answer %+v", answer)
			}
			tc.want.Name = "a"
			if diff := cmp.Diff([]topics.CreateRequest{tc.want}, b.catalog.created); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCreateTopicsRefuses(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	for _, tc := range []struct {
		name string
		req  *kmsg.CreateTopicsRequest
		code int16
		says string
	}{
		{"existing", createTopic("t"), 36, "exists"},
		{"name", createTopic("not.allowed"), 17, "A-Z a-z 0-9 _ and -"},
		{"no partitions", createTopic("a", partitions(0)), 37, "1 or more"},
		{"no replicas", createTopic("a", replicas(0)), 38, "1 or more"},
		{"-2 replicas", createTopic("a", replicas(-2)), 38, "1 or more"},
		{"assignment with a gap", createTopic("a", assigned(0, 2)), 39, "without gaps"},
		{"assignment and number", createTopic("a", partitions(2), assigned(0, 1)), 42, "exclude each other"},
		{"assignment and replicas", createTopic("a", replicas(2), assigned(0, 1)), 42, "exclude each other"},
		{"scaled between nothing and 3", createTopic("a", with("dis.auto.scale", "0-3")), 40, "such as 2-10"},
		{"scaled in words", createTopic("a", with("dis.auto.scale", "true")), 40, "such as 2-10"},
		{"scaled the wrong way", createTopic("a", with("dis.auto.scale", "3-2")), 40, "such as 2-10"},
		{"endless retention", createTopic("a", with("retention.ms", "-1")), 40, "168 hours"},
		{"retention of a month", createTopic("a", with("retention.ms", "2592000000")), 40, "168 hours"},
		{"retention in words", createTopic("a", with("retention.ms", "week")), 40, "number of milliseconds"},
		{"compaction", createTopic("a", with("cleanup.policy", "compact")), 40, "--accept-compact"},
		{"timestamps of no kind", createTopic("a", with("message.timestamp.type", "AppendTime")), 40, "CreateTime, LogAppendTime"},
	} {
		answer := c.ask(tc.req).(*kmsg.CreateTopicsResponse).Topics[0]
		if answer.ErrorCode != tc.code || answer.ErrorMessage == nil || !strings.Contains(*answer.ErrorMessage, tc.says) || answer.NumPartitions != -1 {
			t.Errorf("%s: %+v, want error %d that says %q", tc.name, answer, tc.code, tc.says)
		}
	}
	if len(b.catalog.created) != 0 {
		t.Errorf("created %+v", b.catalog.created)
	}
}

func TestCreateTopicsNamedTwice(t *testing.T) {
	b := newBench(t)
	req := createTopic("a")
	req.Topics = append(req.Topics, req.Topics[0], createTopic("b").Topics[0])
	answers := dial(t, b.listen()).ask(req).(*kmsg.CreateTopicsResponse).Topics
	if len(answers) != 2 || answers[0].ErrorCode != 42 || answers[1].ErrorCode != 0 {
		t.Errorf("answers %+v, want 42 for the one that is named twice, and it once", answers)
	}
}

func TestCreateTopicsValidateOnly(t *testing.T) {
	b := newBench(t)
	req := createTopic("a", partitions(3))
	req.ValidateOnly = true
	answer := dial(t, b.listen()).ask(req).(*kmsg.CreateTopicsResponse).Topics[0]
	if answer.ErrorCode != 0 || answer.NumPartitions != 3 || len(b.catalog.created) != 1 || !b.catalog.created[0].ValidateOnly {
		t.Errorf("answer %+v, created %+v", answer, b.catalog.created)
	}
}

func TestTopicAdminPolicy(t *testing.T) {
	for _, tc := range []struct {
		policy                            TopicAdmin
		create, existing, remove, remove2 int16
	}{
		{TopicAdminNone, 31, 36, 73, 42},
		{TopicAdminCreate, 0, 36, 73, 42},
		{TopicAdminFull, 0, 36, 0, 0},
	} {
		t.Run(string(tc.policy), func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.TopicAdmin = tc.policy })
			b.catalog.topics["u"] = topicOf("u", 1)
			c := dial(t, b.listen())
			created := c.ask(createTopic("a")).(*kmsg.CreateTopicsResponse).Topics[0]
			if created.ErrorCode != tc.create || tc.create != 0 && !strings.Contains(*created.ErrorMessage, "--topic-admin") {
				t.Errorf("create: %+v", created)
			}
			if got := c.ask(createTopic("t")).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode; got != tc.existing {
				t.Errorf("create an existing topic: %d", got)
			}
			for version, want := range map[int16]int16{5: tc.remove, 2: tc.remove2} {
				name := map[int16]string{5: "t", 2: "u"}[version]
				req := kmsg.NewPtrDeleteTopicsRequest()
				req.Version, req.TopicNames = version, []string{name}
				removed := c.ask(req).(*kmsg.DeleteTopicsResponse).Topics[0]
				if removed.ErrorCode != want || version == 5 && want != 0 && !strings.Contains(*removed.ErrorMessage, "--topic-admin full") {
					t.Errorf("delete, version %d: %+v", version, removed)
				}
			}
		})
	}
}

func TestDeleteTopicsForgetsWhatWasRead(t *testing.T) {
	b := newBench(t, func(c *Config) { c.TopicAdmin = TopicAdminFull })
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version, req.TopicNames = 5, []string{"t", "missing"}
	answers := dial(t, b.listen()).ask(req).(*kmsg.DeleteTopicsResponse).Topics
	if answers[0].ErrorCode != 0 || answers[0].ErrorMessage != nil || answers[1].ErrorCode != unknownTopicOrPartition {
		t.Errorf("answers %+v", answers)
	}
	if diff := cmp.Diff([]string{"t"}, b.log.forgotten); diff != "" {
		t.Error(diff)
	}
}

func TestSlowCreationAnswersRequestTimedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.catalog.create = func(ctx context.Context, _ topics.CreateRequest) error {
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		req := createTopic("a")
		req.TimeoutMillis = 15_000
		answer := b.pipe().ask(req).(*kmsg.CreateTopicsResponse).Topics[0]
		if answer.ErrorCode != 7 || time.Since(began) != 15*time.Second {
			t.Errorf("%+v after %s", answer, time.Since(began))
		}
	})
}
