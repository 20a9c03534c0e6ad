package groupcoord

import (
	"maps"
	"slices"
	"time"
)

// consumerGroup is what a group is made of while it serves the consumer protocol
// (KIP-848). A change of its members or topics raises the epoch; the next heartbeat
// computes the target for it, and each member is led there by its own heartbeats.
//
// A partition belongs to the member to which it is assigned until it is certain that
// this one has given it up, or will not take it over, or is fenced; only then another
// one gets it.
type consumerGroup struct {
	epoch       int32
	targetEpoch int32 // the epoch for which the targets of the members were computed
	list        []*consumerMember
	byID        map[string]*consumerMember
	instances   map[string]*consumerMember
	owners      map[partitionID]*consumerMember
	names       map[topicID]string // of all topics in assignments and targets
}

// memberState tells where a member is on the way to its target.
type memberState int8

const (
	memberStable     memberState = iota // it has all that it was told to have at its epoch
	memberRevoking                      // it has to give partitions up first
	memberUnreleased                    // others have not given up what it is to get
)

// consumerMember is a member of a group that serves the consumer protocol.
type consumerMember struct {
	id        string
	instance  *string
	rack      *string
	client    Client
	rebalance time.Duration
	assignor  string   // which it asks for, "": none
	topics    []string // names it subscribes to, sorted
	pattern   string   // and a pattern, "": none
	classic   *classicSide

	epoch    int32
	previous int32 // epoch before the last change
	state    memberState
	holding
	untaken partitionSet // of assigned and revoking: it has not reported them so far
	latest  partitionSet // of untaken: it got them last, and cannot have them from before
	target  partitionSet

	expires    time.Time // end of the session; zero while it waits for us
	revokeBy   time.Time // end of the time to give up revoking
	doubtUntil time.Time // end of the time to take doubtful ones over; zero while it may not know
	overdue    bool      // there was a heartbeat after that
	rejoinBy   time.Time // of a classic member that was told to rejoin
	syncBy     time.Time // of a classic member that has not yet fetched its assignment
}

// classicSide is what a member of the classic protocol has more.
type classicSide struct {
	session   time.Duration
	protocols []protocol
}

// leftForAWhile is the epoch with which a static member leaves that will return,
// and the one it has until then.
const leftForAWhile = -2

// leftForGood is the epoch with which a member leaves.
const leftForGood = -1

func newConsumerGroup() *consumerGroup {
	return &consumerGroup{
		byID:      make(map[string]*consumerMember),
		instances: make(map[string]*consumerMember),
		owners:    make(map[partitionID]*consumerMember),
		names:     make(map[topicID]string),
	}
}

// servesConsumers reports whether there are members of the consumer protocol, or
// classic ones beside them.
func (g *group) servesConsumers() bool { return g.consumer != nil && g.consumer.len() > 0 }

// beginConsumer makes an empty group one of the consumer protocol.
func (g *group) beginConsumer() *consumerGroup {
	g.exists = true
	g.consumer = newConsumerGroup()
	g.consumer.epoch = 1 // the first member makes it 2, as in Apache Kafka
	g.protocolType, g.generation = consumerType, 0
	return g.consumer
}

// endConsumer makes an empty group a classic one, as if it were new.
func (g *group) endConsumer() {
	g.consumer = nil
	g.protocolType, g.generation = "", 0
	g.lookupAt = time.Time{}
}

func (c *consumerGroup) len() int { return len(c.list) }

func (c *consumerGroup) add(m *consumerMember) {
	c.list = append(c.list, m)
	c.byID[m.id] = m
	if m.instance != nil {
		c.instances[*m.instance] = m
	}
}

// remove takes a member out; its partitions are free from now on.
func (c *consumerGroup) remove(m *consumerMember) {
	c.own(m, holding{})
	c.list = slices.DeleteFunc(c.list, func(o *consumerMember) bool { return o == m })
	delete(c.byID, m.id)
	if m.instance != nil {
		delete(c.instances, *m.instance)
	}
}

// rename gives a static member that comes back its new id.
func (c *consumerGroup) rename(m *consumerMember, id string) {
	delete(c.byID, m.id)
	m.id = id
	c.byID[id] = m
}

// nameInstance lets an instance id that nobody has lead to a member. The one that
// the member had so far is free then: nothing would remove it with the member.
func (c *consumerGroup) nameInstance(m *consumerMember, instance string) {
	if m.instance != nil {
		delete(c.instances, *m.instance)
	}
	c.instances[instance] = m
}

// own sets what a member has, and keeps the owners.
func (c *consumerGroup) own(m *consumerMember, h holding) {
	for p := range m.all() {
		delete(c.owners, p)
	}
	if len(h.doubtful) == 0 {
		h.since, m.doubtUntil, m.overdue = nil, noDeadline, false
	}
	m.holding = h
	for p := range m.all() {
		c.owners[p] = m
	}
}

// interests are the subscriptions of all members.
func (c *consumerGroup) interests() interests {
	all := newInterests()
	for _, m := range c.list {
		all.add(m.topics, m.pattern)
	}
	return all
}

// allClassic reports whether only members of the classic protocol are left.
func (c *consumerGroup) allClassic() bool {
	return !slices.ContainsFunc(c.list, func(m *consumerMember) bool { return m.classic == nil })
}

// classics are the members of the classic protocol.
func (c *consumerGroup) classics() []*consumerMember {
	return slices.DeleteFunc(slices.Clone(c.list), func(m *consumerMember) bool { return m.classic == nil })
}

// reconciled reports whether a member has what the newest target gives it.
func (c *consumerGroup) reconciled(m *consumerMember) bool {
	return m.state == memberStable && m.epoch == c.targetEpoch
}

// state is that of the group, as ConsumerGroupDescribe shows it.
func (c *consumerGroup) state() state {
	switch {
	case c.len() == 0:
		return empty
	case c.epoch > c.targetEpoch:
		return assigning
	case slices.ContainsFunc(c.list, func(m *consumerMember) bool { return !c.reconciled(m) }):
		return reconciling
	default:
		return stable
	}
}

// consumerChanged notes that something of the group is to be saved.
func (g *group) consumerChanged(reason string) {
	g.changed = true
	c := g.consumer
	s := c.state()
	if s == g.state {
		return
	}
	g.log.Debug().Stringer("from", g.state).Stringer("to", s).Int32("epoch", c.epoch).
		Int("members", c.len()).Str("reason", cut(reason)).Msg("group changed state")
	if s == empty {
		g.refreshAt, g.lookupAt = time.Time{}, time.Time{}
		g.subscribed, g.firstCounts = nil, nil
		g.offsets.forget()
	} else if g.state == empty {
		g.refreshAfter()
		g.lookupLater()
	}
	g.state = s
}

// subscribesTo lists the ids of the existing topics of a member, sorted.
func (v topicView) subscribesTo(m *consumerMember) []topicID {
	ids := make(map[topicID]bool)
	for _, names := range [][]string{m.topics, v.matched[m.pattern]} {
		for _, name := range names {
			if t, ok := v.found[name]; ok {
				ids[t.ID] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(ids), compareTopics)
}
