package oracle

import (
	"encoding/base64"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// pulse is what members of the consumer protocol (KIP-848) send.
type pulse = kmsg.ConsumerGroupHeartbeatRequest

// Pulse sends a ConsumerGroupHeartbeat (KIP-848), which edit may change; id and
// epoch are taken over from the answer. The first one joins: its epoch is 0, it
// names the topics and owns nothing.
func (m *Member) Pulse(label string, edit ...func(*pulse)) *kmsg.ConsumerGroupHeartbeatResponse {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.InstanceID = 1, m.Group.ID(), m.InstanceID
	if m.ID == "" {
		id := uuid.New()
		m.adopt(base64.RawURLEncoding.EncodeToString(id[:]))
		m.Generation = 0
		req.RebalanceTimeoutMillis = int32(m.Rebalance.Milliseconds())
		req.SubscribedTopicNames = []string{}
		for _, topic := range m.Topics {
			req.SubscribedTopicNames = append(req.SubscribedTopicNames, m.r.Name(topic))
		}
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	req.MemberID, req.MemberEpoch = m.ID, m.Generation
	resp, ok := m.Ask(label, changed(req, edit)).(*kmsg.ConsumerGroupHeartbeatResponse)
	if ok && resp.ErrorCode == 0 {
		m.Generation = resp.MemberEpoch
	}
	return resp
}

// owns is for Pulse: partitions of one topic that the member owns; none is an
// empty list.
func (m *Member) owns(topic string, partitions ...int32) func(*pulse) {
	return func(req *pulse) {
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		if len(partitions) == 0 {
			return
		}
		t := kmsg.NewConsumerGroupHeartbeatRequestTopic()
		t.TopicID, t.Partitions = m.r.TopicID(topic), partitions
		req.Topics = append(req.Topics, t)
	}
}

// pulseUntil sends heartbeats until the answer has an assignment, and writes
// that one down.
func (m *Member) pulseUntil(label string, edit ...func(*pulse)) {
	var answer *kmsg.ConsumerGroupHeartbeatResponse
	m.r.Eventually(label, func() bool {
		answer = m.Pulse("", edit...)
		return answer == nil || answer.ErrorCode != 0 || answer.Assignment != nil
	})
	if answer == nil {
		m.r.Fatalf("%s: the connection was closed", label)
	}
	if label != "" {
		m.r.step(label, m.r.describe(m.name, answer, 0))
	}
}

// subscribable is Topic, and waits until groups of the consumer protocol know the
// topic: a broker tells its coordinator after it has told its clients.
func (r *Run) subscribable(topic string, partitions int) {
	r.Topic(topic, partitions)
	r.knownToGroups(topic)
}

func filledSubscribable(r *Run, topic string, partitions int) {
	filled(r, topic, partitions)
	r.knownToGroups(topic)
}

func (r *Run) knownToGroups(topic string) {
	probe := r.Group("probe-"+topic).Member("probe-"+topic, topic)
	r.Eventually("partitions of "+topic+" to be given to a group", func() bool {
		answer := probe.Pulse("")
		return answer != nil && answer.Assignment != nil && len(answer.Assignment.Topics) > 0
	})
	probe.Generation = -1
	probe.Pulse("")
	r.Group("probe-" + topic).Delete("")
}

// describeConsumer asks with ConsumerGroupDescribe.
func (g *Group) describeConsumer(label string) {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Version, req.Groups = 1, []string{g.ID()}
	g.admin.Ask(label, req)
}

// awaitTopics sends a heartbeat, which edit changes, and more of them until the
// member is assigned partitions of so many topics. A broker looks for the topics
// of a pattern after it has answered, so how many heartbeats it takes is no
// matter.
func (m *Member) awaitTopics(label string, topics int, edit func(*pulse)) {
	answer := m.Pulse("", edit)
	m.r.Eventually(label, func() bool {
		if answer == nil || answer.ErrorCode != 0 {
			m.r.Fatalf("%s: %+v", label, answer)
		}
		if answer.Assignment != nil && len(answer.Assignment.Topics) == topics {
			return true
		}
		answer = m.Pulse("")
		return false
	})
	m.r.Note(label, "%d", topics)
}
