package groupcoord

import "time"

// minPostponed keeps a rebalance that waits for static members from spinning
// when their rebalance timeout is nothing.
const minPostponed = time.Second

// prepareRebalance begins to collect the members of the next generation.
func (g *group) prepareRebalance(reason string) {
	if g.state == completing {
		// The generation ends without assignments.
		for _, m := range g.members.list {
			if m.sync != nil {
				g.endSync(m, codeRebalanceInProgress)
				g.touch(m)
			}
		}
	}
	g.unsynced, g.syncDeadline = nil, time.Time{}

	wait := g.rebalanceTimeout()
	if g.state == empty {
		g.initial, g.grown = true, false
		g.delayLeft = max(wait-g.cfg.InitialRebalanceDelay, 0)
		wait = g.cfg.InitialRebalanceDelay
	}
	g.joinDeadline = g.now.Add(wait)
	g.wakeAt(g.joinDeadline)
	g.transitionTo(preparing, reason)
	g.maybeCompleteJoin()
}

// maybeCompleteJoin ends the joining when everybody is there, or it is time.
// Ids that were given out and not yet used are waited for too.
func (g *group) maybeCompleteJoin() {
	switch {
	case g.state != preparing:
	case due(g.joinDeadline, g.now):
		g.expireJoin()
	case !g.initial && len(g.pending) == 0 && g.members.joined() == g.members.len():
		g.completeJoin()
	}
}

// expireJoin is the end of the time to join. The initial delay starts again as
// long as members keep coming, but not beyond the rebalance timeout.
func (g *group) expireJoin() {
	if g.initial && g.grown && g.delayLeft > 0 {
		g.grown = false
		wait := min(g.cfg.InitialRebalanceDelay, g.delayLeft)
		g.delayLeft -= wait
		g.joinDeadline = g.now.Add(wait)
		g.wakeAt(g.joinDeadline)
		return
	}
	g.completeJoin()
}

// completeJoin makes a generation of those who joined. Static members that did
// not rejoin stay: their process may be restarting.
func (g *group) completeJoin() {
	g.initial = false
	for _, m := range g.members.snapshot() {
		if m.join == nil && m.instance == nil {
			g.drop(m)
		}
	}
	if g.members.len() == 0 {
		g.becomeEmpty()
		return
	}
	if !g.electJoinedLeader() {
		g.log.Info().Int("members", g.members.len()).
			Msg("no member rejoined in time, only static ones are left: rebalance goes on until they return or expire")
		g.joinDeadline = g.now.Add(max(g.rebalanceTimeout(), minPostponed))
		g.wakeAt(g.joinDeadline)
		return
	}
	g.beginGeneration()
}

// electJoinedLeader makes sure that the leader is there to assign.
func (g *group) electJoinedLeader() bool {
	if m := g.members.byID[g.leader]; m != nil && m.join != nil {
		return true
	}
	for _, m := range g.members.list {
		if m.join != nil {
			g.leader = m.id
			return true
		}
	}
	return false
}

func (g *group) becomeEmpty() {
	g.generation++
	g.protocol, g.leader = "", ""
	g.subscribed, g.firstCounts = nil, nil
	g.joinDeadline, g.refreshAt = time.Time{}, time.Time{}
	g.transitionTo(empty, "no members left")
	g.offsets.forget()
	g.changed = true
}

func (g *group) beginGeneration() {
	g.generation++
	g.protocol = g.vote()
	g.noteSubscribed()
	g.joinDeadline = time.Time{}
	g.transitionTo(completing, "all members joined")
	g.changed = true

	g.unsynced = make(map[string]struct{}, g.members.len())
	for _, m := range g.members.list {
		g.unsynced[m.id] = struct{}{}
		m.fresh = false
		if m.join != nil {
			g.answerJoin(m, g.leader, false)
		}
		g.touch(m)
	}
	g.awaitSyncs()
	g.reread(true)
}

// awaitSyncs starts the time in which every member has to send its SyncGroup.
func (g *group) awaitSyncs() {
	g.syncDeadline = g.now.Add(g.rebalanceTimeout())
	g.wakeAt(g.syncDeadline)
}
