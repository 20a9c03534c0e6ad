package groupcoord

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ConsumerGroupHeartbeat, versions 0 and 1 (KIP-848): v1 subscriptions by pattern
// and member ids that the client makes. Epoch 0 joins, -1 leaves, and -2 is a
// static member that leaves and will return.
func (c *Coordinator) ConsumerGroupHeartbeat(_ context.Context, client Client, req *kmsg.ConsumerGroupHeartbeatRequest, reply func(*kmsg.ConsumerGroupHeartbeatResponse)) {
	e := &beatEvent{client: client, req: req, reply: reply, id: req.MemberID}
	if r := checkBeat(req); r != nil {
		e.decline(r)
		return
	}
	if e.id == "" {
		e.id = uuid.NewString()
	}
	c.submit(req.Group, e)
}

type beatEvent struct {
	client Client
	req    *kmsg.ConsumerGroupHeartbeatRequest
	reply  func(*kmsg.ConsumerGroupHeartbeatResponse)
	id     string // of the member; made here for a client of v0 that joins
}

// refusal is an error with the reason that clients print.
type refusal struct {
	code    int16
	message string
}

func (e *beatEvent) loading() int16 { return codeLoading }

func (e *beatEvent) refuse(code int16) { e.decline(&refusal{code: code}) }

func (e *beatEvent) decline(r *refusal) {
	resp := e.response()
	resp.ErrorCode = r.code
	if r.message != "" {
		resp.ErrorMessage = &r.message
	}
	e.reply(resp)
}

func (e *beatEvent) response() *kmsg.ConsumerGroupHeartbeatResponse {
	return e.req.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
}

func (e *beatEvent) joins() bool { return e.req.MemberEpoch == 0 }

// full reports whether the request says everything of the member, as clients do
// when they join or do not know what became of the last one.
func (e *beatEvent) full() bool {
	r := e.req
	return e.joins() || r.RebalanceTimeoutMillis != -1 && r.Topics != nil &&
		(r.SubscribedTopicNames != nil || r.SubscribedTopicRegex != nil)
}

// owned is what the client says it has, nil if it does not say.
func (e *beatEvent) owned() partitionSet {
	if e.req.Topics == nil {
		return nil
	}
	set := make(partitionSet)
	for _, t := range e.req.Topics {
		for _, p := range t.Partitions {
			set.add(partitionID{t.TopicID, p})
		}
	}
	return set
}

// checkBeat checks what does not depend on the group.
func checkBeat(r *kmsg.ConsumerGroupHeartbeatRequest) *refusal {
	invalid := func(message string) *refusal { return &refusal{codeInvalidRequest, message} }
	isEmpty := func(s *string) bool { return s != nil && *s == "" }
	switch {
	case r.MemberID == "" && (r.Version >= 1 || r.MemberEpoch > 0 || r.MemberEpoch == leftForGood):
		return invalid("the member id must not be empty")
	case r.Group == "":
		return invalid("the group id must not be empty")
	case isEmpty(r.InstanceID):
		return invalid("the instance id must not be empty")
	case isEmpty(r.RackID):
		return invalid("the rack id must not be empty")
	case r.MemberEpoch == 0 && r.RebalanceTimeoutMillis == -1:
		return invalid("a member that joins must tell its rebalance timeout")
	case r.MemberEpoch == 0 && (r.Topics == nil || len(r.Topics) > 0):
		return invalid("a member that joins must own no partitions, and say so")
	case r.MemberEpoch == 0 && r.SubscribedTopicNames == nil && r.SubscribedTopicRegex == nil:
		return invalid("a member that joins must subscribe to topics, by name or by pattern")
	case r.MemberEpoch == leftForAWhile && r.InstanceID == nil:
		return invalid("only a static member, with an instance id, can leave with epoch -2")
	case r.MemberEpoch < leftForAWhile:
		return invalid("the member epoch must be -2 or more")
	}
	return checkChoices(r)
}

// checkChoices checks what the client asks for by name.
func checkChoices(r *kmsg.ConsumerGroupHeartbeatRequest) *refusal {
	if r.ServerAssignor != nil && !slices.Contains(assignorNames, *r.ServerAssignor) {
		return &refusal{codeUnsupportedAssignor, "assignor " + *r.ServerAssignor + " is not known; there are uniform and range"}
	}
	if pattern := r.SubscribedTopicRegex; pattern != nil && *pattern != "" {
		if _, err := compilePattern(*pattern); err != nil {
			return &refusal{codeInvalidRegex, err.Error()}
		}
	}
	return nil
}

func (e *beatEvent) apply(g *group) {
	g.afterLookup(e, e.id, func() interests { return g.beatInterests(e) }, func(looked bool) {
		if r := g.beat(e, looked); r != nil {
			g.answer(e, func() { e.decline(r) })
		}
	})
}

// beatInterests are the topics that have to be looked up for a heartbeat: those of
// a subscription that is new to the group.
func (g *group) beatInterests(e *beatEvent) interests {
	needs := newInterests()
	if e.req.MemberEpoch < 0 {
		return needs
	}
	var m *consumerMember
	if g.consumer != nil {
		m = g.consumer.byID[e.id]
	}
	if m == nil && !e.joins() {
		return needs
	}
	topics, pattern := e.subscription(m)
	if e.joins() || !slices.Equal(topics, m.topics) || pattern != m.pattern {
		needs.add(topics, pattern)
	}
	if g.consumer == nil && g.state != empty {
		needs.addAll(g.classicInterests())
	}
	return needs
}

// subscription is what the member, nil if it is new, subscribes to from now on.
func (e *beatEvent) subscription(m *consumerMember) (topics []string, pattern string) {
	if m != nil {
		topics, pattern = m.topics, m.pattern
	}
	if e.req.SubscribedTopicNames != nil {
		topics = sortedNames(e.req.SubscribedTopicNames)
	}
	if e.req.SubscribedTopicRegex != nil {
		pattern = *e.req.SubscribedTopicRegex
	}
	return topics, pattern
}

func sortedNames(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

// beat handles a heartbeat whose topics were looked up, or could not be.
func (g *group) beat(e *beatEvent, looked bool) *refusal {
	if e.req.MemberEpoch < 0 {
		return g.consumerLeave(e)
	}
	if e.joins() && !g.cfg.room.has(e.grows(g)) {
		return noRoom
	}
	if r := g.makeConsumer(e, looked); r != nil {
		return r
	}
	m, r := g.consumerMemberFor(e)
	if r != nil { // before anything else: a member that was removed must learn of it
		return r
	}
	if !e.joins() && !g.cfg.room.has(e.grows(g)) {
		g.touchConsumer(m) // it stays, with the subscription that it had
		return noRoom
	}
	changed := g.updateConsumer(m, e)
	had := m.assigned
	g.retarget()
	if g.reconcile(m, e.report(m)) || changed {
		g.consumerChanged("heartbeat of " + m.id)
	}
	g.touchConsumer(m)
	g.answerBeat(e, m, e.full() || !m.assigned.equal(had))
	return nil
}

// makeConsumer makes sure that the group serves the consumer protocol and that the
// member fits in.
//
// Apache Kafka answers 69 where the group is not known. Here that is the group of a
// gateway that was started again, and 25 is what makes every client join anew.
func (g *group) makeConsumer(e *beatEvent, looked bool) *refusal {
	switch {
	case g.consumer != nil:
		if !g.consumerHasRoom(e.id, e.req.InstanceID) {
			return &refusal{codeGroupMaxSizeReached, "the group is full"}
		}
		return nil
	case !e.joins():
		return &refusal{codeUnknownMember, "the group has no such member"}
	case g.state != empty:
		return g.upgrade(e, looked)
	default:
		g.beginConsumer()
		return nil
	}
}

// consumerHasRoom reports whether the group may have the member. A static member
// that returns takes its own place.
func (g *group) consumerHasRoom(id string, instance *string) bool {
	c, limit := g.consumer, g.cfg.MaxGroupSize
	return limit == 0 || c.len() < limit || c.byID[id] != nil || instance != nil && c.instances[*instance] != nil
}

// updateConsumer takes over what the request says of the member, and raises the
// group's epoch if the subscription is another one.
func (g *group) updateConsumer(m *consumerMember, e *beatEvent) (changed bool) {
	before := *m
	r := e.req
	if r.InstanceID != nil {
		m.instance = r.InstanceID
	}
	if r.RackID != nil {
		m.rack = r.RackID
	}
	if r.RebalanceTimeoutMillis != -1 {
		m.rebalance = max(millis(r.RebalanceTimeoutMillis), 0)
	}
	if r.ServerAssignor != nil {
		m.assignor = *r.ServerAssignor
	}
	m.client = e.client
	m.classic, m.rejoinBy, m.syncBy = nil, noDeadline, noDeadline
	m.topics, m.pattern = e.subscription(m)
	return g.resubscribed(m, before)
}

// resubscribed raises the group's epoch if the member's subscription has changed,
// and reports whether anything of it has.
func (g *group) resubscribed(m *consumerMember, before consumerMember) (changed bool) {
	c := g.consumer
	if !slices.Equal(m.topics, before.topics) || m.pattern != before.pattern || c.targetEpoch == 0 {
		c.epoch++
		changed = true
	}
	return changed || m.client != before.client || m.rebalance != before.rebalance || m.assignor != before.assignor ||
		m.classic != before.classic || !sameText(m.rack, before.rack) || !sameText(m.instance, before.instance)
}

// sameText compares texts that may be null.
func sameText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// answerBeat tells the member its epoch, and its assignment if it has to know.
func (g *group) answerBeat(e *beatEvent, m *consumerMember, assignment bool) {
	resp := e.response()
	resp.MemberID = kmsg.StringPtr(m.id)
	resp.MemberEpoch = m.epoch
	resp.HeartbeatIntervalMillis = int32(g.cfg.ConsumerHeartbeatInterval.Milliseconds())
	if assignment {
		a := kmsg.NewConsumerGroupHeartbeatResponseAssignment()
		for _, t := range m.assigned.byTopic() {
			topic := kmsg.NewConsumerGroupHeartbeatResponseAssignmentTopic()
			topic.TopicID, topic.Partitions = t.topic, t.partitions
			a.Topics = append(a.Topics, topic)
		}
		resp.Assignment = &a
	}
	g.answer(e, func() { e.reply(resp) })
}
