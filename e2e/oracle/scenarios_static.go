package oracle

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// staticScenarios: members with an instance id (KIP-345).
var staticScenarios = []Scenario{
	{"static-join", "a static member joins without being told to take an id", staticJoin},
	{"static-replaced", "a static member that comes back causes no rebalance, and the old one is fenced", staticReplaced},
	{"static-replaced-changed", "a static member that comes back with another subscription", staticReplacedChanged},
	{"static-leader-back", "a static leader that comes back need not assign again", staticLeaderBack},
	{"static-leader-back-old", "before version 9 another leads, that nobody assigns again", staticLeaderBackOld},
	{"static-refused", "instances and ids that do not belong together", staticRefused},
	{"static-removed", "an administrator removes an instance", staticRemoved},
	{"static-completing", "a static member that comes back while the leader assigns", staticCompleting},
	{"static-waiting", "a static member that comes back while it waits to join", staticWaiting},
	{"static-stays", "a static member that does not join again in time stays for its session", staticStays},
	{"static-session", "the session of a static member ends as that of any other", staticSession},
	{"static-old-version", "instance ids are known from version 5 on", staticOldVersion},
}

// again is the same instance, started anew: it has no id.
func (m *Member) again(name string) *Member {
	fresh := m.Group.Static(name, *m.InstanceID, m.Topics...)
	fresh.Rebalance, fresh.Session, fresh.Version, fresh.Protocols = m.Rebalance, m.Session, m.Version, m.Protocols
	return fresh
}

func staticJoin(r *Run) {
	g, a, b := r.staticPair()
	a.JoinOnce("a has an id at once")
	joining := b.BeginJoin("b joins")
	g.AwaitMembers(2)
	rejoining := a.BeginJoin("a joins again")
	joining.Wait()
	rejoining.Wait()
	g.syncAll("t", 2, []*Member{a, b})
	a.Heartbeat("stable")
	a.Commit("a commits", "t", 0, 0)
	g.Describe("described")
}

func staticReplaced(r *Run) {
	g, a, b := r.staticPair()
	g.Stable("t", 2, a, b)
	again := b.again("b-again")
	again.JoinOnce("b comes back")
	again.Sync("and has what it had", nil)
	a.Heartbeat("a is not disturbed")
	b.Heartbeat("a heartbeat of the old b")
	b.Sync("a sync of the old b", nil)
	b.Commit("a commit of the old b", "t", 1, 0)
	b.JoinOnce("a join of the old b")
	b.Leave("the old b leaves")
	again.Heartbeat("the new b")
	again.Commit("a commit of the new b", "t", 1, 0)
	b.Heartbeat("the old id without the instance", func(req *kmsg.HeartbeatRequest) { req.InstanceID = nil })
}

func staticReplacedChanged(r *Run) {
	g, a, b := r.staticPair()
	a.Protocols, b.Protocols = []string{"range", "roundrobin"}, []string{"range", "roundrobin"}
	g.Stable("t", 2, a, b)
	again := b.again("b-again")
	again.Topics = []string{"t", "u"}
	again.JoinOnce("another subscription, the same protocol")
	a.Heartbeat("a")
	third := b.again("b-third")
	third.Protocols = []string{"roundrobin"}
	joining := third.BeginJoin("another protocol is chosen")
	a.AwaitRebalance("a is told")
	rejoining := a.BeginJoin("a joins again")
	joining.Wait()
	rejoining.Wait()
}

func staticLeaderBack(r *Run) {
	g, a, b := r.staticPair()
	g.Stable("t", 2, a, b)
	again := a.again("a-again")
	again.JoinOnce("the leader comes back")
	again.Sync("it has what it had", nil)
	b.Heartbeat("b is not disturbed")
	joining := again.BeginJoin("it joins once more, as a leader may")
	b.AwaitRebalance("b is told")
	b.Join("b joins again")
	joining.Wait()
}

func staticLeaderBackOld(r *Run) {
	g, a, b := r.staticPair()
	a.Version, b.Version = 8, 8
	g.Stable("t", 2, a, b)
	again := a.again("a-again")
	again.JoinOnce("the leader comes back")
	again.Sync("it has what it had", nil)
	b.Heartbeat("b is not disturbed")
}

func staticRefused(r *Run) {
	r.Topic("t", 2)
	g := r.Group("g")
	a, b := g.Static("a", "instance-a", "t"), g.Member("b", "t")
	g.Stable("t", 2, a, b)
	stranger := g.Static("c", "instance-c", "t")
	stranger.JoinOnce("an id and an instance, both unknown", func(req *kmsg.JoinGroupRequest) { req.MemberID = "nobody" })
	stranger.JoinOnce("an instance with the id of another member", func(req *kmsg.JoinGroupRequest) { req.MemberID, req.InstanceID = b.ID, a.InstanceID })
	stranger.JoinOnce("an unknown instance with the id of a member", func(req *kmsg.JoinGroupRequest) { req.MemberID = b.ID })
	a.Heartbeat("an instance with the id of another member, heartbeat", func(req *kmsg.HeartbeatRequest) { req.MemberID = b.ID })
	a.Heartbeat("an unknown instance, heartbeat", func(req *kmsg.HeartbeatRequest) { req.InstanceID = stranger.InstanceID })
	a.Sync("an instance with the id of another member, sync", nil, func(req *kmsg.SyncGroupRequest) { req.MemberID = b.ID })
	a.Sync("an unknown instance, sync", nil, func(req *kmsg.SyncGroupRequest) { req.InstanceID = stranger.InstanceID })
	a.Commit("an instance with the id of another member, commit", "t", 0, 0, func(req *kmsg.OffsetCommitRequest) { req.MemberID = b.ID })
	a.Commit("an unknown instance, commit", "t", 0, 0, func(req *kmsg.OffsetCommitRequest) { req.InstanceID = stranger.InstanceID })
	a.Heartbeat("the instance left out", func(req *kmsg.HeartbeatRequest) { req.InstanceID = nil })
}

func staticRemoved(r *Run) {
	g, a, b := r.staticPair()
	g.Stable("t", 2, a, b)
	leaving := kmsg.NewLeaveGroupRequestMember()
	leaving.InstanceID = b.InstanceID
	g.leaveAll("by its instance", leaving)
	a.AwaitRebalance("a is told")
	b.Heartbeat("b is unknown")
	a.Join("a joins alone")
	b.JoinOnce("b with its old id")
}

func staticCompleting(r *Run) {
	g, a, b := r.staticPair()
	g.Joined(a, b)
	waiting := b.BeginSync("b waits for its part", nil)
	again := b.again("b-again")
	back := again.BeginJoin("b comes back")
	waiting.Wait()
	a.AwaitRebalance("a is told to join again")
	joining := a.BeginJoin("a joins again")
	back.Wait()
	joining.Wait()
}

func staticWaiting(r *Run) {
	g, a, b := r.staticPair()
	g.Stable("t", 2, a)
	waiting := b.BeginJoin("b waits to join")
	g.AwaitMembers(2)
	again := b.again("b-again")
	back := again.BeginJoin("b comes back")
	waiting.Wait()
	joining := a.BeginJoin("a joins again")
	back.Wait()
	joining.Wait()
}

func staticStays(r *Run) {
	r.Topic("t", 2)
	g := r.Group("g")
	a, b := g.Static("a", "instance-a", "t"), g.Member("b", "t")
	a.Rebalance, b.Rebalance = 2*time.Second, 2*time.Second
	g.Stable("t", 2, a)
	b.Join("b joins, a is silent and stays")
	a.Heartbeat("a is still a member")
	a.Heartbeat("of a past generation", func(req *kmsg.HeartbeatRequest) { req.Generation-- })
	g.Describe("described")
}

func staticSession(r *Run) {
	g, a, b := r.staticPair()
	b.Session = shortestSession
	g.Stable("t", 2, a, b)
	a.AwaitRebalance("a is told when b is gone")
	b.Heartbeat("b is unknown")
	a.Join("a joins alone")
	joining := b.BeginJoin("b with its old id")
	joining.Wait()
	again := b.again("b-again")
	back := again.BeginJoin("b comes back with a new one")
	a.AwaitRebalance("a is told again")
	joining = a.BeginJoin("a joins again")
	back.Wait()
	joining.Wait()
}

func staticOldVersion(r *Run) {
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Version = 4
	a.JoinOnce("version 4 has no instances")
	b := g.Static("b", "instance-b", "t")
	b.Version = 5
	b.JoinOnce("version 5")
}
