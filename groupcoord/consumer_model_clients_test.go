package groupcoord

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// habit is how a client of the consumer protocol tells what it has.
type habit string

const (
	// talkative: says everything whenever it says anything.
	talkative habit = "talkative"
	// terse: says what has changed since it last said it, everything only when it got
	// no answer, and what it has whenever it has taken an assignment over: the Java
	// client.
	terse habit = "terse"
	// silent: terse, and an assignment of what it has already is no news: librdkafka.
	silent habit = "silent"
)

// beatClient is a client of the consumer protocol.
type beatClient struct {
	m        *consumerModel
	name     string
	instance *string
	habit    habit
	patience time.Duration // for taking over: its rebalance timeout
	lives    int

	id       string
	epoch    int32
	topics   []string
	owned    partitionSet // what it uses
	assigned partitionSet // what it was told to have
	told     int          // assignments
	waiting  bool
	late     func() // on its way

	taking      partitionSet // what it is about to take over; nil: nothing
	takingTold  int
	takingSince time.Time
	taken       int // the last assignment taken over

	unsure     bool // it does not know what became of its last request
	saidTopics []string
	saidOwned  partitionSet
	saidTaken  int
}

func newBeatClient(m *consumerModel, name string, instance *string) *beatClient {
	c := &beatClient{m: m, name: name, instance: instance, topics: []string{"a"}}
	c.habit = rapid.SampledFrom([]habit{talkative, terse, silent}).Draw(m.t, "habit")
	c.patience = rapid.SampledFrom([]time.Duration{5 * time.Second, consumerModelRebalance}).Draw(m.t, "patience")
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
	c.epoch, c.owned, c.assigned, c.taking = 0, partitionSet{}, partitionSet{}, nil
	c.taken = c.told
}

func (c *beatClient) memberID() string { return c.id }

func (c *beatClient) owns() partitionSet { return c.owned }

func (c *beatClient) committer() (string, int32) { return c.id, max(c.epoch, 0) }

func (c *beatClient) subscribe(topics []string) { c.topics = topics }

func (c *beatClient) crash() { c.reborn() }

func (c *beatClient) request() *kmsg.ConsumerGroupHeartbeatRequest {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch, req.InstanceID = 1, "g", c.id, c.epoch, c.instance
	subscribes := !slices.Equal(c.topics, c.saidTopics)
	reports := !c.owned.equal(c.saidOwned) || c.taken != c.saidTaken
	full := c.epoch == 0 || c.unsure ||
		c.habit == talkative && (subscribes || reports || !c.owned.equal(c.assigned))
	if full {
		req.RebalanceTimeoutMillis = int32(c.patience.Milliseconds())
	}
	if full || subscribes {
		req.SubscribedTopicNames = c.topics
	}
	if full || reports {
		req.Topics = ownedTopics(texts(c.owned))
	}
	return req
}

func (c *beatClient) step(f fate) {
	if c.waiting {
		return
	}
	req := c.request()
	if r := checkBeat(req); r != nil {
		c.m.t.Fatalf("request of the model: %s", r.message)
	}
	c.waiting = true
	life, taken, owned := c.lives, c.taken, texts(c.owned)
	arrived := func(resp *kmsg.ConsumerGroupHeartbeatResponse) {
		if life != c.lives {
			return // an answer to a former process
		}
		c.waiting = false
		c.took(req, resp, taken)
	}
	handle := func() {
		answered, doubts := c.m.once(), c.m.doubts()
		c.m.handle(&beatEvent{req: req, id: req.MemberID, reply: func(resp *kmsg.ConsumerGroupHeartbeatResponse) {
			answered()
			c.m.t.Logf("%s at %d, has %v, said %v, %s: %d, epoch %d, assigned %v, %s",
				req.MemberID, req.MemberEpoch, owned, req.Topics != nil, c.habit, resp.ErrorCode, resp.MemberEpoch, resp.Assignment, f)
			switch {
			case life != c.lives:
			case f == lostAnswer:
				c.m.reached["lost answer"]++
				arrived(nil)
			case f == lateAnswer:
				c.m.reached["late"]++
				c.late = func() { arrived(resp) }
			default:
				arrived(resp)
			}
		}})
		if req.Topics == nil && c.m.doubts() < doubts {
			c.m.reached["doubt ends in time"]++
		}
	}
	switch f {
	case lostRequest:
		c.m.reached["lost request"]++
		arrived(nil)
	case lateRequest:
		c.m.reached["late"]++
		c.late = handle
	default:
		handle()
	}
}

func (c *beatClient) arrive() {
	if late := c.late; late != nil {
		c.late = nil
		late()
	}
}

// took does what an answer says, nil if there was none. taken is the assignment that
// was taken over last before the request.
func (c *beatClient) took(req *kmsg.ConsumerGroupHeartbeatRequest, resp *kmsg.ConsumerGroupHeartbeatResponse, taken int) {
	c.unsure = resp == nil || resp.ErrorCode != 0
	if resp == nil {
		return
	}
	switch resp.ErrorCode {
	case 0:
	case codeFencedMemberEpoch, codeUnknownMember:
		if c.epoch > 0 {
			c.m.reached["fenced"]++
		}
		c.reset()
		return
	case codeNotCoordinator, codeLoading, codeUnreleasedInstance:
		return // and tries again
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
	if req.SubscribedTopicNames != nil {
		c.saidTopics = req.SubscribedTopicNames
	}
	if req.Topics != nil {
		c.saidOwned, c.saidTaken = (&beatEvent{req: req}).owned(), taken
	}
	if resp.Assignment == nil {
		return
	}
	assigned := make(partitionSet)
	for _, t := range resp.Assignment.Topics {
		for _, p := range t.Partitions {
			assigned.add(partitionID{t.TopicID, p})
		}
	}
	c.assigned = assigned
	c.told++
}

// begin starts to take over what the client was told to have. It will finish that,
// whatever it is told meanwhile.
func (c *beatClient) begin() {
	news := c.told != c.taken
	if c.habit != terse {
		news = !c.owned.equal(c.assigned)
	}
	if c.epoch > 0 && c.taking == nil && news {
		c.taking, c.takingTold, c.takingSince = maps.Clone(c.assigned), c.told, c.m.now
	}
}

// adopt gives up and takes over, and tells the group with the next request. A client
// that took too long for it leaves.
func (c *beatClient) adopt() {
	c.begin()
	if c.taking == nil {
		return
	}
	if c.m.now.Sub(c.takingSince) >= c.patience {
		c.m.reached["too slow"]++
		c.leave(true)
		return
	}
	c.m.reached["adopted"]++
	c.owned, c.taken, c.taking = c.taking, c.takingTold, nil
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

func (c *joinClient) arrive() {}

func (c *joinClient) begin() {}

func (c *joinClient) step(f fate) {
	lost := f == lostAnswer || f == lostRequest
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
	// What it was given before and has not taken over it never will: clients join when
	// they are through with an assignment, or drop it (the Java client takes it over in
	// the same call, franz-go counts it as owned at once, librdkafka waits for the
	// application). They must: whoever leads goes by what the join says.
	c.joins, c.synced = true, false
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
