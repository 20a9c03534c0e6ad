package groupcoord

import (
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxMemberBytes is how much the members of all groups may have here. A group of
// the largest SyncGroup that is taken (16 MiB) fits twice. With the snapshots it
// costs between two and three times as much memory.
const maxMemberBytes = 32 << 20

// memberCost is what a member counts for beside the texts and bytes that it sends.
const memberCost = 256

// room is shared by all groups: a request is bounded by its frame, but members stay
// for as long as their session, so that a few clients could fill the memory.
type room struct {
	limit   int64
	log     zerolog.Logger
	kept    atomic.Int64
	refused atomic.Int64
	short   shortage
}

// has reports whether so many bytes more can be kept. What does not grow always fits:
// members that are there go on.
func (r *room) has(more int) bool {
	if more <= 0 || r.kept.Load()+int64(more) <= r.limit {
		return true
	}
	r.refused.Add(1)
	r.short.note(func() {
		r.log.Warn().Int64("limit_bytes", r.limit).Msg("members of groups keep too much in memory: what would add to it is refused; the end of that is logged, not each")
	}, func(refused int, after time.Duration) {
		r.log.Info().Int("refused", refused).Str("after", after.Round(time.Second).String()).Msg("members of groups have room in memory again")
	})
	return false
}

var noRoom = &refusal{codeNotAvailable, "the members of all groups keep as much in memory as they may"}

// weigh counts what the members of the group keep; the actor calls it after events
// that may have changed that, and takes off all of it when the group goes.
func (a *actor) weigh(bytes int) {
	a.c.cfg.room.kept.Add(int64(bytes - a.kept))
	a.kept = bytes
}

// weight is what the members keep, and ids that were given out and not used yet.
func (g *group) weight() int {
	n := memberCost * len(g.pending)
	for _, m := range g.members.list {
		n += m.weight()
	}
	if g.consumer != nil {
		for _, m := range g.consumer.list {
			n += m.weight()
		}
	}
	return n
}

func (m *member) weight() int {
	return identity(m.id, m.instance, m.client) + protocolBytes(m.protocols) + len(m.assignment)
}

func (m *consumerMember) weight() int {
	n := identity(m.id, m.instance, m.client) + subscriptionBytes(m.topics, m.pattern) + textBytes(m.rack)
	if m.classic != nil {
		n += protocolBytes(m.classic.protocols)
	}
	return n
}

func identity(id string, instance *string, client Client) int {
	return memberCost + len(id) + textBytes(instance) + len(client.ID)
}

func textBytes(s *string) int {
	if s == nil {
		return 0
	}
	return len(*s)
}

func protocolBytes(protocols []protocol) int {
	n := 0
	for _, p := range protocols {
		n += len(p.Name) + len(p.Metadata)
	}
	return n
}

func subscriptionBytes(topics []string, pattern string) int {
	n := len(pattern)
	for _, t := range topics {
		n += stringHeader + len(t)
	}
	return n
}

// stringHeader is what a text costs in a list beside its bytes.
const stringHeader = 16

// grows is by how much a join adds to what the group keeps.
func (e *joinEvent) grows(g *group) int {
	n := identity(e.req.MemberID, e.req.InstanceID, e.client)
	for _, p := range e.req.Protocols {
		n += len(p.Name) + len(p.Metadata)
	}
	return n - g.weightOf(e.req.MemberID, e.req.InstanceID)
}

// grows is by how much a heartbeat adds to what the group keeps.
func (e *beatEvent) grows(g *group) int {
	var m *consumerMember
	if g.consumer != nil {
		m = g.consumer.byID[e.id]
	}
	topics, pattern := e.subscription(m)
	n := identity(e.id, e.req.InstanceID, e.client) + subscriptionBytes(topics, pattern) + textBytes(e.req.RackID)
	return n - g.weightOf(e.id, e.req.InstanceID)
}

// grows is by how much the assignments of a leader add to those of now.
func (g *group) grows(assignments []kmsg.SyncGroupRequestGroupAssignment) int {
	n := 0
	for _, a := range assignments {
		if g.members.byID[a.MemberID] != nil {
			n += len(a.MemberAssignment)
		}
	}
	for _, m := range g.members.list {
		n -= len(m.assignment)
	}
	return n
}

// weightOf is what the member keeps that a request speaks for, 0 if there is none.
func (g *group) weightOf(id string, instance *string) int {
	if g.consumer != nil {
		m := g.consumer.byID[id]
		if m == nil && instance != nil {
			m = g.consumer.instances[*instance]
		}
		if m == nil {
			return 0
		}
		return m.weight()
	}
	m := g.members.byID[id]
	if m == nil {
		m = g.members.instance(instance)
	}
	if m == nil {
		return 0
	}
	return m.weight() - len(m.assignment)
}
