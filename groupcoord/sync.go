package groupcoord

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// SyncGroup, versions 0 to 5: v1 throttling, v3 instance id, v4 flexible, v5
// protocol type and name in both directions.
func (c *Coordinator) SyncGroup(_ context.Context, _ Client, req *kmsg.SyncGroupRequest, reply func(*kmsg.SyncGroupResponse)) {
	e := &syncEvent{req, reply}
	if req.Version >= 5 && (req.ProtocolType == nil || req.Protocol == nil) {
		e.refuse(codeInconsistentProtocol) // the version has them for this check
		return
	}
	c.submit(req.Group, e)
}

type syncEvent struct {
	req   *kmsg.SyncGroupRequest
	reply func(*kmsg.SyncGroupResponse)
}

// loading is not 14: the Java client takes that for fatal here, and rejoins on 27.
func (e *syncEvent) loading() int16 { return codeRebalanceInProgress }

func (e *syncEvent) refuse(code int16) {
	resp := e.req.ResponseKind().(*kmsg.SyncGroupResponse)
	resp.ErrorCode = code
	e.reply(resp)
}

func (e *syncEvent) apply(g *group) {
	if g.consumer != nil {
		e.applyToConsumers(g)
		return
	}
	m, code := g.lookup(e.req.MemberID, e.req.InstanceID)
	switch {
	case code != 0:
		g.refuse(e, code)
	case e.req.Generation != g.generation:
		g.refuse(e, codeIllegalGeneration)
	case differs(e.req.ProtocolType, g.protocolType), differs(e.req.Protocol, g.protocol):
		g.refuse(e, codeInconsistentProtocol)
	case g.state == preparing:
		g.refuse(e, codeRebalanceInProgress)
	case g.state == completing && m.id == g.leader && !g.cfg.room.has(g.grows(e.req.GroupAssignment)):
		g.refuse(e, codeNotAvailable)
	case g.state == completing:
		g.holdSync(m, e)
	default:
		g.synced(m.id)
		g.touch(m)
		m.sync = e
		g.answerSync(m)
	}
}

func differs(said *string, is string) bool { return said != nil && *said != is }

// holdSync keeps the request until the leader's, which carries the assignments.
func (g *group) holdSync(m *member, e *syncEvent) {
	g.endSync(m, codeRebalanceInProgress) // an earlier one, from a connection that broke
	m.sync = e
	g.synced(m.id)
	if m.id != g.leader {
		return
	}
	g.assign(e.req.GroupAssignment)
	g.noteAssigned()
	g.transitionTo(stable, "leader assigned")
	g.changed = true
	for _, m := range g.members.list {
		if m.sync != nil {
			g.touch(m)
			g.answerSync(m)
		}
	}
}

// assign keeps the leader's assignments. Members it left out get none; ids that
// are no members are ignored.
func (g *group) assign(assignments []kmsg.SyncGroupRequestGroupAssignment) {
	for _, m := range g.members.list {
		m.assignment = nil
	}
	for _, a := range assignments {
		if m := g.members.byID[a.MemberID]; m != nil {
			m.assignment = slices.Clone(a.MemberAssignment)
		}
	}
}

func (g *group) answerSync(m *member) {
	e := m.sync
	m.sync = nil
	resp := e.req.ResponseKind().(*kmsg.SyncGroupResponse)
	resp.ProtocolType = kmsg.StringPtr(g.protocolType)
	resp.Protocol = kmsg.StringPtr(g.protocol)
	resp.MemberAssignment = m.assignment
	g.answer(e, func() { e.reply(resp) })
}
