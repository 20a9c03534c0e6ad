package groupcoord

import "time"

// tick tells that time has passed: everything that is due happens.
type tick struct{}

func (tick) apply(g *group) {
	g.expireSessions()
	g.expirePending()
	g.maybeCompleteJoin()
	g.expireSyncs()
	g.expireConsumers()
	if due(g.lookupAt, g.now) {
		g.lookupAt = time.Time{}
		g.startLookup()
	}
	if due(g.refreshAt, g.now) {
		g.reread(false)
	}
	g.wake = g.nextTimer()
}

// due reports whether a deadline, if there is one, has come.
func due(deadline, now time.Time) bool {
	return !deadline.IsZero() && !now.Before(deadline)
}

// earliest returns the earlier of two deadlines, of which zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// wakeAt makes sure that a tick comes at t. Deadlines that move away leave wake
// as it is: that tick finds nothing to do and sets it right.
func (g *group) wakeAt(t time.Time) {
	g.wake = earliest(g.wake, t)
}

func (g *group) nextTimer() time.Time {
	next := earliest(earliest(g.syncDeadline, g.refreshAt), g.lookupAt)
	if g.state == preparing {
		next = earliest(next, g.joinDeadline)
	}
	for _, m := range g.members.list {
		next = earliest(next, m.expires)
	}
	for _, expires := range g.pending {
		next = earliest(next, expires)
	}
	if g.consumer != nil {
		for _, m := range g.consumer.list {
			next = earliest(next, m.deadline())
		}
	}
	return next
}

// expireSessions removes the members that were not heard of for too long. All of
// them go before the others rebalance: nobody waits as long as one that is gone asked
// for.
func (g *group) expireSessions() {
	before := g.members.len()
	for _, m := range g.members.snapshot() {
		switch {
		case !due(m.expires, g.now) || g.members.byID[m.id] != m:
		case !m.fresh && (m.join != nil || m.sync != nil || g.commits[m.id] > 0):
			// It waits for us; the session goes on when it has its answer.
			m.expires = time.Time{}
		default:
			g.dropFor(m, "session timeout")
		}
	}
	if g.members.len() < before {
		g.membersLeft("session timeout")
	}
}

// expirePending forgets member ids that nobody used.
func (g *group) expirePending() {
	for id, expires := range g.pending {
		if due(expires, g.now) {
			delete(g.pending, id)
		}
	}
}

// expireSyncs removes the members that took their generation and never asked
// for the assignment, and lets the others rebalance.
func (g *group) expireSyncs() {
	if !due(g.syncDeadline, g.now) {
		return
	}
	for _, m := range g.members.snapshot() {
		if _, missing := g.unsynced[m.id]; missing {
			g.drop(m)
		}
	}
	g.prepareRebalance("members did not sync in time")
}
