package gateway

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// describe asks for one page of topics.
func describe(limit int32, cursor *kmsg.DescribeTopicPartitionsRequestCursor, names ...string) *kmsg.DescribeTopicPartitionsRequest {
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit, req.Cursor = limit, cursor
	for _, name := range names {
		req.Topics = append(req.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
	}
	return req
}

func from(topic string, partition int32) *kmsg.DescribeTopicPartitionsRequestCursor {
	return &kmsg.DescribeTopicPartitionsRequestCursor{Topic: topic, Partition: partition}
}

// outline is a reply in short: topic, error, partitions; the cursor at the end.
func outline(resp *kmsg.DescribeTopicPartitionsResponse) (lines []string) {
	for _, topic := range resp.Topics {
		line := fmt.Sprintf("%s error %d:", *topic.Topic, topic.ErrorCode)
		for _, p := range topic.Partitions {
			line += fmt.Sprintf(" %d", p.Partition)
		}
		lines = append(lines, line)
	}
	if next := resp.NextCursor; next != nil {
		lines = append(lines, fmt.Sprintf("next %s %d", next.Topic, next.Partition))
	}
	return lines
}

func TestDescribeTopicPartitionsInPages(t *testing.T) {
	b := newBench(t)
	b.catalog.topics["a"] = topicOf("a", 2)
	b.catalog.topics["creating"] = topicOf("creating", 0)
	c := dial(t, b.listen())
	for _, tc := range []struct {
		name string
		req  *kmsg.DescribeTopicPartitionsRequest
		want []string
	}{
		{"all", describe(2000, nil), []string{"a error 0: 0 1", "creating error 5:", "t error 0: 0 1 2"}},
		{"all, a page", describe(4, nil), []string{"a error 0: 0 1", "creating error 5:", "t error 0: 0", "next t 1"}},
		{"all, the next", describe(4, from("t", 1)), []string{"t error 0: 1 2"}},
		{"all, the cursor's topic is gone", describe(4, from("b", 7)), []string{"creating error 5:", "t error 0: 0 1 2"}},
		{"exactly full", describe(5, nil, "t", "a"), []string{"a error 0: 0 1", "t error 0: 0 1 2"}},
		{"full at the end of a topic", describe(2, nil, "t", "a"), []string{"a error 0: 0 1", "next t 0"}},
		{"in order, each once", describe(2000, nil, "t", "missing", "a", "t", "no.such"),
			[]string{"a error 0: 0 1", "missing error 3:", "no.such error 17:", "t error 0: 0 1 2"}},
		{"errors take room", describe(2, nil, "m1", "m2", "m3"), []string{"m1 error 3:", "m2 error 3:", "next m3 0"}},
		{"from a cursor", describe(1, from("t", 0), "a", "t"), []string{"t error 0: 0", "next t 1"}},
		{"beyond the last partition", describe(1, from("t", 9), "a", "t"), []string{"t error 0:"}},
		{"no limit is a limit of one", describe(0, nil, "t"), []string{"t error 0: 0", "next t 1"}},
		{"negative limit", describe(-5, nil, "t"), []string{"t error 0: 0", "next t 1"}},
		{"a cursor from elsewhere", describe(1, from("x", 0), "a", "t"), []string{"a error 42:", "t error 42:"}},
		{"a negative cursor", describe(1, from("t", -1), "t"), []string{"t error 42:"}},
		{"a negative cursor of all", describe(1, from("t", -1)), nil},
	} {
		if diff := cmp.Diff(tc.want, outline(c.ask(tc.req).(*kmsg.DescribeTopicPartitionsResponse))); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestDescribeTopicPartitionsIsBounded(t *testing.T) {
	b := newBench(t)
	b.catalog.topics["wide"] = topicOf("wide", 5000)
	resp := dial(t, b.listen()).ask(describe(1_000_000, nil, "wide")).(*kmsg.DescribeTopicPartitionsResponse)
	if n := len(resp.Topics[0].Partitions); n != 2000 || resp.NextCursor.Partition != 2000 {
		t.Errorf("%d partitions, cursor %+v", n, resp.NextCursor)
	}
}

func TestDescribeTopicPartitionsSaysWhatMetadataSays(t *testing.T) {
	b := newBench(t, func(c *Config) { c.TopicAdmin = TopicAdminFull })
	scaled := topicOf("scaled", 3)
	scaled.Partitions[0].Status = wire.PartitionExpired
	scaled.Partitions[1].Status = wire.PartitionDeleted
	b.catalog.topics["scaled"] = scaled
	c := dial(t, b.listen())
	known := metadataFor(13, "scaled")
	known.IncludeTopicAuthorizedOperations = true
	want := c.ask(known).(*kmsg.MetadataResponse).Topics[0]
	got := c.ask(describe(2000, nil, "scaled")).(*kmsg.DescribeTopicPartitionsResponse).Topics[0]
	if got.TopicID != want.TopicID || got.TopicID == noTopicID || got.AuthorizedOperations != want.AuthorizedOperations {
		t.Errorf("topic %+v, want %+v", got, want)
	}
	for i, p := range got.Partitions {
		m := want.Partitions[i]
		if p.Partition != m.Partition || p.ErrorCode != m.ErrorCode || p.LeaderID != m.Leader || p.LeaderEpoch != m.LeaderEpoch ||
			!cmp.Equal(p.Replicas, m.Replicas) || !cmp.Equal(p.ISR, m.ISR) || len(p.OfflineReplicas) != 0 {
			t.Errorf("partition %+v, want %+v", p, m)
		}
		// Java's admin client fails on null.
		if p.EligibleLeaderReplicas == nil || p.LastKnownELR == nil || len(p.EligibleLeaderReplicas)+len(p.LastKnownELR) != 0 {
			t.Errorf("eligible leaders %v, last known %v, want empty lists", p.EligibleLeaderReplicas, p.LastKnownELR)
		}
	}
}

// As with Metadata: an empty list would say that there are no topics.
func TestDescribeTopicPartitionsWithoutAListClosesTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.catalog.list = &dis.Error{Operation: "ListStreams", HTTPStatus: 500, Code: wire.CodeInternal, Message: "system error", RequestID: "r-9"}
		c := b.pipe()
		began := time.Now()
		c.send(describe(10, nil))
		c.closed()
		if waited := time.Since(began); waited != longestWait {
			t.Errorf("closed after %s, want %s", waited, longestWait)
		}
	})
}

// Whatever the size of the pages, together they are the whole.
func TestPagesFitTogether(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	rapid.Check(t, func(rt *rapid.T) {
		b.catalog.mu.Lock()
		clear(b.catalog.topics)
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-d][a-d]?[.]?`), 1, 8, rapid.ID).Draw(rt, "names")
		for _, name := range names {
			if partitions := rapid.IntRange(-1, 5).Draw(rt, "partitions of "+name); partitions >= 0 && name[len(name)-1] != '.' {
				b.catalog.topics[name] = topicOf(name, partitions)
			}
		}
		b.catalog.mu.Unlock()
		if rapid.Bool().Draw(rt, "all") {
			names = nil
		}
		whole := outline(c.ask(describe(2000, nil, names...)).(*kmsg.DescribeTopicPartitionsResponse))
		limit := rapid.Int32Range(1, 7).Draw(rt, "limit")
		var joined []string
		var cursor *kmsg.DescribeTopicPartitionsRequestCursor
		for page := 0; ; page++ {
			if page > 100 {
				rt.Fatal("the pages do not end")
			}
			resp := c.ask(describe(limit, cursor, names...)).(*kmsg.DescribeTopicPartitionsResponse)
			next := resp.NextCursor
			resp.NextCursor = nil
			total := 0
			for _, topic := range resp.Topics {
				total += len(topic.Partitions)
			}
			if total > int(limit) {
				rt.Fatalf("%d partitions on a page of %d", total, limit)
			}
			if cursor != nil && cursor.Partition > 0 { // the rest of the topic before
				for _, p := range resp.Topics[0].Partitions {
					joined[len(joined)-1] += fmt.Sprintf(" %d", p.Partition)
				}
				resp.Topics = resp.Topics[1:]
			}
			joined = append(joined, outline(resp)...)
			if next == nil {
				break
			}
			cursor = from(next.Topic, next.Partition)
		}
		if diff := cmp.Diff(whole, joined); diff != "" {
			rt.Fatalf("the whole and its pages: %s", diff)
		}
	})
}
