package groupcoord

// retarget computes what every member is to have at the group's epoch, unless that
// was done.
func (g *group) retarget() {
	c := g.consumer
	if c.epoch <= c.targetEpoch {
		return
	}
	counts, names := make(map[topicID]int32), make(map[topicID]string)
	for _, t := range g.noteTopics() {
		counts[t.ID], names[t.ID] = t.Partitions, t.Name
	}
	members := make([]subscriber, len(c.list))
	for i, m := range c.list {
		members[i] = subscriber{m.id, m.instance, g.lookups.view.subscribesTo(m), m.target}
	}
	name := c.assignor()
	targets := assignors[name](members, counts)
	for _, m := range c.list {
		m.target = targets[m.id]
	}
	for p := range c.owners { // topics that are gone, until their owners know it
		if _, ok := names[p.topic]; !ok {
			names[p.topic] = c.names[p.topic]
		}
	}
	c.names = names
	c.targetEpoch = c.epoch
	g.log.Debug().Int32("epoch", c.epoch).Str("assignor", name).Int("members", c.len()).Msg("partitions assigned")
	g.consumerChanged("partitions assigned")
	g.reread(true)
}

// noteTopics gives the existing topics that members subscribe to, and keeps what the
// offsets have to know of them: which there are, and how many partitions they had
// at first.
func (g *group) noteTopics() []Topic {
	topics := g.lookups.view.of(g.consumer.interests())
	counts := make(map[string]int32, len(topics))
	g.subscribed = make(map[string]bool, len(topics))
	for _, t := range topics {
		g.subscribed[t.Name], counts[t.Name] = true, t.Partitions
	}
	g.noteCounts(counts)
	return topics
}

// assignor is the one that most members ask for.
func (c *consumerGroup) assignor() string {
	votes := make(map[string]int)
	for _, m := range c.list {
		if m.assignor != "" {
			votes[m.assignor]++
		}
	}
	best := assignorNames[0]
	for _, name := range assignorNames {
		if votes[name] > votes[best] {
			best = name
		}
	}
	return best
}

// reconcile leads a member one step towards its target, after what it reports. It must
// not get a partition that another member has, and stays at its epoch while it has some
// to give up. It reports whether something has changed.
func (g *group) reconcile(m *consumerMember, r report) bool {
	if !r.said() && g.consumer.reconciled(m) && len(m.doubtful) == 0 {
		return false
	}
	before := *m
	g.hear(m, r)
	g.lead(m, r)
	m.note(r)
	return m.epoch != before.epoch || m.previous != before.previous || m.state != before.state ||
		!m.holding.equal(before.holding) || !m.untaken.equal(before.untaken) || !m.latest.equal(before.latest)
}

// lead takes the step if there is one to take.
func (g *group) lead(m *consumerMember, r report) {
	c := g.consumer
	if c.reconciled(m) {
		return
	}
	epoch := m.epoch
	if m.state == memberRevoking {
		if !r.said() || r.owned.overlaps(m.revoking) {
			return
		}
		epoch = min(epoch+1, c.targetEpoch)
	}
	c.step(m, r, epoch)
	g.awaitRevocation(m)
}

// step computes the next assignment of a member. What it had to give up, and does not
// report any more, is free from now on, unless that is in doubt.
func (c *consumerGroup) step(m *consumerMember, r report, epoch int32) {
	keeps, gives := m.assigned.common(m.target), m.assigned.without(m.target)
	if len(gives) > 0 && (!r.said() || r.owned.overlaps(gives)) {
		h := m.lose(m.revoking, nil)
		h.assigned, h.revoking = keeps, gives
		c.own(m, h)
		m.advance(memberRevoking, epoch)
		return
	}
	gets, unreleased := c.free(m, m.target.without(keeps))
	latest := m.fresh(gets)
	h := m.lose(m.revoking.with(gives), gets)
	h.assigned, h.revoking = keeps.with(gets), nil
	c.own(m, h)
	if len(gets) > 0 {
		m.untaken, m.latest = m.untaken.with(gets), latest
	}
	if unreleased {
		m.advance(memberUnreleased, c.targetEpoch)
	} else {
		m.advance(memberStable, c.targetEpoch)
	}
}

// free gives those of the partitions that no other member has, and reports whether
// there are more.
func (c *consumerGroup) free(m *consumerMember, wanted partitionSet) (gets partitionSet, unreleased bool) {
	gets = make(partitionSet)
	for p := range wanted {
		if owner := c.owners[p]; owner != nil && owner != m {
			unreleased = true
			continue
		}
		gets.add(p)
	}
	return gets, unreleased
}

func (m *consumerMember) advance(s memberState, epoch int32) {
	m.state = s
	if epoch != m.epoch {
		m.previous, m.epoch = m.epoch, epoch
	}
}

// awaitRevocation starts the time in which a member has to give partitions up, or
// ends it. Classic members have their own deadlines.
func (g *group) awaitRevocation(m *consumerMember) {
	if m.state != memberRevoking || m.classic != nil {
		m.revokeBy = noDeadline
		return
	}
	m.revokeBy = g.now.Add(m.rebalance)
	g.wakeAt(m.revokeBy)
}
