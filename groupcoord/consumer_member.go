package groupcoord

import "fmt"

// consumerMemberFor finds the member of a heartbeat, or adds it when it joins.
func (g *group) consumerMemberFor(e *beatEvent) (*consumerMember, *refusal) {
	if e.req.InstanceID != nil {
		return g.staticMemberFor(e)
	}
	m := g.consumer.byID[e.id]
	switch {
	case m != nil:
		return m, m.checkEpoch(e)
	case !e.joins():
		return nil, &refusal{codeUnknownMember, "member " + e.id + " is not in the group"}
	default:
		return g.addConsumer(e.id, nil), nil
	}
}

func (g *group) addConsumer(id string, instance *string) *consumerMember {
	m := &consumerMember{id: id, instance: instance}
	g.consumer.add(m)
	return m
}

// checkEpoch refuses a member that is not where the group has led it. One that joins
// anew has nothing any more, and goes on from there. One step behind is a member that
// has not got the last answer, if it has nothing that it should not have.
func (m *consumerMember) checkEpoch(e *beatEvent) *refusal {
	switch epoch := e.req.MemberEpoch; {
	case epoch == m.epoch, e.joins():
		return nil
	case epoch < m.epoch && epoch == m.previous && e.req.Topics != nil && e.owned().within(m.assigned):
		return nil
	default:
		return &refusal{codeFencedMemberEpoch, fmt.Sprintf(
			"the member is at epoch %d, not %d: it must give up its partitions and join again", m.epoch, epoch)}
	}
}

// staticMemberFor finds the member by its instance id.
func (g *group) staticMemberFor(e *beatEvent) (*consumerMember, *refusal) {
	m := g.consumer.instances[*e.req.InstanceID]
	if e.joins() {
		return g.joinStatic(m, e)
	}
	if m, r := g.knownStatic(e); r != nil {
		return m, r
	}
	return m, m.checkEpoch(e)
}

// knownStatic finds the static member that a request speaks for.
func (g *group) knownStatic(e *beatEvent) (*consumerMember, *refusal) {
	m := g.consumer.instances[*e.req.InstanceID]
	switch {
	case m == nil:
		return nil, &refusal{codeUnknownMember, "instance " + *e.req.InstanceID + " is not in the group"}
	case m.id != e.id:
		return nil, &refusal{codeFencedInstance, "instance " + *e.req.InstanceID + " is now member " + m.id}
	default:
		return m, nil
	}
}

// joinStatic adds a static member, or lets it take the place of the former process
// if that has left. A member whose first answer was lost finds itself there.
func (g *group) joinStatic(former *consumerMember, e *beatEvent) (*consumerMember, *refusal) {
	switch {
	case former == nil:
		if m := g.consumer.byID[e.id]; m != nil { // so far without the instance id, or with another
			g.consumer.nameInstance(m, *e.req.InstanceID)
			return m, m.checkEpoch(e)
		}
		return g.addConsumer(e.id, e.req.InstanceID), nil
	case former.id == e.id && former.checkEpoch(e) == nil:
		return former, nil
	case former.classic == nil && former.epoch != leftForAWhile:
		return nil, &refusal{codeUnreleasedInstance, "instance " + *e.req.InstanceID + " is in use by member " + former.id}
	case former.id != e.id && g.consumer.byID[e.id] != nil:
		return nil, &refusal{codeInvalidRequest, "member " + e.id + " is in the group without this instance id"}
	}
	g.replaceConsumer(former, e.id)
	return former, nil
}

// replaceConsumer lets a new process take the place of a static member: what that
// had it has too, until it says otherwise.
func (g *group) replaceConsumer(m *consumerMember, id string) {
	g.consumer.rename(m, id)
	m.epoch, m.previous = 0, 0
	m.rejoinBy, m.syncBy, m.revokeBy = noDeadline, noDeadline, noDeadline
	g.changed = true
}

// consumerLeave takes a member out, or notes that a static one will return.
func (g *group) consumerLeave(e *beatEvent) *refusal {
	if g.consumer == nil {
		return &refusal{codeGroupIDNotFound, "there is no group " + g.name + " of the consumer protocol"}
	}
	m := g.consumer.byID[e.id]
	if e.req.InstanceID != nil {
		var r *refusal
		if m, r = g.knownStatic(e); r != nil {
			return r
		}
	}
	if m == nil {
		return &refusal{codeUnknownMember, "member " + e.id + " is not in the group"}
	}
	if e.req.MemberEpoch == leftForAWhile {
		g.consumer.own(m, holding{assigned: m.assigned})
		m.epoch, m.revokeBy = leftForAWhile, noDeadline
		g.consumerChanged("static member " + m.id + " will return")
	} else {
		g.fence("left", m)
	}
	resp := e.response()
	resp.MemberID, resp.MemberEpoch = &m.id, e.req.MemberEpoch
	g.answer(e, func() { e.reply(resp) })
	return nil
}
