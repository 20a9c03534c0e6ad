package gateway

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

func addPartitions(topic string, count int32) *kmsg.CreatePartitionsRequest {
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.Version, req.TimeoutMillis = 3, 30_000
	wanted := kmsg.NewCreatePartitionsRequestTopic()
	wanted.Topic, wanted.Count = topic, count
	req.Topics = append(req.Topics, wanted)
	return req
}

func full(c *Config) { c.TopicAdmin = TopicAdminFull }

func TestCreatePartitions(t *testing.T) {
	b := newBench(t, full)
	c := dial(t, b.listen())
	req := addPartitions("t", 5)
	req.Topics[0].Assignment = []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: []int32{1}}, {Replicas: []int32{77}}}
	req.Topics = append(req.Topics, addPartitions("missing", 2).Topics...)
	answers := c.ask(req).(*kmsg.CreatePartitionsResponse).Topics
	if len(answers) != 2 || answers[0].Topic != "t" || answers[0].ErrorCode != 0 || answers[0].ErrorMessage != nil ||
		answers[1].Topic != "missing" || answers[1].ErrorCode != unknownTopicOrPartition || answers[1].ErrorMessage == nil {
		t.Errorf("answers %+v", answers)
	}
	if got := len(c.ask(metadataFor(9, "t")).(*kmsg.MetadataResponse).Topics[0].Partitions); got != 5 {
		t.Errorf("%d partitions in Metadata", got)
	}
	req = addPartitions("t", 9)
	req.ValidateOnly = true
	if code := firstError(c.ask(req)); code != 0 {
		t.Errorf("only tried: %d", code)
	}
	var ofT []topics.PartitionsRequest
	for _, r := range b.catalog.scaled {
		if r.Name == "t" {
			ofT = append(ofT, r)
		}
	}
	if diff := cmp.Diff([]topics.PartitionsRequest{{Name: "t", Count: 5, Assigned: 2}, {Name: "t", Count: 9, ValidateOnly: true}}, ofT); diff != "" {
		t.Error(diff)
	}
}

func TestCreatePartitionsNamedTwice(t *testing.T) {
	b := newBench(t, full)
	req := addPartitions("t", 5)
	req.Topics = append(req.Topics, addPartitions("t", 6).Topics...)
	answers := dial(t, b.listen()).ask(req).(*kmsg.CreatePartitionsResponse).Topics
	if len(answers) != 1 || answers[0].ErrorCode != invalidRequest || len(b.catalog.scaled) != 0 {
		t.Errorf("answers %+v, scaled %+v", answers, b.catalog.scaled)
	}
}

func TestCreatePartitionsShowsWhyDISRefuses(t *testing.T) {
	b := newBench(t, full)
	b.catalog.scale = func(context.Context, topics.PartitionsRequest) error {
		return errors.Join(translate.ErrScalingLimit)
	}
	answer := dial(t, b.listen()).ask(addPartitions("t", 5)).(*kmsg.CreatePartitionsResponse).Topics[0]
	if answer.ErrorCode != 44 || !strings.Contains(*answer.ErrorMessage, "how often a stream is scaled") || !strings.Contains(*answer.ErrorMessage, "5 changes") {
		t.Errorf("answer %d %s", answer.ErrorCode, *answer.ErrorMessage)
	}
}

func TestOnlyFullTopicAdminAlters(t *testing.T) {
	for _, admin := range []TopicAdmin{TopicAdminNone, TopicAdminCreate} {
		b := newBench(t, func(c *Config) { c.TopicAdmin = admin })
		c := dial(t, b.listen())
		scaled := c.ask(addPartitions("t", 5)).(*kmsg.CreatePartitionsResponse).Topics[0]
		altered := c.ask(alterTopic("t", set("retention.ms", "86400000"))).(*kmsg.IncrementalAlterConfigsResponse).Resources[0]
		replaced := c.ask(alterConfigs(kmsg.ConfigResourceTypeTopic, "t")).(*kmsg.AlterConfigsResponse).Resources[0]
		for what, answer := range map[string]struct {
			code    int16
			message *string
		}{
			"partitions": {scaled.ErrorCode, scaled.ErrorMessage}, "incremental": {altered.ErrorCode, altered.ErrorMessage}, "all": {replaced.ErrorCode, replaced.ErrorMessage},
		} {
			if answer.code != 29 || !strings.Contains(*answer.message, "--topic-admin "+string(admin)) || !strings.Contains(*answer.message, "--topic-admin full") {
				t.Errorf("%s, %s: error %d", admin, what, answer.code)
			}
		}
		if len(b.catalog.scaled) != 0 || len(b.catalog.altered) != 0 {
			t.Errorf("%s: scaled %+v, altered %+v", admin, b.catalog.scaled, b.catalog.altered)
		}
	}
}

func TestSlowScalingAnswersRequestTimedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, full)
		b.catalog.scale = func(ctx context.Context, _ topics.PartitionsRequest) error {
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		req := addPartitions("t", 5)
		req.TimeoutMillis = 15_000
		answer := b.pipe().ask(req).(*kmsg.CreatePartitionsResponse).Topics[0]
		if answer.ErrorCode != requestTimedOut || time.Since(began) != 15*time.Second {
			t.Errorf("%+v after %s", answer, time.Since(began))
		}
	})
}
