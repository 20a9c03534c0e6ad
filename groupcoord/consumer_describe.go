package groupcoord

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ConsumerGroupDescribe, versions 0 and 1 (KIP-848): v1 tells which members speak
// the classic protocol. A group that does not serve the consumer protocol is
// answered 69, and clients then ask DescribeGroups.
func (c *Coordinator) ConsumerGroupDescribe(_ context.Context, _ Client, req *kmsg.ConsumerGroupDescribeRequest, reply func(*kmsg.ConsumerGroupDescribeResponse)) {
	names := distinct(req.Groups)
	gatherAll(len(names), func(i int, put func(kmsg.ConsumerGroupDescribeResponseGroup)) {
		if names[i] == "" {
			put(notDescribed("", codeInvalidGroupID, "the group id must not be empty"))
			return
		}
		c.submit(names[i], &describeConsumersEvent{names[i], put})
	}, func(groups []kmsg.ConsumerGroupDescribeResponseGroup) {
		resp := req.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
		for i := range groups {
			if req.IncludeAuthorizedOperations && groups[i].ErrorCode == 0 {
				groups[i].AuthorizedOperations = groupOperations
			}
		}
		resp.Groups = groups
		reply(resp)
	})
}

func notDescribed(name string, code int16, message string) kmsg.ConsumerGroupDescribeResponseGroup {
	g := kmsg.NewConsumerGroupDescribeResponseGroup()
	g.Group, g.ErrorCode = name, code
	if message != "" {
		g.ErrorMessage = &message
	}
	return g
}

type describeConsumersEvent struct {
	name  string
	reply func(kmsg.ConsumerGroupDescribeResponseGroup)
}

func (e *describeConsumersEvent) loading() int16 { return codeLoading }

func (e *describeConsumersEvent) refuse(code int16) { e.reply(notDescribed(e.name, code, "")) }

func (e *describeConsumersEvent) apply(g *group) {
	d := notDescribed(e.name, codeGroupIDNotFound, "there is no group "+e.name+" of the consumer protocol")
	if g.exists && g.consumer != nil {
		d = g.describeConsumers()
	}
	g.answer(e, func() { e.reply(d) })
}

func (g *group) describeConsumers() kmsg.ConsumerGroupDescribeResponseGroup {
	c := g.consumer
	d := kmsg.NewConsumerGroupDescribeResponseGroup()
	d.Group, d.State = g.name, g.state.String()
	d.Epoch, d.AssignmentEpoch = c.epoch, c.targetEpoch
	d.AssignorName = c.assignor()
	for _, m := range c.list {
		d.Members = append(d.Members, c.describe(m))
	}
	return d
}

// The member types of ConsumerGroupDescribe.
const (
	memberTypeClassic  = 0
	memberTypeConsumer = 1
)

func (c *consumerGroup) describe(m *consumerMember) kmsg.ConsumerGroupDescribeResponseGroupMember {
	d := kmsg.NewConsumerGroupDescribeResponseGroupMember()
	d.MemberID, d.InstanceID, d.RackID = m.id, m.instance, m.rack
	d.MemberEpoch = m.epoch
	d.ClientID, d.ClientHost = m.client.ID, m.client.Host
	d.SubscribedTopics = m.topics
	d.SubscribedTopicRegex = kmsg.StringPtr(m.pattern) // empty where there is none, never null, as in Kafka
	d.Assignment, d.TargetAssignment = c.describePartitions(m.assigned), c.describePartitions(m.target)
	d.MemberType = memberTypeConsumer
	if m.classic != nil {
		d.MemberType = memberTypeClassic
	}
	return d
}

func (c *consumerGroup) describePartitions(set partitionSet) kmsg.Assignment {
	a := kmsg.NewAssignment()
	for _, t := range set.byTopic() {
		topic := kmsg.NewAssignmentTopicPartition()
		topic.TopicID, topic.Topic, topic.Partitions = t.topic, c.names[t.topic], t.partitions
		a.TopicPartitions = append(a.TopicPartitions, topic)
	}
	return a
}
