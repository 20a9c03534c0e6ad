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

func (e *leaveEvent) apply(g *group) {
	resp := e.req.ResponseKind().(*kmsg.LeaveGroupResponse)
	if e.req.Version < 3 {
		resp.ErrorCode = g.leave(kmsg.LeaveGroupRequestMember{MemberID: e.req.MemberID})
	}
	for _, m := range e.req.Members {
		r := kmsg.NewLeaveGroupResponseMember()
		r.MemberID, r.InstanceID = m.MemberID, m.InstanceID
		r.ErrorCode = g.leave(m)
		resp.Members = append(resp.Members, r)
	}
	g.answer(e, func() { e.reply(resp) })
}

// leave takes one member out; the code is for that member.
func (g *group) leave(who kmsg.LeaveGroupRequestMember) int16 {
	if _, ok := g.pending[who.MemberID]; ok {
		delete(g.pending, who.MemberID)
		g.maybeCompleteJoin()
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
	g.removeMember(m, "left"+reason(who.Reason))
	return 0
}
