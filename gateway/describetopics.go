package gateway

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// maxDescribedPartitions bounds one reply whatever the client asks for, as
// Kafka's max.request.partition.size.limit does.
const maxDescribedPartitions = 2000

// DescribeTopicPartitions
//
//	v0 (KIP-966) the partitions of topics in pages: a reply that is full names in
//	   its cursor where the next one is to begin
//
// Topics are given by name only, and none means all. They come in the order of
// their names, each once, so that the pages fit together. What the client may do
// to a topic is always told.
func handleDescribeTopicPartitions(cfg Config, catalog Catalog) handler {
	return waiting(func(ctx context.Context, c *call, req *kmsg.DescribeTopicPartitionsRequest) (kmsg.Response, error) {
		page := newTopicPage(req)
		if page.broken() {
			return page.refuse(invalidRequest), nil
		}
		found, err := page.find(ctx, catalog, c.conn.server.Draining)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !page.add(f) {
				break
			}
		}
		for i := range page.resp.Topics {
			page.resp.Topics[i].AuthorizedOperations = topicOperations(cfg.TopicAdmin)
		}
		return page.resp, nil
	})
}

// topicPage is one page of topics in the making.
type topicPage struct {
	names []string // those asked for, in order; empty for all
	from  kmsg.DescribeTopicPartitionsRequestCursor
	left  int // partitions that there is room for
	resp  *kmsg.DescribeTopicPartitionsResponse
}

func newTopicPage(req *kmsg.DescribeTopicPartitionsRequest) *topicPage {
	p := &topicPage{
		left: max(1, min(maxDescribedPartitions, int(req.ResponsePartitionLimit))),
		resp: kmsg.NewPtrDescribeTopicPartitionsResponse(),
	}
	for _, t := range req.Topics {
		p.names = append(p.names, t.Topic)
	}
	slices.Sort(p.names)
	p.names = slices.Compact(p.names)
	if req.Cursor != nil {
		p.from = *req.Cursor
	}
	return p
}

// broken reports a cursor that is not from a reply to the same question.
func (p *topicPage) broken() bool {
	elsewhere := p.from.Topic != "" && len(p.names) > 0 && !slices.Contains(p.names, p.from.Topic)
	return elsewhere || p.from.Partition < 0
}

func (p *topicPage) refuse(code int16) *kmsg.DescribeTopicPartitionsResponse {
	for _, name := range p.names {
		p.resp.Topics = append(p.resp.Topics, topicWithoutPartitions(name, code))
	}
	return p.resp
}

// foundTopic is a topic or why there is none.
type foundTopic struct {
	name  string
	topic *translate.Topic
	code  int16
}

// find looks up what may be on the page, in the order of the names.
func (p *topicPage) find(ctx context.Context, catalog Catalog, draining func() bool) ([]foundTopic, error) {
	if len(p.names) == 0 {
		topics, err := listTopics(ctx, catalog, draining)
		return p.fromList(topics), err
	}
	first, _ := slices.BinarySearch(p.names, p.from.Topic)
	names := p.names[first:]
	names = names[:min(len(names), p.left+1)] // each takes at least one place, and the cursor may name one more
	found := make([]foundTopic, len(names))
	inParallel(len(names), maxLookups, func(i int) {
		found[i].name = names[i]
		var err error
		if found[i].topic, err = catalog.Topic(ctx, names[i]); err != nil {
			found[i].code = translate.KafkaError(translate.CallMetadata, err).Code
		}
	})
	return found, nil
}

// fromList takes the rest of a list, which is in the order of the names.
func (p *topicPage) fromList(topics []*translate.Topic) []foundTopic {
	var found []foundTopic
	for _, t := range topics {
		if t.Name >= p.from.Topic {
			found = append(found, foundTopic{name: t.Name, topic: t})
		}
	}
	return found
}

// add puts a topic on the page, or as much of it as there is room for; false
// when the page is full.
func (p *topicPage) add(f foundTopic) (more bool) {
	if p.left <= 0 {
		p.endBefore(f.name, 0)
		return false
	}
	if f.code == 0 && !usable(f.topic) {
		f.code = leaderNotAvailable
	}
	if f.code != 0 {
		p.left--
		p.resp.Topics = append(p.resp.Topics, topicWithoutPartitions(f.name, f.code))
		return true
	}
	first := 0
	if f.name == p.from.Topic {
		first = min(int(p.from.Partition), len(f.topic.Partitions))
	}
	end := min(first+p.left, len(f.topic.Partitions))
	described := topicWithoutPartitions(f.name, 0)
	described.TopicID = f.topic.ID
	for id := first; id < end; id++ {
		described.Partitions = append(described.Partitions, describeTopicPartition(int32(id), f.topic.Partitions[id]))
	}
	p.resp.Topics = append(p.resp.Topics, described)
	p.left -= max(1, end-first)
	if end < len(f.topic.Partitions) {
		p.endBefore(f.name, int32(end))
		return false
	}
	return true
}

func (p *topicPage) endBefore(topic string, partition int32) {
	next := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	next.Topic, next.Partition = topic, partition
	p.resp.NextCursor = &next
}

func topicWithoutPartitions(name string, code int16) kmsg.DescribeTopicPartitionsResponseTopic {
	topic := kmsg.NewDescribeTopicPartitionsResponseTopic()
	topic.Topic, topic.ErrorCode = &name, code
	return topic
}

// describeTopicPartition says of a partition what Metadata says of it. The
// eligible leaders of KIP-966 are lists that Kafka leaves empty too while it
// keeps none; null stops Java's admin client.
func describeTopicPartition(id int32, partition translate.Partition) kmsg.DescribeTopicPartitionsResponseTopicPartition {
	known := describePartition(id, partition)
	described := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
	described.Partition, described.ErrorCode = id, known.ErrorCode
	described.LeaderID, described.LeaderEpoch = known.Leader, known.LeaderEpoch
	described.Replicas, described.ISR = known.Replicas, known.ISR
	described.EligibleLeaderReplicas, described.LastKnownELR = []int32{}, []int32{}
	return described
}
