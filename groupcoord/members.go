package groupcoord

import (
	"bytes"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// member is one member of a group.
type member struct {
	id        string
	instance  *string // static membership (KIP-345)
	client    Client
	session   time.Duration
	rebalance time.Duration
	protocols []protocol
	// assignment is what the leader gave it in the current generation.
	assignment []byte

	// join and sync are held requests. A member counts as joined while its
	// join is held, whether or not its connection still lives.
	join *joinEvent
	sync *syncEvent
	// fresh: not yet part of any generation.
	fresh bool
	// expires is the end of the session; zero while a held request stands for
	// the heartbeat.
	expires time.Time
}

type protocol struct {
	Name     string `json:"name"`
	Metadata []byte `json:"metadata"`
}

// copyProtocols keeps the protocols of a request; its bytes belong to the
// frame they came in.
func copyProtocols(in []kmsg.JoinGroupRequestProtocol) []protocol {
	out := make([]protocol, len(in))
	for i, p := range in {
		out[i] = protocol{p.Name, slices.Clone(p.Metadata)}
	}
	return out
}

// offers reports whether a request lists the same protocols with the same
// metadata in the same order.
func (m *member) offers(protocols []kmsg.JoinGroupRequestProtocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a protocol, b kmsg.JoinGroupRequestProtocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

// members keeps the members in the order of their arrival.
type members struct {
	list      []*member
	byID      map[string]*member
	instances map[string]*member
}

func newMembers() members {
	return members{byID: make(map[string]*member), instances: make(map[string]*member)}
}

func (s *members) len() int { return len(s.list) }

func (s *members) add(m *member) {
	s.list = append(s.list, m)
	s.byID[m.id] = m
	if m.instance != nil {
		s.instances[*m.instance] = m
	}
}

func (s *members) remove(m *member) {
	s.list = slices.DeleteFunc(s.list, func(o *member) bool { return o == m })
	delete(s.byID, m.id)
	if m.instance != nil {
		delete(s.instances, *m.instance)
	}
}

func (s *members) rename(m *member, id string) {
	delete(s.byID, m.id)
	m.id = id
	s.byID[id] = m
}

// instance finds a static member.
func (s *members) instance(id *string) *member {
	if id == nil {
		return nil
	}
	return s.instances[*id]
}

// joined counts the members whose join is held.
func (s *members) joined() int {
	n := 0
	for _, m := range s.list {
		if m.join != nil {
			n++
		}
	}
	return n
}

// lookup finds the member that a request speaks for. An instance id that
// belongs to another member id means that a newer process took over.
func (g *group) lookup(id string, instance *string) (*member, int16) {
	if instance != nil {
		switch m := g.members.instance(instance); {
		case m == nil:
			return nil, codeUnknownMember
		case m.id != id:
			return nil, codeFencedInstance
		default:
			return m, 0
		}
	}
	if m := g.members.byID[id]; m != nil {
		return m, 0
	}
	return nil, codeUnknownMember
}

// touch starts the member's session anew.
func (g *group) touch(m *member) {
	g.expireAfter(m, m.session)
}

func (g *group) expireAfter(m *member, d time.Duration) {
	m.expires = g.now.Add(d)
	g.wakeAt(m.expires)
}

// forgive makes all sessions longer by a time in which members were not answered.
func (g *group) forgive(d time.Duration) {
	for _, m := range g.members.list {
		if !m.expires.IsZero() {
			m.expires = m.expires.Add(d)
		}
	}
	if g.consumer == nil {
		return
	}
	for _, m := range g.consumer.list {
		if !m.expires.IsZero() {
			m.expires = m.expires.Add(d)
		}
	}
}

// drop takes the member out of the group, and its held requests with it.
func (g *group) drop(m *member) {
	if m.join != nil {
		e := m.join
		m.join = nil
		// Without its id, so that a client that is still there joins as new.
		g.answer(e, func() { e.fail("", codeUnknownMember) })
	}
	g.endSync(m, codeUnknownMember)
	g.members.remove(m)
	if g.leader == m.id {
		g.leader = ""
		if g.members.len() > 0 {
			g.leader = g.members.list[0].id
		}
	}
}

// dropFor drops the member; membersLeft has to follow.
func (g *group) dropFor(m *member, reason string) {
	g.log.Debug().Str("member", cut(m.id)).Str("reason", reason).Msg("member removed")
	g.drop(m)
}

// membersLeft lets the others rebalance, or complete the rebalance they are in.
func (g *group) membersLeft(reason string) {
	switch g.state {
	case completing, stable:
		g.prepareRebalance(reason)
	case preparing:
		g.maybeCompleteJoin()
	}
}

// synced takes the member off the list of those whose SyncGroup is missing.
func (g *group) synced(id string) {
	delete(g.unsynced, id)
	if len(g.unsynced) == 0 {
		g.syncDeadline = time.Time{}
	}
}

// endJoin answers a held join with an error.
func (g *group) endJoin(m *member, code int16) {
	if e := m.join; e != nil {
		m.join = nil
		id := m.id
		g.answer(e, func() { e.fail(id, code) })
	}
}

// endSync answers a held sync with an error.
func (g *group) endSync(m *member, code int16) {
	if m.sync != nil {
		g.refuse(m.sync, code)
		m.sync = nil
	}
}

// snapshot is the list as it is now, for loops that remove members.
func (s *members) snapshot() []*member { return slices.Clone(s.list) }
