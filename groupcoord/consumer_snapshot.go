package groupcoord

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// consumerSnapshot is what the next owner of a group of the consumer protocol has
// to know. Who has which partition is part of it: nobody else must get them before
// they are given up.
type consumerSnapshot struct {
	Epoch       int32                    `json:"epoch"`
	TargetEpoch int32                    `json:"target_epoch"`
	Members     []consumerMemberSnapshot `json:"members,omitempty"`
	Topics      []topicSnapshot          `json:"topics,omitempty"`
	Matched     map[string][]string      `json:"matched,omitempty"`
	Names       map[uuid.UUID]string     `json:"names,omitempty"`
}

type topicSnapshot struct {
	Name       string    `json:"name"`
	ID         uuid.UUID `json:"id"`
	Partitions int32     `json:"partitions"`
}

type consumerMemberSnapshot struct {
	ID          string               `json:"id"`
	Instance    *string              `json:"instance,omitempty"`
	Rack        *string              `json:"rack,omitempty"`
	ClientID    string               `json:"client_id"`
	ClientHost  string               `json:"client_host"`
	RebalanceMS int64                `json:"rebalance_ms"`
	Assignor    string               `json:"assignor,omitempty"`
	Topics      []string             `json:"topics,omitempty"`
	Pattern     string               `json:"pattern,omitempty"`
	SessionMS   int64                `json:"session_ms,omitempty"` // of a classic member
	Protocols   []protocol           `json:"protocols,omitempty"`  // likewise
	Epoch       int32                `json:"epoch"`
	Previous    int32                `json:"previous"`
	State       memberState          `json:"state"`
	Assigned    []partitionsSnapshot `json:"assigned,omitempty"`
	Revoking    []partitionsSnapshot `json:"revoking,omitempty"`
	Doubtful    []partitionsSnapshot `json:"doubtful,omitempty"`
	Since       []partitionsSnapshot `json:"since,omitempty"`
	Untaken     []partitionsSnapshot `json:"untaken,omitempty"`
	Latest      []partitionsSnapshot `json:"latest,omitempty"`
	Target      []partitionsSnapshot `json:"target,omitempty"`
}

type partitionsSnapshot struct {
	Topic      uuid.UUID `json:"topic"`
	Partitions []int32   `json:"partitions"`
}

func (g *group) consumerSnapshot() *consumerSnapshot {
	c := g.consumer
	s := &consumerSnapshot{
		Epoch:       c.epoch,
		TargetEpoch: c.targetEpoch,
		Matched:     make(map[string][]string),
		Names:       make(map[uuid.UUID]string, len(c.names)),
	}
	for id, name := range c.names {
		s.Names[id] = name
	}
	matter := c.interests()
	for pattern := range matter.patterns {
		s.Matched[pattern] = g.lookups.view.matched[pattern]
	}
	for _, t := range g.lookups.view.of(matter) {
		s.Topics = append(s.Topics, topicSnapshot{t.Name, t.ID, t.Partitions})
	}
	slices.SortFunc(s.Topics, func(a, b topicSnapshot) int { return strings.Compare(a.Name, b.Name) })
	for _, m := range c.list {
		s.Members = append(s.Members, m.snapshot())
	}
	return s
}

func (m *consumerMember) snapshot() consumerMemberSnapshot {
	s := consumerMemberSnapshot{
		ID:          m.id,
		Instance:    m.instance,
		Rack:        m.rack,
		ClientID:    m.client.ID,
		ClientHost:  m.client.Host,
		RebalanceMS: m.rebalance.Milliseconds(),
		Assignor:    m.assignor,
		Topics:      m.topics,
		Pattern:     m.pattern,
		Epoch:       m.epoch,
		Previous:    m.previous,
		State:       m.state,
		Assigned:    m.assigned.snapshot(),
		Revoking:    m.revoking.snapshot(),
		Doubtful:    m.doubtful.snapshot(),
		Since:       m.since.snapshot(),
		Untaken:     m.untaken.snapshot(),
		Latest:      m.latest.snapshot(),
		Target:      m.target.snapshot(),
	}
	if m.classic != nil {
		s.SessionMS, s.Protocols = m.classic.session.Milliseconds(), m.classic.protocols
	}
	return s
}

func (s partitionSet) snapshot() []partitionsSnapshot {
	var list []partitionsSnapshot
	for _, t := range s.byTopic() {
		list = append(list, partitionsSnapshot{t.topic, t.partitions})
	}
	return list
}

// restoreConsumer makes the members of a snapshot. Its time starts anew, and the
// topics are looked up at once: they may have changed meanwhile.
func (g *group) restoreConsumer(s *consumerSnapshot) {
	c := newConsumerGroup()
	c.epoch, c.targetEpoch = s.Epoch, s.TargetEpoch
	g.consumer = c
	view := topicView{found: make(map[string]Topic, len(s.Topics)), matched: s.Matched}
	for _, t := range s.Topics {
		view.found[t.Name] = Topic{t.Name, t.ID, t.Partitions}
	}
	g.lookups.view = view
	for id, name := range s.Names {
		c.names[id] = name
	}
	for _, m := range s.Members {
		g.restoreConsumerMember(m)
	}
	if c.len() > 0 {
		g.subscribed = make(map[string]bool, len(g.firstCounts))
		for topic := range g.firstCounts { // kept for each topic of the last target
			g.subscribed[topic] = true
		}
		g.lookupAt = g.now
		g.wakeAt(g.lookupAt)
	}
}

func (g *group) restoreConsumerMember(s consumerMemberSnapshot) {
	m := &consumerMember{
		id:        s.ID,
		instance:  s.Instance,
		rack:      s.Rack,
		client:    Client{ID: s.ClientID, Host: s.ClientHost},
		rebalance: time.Duration(s.RebalanceMS) * time.Millisecond,
		assignor:  s.Assignor,
		topics:    s.Topics,
		pattern:   s.Pattern,
		epoch:     s.Epoch,
		previous:  s.Previous,
		state:     s.State,
		untaken:   restorePartitions(s.Untaken),
		latest:    restorePartitions(s.Latest),
		target:    restorePartitions(s.Target),
	}
	if len(s.Protocols) > 0 {
		m.classic = &classicSide{time.Duration(s.SessionMS) * time.Millisecond, s.Protocols}
	}
	g.consumer.add(m)
	g.consumer.own(m, holding{
		assigned: restorePartitions(s.Assigned),
		revoking: restorePartitions(s.Revoking),
		doubtful: restorePartitions(s.Doubtful),
		since:    restorePartitions(s.Since),
	})
	g.touchConsumer(m)
	g.awaitRevocation(m)
}

func restorePartitions(list []partitionsSnapshot) partitionSet {
	set := make(partitionSet)
	for _, t := range list {
		for _, p := range t.Partitions {
			set.add(partitionID{t.Topic, p})
		}
	}
	return set
}
