package groupcoord

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// JoinGroup, versions 0 to 9: v1 a rebalance timeout of its own, v2 throttling,
// v4 MEMBER_ID_REQUIRED (KIP-394), v5 instance id (KIP-345), v6 flexible, v7
// protocol type in the answer and a null protocol on errors, v8 reason
// (KIP-800), v9 skip assignment (KIP-814).
func (c *Coordinator) JoinGroup(_ context.Context, client Client, req *kmsg.JoinGroupRequest, reply func(*kmsg.JoinGroupResponse)) {
	c.submit(req.Group, &joinEvent{client, req, reply})
}

type joinEvent struct {
	client Client
	req    *kmsg.JoinGroupRequest
	reply  func(*kmsg.JoinGroupResponse)
}

func (e *joinEvent) loading() int16    { return codeLoading }
func (e *joinEvent) refuse(code int16) { e.fail(e.req.MemberID, code) }

// fail answers with an error for the member id.
func (e *joinEvent) fail(memberID string, code int16) {
	resp := e.req.ResponseKind().(*kmsg.JoinGroupResponse)
	resp.ErrorCode = code
	resp.MemberID = memberID
	e.reply(resp)
}

func (e *joinEvent) session() time.Duration { return millis(e.req.SessionTimeoutMillis) }

func (e *joinEvent) rebalance() time.Duration {
	if e.req.Version < 1 {
		return e.session()
	}
	return max(millis(e.req.RebalanceTimeoutMillis), 0)
}

func millis(ms int32) time.Duration { return time.Duration(ms) * time.Millisecond }

func (e *joinEvent) apply(g *group) {
	if d := e.session(); d < g.cfg.MinSessionTimeout || d > g.cfg.MaxSessionTimeout {
		g.refuse(e, codeInvalidSessionTimeout)
		return
	}
	if g.mayAdd(e) && !g.cfg.room.has(e.grows(g)) {
		g.refuse(e, codeNotAvailable)
		return
	}
	if g.servesConsumers() {
		e.applyToConsumers(g)
		return
	}
	if e.req.MemberID != "" && (!g.exists || g.consumer != nil) {
		g.refuse(e, codeUnknownMember)
		return
	}
	g.exists = true
	if g.consumer != nil {
		g.endConsumer() // nobody is left of it
	}
	switch {
	case !g.hasRoom(e):
		g.joinFull(e)
	case !g.supports(e.req.ProtocolType, e.req.Protocols):
		g.refuse(e, codeInconsistentProtocol)
	case e.req.MemberID == "":
		g.joinNew(e)
	default:
		g.joinKnown(e)
	}
	g.maybeCompleteJoin()
}

// mayAdd is false for an id that the group does not know: whoever has it must learn that,
// and adds nothing.
func (g *group) mayAdd(e *joinEvent) bool {
	id := e.req.MemberID
	if _, given := g.pending[id]; id == "" || given || g.members.byID[id] != nil {
		return true
	}
	return g.consumer != nil && g.consumer.byID[id] != nil
}

// hasRoom reports whether the group may grow by the one that joins, if it
// would. During a rebalance those count that have already joined. A static
// member that returns takes its own place.
func (g *group) hasRoom(e *joinEvent) bool {
	limit := g.cfg.MaxGroupSize
	if limit == 0 || g.state == empty {
		return true
	}
	m := g.members.byID[e.req.MemberID]
	if e.req.MemberID == "" {
		m = g.members.instance(e.req.InstanceID)
	}
	if g.state == preparing {
		return m != nil && m.join != nil || g.members.joined() < limit
	}
	return m != nil || g.members.len() < limit
}

// joinFull turns the client away and forgets it.
func (g *group) joinFull(e *joinEvent) {
	delete(g.pending, e.req.MemberID)
	if m := g.members.byID[e.req.MemberID]; m != nil {
		g.drop(m)
	}
	g.answer(e, func() { e.fail("", codeGroupMaxSizeReached) })
}

func (g *group) joinNew(e *joinEvent) {
	id := newMemberID(e.client, e.req.InstanceID)
	switch m := g.members.instance(e.req.InstanceID); {
	case m != nil:
		g.replaceStatic(m, id, e)
	case e.req.InstanceID == nil && e.req.Version >= 4:
		// The client has to come back with the id, so that a lost answer does
		// not leave members that nobody is (KIP-394).
		g.makePending(id, g.now.Add(g.pendingFor(e)))
		g.answer(e, func() { e.fail(id, codeMemberIDRequired) })
	default:
		g.addMember(id, e)
	}
}

// maxPending is how many ids may be given out and not used. Clients come back
// with theirs at once, so so many at a time are never clients that mean to.
const maxPending = 10_000

// maxAlonePending is how long an id is good for that is all there is of a group.
// Made-up groups would stay for as long as their clients say, which may be half an
// hour; whom a network keeps from coming back in time is given another id.
const maxAlonePending = time.Minute

// pendingFor is how long the client may take to come back with its id.
func (g *group) pendingFor(e *joinEvent) time.Duration {
	if g.state == empty {
		return min(e.session(), maxAlonePending)
	}
	return e.session()
}

// makePending remembers an id that was given out, for which the one that has
// been out for longest makes room.
func (g *group) makePending(id string, expires time.Time) {
	if len(g.pending) >= maxPending {
		oldest := ""
		for other, at := range g.pending {
			if oldest == "" || at.Before(g.pending[oldest]) {
				oldest = other
			}
		}
		delete(g.pending, oldest)
	}
	g.pending[id] = expires
	g.wakeAt(expires)
}

func (g *group) joinKnown(e *joinEvent) {
	if _, ok := g.pending[e.req.MemberID]; ok && e.req.InstanceID == nil {
		g.addMember(e.req.MemberID, e)
		return
	}
	m, code := g.lookup(e.req.MemberID, e.req.InstanceID)
	if code != 0 {
		g.refuse(e, code)
		return
	}
	same := m.offers(e.req.Protocols)
	switch {
	case g.state == completing && same:
		g.repeatJoin(m, e) // its answer was lost
	case g.state == stable && same && m.id != g.leader:
		g.repeatJoin(m, e)
	default:
		// Preparing; changed; or the leader, which so asks to assign anew.
		g.updateMember(m, e)
		g.rebalance("member " + m.id + " rejoins")
	}
}

// repeatJoin tells a member of the current generation about it once more.
func (g *group) repeatJoin(m *member, e *joinEvent) {
	g.touch(m)
	m.join = e
	g.answerJoin(m, g.leader, false)
}

func (g *group) addMember(id string, e *joinEvent) {
	delete(g.pending, id)
	m := &member{
		id:        id,
		instance:  e.req.InstanceID,
		client:    e.client,
		session:   e.session(),
		rebalance: e.rebalance(),
		protocols: copyProtocols(e.req.Protocols),
		join:      e,
		fresh:     true,
	}
	if g.members.len() == 0 {
		g.protocolType = e.req.ProtocolType
	}
	if g.leader == "" {
		g.leader = id
	}
	g.members.add(m)
	g.grown = true
	g.expireAfter(m, newMemberJoinTimeout)
	g.rebalance("member " + id + " joins" + reason(e.req.Reason))
}

// rebalance begins one unless it is running.
func (g *group) rebalance(reason string) {
	if g.state != preparing {
		g.prepareRebalance(reason)
	}
}

// updateMember takes over what the client says now, and holds its join.
func (g *group) updateMember(m *member, e *joinEvent) {
	// An earlier join of this member is still held if its connection broke; a
	// client that still waits there tries again.
	g.endJoin(m, codeRebalanceInProgress)
	m.client = e.client
	m.session, m.rebalance = e.session(), e.rebalance()
	m.protocols = copyProtocols(e.req.Protocols)
	m.join = e
}

// replaceStatic gives a returning static member a new id. From now on the old
// id is fenced.
func (g *group) replaceStatic(m *member, id string, e *joinEvent) {
	wasLeader, oldLeader := g.leader == m.id, g.leader
	g.endJoin(m, codeFencedInstance)
	g.endSync(m, codeFencedInstance)
	if _, ok := g.unsynced[m.id]; ok {
		delete(g.unsynced, m.id)
		g.unsynced[id] = struct{}{}
	}
	g.members.rename(m, id)
	if wasLeader {
		g.leader = id
	}
	g.updateMember(m, e)
	g.touch(m)
	g.changed = true

	switch {
	case g.state == completing:
		// The leader may already assign to the old id.
		g.prepareRebalance("static member " + *m.instance + " returns")
	case g.state != stable:
	case g.vote() != g.protocol:
		g.prepareRebalance("static member " + *m.instance + " returns and changes the protocol")
	case e.req.Version >= 9:
		g.answerJoin(m, g.leader, wasLeader)
	default:
		// Before v9 a leader that does not know itself as such is the only way
		// to keep it from assigning: a stable group would ignore it.
		g.answerJoin(m, oldLeader, false)
	}
}

// answerJoin tells the member, whose join is held, about the generation. Who
// leads learns of all members.
func (g *group) answerJoin(m *member, leader string, skipAssignment bool) {
	e := m.join
	m.join = nil
	resp := e.req.ResponseKind().(*kmsg.JoinGroupResponse)
	resp.Generation = g.generation
	resp.ProtocolType = kmsg.StringPtr(g.protocolType)
	resp.Protocol = kmsg.StringPtr(g.protocol)
	resp.LeaderID = leader
	resp.MemberID = m.id
	resp.SkipAssignment = skipAssignment
	if leader == m.id && (g.state == completing || skipAssignment) {
		resp.Members = g.memberMetadata()
	}
	g.answer(e, func() { e.reply(resp) })
}

func (g *group) memberMetadata() []kmsg.JoinGroupResponseMember {
	list := make([]kmsg.JoinGroupResponseMember, 0, g.members.len())
	for _, m := range g.members.list {
		r := kmsg.NewJoinGroupResponseMember()
		r.MemberID = m.id
		r.InstanceID = m.instance
		r.ProtocolMetadata = m.metadata(g.protocol)
		list = append(list, r)
	}
	return list
}

func reason(r *string) string {
	if r == nil || *r == "" {
		return ""
	}
	return ": " + *r
}
