package groupcoord

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A classic consumer in a group of the consumer protocol: the group assigns, so it
// is told its generation at once, leads nobody, and gets its assignment with
// SyncGroup. Heartbeats tell it to rejoin for every step towards its target.

// applyToConsumers handles a join while the group serves the consumer protocol.
func (e *joinEvent) applyToConsumers(g *group) {
	g.afterLookup(e, e.req.MemberID, func() interests { return g.joinInterests(e) }, func(bool) {
		if !g.servesConsumers() {
			e.apply(g) // it has become a classic group while the topics were looked up
			return
		}
		if code := g.joinConsumers(e); code != 0 {
			g.refuse(e, code)
		}
	})
}

// joinInterests are the topics of a classic consumer that the group does not know.
func (g *group) joinInterests(e *joinEvent) interests {
	needs := newInterests()
	s := e.subscription()
	if s == nil || !g.servesConsumers() {
		return needs
	}
	m := g.consumer.byID[e.req.MemberID]
	if topics := sortedNames(s.Topics); m == nil || !slices.Equal(topics, m.topics) {
		needs.add(topics, "")
	}
	return needs
}

// subscription is that of the protocol which the client prefers, nil if it cannot
// be read.
func (e *joinEvent) subscription() *kmsg.ConsumerMemberMetadata {
	if len(e.req.Protocols) == 0 {
		return nil
	}
	s, err := readSubscription(e.req.Protocols[0].Metadata)
	if err != nil {
		return nil
	}
	return s
}

// joinConsumers adds or updates a classic member. The code is 0 if it was answered.
func (g *group) joinConsumers(e *joinEvent) int16 {
	s := e.subscription()
	id := e.req.MemberID
	if id == "" {
		id = newMemberID(e.client, e.req.InstanceID)
	}
	switch {
	case !g.consumerHasRoom(id, e.req.InstanceID):
		return codeGroupMaxSizeReached
	case s == nil || e.req.ProtocolType != consumerType || !g.consumersSupport(e.req.Protocols, id):
		return codeInconsistentProtocol
	case e.req.MemberID == "" && e.req.InstanceID == nil && e.req.Version >= 4:
		g.makePending(id, g.now.Add(e.session()))
		g.answer(e, func() { e.fail(id, codeMemberIDRequired) })
		return 0
	}
	m, code := g.classicMemberFor(e, id)
	if code != 0 {
		return code
	}
	owned := g.stillOwned(m, s)
	changed := g.updateClassic(m, e, s)
	g.retarget()
	if g.reconcile(m, report{owned: owned, definite: true}) || changed {
		g.consumerChanged("classic member " + m.id + " joins")
	}
	g.answerConsumerJoin(m, e)
	return 0
}

// stillOwned is what a classic member says it has, also of topics that have vanished
// meanwhile: they may come back.
func (g *group) stillOwned(m *consumerMember, s *kmsg.ConsumerMemberMetadata) partitionSet {
	topics := make(map[string]Topic)
	for p := range m.all() {
		name := g.consumer.names[p.topic]
		topics[name] = Topic{Name: name, ID: p.topic}
	}
	owned := ownedByName(s, topics)
	maps.Copy(owned, ownedByName(s, g.lookups.view.found))
	return owned
}

// consumersSupport reports whether one of the protocols is common to all classic
// members: with it they go on when the group becomes a classic one.
func (g *group) consumersSupport(protocols []kmsg.JoinGroupRequestProtocol, id string) bool {
	return slices.ContainsFunc(protocols, func(p kmsg.JoinGroupRequestProtocol) bool {
		return !slices.ContainsFunc(g.consumer.classics(), func(m *consumerMember) bool {
			return m.id != id && !m.classic.offers(p.Name)
		})
	})
}

func (s *classicSide) offers(name string) bool {
	return slices.ContainsFunc(s.protocols, func(p protocol) bool { return p.Name == name })
}

// classicMemberFor finds the member of a join, or adds it. One that was removed must
// not come back under its id: it may still use what it had, and 25 makes it stop.
func (g *group) classicMemberFor(e *joinEvent, id string) (*consumerMember, int16) {
	c := g.consumer
	if e.req.InstanceID == nil {
		_, given := g.pending[id]
		m := c.byID[id]
		switch {
		case m == nil && e.req.MemberID != "" && !given:
			return nil, codeUnknownMember
		case m == nil:
			delete(g.pending, id)
			m = g.addConsumer(id, nil)
		}
		return m, 0
	}
	switch m := c.instances[*e.req.InstanceID]; {
	case e.req.MemberID != "" && m == nil:
		return nil, codeUnknownMember
	case e.req.MemberID != "" && m.id != id:
		return nil, codeFencedInstance
	case m == nil:
		return g.addConsumer(id, e.req.InstanceID), 0
	case e.req.MemberID == "":
		g.replaceConsumer(m, id)
		return m, 0
	default:
		return m, 0
	}
}

// updateClassic takes over what the request says of the member.
func (g *group) updateClassic(m *consumerMember, e *joinEvent, s *kmsg.ConsumerMemberMetadata) (changed bool) {
	before := *m
	m.client = e.client
	m.rebalance = e.rebalance()
	m.rack = s.Rack
	m.topics, m.pattern, m.assignor = sortedNames(s.Topics), "", ""
	m.classic = &classicSide{session: e.session(), protocols: copyProtocols(e.req.Protocols)}
	return g.resubscribed(m, before)
}

// answerConsumerJoin tells a classic member its generation, and downgrades the
// group if it took the place of the last member of the consumer protocol.
func (g *group) answerConsumerJoin(m *consumerMember, e *joinEvent) {
	g.touchConsumer(m)
	m.rejoinBy, m.syncBy = noDeadline, g.now.Add(m.rebalance)
	g.wakeAt(m.syncBy)
	resp := e.req.ResponseKind().(*kmsg.JoinGroupResponse)
	resp.Generation = m.epoch
	resp.ProtocolType = kmsg.StringPtr(consumerType)
	resp.Protocol = kmsg.StringPtr(m.classic.protocols[0].Name)
	resp.MemberID = m.id
	g.answer(e, func() { e.reply(resp) })
	if g.consumer.allClassic() {
		g.downgrade()
	}
}

// classicMember finds the member that a request of the classic protocol speaks for.
func (g *group) classicMember(id string, instance *string) (*consumerMember, int16) {
	m := g.consumer.byID[id]
	if instance != nil {
		if m = g.consumer.instances[*instance]; m != nil && m.id != id {
			return nil, codeFencedInstance
		}
	}
	if m == nil || m.classic == nil {
		return nil, codeUnknownMember
	}
	return m, 0
}

// applyToConsumers answers with the assignment as far as the member may have it.
func (e *syncEvent) applyToConsumers(g *group) {
	m, code := g.classicMember(e.req.MemberID, e.req.InstanceID)
	switch {
	case code != 0:
	case e.req.Generation != m.epoch:
		code = codeIllegalGeneration
	case differs(e.req.ProtocolType, consumerType), differs(e.req.Protocol, m.classic.protocols[0].Name):
		code = codeInconsistentProtocol
	case m.epoch < g.consumer.epoch && m.state != memberRevoking:
		g.awaitRejoin(m)
		code = codeRebalanceInProgress
	}
	if code != 0 {
		g.refuse(e, code)
		return
	}
	m.syncBy = noDeadline
	g.touchConsumer(m)
	resp := e.req.ResponseKind().(*kmsg.SyncGroupResponse)
	resp.ProtocolType = kmsg.StringPtr(consumerType)
	resp.Protocol = kmsg.StringPtr(m.classic.protocols[0].Name)
	resp.MemberAssignment = writeAssignment(m.assigned, g.consumer.names, m.classic.version())
	g.answer(e, func() { e.reply(resp) })
}

// version is that of the subscription, and so of the assignment.
func (s *classicSide) version() int16 {
	if subscription, err := readSubscription(s.protocols[0].Metadata); err == nil {
		return subscription.Version
	}
	return 0
}

// awaitRejoin starts the time in which a member that was told so has to rejoin.
func (g *group) awaitRejoin(m *consumerMember) {
	if m.rejoinBy.IsZero() {
		m.rejoinBy = g.now.Add(m.rebalance)
		g.wakeAt(m.rejoinBy)
	}
}

// applyToConsumers tells a classic member to rejoin when there is something new.
func (e *heartbeatEvent) applyToConsumers(g *group) {
	m, code := g.classicMember(e.req.MemberID, e.req.InstanceID)
	switch {
	case code != 0:
	case e.req.Generation != m.epoch:
		code = codeIllegalGeneration
	default:
		g.touchConsumer(m)
		if g.mayAdvance(m) {
			g.awaitRejoin(m)
			code = codeRebalanceInProgress
		}
	}
	g.answer(e, func() { e.refuse(code) })
}

// mayAdvance reports whether a classic member would get another assignment, or has
// partitions to give up.
func (g *group) mayAdvance(m *consumerMember) bool {
	switch {
	case m.epoch < g.consumer.epoch, m.state == memberRevoking:
		return true
	case m.state == memberStable:
		return false
	}
	for p := range m.target {
		if owner := g.consumer.owners[p]; owner != nil && owner != m {
			return false
		}
	}
	return true
}

// applyToConsumers takes members out: of either protocol, since administrators
// remove them so.
func (e *leaveEvent) applyToConsumers(g *group) {
	resp := e.req.ResponseKind().(*kmsg.LeaveGroupResponse)
	var gone []*consumerMember
	leave := func(id string, instance *string) int16 {
		if _, given := g.pending[id]; given {
			delete(g.pending, id)
			return 0
		}
		m, code := g.leavingConsumer(id, instance)
		if code == 0 && !slices.Contains(gone, m) {
			gone = append(gone, m)
		}
		return code
	}
	if e.req.Version < 3 {
		resp.ErrorCode = leave(e.req.MemberID, nil)
	}
	for _, m := range e.req.Members {
		r := kmsg.NewLeaveGroupResponseMember()
		r.MemberID, r.InstanceID = m.MemberID, m.InstanceID
		r.ErrorCode = leave(m.MemberID, m.InstanceID)
		resp.Members = append(resp.Members, r)
	}
	if len(gone) > 0 {
		g.fence("left", gone...)
	}
	g.answer(e, func() { e.reply(resp) })
}

// leavingConsumer finds a member that leaves; administrators name an instance alone.
func (g *group) leavingConsumer(id string, instance *string) (*consumerMember, int16) {
	m := g.consumer.byID[id]
	if instance != nil {
		m = g.consumer.instances[*instance]
	}
	switch {
	case m == nil:
		return nil, codeUnknownMember
	case m.id != id && id != "":
		return nil, codeFencedInstance
	default:
		return m, 0
	}
}
