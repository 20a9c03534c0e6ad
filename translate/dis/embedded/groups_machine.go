package embedded

import (
	"maps"
	"slices"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// group shares the partitions of streams among the consumers of an app.
//
// It is a state machine that is told the time: every call first brings it up to
// date, so it needs no timers. A group without members is idle. A join starts a
// rebalance, and so do a member that leaves or falls silent and a change of the
// readable partitions. A rebalance is over with the first sync that finds that
//
//   - the sync delay has passed, so that members that start together share one
//     rebalance, and
//   - every member has joined. Members learn of a rebalance only by their next
//     heartbeat, seconds later. One that has not joined by its rebalance timeout
//     is dropped.
//
// That sync computes the assignment of the next generation for everyone; the
// others fetch theirs with their own sync.
//
// A group lives in memory. After a restart of the server its members are
// unknown, join again at their next heartbeat, and go on at their checkpoints.
type group struct {
	settings   GroupSettings
	members    map[string]*member // by client id
	generation int64              // of the last assignment, 0 before the first

	// rebalancing is true from the start of a rebalance to the assignment.
	rebalancing bool
	started     time.Time // of the rebalance

	// shared has the partitions that the last assignment gave out.
	shared map[*stream]*[]int
}

// member is a consumer of a group.
type member struct {
	subscription subscription
	// rebalanceTimeout is how long a rebalance waits for the member.
	rebalanceTimeout time.Duration
	// accelerate asks for an assignment without waiting for further members.
	accelerate bool

	lastSeen   time.Time
	joined     bool // the running rebalance, or the last one
	synced     bool // has fetched the assignment of its generation
	assignment map[string][]int
}

// subscription has the streams of a member under the names or ids that it gave.
type subscription map[string]*stream

func newGroup(settings GroupSettings) *group {
	return &group{settings: settings, members: map[string]*member{}}
}

// catchUp does what has become due by now.
func (g *group) catchUp(now time.Time) {
	before := len(g.members)
	maps.DeleteFunc(g.members, func(_ string, m *member) bool { return now.Sub(m.lastSeen) >= g.settings.SessionTimeout })
	if g.rebalancing && !now.Before(g.started.Add(g.rebalanceTimeout())) {
		maps.DeleteFunc(g.members, func(_ string, m *member) bool { return !m.joined })
	}
	if len(g.members) < before || g.partitionsChanged() {
		g.rebalance(now)
	}
}

// rebalance starts a rebalance unless one is running or nobody is left.
func (g *group) rebalance(now time.Time) {
	if len(g.members) == 0 {
		g.rebalancing, g.shared = false, nil
		return
	}
	if g.rebalancing {
		return
	}
	g.rebalancing, g.started = true, now
	for _, m := range g.members {
		m.joined = false
	}
}

func (g *group) rebalanceTimeout() time.Duration {
	var longest time.Duration
	for _, m := range g.members {
		longest = max(longest, m.rebalanceTimeout)
	}
	return longest
}

// partitionsChanged reports whether the readable partitions are others than
// those that were given out.
func (g *group) partitionsChanged() bool {
	for st, partitions := range g.shared {
		if st.layout.Load() != partitions {
			return true
		}
	}
	return false
}

// joinRequest is what a member says when it joins.
type joinRequest struct {
	subscription     subscription
	rebalanceTimeout time.Duration
	accelerate       bool
}

// join adds or renews a member and returns how long it is to wait with its sync.
func (g *group) join(now time.Time, client string, r joinRequest) (delay time.Duration) {
	g.catchUp(now)
	m := g.members[client]
	if m == nil {
		m = &member{}
		g.members[client] = m
	}
	m.subscription, m.rebalanceTimeout, m.accelerate = r.subscription, r.rebalanceTimeout, r.accelerate
	m.lastSeen = now
	g.rebalance(now)
	m.joined = true
	if g.accelerated() {
		return 0
	}
	return max(0, g.started.Add(g.settings.SyncDelay).Sub(now))
}

// accelerated reports whether a member of the running rebalance asks not to wait.
func (g *group) accelerated() bool {
	for _, m := range g.members {
		if m.joined && m.accelerate {
			return true
		}
	}
	return false
}

// sync gives a member its partitions once they are decided.
func (g *group) sync(now time.Time, client string) (wire.SyncState, map[string][]int) {
	g.catchUp(now)
	m := g.members[client]
	if m == nil {
		return wire.SyncRejoin, nil
	}
	m.lastSeen = now
	if g.rebalancing && !m.joined {
		return wire.SyncRejoin, nil
	}
	if g.rebalancing && !g.complete(now) {
		return wire.SyncWaiting, nil
	}
	m.synced = true
	return wire.SyncOK, m.assignment
}

// complete ends the rebalance if it may end, with a new generation.
func (g *group) complete(now time.Time) bool {
	for _, m := range g.members {
		if !m.joined {
			return false
		}
	}
	if now.Before(g.started.Add(g.settings.SyncDelay)) && !g.accelerated() {
		return false
	}
	g.rebalancing = false
	g.generation++
	g.shared = g.layouts()
	assignments := assignPartitions(g.members, g.shared)
	for client, m := range g.members {
		m.assignment, m.synced = assignments[client], false
	}
	return true
}

// layouts has the readable partitions of every stream that a member asked for.
func (g *group) layouts() map[*stream]*[]int {
	found := map[*stream]*[]int{}
	for _, m := range g.members {
		for _, st := range m.subscription {
			found[st] = st.layout.Load()
		}
	}
	return found
}

// heartbeat keeps a member alive and tells it what to do next.
func (g *group) heartbeat(now time.Time, client string, generation int64) wire.HeartbeatState {
	g.catchUp(now)
	m := g.members[client]
	if m == nil {
		return wire.HeartbeatJoining
	}
	m.lastSeen = now
	switch {
	case g.rebalancing && m.joined:
		return wire.HeartbeatSyncing
	case g.rebalancing:
		return wire.HeartbeatJoining
	case generation == g.generation:
		return wire.HeartbeatStable
	case !m.synced:
		return wire.HeartbeatSyncing
	default: // one that was restarted under its old client id
		return wire.HeartbeatJoining
	}
}

// leave removes a member, if it is one.
func (g *group) leave(now time.Time, client string) {
	g.catchUp(now)
	if g.members[client] == nil {
		return
	}
	delete(g.members, client)
	g.rebalance(now)
}

// mayCommit refuses the checkpoint of a consumer that is not, or no longer, a
// member of the generation. During a rebalance members may commit until they
// join it: that is what a callback for revoked partitions does, and nobody else
// has the partitions yet.
func (g *group) mayCommit(now time.Time, client string, generation int64) error {
	g.catchUp(now)
	m := g.members[client]
	if m == nil {
		return refuse(wire.CodeMemberNotFound, "Consumer group member does not exist. [%s]", client)
	}
	m.lastSeen = now
	if generation != g.generation || g.generation == 0 {
		return refuse(wire.CodeIllegalGeneration, "Illegal consumer group generation. [%d][%d]", generation, g.generation)
	}
	if g.rebalancing && m.joined {
		return refuse(wire.CodeRebalanceInProgress, "Consumer group rebalance is in progress. [%s]", client)
	}
	return nil
}

// inUse reports whether a group has members.
func (g *group) inUse(now time.Time) bool {
	g.catchUp(now)
	return len(g.members) > 0
}

// clients lists the members in a fixed order.
func clients(members map[string]*member) []string { return slices.Sorted(maps.Keys(members)) }
