package embedded

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	testDelay   = time.Second
	testSession = 30 * time.Second
)

// groupScript drives a group at chosen times.
type groupScript struct {
	t     *testing.T
	group *group
	now   time.Time
}

func newGroupScript(t *testing.T) *groupScript {
	return &groupScript{
		t: t, now: time.Unix(1_000_000, 0),
		group: newGroup(GroupSettings{SyncDelay: testDelay, SessionTimeout: testSession}),
	}
}

func (g *groupScript) pass(d time.Duration) { g.now = g.now.Add(d) }

func (g *groupScript) joins(client string, streams ...*stream) time.Duration {
	s := subscription{}
	for _, st := range streams {
		s[st.name] = st
	}
	return g.group.join(g.now, client, joinRequest{subscription: s, rebalanceTimeout: 20 * time.Second})
}

func (g *groupScript) syncs(client string, want wire.SyncState) map[string][]int {
	g.t.Helper()
	state, assignment := g.group.sync(g.now, client)
	if state != want {
		g.t.Fatalf("sync of %s: %s, want %s", client, state, want)
	}
	return assignment
}

func (g *groupScript) assigned(client string, want map[string][]int) {
	g.t.Helper()
	if diff := cmp.Diff(want, g.syncs(client, wire.SyncOK)); diff != "" {
		g.t.Fatalf("assignment of %s (-want +got):\n%s", client, diff)
	}
}

func (g *groupScript) beats(client string, generation int64, want wire.HeartbeatState) {
	g.t.Helper()
	if got := g.group.heartbeat(g.now, client, generation); got != want {
		g.t.Fatalf("heartbeat of %s in generation %d: %s, want %s", client, generation, got, want)
	}
}

// commits expects an error code, "" when the commit is allowed.
func (g *groupScript) commits(client string, generation int64, want string) {
	g.t.Helper()
	err := g.group.mayCommit(g.now, client, generation)
	var refused *apiError
	if errors.As(err, &refused) {
		if refused.code != want {
			g.t.Fatalf("commit of %s in generation %d: %v, want %q", client, generation, err, want)
		}
	} else if err != nil || want != "" {
		g.t.Fatalf("commit of %s in generation %d: %v, want %q", client, generation, err, want)
	}
}

// testStream is a stream with ACTIVE partitions.
func testStream(name string, partitions int) *stream {
	meta := streamMeta{ID: name + "-id", Settings: wire.CreateStreamRequest{StreamName: name}}
	for range partitions {
		meta.Partitions = append(meta.Partitions, partitionMeta{Status: wire.PartitionActive})
	}
	return newStream(meta)
}

func (st *stream) testScale(states ...wire.PartitionStatus) {
	st.meta.Partitions = make([]partitionMeta, len(states))
	for i, state := range states {
		st.meta.Partitions[i].Status = state
	}
	st.publishLayout()
}

// The life of one member, as the adapter leads it.
func TestGroupOfOne(t *testing.T) {
	g, s := newGroupScript(t), testStream("s", 3)
	g.beats("a", -1, wire.HeartbeatJoining)
	g.syncs("a", wire.SyncRejoin)
	g.commits("a", -1, wire.CodeMemberNotFound)
	if delay := g.joins("a", s); delay != testDelay {
		t.Errorf("delay %v", delay)
	}
	g.beats("a", -1, wire.HeartbeatSyncing)
	g.commits("a", -1, wire.CodeIllegalGeneration)
	g.commits("a", 0, wire.CodeIllegalGeneration)
	g.pass(testDelay - 1)
	g.syncs("a", wire.SyncWaiting)
	g.pass(1)
	g.assigned("a", map[string][]int{"s": {0, 1, 2}})
	g.beats("a", 1, wire.HeartbeatStable)
	g.commits("a", 1, "")
	g.commits("a", 2, wire.CodeIllegalGeneration)
	g.assigned("a", map[string][]int{"s": {0, 1, 2}}) // the answer was lost

	g.group.leave(g.now, "a")
	g.group.leave(g.now, "a")
	g.commits("a", 1, wire.CodeMemberNotFound)
	g.beats("a", 1, wire.HeartbeatJoining)
	g.joins("a", s)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0, 1, 2}})
	g.beats("a", 1, wire.HeartbeatJoining) // generations are not used again
	g.beats("a", 2, wire.HeartbeatStable)
}

// Members that start together share one rebalance; the first sync decides for all.
func TestGroupSharesPartitions(t *testing.T) {
	g, s, u := newGroupScript(t), testStream("s", 3), testStream("u", 1)
	g.joins("b", s, u)
	g.pass(testDelay / 2)
	if delay := g.joins("a", s, u); delay != testDelay/2 {
		t.Errorf("delay %v", delay)
	}
	g.joins("c", u)
	g.pass(testDelay / 2)
	g.assigned("b", map[string][]int{"s": {1}})
	g.assigned("a", map[string][]int{"s": {0, 2}})
	g.assigned("c", map[string][]int{"u": {0}})
	for _, client := range []string{"a", "b", "c"} {
		g.beats(client, 1, wire.HeartbeatStable)
	}
}

// A running group waits for its members to notice the rebalance, and lets them
// commit until they join it.
func TestGroupRebalanceWaitsForMembers(t *testing.T) {
	g, s := newGroupScript(t), testStream("s", 2)
	g.joins("a", s)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0, 1}})
	g.beats("a", 1, wire.HeartbeatStable)

	g.joins("b", s)
	g.pass(9 * time.Second)
	g.syncs("b", wire.SyncWaiting)
	g.syncs("a", wire.SyncRejoin)
	g.beats("a", 1, wire.HeartbeatJoining)
	g.commits("a", 1, "")
	if delay := g.joins("a", s); delay != 0 {
		t.Errorf("delay %v after the rebalance began long ago", delay)
	}
	g.commits("a", 1, wire.CodeRebalanceInProgress)
	g.assigned("b", map[string][]int{"s": {1}})
	g.commits("a", 1, wire.CodeIllegalGeneration)
	g.beats("a", 1, wire.HeartbeatSyncing)
	g.assigned("a", map[string][]int{"s": {0}})
	g.beats("a", 2, wire.HeartbeatStable)
	g.beats("b", 2, wire.HeartbeatStable)
	g.commits("b", 2, "")
}

// A member that does not join in time, but is alive, is dropped and comes back
// with the next rebalance.
func TestGroupDropsTheLate(t *testing.T) {
	g, s := newGroupScript(t), testStream("s", 2)
	g.joins("a", s)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0, 1}})
	g.joins("b", s)
	for range 3 {
		g.pass(6 * time.Second)
		g.syncs("b", wire.SyncWaiting)
		g.beats("a", 1, wire.HeartbeatJoining)
	}
	g.pass(2 * time.Second)
	g.assigned("b", map[string][]int{"s": {0, 1}})
	g.commits("a", 1, wire.CodeMemberNotFound)
	g.beats("a", 1, wire.HeartbeatJoining)
	g.joins("a", s)
	g.beats("b", 2, wire.HeartbeatJoining)
}

// Silent members lose their partitions; a commit or a sync is a sign of life.
func TestGroupSession(t *testing.T) {
	g, s := newGroupScript(t), testStream("s", 2)
	g.joins("a", s)
	g.joins("b", s)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0}})
	g.assigned("b", map[string][]int{"s": {1}})
	g.pass(testSession - 1)
	g.commits("a", 1, "")
	g.pass(1)
	g.beats("a", 1, wire.HeartbeatJoining) // b is gone
	g.joins("a", s)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0, 1}})
	if !g.group.inUse(g.now) {
		t.Error("not in use")
	}
	g.pass(testSession)
	if g.group.inUse(g.now) {
		t.Error("in use without members")
	}
	g.beats("a", 2, wire.HeartbeatJoining)
}

// A member that falls silent during a rebalance does not hold it up for ever.
func TestGroupSessionWithinRebalance(t *testing.T) {
	g, s := newGroupScript(t), testStream("s", 2)
	g.group.join(g.now, "a", joinRequest{subscription{"s": s}, time.Hour, false})
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0, 1}})
	g.joins("b", s)
	for range 5 {
		g.pass(testSession / 6)
		g.syncs("b", wire.SyncWaiting)
	}
	g.pass(testSession / 6)
	g.assigned("b", map[string][]int{"s": {0, 1}})
}

// A change of the readable partitions starts a rebalance; one that leaves them
// as they are does not. Retired partitions are drained, expired ones are not read.
func TestGroupFollowsPartitions(t *testing.T) {
	g, s := newGroupScript(t), testStream("s", 2)
	g.joins("a", s)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0, 1}})
	rebalanced := func(generation int64, want ...int) {
		t.Helper()
		g.beats("a", generation-1, wire.HeartbeatJoining)
		g.joins("a", s)
		g.pass(testDelay)
		g.assigned("a", map[string][]int{"s": want})
		g.beats("a", generation, wire.HeartbeatStable)
	}
	s.testScale(wire.PartitionActive, wire.PartitionActive, wire.PartitionActive, wire.PartitionActive)
	rebalanced(2, 0, 1, 2, 3)
	s.testScale(wire.PartitionActive, wire.PartitionActive, wire.PartitionDeleted, wire.PartitionDeleted)
	g.beats("a", 2, wire.HeartbeatStable)
	s.testScale(wire.PartitionActive, wire.PartitionActive, wire.PartitionExpired, wire.PartitionDeleted)
	rebalanced(3, 0, 1, 3)
	s.deleted = true
	s.publishLayout()
	g.beats("a", 3, wire.HeartbeatJoining)
	g.joins("a", s)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{})
}

// Scaling in the middle of a rebalance is part of it.
func TestGroupPartitionsWithinRebalance(t *testing.T) {
	g, s := newGroupScript(t), testStream("s", 1)
	g.joins("a", s)
	s.testScale(wire.PartitionActive, wire.PartitionActive)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0, 1}})
	g.beats("a", 1, wire.HeartbeatStable)
}

// accelerate.assign skips the wait for members that may come, not that for
// members that there are.
func TestGroupAccelerated(t *testing.T) {
	g, s := newGroupScript(t), testStream("s", 2)
	accelerated := joinRequest{subscription: subscription{"s": s}, rebalanceTimeout: 20 * time.Second, accelerate: true}
	if delay := g.group.join(g.now, "a", accelerated); delay != 0 {
		t.Errorf("delay %v", delay)
	}
	g.assigned("a", map[string][]int{"s": {0, 1}})
	g.group.join(g.now, "b", accelerated)
	g.syncs("b", wire.SyncWaiting)
	g.group.join(g.now, "a", accelerated)
	g.assigned("b", map[string][]int{"s": {1}})
	g.assigned("a", map[string][]int{"s": {0}})
}

// A consumer that starts again under its client id joins again.
func TestGroupRestartedMember(t *testing.T) {
	g, s := newGroupScript(t), testStream("s", 2)
	g.joins("a", s)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0, 1}})
	g.beats("a", -1, wire.HeartbeatJoining)
	g.joins("a", s)
	g.pass(testDelay)
	g.assigned("a", map[string][]int{"s": {0, 1}})
	g.beats("a", 2, wire.HeartbeatStable)
}

func TestAssignPartitions(t *testing.T) {
	s, u, w := testStream("s", 4), testStream("u", 3), testStream("w", 1)
	u.testScale(wire.PartitionDeleted, wire.PartitionExpired, wire.PartitionActive)
	tests := []struct {
		name    string
		members map[string]subscription
		want    map[string]map[string][]int
	}{
		{"nobody", nil, map[string]map[string][]int{}},
		{"more members than partitions", map[string]subscription{"a": {"w": w}, "b": {"w": w}},
			map[string]map[string][]int{"a": {"w": {0}}, "b": {}}},
		{"two streams", map[string]subscription{"a": {"s": s, "u": u}, "b": {"s": s, "u": u}},
			map[string]map[string][]int{"a": {"s": {0, 2}, "u": {0}}, "b": {"s": {1, 3}, "u": {2}}}},
		{"by name and by id", map[string]subscription{"a": {"s": s}, "b": {"s-id": s}},
			map[string]map[string][]int{"a": {"s": {0, 2}}, "b": {"s-id": {1, 3}}}},
		{"who can read only one stream is served first", map[string]subscription{"a": {"s": s}, "b": {"s": s, "u": u}},
			map[string]map[string][]int{"a": {"s": {0, 1, 2}}, "b": {"s": {3}, "u": {0, 2}}}},
		{"nothing matches", map[string]subscription{"a": {}, "b": {"s": s}},
			map[string]map[string][]int{"a": {}, "b": {"s": {0, 1, 2, 3}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := newGroup(GroupSettings{})
			for client, s := range test.members {
				g.members[client] = &member{subscription: s}
			}
			if diff := cmp.Diff(test.want, assignPartitions(g.members, g.layouts())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCompilePattern(t *testing.T) {
	names := []string{"orders", "orders-2", "my-orders", "ORDERS", "o"}
	tests := []struct {
		pattern string
		want    []string
	}{
		{"orders", []string{"orders"}},
		{"orders.*", []string{"orders", "orders-2"}},
		{"o|orders", []string{"orders", "o"}},
		{"(?i)orders", []string{"orders", "ORDERS"}},
		{`orders-\d+`, []string{"orders-2"}},
		{"[a-z]+", []string{"orders", "o"}},
		{"none", nil},
	}
	for _, test := range tests {
		expression, err := compilePattern(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		var got []string
		for _, name := range names {
			if expression.MatchString(name) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s matches %q, want %q", test.pattern, got, test.want)
		}
	}
	for _, pattern := range []string{"a)|(b", "(?=a)a", "[", `(a)\1`, "a*+"} {
		if _, err := compilePattern(pattern); err == nil {
			t.Errorf("%s is accepted", pattern)
		}
	}
}
