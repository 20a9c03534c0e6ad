package groupcoord

import (
	"slices"
	"time"
)

// noDeadline is the deadline of something that is not awaited.
var noDeadline time.Time

// touchConsumer starts the member's session anew.
func (g *group) touchConsumer(m *consumerMember) {
	session := g.cfg.ConsumerSessionTimeout
	if m.classic != nil {
		session = m.classic.session
	}
	m.expires = g.now.Add(session)
	g.wakeAt(m.expires)
}

// deadline is when the first timer of a member is due.
func (m *consumerMember) deadline() time.Time {
	return earliest(earliest(m.expires, m.revokeBy), earliest(m.rejoinBy, m.syncBy))
}

// expireConsumers fences the members that were not heard of, did not give up their
// partitions, or did not rejoin or sync in time, one after the other.
func (g *group) expireConsumers() {
	if g.consumer == nil {
		return
	}
	for _, m := range slices.Clone(g.consumer.list) {
		if g.consumer == nil || g.consumer.byID[m.id] != m {
			continue // the group has become a classic one meanwhile
		}
		if due(m.expires, g.now) && (g.commits[m.id] > 0 || g.awaitsLookup(m.id)) {
			m.expires = noDeadline // the session goes on when it has its answer
		}
		switch {
		case due(m.expires, g.now):
			g.fence("session timeout", m)
		case due(m.revokeBy, g.now):
			g.fence("partitions not given up in time", m)
		case due(m.rejoinBy, g.now):
			g.fence("did not rejoin in time", m)
		case due(m.syncBy, g.now):
			g.fence("did not sync in time", m)
		}
	}
}

// fence removes members. What they had is free, whatever they think.
func (g *group) fence(reason string, members ...*consumerMember) {
	c := g.consumer
	for _, m := range members {
		g.log.Debug().Str("member", cut(m.id)).Str("reason", reason).Msg("member removed")
		c.remove(m)
	}
	if c.len() > 0 && c.allClassic() {
		g.downgrade()
		return
	}
	c.epoch++
	if c.len() == 0 {
		c.targetEpoch = c.epoch // there is nobody to assign to
	}
	g.consumerChanged(reason)
}
