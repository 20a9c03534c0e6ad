package groupcoord

import "maps"

// Partitions that a member was given, and that were taken away before it said that it
// has them.
//
// A client takes an assignment over while its heartbeats go on, and finishes that even
// if it is told of a newer one meanwhile; then it says what it has (the Java client,
// librdkafka). So a report that lacks a partition which the member was told to have,
// and has never reported, proves nothing: the client may be about to take it over. And
// the answer that takes the partition away can get lost.
//
// Such partitions are in doubt. They stay the member's, so that nobody else gets them,
// while the member itself goes on without them. The doubt ends when the member
//
//   - reports one of them: it has to give that up like any other (Revoking);
//   - acknowledges, which clients do when they have taken an assignment over: it then
//     goes on from the newest one it knows;
//   - reports something that it was given after them: clients take one assignment over
//     after the other; or something of the same topic that was given with them: clients
//     take a topic over at once, as soon as they know the name to its id; what it may
//     have from before, since it got it back, does not count;
//   - joins anew, leaves, or is removed;
//   - has known of its loss for its rebalance timeout, and sends a second heartbeat
//     after that which does not report it: no client may take longer to take an
//     assignment over, the first heartbeat may have been on its way when that was
//     done, and with the second one it would be reported.

// holding is which partitions a member has, and may have.
type holding struct {
	assigned partitionSet // it is told to have
	revoking partitionSet // assigned until it tells that it gave them up
	doubtful partitionSet // taken away before it had reported them
	since    partitionSet // given to it when the doubtful ones were taken away, or later
}

// all are the partitions that nobody else may get.
func (h holding) all() partitionSet {
	all := make(partitionSet, len(h.assigned)+len(h.revoking)+len(h.doubtful))
	maps.Copy(all, h.assigned)
	maps.Copy(all, h.revoking)
	maps.Copy(all, h.doubtful)
	return all
}

func (h holding) equal(other holding) bool {
	return h.assigned.equal(other.assigned) && h.revoking.equal(other.revoking) &&
		h.doubtful.equal(other.doubtful) && h.since.equal(other.since)
}

// fresh are those of the partitions that the member cannot have from before: if it
// reports one, it has taken over what it is given now.
func (h holding) fresh(gets partitionSet) partitionSet {
	return gets.without(h.revoking).without(h.doubtful)
}

// report is what a member says of its partitions, and what is known of when it said it.
type report struct {
	owned partitionSet // nil: it says nothing
	// definite: it takes nothing over that it was told before. That is so for a member
	// that joins, by either protocol.
	definite bool
	// acks: it says what it has and not all the rest with it. It has got the last
	// answer then: without one a client says everything.
	acks bool
	// current: it has got an answer with the epoch that the member has here.
	current bool
}

func (r report) said() bool { return r.owned != nil }

// report is that of a heartbeat, before the member is led on.
func (e *beatEvent) report(m *consumerMember) report {
	current := e.req.MemberEpoch == m.epoch
	return report{
		owned:    e.owned(),
		definite: e.joins(),
		acks:     current && e.req.Topics != nil && !e.full(),
		current:  current,
	}
}

// hear takes over what a report says of the partitions that were taken away from the
// member.
func (g *group) hear(m *consumerMember, r report) {
	if r.definite {
		m.untaken = nil
	}
	taken := m.latest.common(r.owned).topics()
	if r.said() {
		if r.acks {
			m.untaken = m.untaken.without(m.revoking)
		}
		m.untaken = m.untaken.without(r.owned).outside(taken)
	}
	if r.said() && len(m.doubtful) > 0 {
		g.endDoubt(m, r, taken)
	}
	if r.current && len(m.doubtful) > 0 {
		g.limitDoubt(m)
	}
}

// endDoubt ends what doubt the list of a member can end; taken are topics whose newest
// partitions it has taken over.
func (g *group) endDoubt(m *consumerMember, r report, taken map[topicID]bool) {
	h := m.holding
	has := h.doubtful.common(r.owned)
	h.revoking = h.revoking.with(has)
	h.doubtful = h.doubtful.without(has).outside(taken)
	if r.definite || r.acks || r.owned.overlaps(h.since) {
		h.doubtful = nil
	}
	g.consumer.own(m, h)
	if len(has) > 0 {
		m.state = memberRevoking
		g.awaitRevocation(m) // its whole time, also if it has others to give up already
	}
}

// note remembers which of its partitions the member has not reported. What it had
// reported and has to give up is not among them: that it was given up is certain.
func (m *consumerMember) note(r report) {
	m.untaken = m.untaken.common(m.assigned.with(m.revoking))
	if r.said() {
		m.untaken = m.untaken.common(m.revoking).with(m.assigned.without(r.owned))
	}
	m.latest = m.latest.common(m.untaken)
}

// limitDoubt ends the doubt when the member had its time to report what it has. It is
// called for each heartbeat at the member's epoch: there the member knows what was taken
// from it. No timer is needed, for a member without heartbeats is removed.
func (g *group) limitDoubt(m *consumerMember) {
	switch {
	case m.doubtUntil.IsZero():
		m.doubtUntil = g.now.Add(m.rebalance)
	case g.now.Before(m.doubtUntil):
	case !m.overdue:
		m.overdue = true
	default:
		g.log.Debug().Str("member", cut(m.id)).Int("partitions", len(m.doubtful)).Msg("partitions were not taken over")
		g.consumer.own(m, holding{assigned: m.assigned, revoking: m.revoking})
	}
}

// lose gives what a member holds when it has lost some more: what it has not reported
// is in doubt, unless it gets it back.
func (m *consumerMember) lose(lost, gets partitionSet) holding {
	h := m.holding
	since := h.fresh(gets)
	more := lost.common(m.untaken)
	if len(more) == 0 {
		since = h.since.with(since)
	} else {
		m.doubtUntil, m.overdue = noDeadline, false // it does not know of that yet
	}
	h.doubtful, h.since = h.doubtful.with(more).without(gets), since
	return h
}
