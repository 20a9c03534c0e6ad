package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// aliased is a gateway that shows a stream of this project and one of another
// account under names of its own, and hides some.
type aliased struct {
	*serving
	ours, theirs *dis.Client // past the gateway
}

// Streams: orders_v1 and secret-1 of this project, and events of the account that
// shares it, with one partition and a record each; this project has an events too,
// which is hidden.
func startAliased(t *testing.T, args ...string) aliased {
	t.Helper()
	endpoint := startEmbeddedDIS(t)
	a := aliased{ours: disClientAt(t, endpoint), theirs: partnerAt(t, endpoint)}
	for name, client := range map[string]*dis.Client{"secret-1": a.ours, "events": a.theirs} {
		createStream(t, client, name, 1)
		putRecord(t, client, name, "from "+name)
	}
	createStream(t, a.ours, "events", 4)
	described, err := a.theirs.DescribeStream(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	a.serving = startServeAt(t, endpoint, nil, append([]string{
		"--alias", "orders.v1,stream=orders_v1", "--alias", "partner.events,stream-id=" + described.StreamID,
		"--hide-topics", "secret-*", "--hide-topics", "events", "--topic-admin", "full", "--initial-rebalance-delay", "0s",
		"--topics", "orders.*,timestamp-type=LogAppendTime",
	}, args...)...)
	a.waitReady(t)
	return a
}

// partnerAt calls the embedded DIS as another account would.
func partnerAt(t *testing.T, endpoint string) *dis.Client {
	t.Helper()
	client, err := dis.New(dis.Config{
		Endpoint: endpoint, Region: "local", ProjectID: "partner",
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: "dev", SecretKey: "dev-secret"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func putRecord(t *testing.T, client *dis.Client, stream, value string) {
	t.Helper()
	answer, err := client.PutRecords(t.Context(), &wire.PutRecordsRequest{StreamName: stream, Records: []wire.PutRecord{{Data: []byte(value)}}})
	if err != nil || answer.FailedRecordCount != 0 {
		t.Fatalf("put into %s: %+v, %v", stream, answer, err)
	}
}

// TestAliases: everything that clients do with topics works under an alias, of a
// name and of an id, and nobody sees the names of the streams.
func TestAliases(t *testing.T) {
	t.Parallel()
	a := startAliased(t)
	admin := kadm.NewClient(newFranz(t, a.kafka))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	created, err := admin.CreateTopic(ctx, 2, 1, nil, "orders.v1")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := a.ours.DescribeStream(ctx, "orders_v1")
	if err != nil || len(ours.Partitions) != 2 {
		t.Fatalf("the stream of the alias: %+v, %v", ours, err)
	}
	ids := topicIDs(t, a.kafka)
	if len(ids) != 2 || ids["orders.v1"] != created.ID || ids["partner.events"] == (kadm.TopicID{}) {
		t.Fatalf("topics %v, created %v", ids, created.ID)
	}
	for topic, id := range ids {
		if answer := fetchByID(t, a.kafka, id); answer.ErrorCode != 0 {
			t.Errorf("fetch of %s by its id: %+v", topic, answer)
		}
	}

	t.Run("records", func(t *testing.T) { a.checkRecords(t) })
	t.Run("groups", func(t *testing.T) { a.checkGroups(ctx, t, admin) })
	t.Run("patterns", func(t *testing.T) { a.checkPatterns(t, ids) })
	t.Run("configuration", func(t *testing.T) {
		configs, err := admin.DescribeTopicConfigs(ctx, "orders.v1", "partner.events")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, c := range configs {
			i := slices.IndexFunc(c.Configs, func(c kadm.Config) bool { return c.Key == "message.timestamp.type" })
			got[c.Name] = c.Configs[i].MaybeValue()
		}
		if diff := cmp.Diff(map[string]string{"orders.v1": "LogAppendTime", "partner.events": "CreateTime"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("kcat", func(t *testing.T) {
		k := kcat{t, requireProgram(t, "kcat", "-V"), &dev{kafka: a.kafka}}
		list := k.run("", "-L")
		if !strings.Contains(list, "2 topics:") || !strings.Contains(list, `topic "orders.v1" with 2 partitions`) || !strings.Contains(list, `topic "partner.events" with 1 partitions`) {
			t.Errorf("kcat -L:\n%s", list)
		}
		k.produce("orders.v1", "kcat:wrote this\n")
		if got := k.consume("orders.v1", "%k=%s"); !slices.Contains(got, "kcat=wrote this") {
			t.Errorf("kcat read %q", got)
		}
	})
	t.Run("changes", func(t *testing.T) { a.checkChanges(ctx, t, admin) })
	t.Run("deletion", func(t *testing.T) { a.checkDeletion(ctx, t, admin, ids) })
	if _, metrics := a.ask(t, "/metrics"); strings.Contains(metrics, "orders_v1") {
		t.Error("the metrics have the name of a stream")
	}
	if log := a.stderr.String(); strings.Contains(log, "orders_v1") {
		t.Errorf("the log has the name of a stream:\n%s", log)
	}
}

// checkRecords: what clients write is in the stream of the alias, and what others
// write there is read.
func (a aliased) checkRecords(t *testing.T) {
	produceNumbers(t, a.kafka, "orders.v1", 2, 0, 10)
	var stored []string
	for _, r := range readStream(t, t.Context(), a.ours, "orders_v1", 5) {
		stored = append(stored, string(r.Data))
	}
	if want := []string{"0", "2", "4", "6", "8"}; !slices.Equal(stored, want) {
		t.Errorf("partition 0 of the stream has %q, want %q", stored, want)
	}
	produceNumbers(t, a.kafka, "partner.events", 1, 1, 3)
	putRecord(t, a.theirs, "events", "3")
	f := franz{a.kafka}
	values := func(messages []message) (list []string) {
		for _, m := range messages {
			list = append(list, fmt.Sprintf("%s %s", m.topic, m.value))
		}
		return list
	}
	want := []string{"partner.events from events", "partner.events 1", "partner.events 2", "partner.events 3"}
	if got := values(f.assign(t, "partner.events", 1, 4)); !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	if got := values(f.assign(t, "orders.v1", 2, 10)); len(got) != 10 {
		t.Errorf("read %q", got)
	}
	ends, err := kadm.NewClient(newFranz(t, a.kafka)).ListEndOffsets(t.Context(), "orders.v1", "partner.events")
	if err != nil {
		t.Fatal(err)
	}
	for topic, want := range map[string]int64{"orders.v1": 5, "partner.events": 4} {
		if end, ok := ends.Lookup(topic, 0); !ok || end.Offset != want || end.Err != nil {
			t.Errorf("end of %s: %+v, want %d", topic, end, want)
		}
	}
}

// checkGroups: commits are found again under the alias, in lists too, and so is the
// lag.
func (a aliased) checkGroups(ctx context.Context, t *testing.T, admin *kadm.Client) {
	franz{a.kafka}.group(t, 4, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("partner.events"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	franz{a.kafka}.group(t, 10, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("orders.v1"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	want := map[string]int64{"orders.v1/0": 5, "orders.v1/1": 5, "partner.events/0": 4}
	committed := func() map[string]int64 {
		found, err := admin.FetchOffsets(ctx, "g")
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]int64{}
		found.Each(func(o kadm.OffsetResponse) {
			if o.At >= 0 {
				all[fmt.Sprintf("%s/%d", o.Topic, o.Partition)] = o.At
			}
		})
		return all
	}
	if diff := cmp.Diff(want, committed()); diff != "" {
		t.Errorf("committed: %s", diff)
	}
	produceNumbers(t, a.kafka, "orders.v1", 1, 10, 13)
	eventually(t, 10*time.Second, "the lag", func() string {
		_, metrics := a.ask(t, "/metrics")
		for _, line := range []string{
			`kdg_group_lag_records{group="g",partition="0",topic="orders.v1"} 3`,
			`kdg_group_lag_records{group="g",partition="0",topic="partner.events"} 0`,
		} {
			if !strings.Contains(metrics, line) {
				return line + " is not among the metrics"
			}
		}
		return ""
	})
	single := make(kadm.TopicsSet)
	single.Add("partner.events", 0)
	if deleted, err := admin.DeleteOffsets(ctx, "g", single); err != nil || deleted.Error() != nil {
		t.Errorf("delete one offset: %v, %v", deleted, err)
	}
	delete(want, "partner.events/0")
	if diff := cmp.Diff(want, committed()); diff != "" {
		t.Errorf("committed, without the one that was deleted: %s", diff)
	}
}

// checkPatterns: the pattern of a subscription is one of Kafka's names, whether the
// client matches it or the gateway.
func (a aliased) checkPatterns(t *testing.T, ids map[string]kadm.TopicID) {
	got := franz{a.kafka}.group(t, 13, kgo.ConsumerGroup("by-client"), kgo.ConsumeRegex(), kgo.ConsumeTopics(`^orders\..*`),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if got[0].topic != "orders.v1" {
		t.Errorf("read %+v", got[0])
	}
	// A hidden topic among those of a subscription is one that does not exist.
	for _, subscribe := range []func(*kmsg.ConsumerGroupHeartbeatRequest){
		func(r *kmsg.ConsumerGroupHeartbeatRequest) { r.SubscribedTopicRegex = kmsg.StringPtr(`.*\.events`) },
		func(r *kmsg.ConsumerGroupHeartbeatRequest) {
			r.SubscribedTopicNames = []string{"partner.events", "secret-1"}
		},
	} {
		if assigned := a.assignedBy(t, subscribe); !slices.Equal(assigned, []kadm.TopicID{ids["partner.events"]}) {
			t.Errorf("assigned %v", assigned)
		}
	}
}

// assignedBy joins a group of the consumer protocol alone, and leaves it once there is
// an assignment.
func (a aliased) assignedBy(t *testing.T, subscribe func(*kmsg.ConsumerGroupHeartbeatRequest)) (assigned []kadm.TopicID) {
	t.Helper()
	beat := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID, beat.RebalanceTimeoutMillis = 1, "by-gateway", "8c1d2f66-3b1c-4a5e-9f56-0f5b1f1e7a11", 60_000
	beat.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	subscribe(beat)
	eventually(t, 20*time.Second, "an assignment", func() string {
		answer := ask(t, a.kafka, beat).(*kmsg.ConsumerGroupHeartbeatResponse)
		if answer.ErrorCode != 0 {
			return kerr.ErrorForCode(answer.ErrorCode).Error()
		}
		beat.MemberEpoch, beat.SubscribedTopicRegex, beat.SubscribedTopicNames, beat.Topics = answer.MemberEpoch, nil, nil, nil
		if answer.Assignment == nil || len(answer.Assignment.Topics) == 0 {
			return "nothing is assigned"
		}
		for _, topic := range answer.Assignment.Topics {
			assigned = append(assigned, topic.TopicID)
		}
		return ""
	})
	beat.MemberEpoch = -1
	if answer := ask(t, a.kafka, beat).(*kmsg.ConsumerGroupHeartbeatResponse); answer.ErrorCode != 0 {
		t.Errorf("leave: %+v", answer)
	}
	return assigned
}

// checkChanges: partitions and configuration are those of the stream; a stream of
// another account is not ours to change.
func (a aliased) checkChanges(ctx context.Context, t *testing.T, admin *kadm.Client) {
	grown, err := admin.UpdatePartitions(ctx, 3, "orders.v1", "partner.events")
	if err != nil || grown["orders.v1"].Err != nil || grown["partner.events"].Err != kerr.TopicAuthorizationFailed {
		t.Errorf("partitions: %+v, %v", grown, err)
	}
	retention := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: kmsg.StringPtr("172800000")}}
	altered, err := admin.AlterTopicConfigs(ctx, retention, "orders.v1", "partner.events")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range altered {
		if refused := c.Name == "partner.events"; refused != (c.Err == kerr.TopicAuthorizationFailed) || !refused && c.Err != nil {
			t.Errorf("configuration: %+v", c)
		}
	}
	described, err := a.ours.DescribeStream(ctx, "orders_v1")
	if err != nil || len(described.Partitions) != 3 || described.RetentionPeriod != 48 {
		t.Errorf("the stream: %+v, %v", described, err)
	}
}

// checkDeletion: the stream of an alias goes and comes back as another topic; one of
// another account is not ours to delete.
func (a aliased) checkDeletion(ctx context.Context, t *testing.T, admin *kadm.Client, ids map[string]kadm.TopicID) {
	deleted, err := admin.DeleteTopics(ctx, "orders.v1", "partner.events")
	if err != nil || deleted["orders.v1"].Err != nil {
		t.Fatalf("delete: %+v, %v", deleted, err)
	}
	if refused := deleted["partner.events"]; refused.Err != kerr.TopicAuthorizationFailed || !strings.Contains(refused.ErrMessage, "only the account that it belongs to") {
		t.Errorf("delete of a stream of another account: %+v", refused)
	}
	if _, err := a.ours.DescribeStream(ctx, "orders_v1"); !dis.HasCode(err, wire.CodeStreamNotFound) {
		t.Errorf("the stream of the deleted topic: %v", err)
	}
	createTopic(t, a.kafka, "orders.v1", 1)
	if again := topicIDs(t, a.kafka); again["orders.v1"] == ids["orders.v1"] || again["partner.events"] != ids["partner.events"] {
		t.Errorf("ids %v, before %v", again, ids)
	}
	// Behind the gateway's back.
	if err := a.ours.DeleteStream(ctx, "orders_v1"); err != nil {
		t.Fatal(err)
	}
	createStream(t, a.ours, "orders_v1", 3)
	eventually(t, 20*time.Second, "the stream that was made again", func() string {
		topics, err := admin.ListTopics(ctx, "orders.v1")
		if err != nil {
			return err.Error()
		}
		if topic := topics["orders.v1"]; topic.Err != nil || len(topic.Partitions) != 3 {
			return fmt.Sprintf("%d partitions, %v", len(topic.Partitions), topic.Err)
		}
		return ""
	})
}
