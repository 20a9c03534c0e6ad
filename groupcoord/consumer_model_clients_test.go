package groupcoord

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// beatClient is a client of the consumer protocol.
type beatClient struct {
	m        *consumerModel
	name     string
	instance *string
	lives    int

	id       string
	epoch    int32
	topics   []string
	owned    partitionSet // what it uses
	assigned partitionSet // what it was told to have
	say      bool         // the next request has to be a full one
	waiting  bool
}

func newBeatClient(m *consumerModel, name string, instance *string) *beatClient {
	c := &beatClient{m: m, name: name, instance: instance, topics: []string{"a"}}
	c.reborn()
	return c
}

// reborn is a new process, with an id of its own.
func (c *beatClient) reborn() {
	c.lives++
	c.id = fmt.Sprintf("%s-%d", c.name, c.lives)
	c.reset()
	c.waiting = false
}

// reset is what a client does that was fenced.
func (c *beatClient) reset() {
	c.epoch, c.owned, c.assigned, c.say = 0, partitionSet{}, partitionSet{}, true
}

func (c *beatClient) memberID() string { return c.id }

func (c *beatClient) owns() partitionSet { return c.owned }

func (c *beatClient) committer() (string, int32) { return c.id, max(c.epoch, 0) }

func (c *beatClient) subscribe(topics []string) { c.topics, c.say = topics, true }

func (c *beatClient) crash() { c.reborn() }

func (c *beatClient) request() *kmsg.ConsumerGroupHeartbeatRequest {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch, req.InstanceID = 1, "g", c.id, c.epoch, c.instance
	if !c.say && c.epoch > 0 {
		return req
	}
	req.RebalanceTimeoutMillis = int32(consumerModelRebalance.Milliseconds())
	req.SubscribedTopicNames = c.topics
	req.Topics = ownedTopics(texts(c.owned))
	return req
}

func (c *beatClient) step(lost bool) {
	if c.waiting {
		return
	}
	req := c.request()
	c.waiting = true
	life := c.lives
	if r := checkBeat(req); r != nil {
		c.m.t.Fatalf("request of the model: %s", r.message)
	}
	answered := c.m.once()
	c.m.handle(&beatEvent{req: req, id: req.MemberID, reply: func(resp *kmsg.ConsumerGroupHeartbeatResponse) {
		answered()
		c.m.t.Logf("%s at %d, has %v: %d, epoch %d, assigned %v, lost %v",
			req.MemberID, req.MemberEpoch, texts(c.owned), resp.ErrorCode, resp.MemberEpoch, resp.Assignment, lost)
		if life != c.lives {
			return
		}
		c.waiting = false
		if lost {
			c.m.reached["lost answer"]++
			c.say = true
			return
		}
		c.took(req, resp)
	}})
}

func (c *beatClient) took(req *kmsg.ConsumerGroupHeartbeatRequest, resp *kmsg.ConsumerGroupHeartbeatResponse) {
	switch resp.ErrorCode {
	case 0:
	case codeFencedMemberEpoch, codeUnknownMember:
		if c.epoch > 0 {
			c.m.reached["fenced"]++
		}
		c.reset()
		return
	case codeNotCoordinator, codeLoading, codeUnreleasedInstance:
		c.say = true // and tries again
		return
	case codeFencedInstance:
		c.reborn() // in truth it ends
		return
	default:
		c.m.t.Fatalf("heartbeat of %s: %d %s", c.id, resp.ErrorCode, text(resp.ErrorMessage))
	}
	if req.MemberEpoch == 0 {
		c.m.reached["joined"]++
		if c.instance != nil && resp.Assignment != nil && len(resp.Assignment.Topics) > 0 && c.lives > 1 {
			c.m.reached["static return"]++
		}
	}
	c.epoch = resp.MemberEpoch
	c.say = false
	if resp.Assignment == nil {
		return
	}
	c.assigned = make(partitionSet)
	for _, t := range resp.Assignment.Topics {
		for _, p := range t.Partitions {
			c.assigned.add(partitionID{t.TopicID, p})
		}
	}
	c.say = !c.assigned.equal(c.owned)
}

// adopt gives up and takes over, and tells the group with the next request.
func (c *beatClient) adopt() {
	if c.epoch > 0 && !c.owned.equal(c.assigned) {
		c.m.reached["adopted"]++
		c.owned, c.say = maps.Clone(c.assigned), true
	}
}

// leave ends the process; a static one may return.
func (c *beatClient) leave(forGood bool) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID, req.MemberEpoch = 1, "g", c.id, c.instance, leftForGood
	if c.instance != nil && !forGood {
		req.MemberEpoch = leftForAWhile
	}
	c.reborn() // it uses nothing any more before it says so
	answered := c.m.once()
	c.m.handle(&beatEvent{req: req, id: req.MemberID, reply: func(*kmsg.ConsumerGroupHeartbeatResponse) { answered() }})
}

// joinClient is a classic consumer, eager or cooperative.
type joinClient struct {
	m           *consumerModel
	name        string
	cooperative bool
	lives       int

	id         string
	generation int32
	topics     []string
	owned      partitionSet
	assigned   partitionSet
	synced     bool // it knows its assignment
	joins      bool // it has to join
	waiting    bool
	leads      []kmsg.JoinGroupResponseMember
}

func (c *joinClient) memberID() string { return c.id }

func (c *joinClient) owns() partitionSet { return c.owned }

func (c *joinClient) committer() (string, int32) { return c.id, max(c.generation, 0) }

func (c *joinClient) subscribe(topics []string) { c.topics, c.joins = topics, true }

func (c *joinClient) crash() {
	*c = joinClient{m: c.m, name: c.name, cooperative: c.cooperative, lives: c.lives + 1}
}

func (c *joinClient) leave(bool) {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version, req.Group = 3, "g"
	req.Members = []kmsg.LeaveGroupRequestMember{{MemberID: c.id}}
	c.crash()
	answered := c.m.once()
	c.m.handle(&leaveEvent{req, func(*kmsg.LeaveGroupResponse) { answered() }})
}

func (c *joinClient) step(lost bool) {
	switch {
	case c.waiting:
	case c.id == "" || c.joins || c.generation < 0:
		c.join(lost)
	case !c.synced:
		c.sync(lost)
	default:
		c.heartbeat(lost)
	}
}

// metadata is the subscription with what the client has.
func (c *joinClient) metadata() []byte {
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Version, meta.Topics = 1, c.topics
	if len(c.topics) == 0 {
		meta.Topics = []string{"a", "b"}
	}
	for _, t := range c.owned.byTopic() {
		o := kmsg.NewConsumerMemberMetadataOwnedPartition()
		o.Topic, o.Partitions = topicText(t.topic), t.partitions
		meta.OwnedPartitions = append(meta.OwnedPartitions, o)
	}
	return meta.AppendTo(nil)
}

// request counts the answer; took gets it unless it is lost or for a former process.
func (c *joinClient) request(lost bool, took func()) (answered func(then func())) {
	c.waiting = true
	life, once := c.lives, c.m.once()
	return func(then func()) {
		once()
		if life != c.lives {
			return
		}
		c.waiting = false
		if lost {
			c.m.reached["lost answer"]++
			took()
			return
		}
		then()
	}
}

func (c *joinClient) join(lost bool) {
	if !c.cooperative {
		c.owned, c.assigned = nil, nil // eager: gives up everything first
	}
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version, req.Group, req.MemberID, req.ProtocolType = 5, "g", c.id, consumerType
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, int32(consumerModelRebalance.Milliseconds())
	req.Protocols = offersWith(string(c.metadata()), "range")
	c.joins = true
	answered := c.request(lost, func() {})
	c.m.handle(&joinEvent{Client{ID: c.name}, req, func(resp *kmsg.JoinGroupResponse) {
		c.m.t.Logf("%s joins, has %v: %d, generation %d, %d members, lost %v",
			c.id, texts(c.owned), resp.ErrorCode, resp.Generation, len(resp.Members), lost)
		answered(func() { c.joined(resp) })
	}})
}

func (c *joinClient) joined(resp *kmsg.JoinGroupResponse) {
	switch resp.ErrorCode {
	case 0:
		c.m.reached["joined"]++
		c.id, c.generation, c.leads = resp.MemberID, resp.Generation, resp.Members
		c.joins, c.synced = false, false
	case codeMemberIDRequired:
		c.id = resp.MemberID
	case codeUnknownMember:
		c.reset()
	case codeRebalanceInProgress, codeNotCoordinator:
	default:
		c.m.t.Fatalf("join of %s: %d", c.name, resp.ErrorCode)
	}
}

func (c *joinClient) reset() {
	c.id, c.generation, c.owned, c.assigned, c.joins, c.synced = "", -1, nil, nil, true, false
}

func (c *joinClient) sync(lost bool) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version, req.Group, req.MemberID, req.Generation = 5, "g", c.id, c.generation
	req.GroupAssignment = c.assignments()
	answered := c.request(lost, func() { c.joins = true })
	c.m.handle(&syncEvent{req, func(resp *kmsg.SyncGroupResponse) {
		c.m.t.Logf("%s syncs at %d: %d, %q, lost %v", c.id, c.generation, resp.ErrorCode, resp.MemberAssignment, lost)
		answered(func() { c.took(resp) })
	}})
}

func (c *joinClient) took(resp *kmsg.SyncGroupResponse) {
	switch resp.ErrorCode {
	case 0:
		set, err := assignedPartitions(resp.MemberAssignment, c.m.everyTopic())
		if err != nil {
			c.m.t.Fatalf("assignment of %s: %v", c.name, err)
		}
		c.assigned, c.synced = set, true
	case codeUnknownMember, codeIllegalGeneration:
		c.reset()
	default:
		c.joins = true
	}
}

// everyTopic has enough partitions for every assignment there can be.
func (m *consumerModel) everyTopic() map[string]Topic {
	topics := make(map[string]Topic)
	for _, name := range []string{"a", "b", "later"} {
		topics[name] = Topic{name, topicNamed(name), 100}
	}
	return topics
}

// assignments are those of a leader: by range, and nothing that somebody else still
// has.
func (c *joinClient) assignments() []kmsg.SyncGroupRequestGroupAssignment {
	counts, names := make(map[topicID]int32), make(map[topicID]string)
	for _, t := range c.m.topics.topics {
		counts[t.ID], names[t.ID] = t.Partitions, t.Name
	}
	var members []subscriber
	has := make(map[partitionID]string)
	for _, m := range c.leads {
		s, err := readSubscription(m.ProtocolMetadata)
		if err != nil {
			c.m.t.Fatalf("metadata: %v", err)
		}
		member := subscriber{id: m.MemberID}
		for _, name := range s.Topics {
			if _, ok := counts[topicNamed(name)]; ok {
				member.topics = append(member.topics, topicNamed(name))
			}
		}
		slices.SortFunc(member.topics, compareTopics)
		members = append(members, member)
		for p := range ownedByName(s, c.m.everyTopic()) {
			has[p] = m.MemberID
		}
	}
	var list []kmsg.SyncGroupRequestGroupAssignment
	for id, set := range assignRange(members, counts) {
		for p := range set {
			if owner := has[p]; owner != "" && owner != id {
				delete(set, p)
			}
		}
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = id, writeAssignment(set, names, 1)
		list = append(list, a)
	}
	return list
}

func (c *joinClient) heartbeat(lost bool) {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = "g", c.id, c.generation
	answered := c.request(lost, func() {})
	c.m.handle(&heartbeatEvent{req, func(resp *kmsg.HeartbeatResponse) {
		answered(func() {
			switch resp.ErrorCode {
			case 0, codeNotCoordinator:
			case codeRebalanceInProgress:
				c.joins = true
			default:
				c.m.reached["fenced"]++
				c.reset()
			}
		})
	}})
}

// adopt uses what it was given. A cooperative client that gave something up joins
// again.
func (c *joinClient) adopt() {
	if !c.synced || c.owned.equal(c.assigned) {
		return
	}
	c.m.reached["adopted"]++
	if !c.owned.within(c.assigned) {
		c.joins = true
	}
	c.owned = maps.Clone(c.assigned)
}
