package groupcoord

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// LeaveGroup, versions 0 to 5: v1 throttling, v3 a list of members, also by
// instance id alone for administrators, v4 flexible, v5 reason (KIP-800).
func (c *Coordinator) LeaveGroup(_ context.Context, _ Client, req *kmsg.LeaveGroupRequest, reply func(*kmsg.LeaveGroupResponse)) {
	c.submit(req.Group, &leaveEvent{req, reply})
}

type leaveEvent struct {
	req   *kmsg.LeaveGroupRequest
	reply func(*kmsg.LeaveGroupResponse)
}

func (e *leaveEvent) loading() int16 { return codeLoading }

func (e *leaveEvent) refuse(code int16) {
	resp := e.req.ResponseKind().(*kmsg.LeaveGroupResponse)
	resp.ErrorCode = code
	e.reply(resp)
}

// apply takes all of them out before the others rebalance, so that no generation
// begins with somebody who is about to go.
func (e *leaveEvent) apply(g *group) {
	if g.consumer != nil {
		e.applyToConsumers(g)
		return
	}
	resp := e.req.ResponseKind().(*kmsg.LeaveGroupResponse)
	before := g.members.len()
	if e.req.Version < 3 {
		resp.ErrorCode = g.leave(kmsg.LeaveGroupRequestMember{MemberID: e.req.MemberID})
	} else {
		for _, m := range e.req.Members {
			r := kmsg.NewLeaveGroupResponseMember()
			r.MemberID, r.InstanceID = m.MemberID, m.InstanceID
			r.ErrorCode = g.leave(m)
			resp.Members = append(resp.Members, r)
		}
	}
	if g.members.len() < before {
		g.membersLeft("members left")
	} else {
		g.maybeCompleteJoin() // an id that was waited for may be gone
	}
	g.answer(e, func() { e.reply(resp) })
}

// leave takes one member out; the code is for that member.
func (g *group) leave(who kmsg.LeaveGroupRequestMember) int16 {
	if _, ok := g.pending[who.MemberID]; ok {
		delete(g.pending, who.MemberID)
		return 0
	}
	id := who.MemberID
	if id == "" {
		m := g.members.instance(who.InstanceID)
		if m == nil {
			return codeUnknownMember
		}
		id = m.id
	}
	m, code := g.lookup(id, who.InstanceID)
	if code != 0 {
		return code
	}
	g.dropFor(m, "left"+reason(who.Reason))
	return 0
}
