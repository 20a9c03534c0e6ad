package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
)

// disIsDown makes lookups of one topic fail, by its name and by its id.
func disIsDown(b *bench, stream string) {
	b.catalog.lookup = func(_ context.Context, asked string) error {
		if asked == stream || asked == translate.IDText(testID(stream)) {
			return &dis.Error{Operation: "DescribeStream", Err: errors.New("connection refused"), NotProcessed: true}
		}
		return nil
	}
}

// recreateTopic replaces a stream by another of its name.
func (b *bench) recreateTopic(name, stream string) {
	b.catalog.mu.Lock()
	defer b.catalog.mu.Unlock()
	next := *b.catalog.topics[name]
	next.StreamID, next.ID = stream, testID(stream)
	b.catalog.topics[name] = &next
}

func TestFetchByID(t *testing.T) {
	for version := int16(firstIDFetch); version <= 17; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			b := newBench(t)
			disIsDown(b, "down")
			var read fetch.Request
			b.log.fetch = func(_ context.Context, r fetch.Request) fetch.Response {
				read = r
				return fetch.Response{Partitions: []fetch.PartitionResponse{{HighWatermark: 12, LogStart: 4}}}
			}
			req := fetchFrom(version, "missing", 0, time.Minute)
			for _, more := range []*kmsg.FetchRequest{
				fetchFrom(version, "t", 9, 0), fetchFrom(version, "down", 0, 0), fetchFrom(version, "t", 2, 0), fetchFrom(version, "", 0, 0),
			} {
				req.Topics = append(req.Topics, more.Topics...)
			}
			req.Topics[4].TopicID = noTopicID
			resp := dial(t, b.listen()).ask(req).(*kmsg.FetchResponse)
			for i, want := range []int16{100, 3, 6, 0, 100} {
				topic := resp.Topics[i]
				p := topic.Partitions[0]
				if topic.TopicID != req.Topics[i].TopicID || p.ErrorCode != want || p.RecordBatches == nil {
					t.Errorf("topic %d: id %x, error %d, want %d; records %v", i, topic.TopicID, p.ErrorCode, want, p.RecordBatches)
				}
			}
			if p := resp.Topics[3].Partitions[0]; p.HighWatermark != 12 || p.LastStableOffset != 12 || p.LogStartOffset != 4 {
				t.Errorf("partition %+v", p)
			}
			if read.MaxWait != 0 || len(read.Partitions) != 1 || read.Partitions[0].Topic.Name != "t" || read.Partitions[0].Partition != 2 {
				t.Errorf("read %+v: a reply with errors must not wait", read)
			}
		})
	}
}

// A stream turns out to be replaced while it is read: clients that know ids are
// told so, others get what makes them look for the partition or start over.
func TestFetchOfAReplacedStream(t *testing.T) {
	b := newBench(t)
	b.log.fetch = func(context.Context, fetch.Request) fetch.Response {
		return fetch.Response{Partitions: []fetch.PartitionResponse{{Code: 1, Replaced: true, HighWatermark: -1, LogStart: -1}}}
	}
	c := dial(t, b.listen())
	for version, want := range map[int16]int16{4: 1, 12: 1, 13: 103, 17: 103} {
		p := c.ask(fetchFrom(version, "t", 0, 0)).(*kmsg.FetchResponse).Topics[0].Partitions[0]
		if p.ErrorCode != want {
			t.Errorf("version %d: error %d, want %d", version, p.ErrorCode, want)
		}
	}
}

// The topic is made again while a consumer waits: its next fetch, by the id it
// knows, must not read the new stream.
func TestFetchByTheIDOfThePast(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	if code := firstError(c.ask(fetchFrom(13, "t", 0, 0))); code != 0 {
		t.Fatalf("error %d", code)
	}
	b.recreateTopic("t", "second")
	if code := firstError(c.ask(fetchFrom(13, "t", 0, 0))); code != unknownTopicID {
		t.Errorf("by the old id: error %d", code)
	}
	next := fetchFrom(13, "second", 0, 0)
	if code := firstError(c.ask(next)); code != 0 {
		t.Errorf("by the new id: error %d", code)
	}
	if code := firstError(c.ask(fetchFrom(12, "t", 0, 0))); code != 0 {
		t.Errorf("by name: error %d", code)
	}
}

func TestFetchSessionsWithIDs(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	req := fetchFrom(16, "t", 0, 0)
	req.SessionEpoch = 0
	forgotten := kmsg.NewFetchRequestForgottenTopic()
	forgotten.TopicID, forgotten.Partitions = testID("t"), []int32{0}
	req.ForgottenTopics = append(req.ForgottenTopics, forgotten)
	resp := c.ask(req).(*kmsg.FetchResponse)
	if resp.SessionID != 0 || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 || firstError(resp) != 0 {
		t.Errorf("reply %+v: it must be a full one, whatever is forgotten", resp)
	}
	req.SessionID, req.SessionEpoch = 7, 1
	if resp = c.ask(req).(*kmsg.FetchResponse); resp.ErrorCode != fetchSessionIDNotFound || len(resp.Topics) != 0 {
		t.Errorf("reply %+v", resp)
	}
}

// From version 15 on a replica says so in a tagged field.
func TestFetchByReplicaOfAnyVersion(t *testing.T) {
	for _, version := range []int16{11, 14, 15, 17} {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			b := newBench(t)
			c := dial(t, b.listen())
			c.patience(5 * time.Second)
			debug := fetchFrom(version, "t", 0, 0) // -2 reads for debugging
			debug.ReplicaID, debug.ReplicaState.ID = -2, -2
			if code := firstError(c.ask(debug)); code != 0 {
				t.Errorf("error %d", code)
			}
			req := fetchFrom(version, "t", 0, 0)
			req.ReplicaID, req.ReplicaState.ID, req.ReplicaState.Epoch = 3, 3, 1
			c.send(req)
			c.closed()
			if lines := b.lines.all(); len(lines) != 1 || !strings.Contains(lines[0], "fetch by replica 3") {
				t.Errorf("log %q", lines)
			}
		})
	}
}

func TestProduceByID(t *testing.T) {
	b := newBench(t)
	disIsDown(b, "down")
	req := produceTo("t", 1, -1, make([]byte, 100))
	req.Version = 13
	for _, more := range []string{"missing", "down", "t"} {
		req.Topics = append(req.Topics, produceTo(more, 7, -1, make([]byte, 100)).Topics...)
	}
	zero := produceTo("", 0, -1, make([]byte, 100)).Topics[0]
	zero.TopicID = noTopicID
	req.Topics = append(req.Topics, zero)
	resp := dial(t, b.listen()).ask(req).(*kmsg.ProduceResponse)
	for i, want := range []int16{0, 100, 19, 3, 100} {
		topic := resp.Topics[i]
		p := topic.Partitions[0]
		if topic.TopicID != req.Topics[i].TopicID || p.ErrorCode != want || (p.BaseOffset == -1) != (want != 0) {
			t.Errorf("topic %d: id %x, %+v, want error %d", i, topic.TopicID, p, want)
		}
	}
	if len(b.log.submitted) != 1 || b.log.submitted[0].Topic.Name != "t" || b.log.submitted[0].Partition != 1 {
		t.Errorf("written %+v", b.log.submitted)
	}
}

func TestProduceByTheIDOfThePast(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	req := produceTo("t", 0, -1, make([]byte, 100))
	req.Version = 13
	b.recreateTopic("t", "second")
	p := c.ask(req).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	if p.ErrorCode != unknownTopicID || p.ErrorMessage == nil || len(b.log.submitted) != 0 {
		t.Errorf("by the old id: %+v, %d batches written", p, len(b.log.submitted))
	}
	req.Topics[0].TopicID = testID("second")
	if code := firstError(c.ask(req)); code != 0 {
		t.Errorf("by the new id: error %d", code)
	}
}

// metadataByID asks for topics by id alone.
func metadataByID(version int16, streams ...string) *kmsg.MetadataRequest {
	req := metadataFor(version)
	for _, stream := range streams {
		topic := kmsg.NewMetadataRequestTopic()
		topic.TopicID = testID(stream)
		req.Topics = append(req.Topics, topic)
	}
	return req
}

func TestMetadataByID(t *testing.T) {
	for _, version := range []int16{12, 13} {
		synctest.Test(t, func(t *testing.T) { testMetadataByID(t, version) })
	}
}

func testMetadataByID(t *testing.T, version int16) {
	b := newBench(t)
	b.catalog.topics["u"] = topicOf("u", 2)
	disIsDown(b, "down")
	c := b.pipe()
	req := metadataByID(version, "t", "missing", "t", "down")
	both := metadataFor(version, "missing").Topics[0]
	both.TopicID = testID("u")
	req.Topics = append(req.Topics, both, kmsg.NewMetadataRequestTopic())
	resp := c.ask(req).(*kmsg.MetadataResponse)
	type seen struct {
		name, id   string
		code       int16
		partitions int
	}
	var got []seen
	for _, topic := range resp.Topics {
		name := "null"
		if topic.Topic != nil {
			name = *topic.Topic
		}
		got = append(got, seen{name, translate.IDText(topic.TopicID), topic.ErrorCode, len(topic.Partitions)})
	}
	want := []seen{
		{"t", translate.IDText(testID("t")), 0, 3},
		{"null", translate.IDText(testID("missing")), 100, 0},
		{"null", translate.IDText(testID("down")), 5, 0},
		{"u", translate.IDText(testID("u")), 0, 2}, // the id decides
		{"null", translate.IDText(noTopicID), 100, 0},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(seen{})); diff != "" {
		t.Errorf("version %d: %s", version, diff)
	}
}

// Versions 10 and 11 have the id in the request, and names that may be null, but
// Kafka takes lookups by id from version 12 on only.
func TestMetadataByIDBeforeItsTime(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	for _, version := range []int16{10, 11} {
		req := metadataByID(version, "t")
		named := metadataFor(version, "t").Topics[0]
		req.Topics = append(req.Topics, named)
		named.TopicID = testID("u")
		req.Topics = append(req.Topics, named)
		topics := c.ask(req).(*kmsg.MetadataResponse).Topics
		for i, want := range []int16{invalidRequest, 0, invalidRequest} {
			if topics[i].ErrorCode != want {
				t.Errorf("version %d, topic %d: error %d, want %d", version, i, topics[i].ErrorCode, want)
			}
		}
	}
}

// A topic by id is not created: there is no name to create it under.
func TestMetadataByIDCreatesNothing(t *testing.T) {
	b := newBench(t, func(c *Config) { c.AutoCreateTopics = true })
	req := metadataByID(13, "missing")
	req.AllowAutoTopicCreation = true
	if code := firstError(dial(t, b.listen()).ask(req)); code != unknownTopicID || len(b.catalog.created) != 0 {
		t.Errorf("error %d, created %+v", code, b.catalog.created)
	}
}

// While the stream id of a topic is not known it is LEADER_NOT_AVAILABLE in every
// version: clients take a zero id for a server without ids.
func TestTopicWithoutAnIDIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the answers are paced
		b := newBench(t)
		nameless := topicOf("nameless", 3)
		nameless.StreamID, nameless.ID = "", noTopicID
		b.catalog.topics["nameless"] = nameless
		c := b.pipe()
		for version := int16(0); version <= 13; version++ {
			all := metadataFor(version)
			all.Topics = nil
			for _, req := range []*kmsg.MetadataRequest{metadataFor(version, "nameless"), all} {
				topic := c.ask(req).(*kmsg.MetadataResponse).Topics[0]
				if *topic.Topic != "nameless" || topic.ErrorCode != leaderNotAvailable || len(topic.Partitions) != 0 {
					t.Errorf("version %d: %+v", version, topic)
				}
			}
		}
	})
}

func TestCreateTopicsTellsTheID(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	for _, tc := range []struct {
		name         string
		validateOnly bool
		want         [16]byte
	}{
		{"planned", true, noTopicID}, {"made", false, testID("made")}, {"t", false, noTopicID},
	} {
		req := createTopic(tc.name)
		req.Version, req.ValidateOnly = 7, tc.validateOnly
		if topic := c.ask(req).(*kmsg.CreateTopicsResponse).Topics[0]; topic.TopicID != tc.want {
			t.Errorf("%s: id %x, want %x", tc.name, topic.TopicID, tc.want)
		}
	}
}

// deleteTopic names a topic to delete; an empty name is null.
func deleteTopic(name string, id [16]byte) kmsg.DeleteTopicsRequestTopic {
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.TopicID = id
	if name != "" {
		topic.Topic = &name
	}
	return topic
}

func TestDeleteTopicsByNameAndByID(t *testing.T) {
	b := newBench(t, func(c *Config) { c.TopicAdmin = TopicAdminFull })
	for _, name := range []string{"a", "b", "c", "d"} {
		b.catalog.topics[name] = topicOf(name, 1)
	}
	b.recreateTopic("d", "d-again")
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version = 6
	req.Topics = []kmsg.DeleteTopicsRequestTopic{
		deleteTopic("a", noTopicID),
		deleteTopic("", testID("b")),
		deleteTopic("c", testID("c")),
		deleteTopic("", noTopicID),
		deleteTopic("t", noTopicID),
		deleteTopic("t", noTopicID),
		deleteTopic("", testID("d")),
		deleteTopic("missing", noTopicID),
	}
	topics := dial(t, b.listen()).ask(req).(*kmsg.DeleteTopicsResponse).Topics
	for i, want := range []struct {
		name string
		id   [16]byte
		code int16
	}{
		{"a", testID("a"), 0}, {"b", testID("b"), 0}, {"c", testID("c"), 42}, {"", noTopicID, 42},
		{"t", noTopicID, 42}, {"", testID("d"), 100}, {"missing", noTopicID, 3},
	} {
		got := topics[i]
		name := ""
		if got.Topic != nil {
			name = *got.Topic
		}
		if name != want.name || got.TopicID != want.id || got.ErrorCode != want.code || (got.ErrorMessage == nil) != (want.code == 0) {
			t.Errorf("topic %d: %q, id %x, error %d, want %+v", i, name, got.TopicID, got.ErrorCode, want)
		}
	}
	var left []string
	for name := range b.catalog.topics {
		left = append(left, name)
	}
	slices.Sort(left)
	slices.Sort(b.log.forgotten)
	if diff := cmp.Diff([][]string{{"c", "d", "t"}, {"a", "b"}}, [][]string{left, b.log.forgotten}); diff != "" {
		t.Errorf("topics left, and forgotten by the reader: %s", diff)
	}
}

func TestDeleteTopicsByIDNeedsTheSetting(t *testing.T) {
	b := newBench(t)
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version, req.Topics = 6, []kmsg.DeleteTopicsRequestTopic{deleteTopic("", testID("t"))}
	topic := dial(t, b.listen()).ask(req).(*kmsg.DeleteTopicsResponse).Topics[0]
	if topic.ErrorCode != topicDeletionDisabled || !strings.Contains(*topic.ErrorMessage, "--topic-admin full") || b.catalog.topics["t"] == nil {
		t.Errorf("topic %+v", topic)
	}
}
