package groupcoord

import (
	"maps"
	"slices"
	"time"
)

// classicInterests are the topics of a classic group that is about to serve the
// consumer protocol: those its members subscribe to, those they were given, and those
// they say they have.
func (g *group) classicInterests() interests {
	needs := newInterests()
	if g.protocolType != consumerType {
		return needs
	}
	name := g.currentProtocol()
	for _, m := range g.members.list {
		if s, err := readSubscription(m.metadata(name)); err == nil {
			needs.add(s.Topics, "")
			needs.add(ownedNames(s), "")
		}
		needs.add(assignedNames(m.assignment), "")
	}
	return needs
}

// currentProtocol is that of the generation, or would be that of the first.
func (g *group) currentProtocol() string {
	if g.protocol != "" {
		return g.protocol
	}
	return g.vote()
}

// upgrade makes a classic group of consumers one of the consumer protocol when the
// first member of that joins. The members keep what they have, and their heartbeats
// tell them to rejoin.
//
// When the topics could not be looked up it is not known what the members have; the
// client then tries again.
func (g *group) upgrade(e *beatEvent, looked bool) *refusal {
	if !looked {
		return &refusal{codeLoading, "the topics of the group are not known yet"}
	}
	limit := g.cfg.MaxGroupSize
	if limit > 0 && g.members.len() >= limit && g.members.instance(e.req.InstanceID) == nil {
		return &refusal{codeGroupMaxSizeReached, "the group is full"}
	}
	c, err := g.convert()
	if err != nil {
		return &refusal{codeGroupIDNotFound, "the classic group cannot become one of the consumer protocol: " + err.Error()}
	}
	for _, m := range g.members.list {
		g.endJoin(m, codeRebalanceInProgress)
		g.endSync(m, codeRebalanceInProgress)
	}
	g.log.Debug().Int32("generation", g.generation).Int("members", c.len()).Msg("classic group becomes one of the consumer protocol")
	g.consumer = c
	g.clearClassic()
	for _, m := range c.list {
		g.touchConsumer(m)
	}
	g.lookupLater()
	g.consumerChanged("upgrade")
	return nil
}

// clearClassic forgets what only classic groups have.
func (g *group) clearClassic() {
	g.members = newMembers()
	g.protocol, g.leader, g.subscribed = "", "", nil
	g.joinDeadline, g.syncDeadline, g.unsynced = time.Time{}, time.Time{}, nil
	g.initial, g.generation = false, 0
}

// convert makes the consumer group of a classic one.
func (g *group) convert() (*consumerGroup, error) {
	c := newConsumerGroup()
	c.epoch, c.targetEpoch = g.generation, g.generation
	if g.protocolType != consumerType {
		return nil, errOtherProtocol
	}
	name := g.currentProtocol()
	found := g.lookups.view.found
	for _, t := range found {
		c.names[t.ID] = t.Name
	}
	owned := make(map[*consumerMember]partitionSet)
	for _, m := range g.members.list {
		s, err := readSubscription(m.metadata(name))
		if err != nil {
			return nil, err
		}
		has, err := assignedPartitions(m.assignment, found)
		if err != nil {
			return nil, err
		}
		converted := &consumerMember{
			id: m.id, instance: m.instance, rack: s.Rack, client: m.client, rebalance: m.rebalance,
			topics: sortedNames(s.Topics), epoch: g.generation, previous: g.generation,
			classic: &classicSide{session: m.session, protocols: preferred(m.protocols, name)},
		}
		c.add(converted)
		c.take(converted, has)
		owned[converted] = ownedByName(s, found)
	}
	// What a cooperative member had when it joined and nobody was given: it may not
	// have heard of that yet.
	for _, m := range c.list {
		c.take(m, owned[m])
	}
	return c, nil
}

// take lets a member have those of the partitions that nobody has.
func (c *consumerGroup) take(m *consumerMember, set partitionSet) {
	has := maps.Clone(m.assigned)
	if has == nil {
		has = make(partitionSet)
	}
	for p := range set {
		if c.owners[p] == nil {
			has.add(p)
		}
	}
	c.own(m, holding{assigned: has})
	m.target = has
}

// preferred puts the protocol in use before the others: it is the one whose
// subscription counts.
func preferred(protocols []protocol, name string) []protocol {
	sorted := slices.Clone(protocols)
	slices.SortStableFunc(sorted, func(a, b protocol) int { return cmpBool(a.Name != name, b.Name != name) })
	return sorted
}

// downgrade makes the group a classic one when only classic members are left. They
// are told to rejoin, and the one that leads then assigns. What they have until then
// is their assignment, in case that another member of the consumer protocol comes.
func (g *group) downgrade() {
	c := g.consumer
	g.log.Debug().Int32("epoch", c.epoch).Int("members", c.len()).Msg("consumer group becomes a classic one")
	g.endConsumer()
	g.generation, g.protocolType = c.epoch, consumerType
	for _, old := range c.list {
		m := &member{
			id: old.id, instance: old.instance, client: old.client, session: old.classic.session, rebalance: old.rebalance,
			protocols:  old.classic.protocols,
			assignment: writeAssignment(old.all(), c.names, old.classic.version()),
			expires:    old.expires,
		}
		g.members.add(m)
		if m.expires.IsZero() {
			g.touch(m)
		}
		g.wakeAt(m.expires)
	}
	g.leader = g.members.list[0].id
	g.protocol = g.vote()
	g.state = stable
	g.noteSubscribed()
	g.changed = true
	g.prepareRebalance("only classic members are left")
}
