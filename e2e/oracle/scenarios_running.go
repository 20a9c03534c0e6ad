package oracle

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// runningScenarios: SyncGroup, Heartbeat and LeaveGroup of the classic protocol.
var runningScenarios = []Scenario{
	{"sync-refused", "SyncGroup of strangers, of the past and of another protocol", syncRefused},
	{"sync-old-versions", "versions 0 to 5 of SyncGroup", syncOldVersions},
	{"sync-again", "SyncGroup in a stable group gives what was assigned", syncAgain},
	{"sync-left-out", "a member that the leader left out gets nothing, a stranger is ignored", syncLeftOut},
	{"sync-waits", "followers wait for the leader", syncWaits},
	{"sync-timeout", "who does not sync in time is left out", syncTimeout},
	{"sync-rebalancing", "SyncGroup during a rebalance", syncRebalancing},
	{"heartbeat-refused", "heartbeats of strangers and of the past", heartbeatRefused},
	{"heartbeat-states", "heartbeats in each state", heartbeatStates},
	{"heartbeat-old-versions", "versions 0 to 4 of Heartbeat", heartbeatOldVersions},
	{"session-expires", "a silent member is removed after its session timeout", sessionExpires},
	{"session-of-one", "the group of a silent member is empty", sessionOfOne},
	{"leave-refused", "groups and members that cannot leave", leaveRefused},
	{"leave-old-versions", "versions 0 to 5 of LeaveGroup", leaveOldVersions},
	{"leave-several", "one request removes several members", leaveSeveral},
	{"leave-completing", "a member leaves while the leader assigns", leaveCompleting},
	{"leave-preparing", "the last one that was waited for leaves", leavePreparing},
	{"leave-waiting", "a member leaves that waits for its join", leaveWaiting},
	{"leave-pending", "who was given an id and never joined leaves", leavePending},
}

func syncRefused(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Sync("no such group", nil)
	a.Sync("no group", nil, func(req *kmsg.SyncGroupRequest) { req.Group = "" })
	a.JoinOnce("")
	a.Sync("only an id", nil)
	g.Stable("t", 1, a)
	a.Sync("an id that is not there", nil, func(req *kmsg.SyncGroupRequest) { req.MemberID = "nobody" })
	a.Sync("a past generation", nil, func(req *kmsg.SyncGroupRequest) { req.Generation-- })
	a.Sync("a generation to come", nil, func(req *kmsg.SyncGroupRequest) { req.Generation++ })
	a.Sync("another protocol type", nil, func(req *kmsg.SyncGroupRequest) { req.ProtocolType = kmsg.StringPtr("connect") })
	a.Sync("another protocol", nil, func(req *kmsg.SyncGroupRequest) { req.Protocol = kmsg.StringPtr("roundrobin") })
	a.Sync("neither told", nil, func(req *kmsg.SyncGroupRequest) { req.ProtocolType, req.Protocol = nil, nil })
	a.Heartbeat("the member was not disturbed")
}

func syncOldVersions(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 1, a)
	for version := range int16(syncVersion + 1) {
		a.Sync("version "+string('0'+rune(version)), nil, func(req *kmsg.SyncGroupRequest) { req.Version = version })
	}
}

func syncAgain(r *Run) {
	g, a, b := r.pair()
	g.Stable("t", 2, a, b)
	b.Sync("the follower", nil)
	a.Sync("the leader, with another plan", Plan{"a": {"t": {0, 1}}, "b": {}})
	b.Sync("the follower has what it had", nil)
}

func syncLeftOut(r *Run) {
	g, a, b := r.pair()
	g.Joined(a, b)
	waiting := b.BeginSync("b was left out", nil)
	a.Sync("a assigns to itself and a stranger", Plan{"a": {"t": {0, 1}}}, func(req *kmsg.SyncGroupRequest) {
		stranger := kmsg.NewSyncGroupRequestGroupAssignment()
		stranger.MemberID, stranger.MemberAssignment = "nobody", []byte("x")
		req.GroupAssignment = append(req.GroupAssignment, stranger)
	})
	waiting.Wait()
	g.Describe("described")
}

func syncWaits(r *Run) {
	g, a, b := r.pair()
	g.Joined(a, b)
	waiting := b.BeginSync("b gets its part", nil)
	r.Note("it waits", "%t", waiting.Waits(300*time.Millisecond))
	a.Heartbeat("a heartbeat of the leader meanwhile")
	g.Describe("described meanwhile")
	a.Commit("a commit meanwhile", "t", 0, 0)
	a.Sync("a assigns", Plan{"a": {"t": {0}}, "b": {"t": {1}}})
	waiting.Wait()
}

func syncTimeout(r *Run) {
	g, a, b := r.pair()
	a.Rebalance, b.Rebalance = 2*time.Second, 2*time.Second
	a.Join("")
	joining := b.BeginJoin("")
	g.AwaitMembers(2)
	a.Join("a is to assign and does not")
	joining.Wait()
	b.BeginSync("b is told to join again", nil).Wait()
	a.Heartbeat("a is no member any more")
	b.Join("b joins alone")
	b.Sync("and has all", Plan{"b": {"t": {0, 1}}})
}

func syncRebalancing(r *Run) {
	g, a, b := r.pair()
	g.Stable("t", 2, a)
	joining := b.BeginJoin("b joins")
	g.AwaitState("PreparingRebalance")
	a.Sync("a has to join again first", nil)
	a.Join("a joins again")
	joining.Wait()
}

func heartbeatRefused(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Heartbeat("no such group", func(req *kmsg.HeartbeatRequest) { req.MemberID, req.Generation = "nobody", 1 })
	a.Heartbeat("no group", func(req *kmsg.HeartbeatRequest) { req.Group = "" })
	g.Stable("t", 1, a)
	a.Heartbeat("an id that is not there", func(req *kmsg.HeartbeatRequest) { req.MemberID = "nobody" })
	a.Heartbeat("no id", func(req *kmsg.HeartbeatRequest) { req.MemberID = "" })
	a.Heartbeat("a past generation", func(req *kmsg.HeartbeatRequest) { req.Generation-- })
	a.Heartbeat("a generation to come", func(req *kmsg.HeartbeatRequest) { req.Generation++ })
	a.Heartbeat("an instance that is not there", func(req *kmsg.HeartbeatRequest) { req.InstanceID = kmsg.StringPtr("i") })
	a.Heartbeat("a good one")
	a.Leave("a leaves")
	a.Heartbeat("in an empty group")
}

func heartbeatStates(r *Run) {
	g, a, b := r.pair()
	a.Join("")
	a.Heartbeat("CompletingRebalance")
	a.Sync("", Plan{"a": {"t": {0, 1}}})
	a.Heartbeat("Stable")
	joining := b.BeginJoin("b joins")
	g.AwaitState("PreparingRebalance")
	a.Heartbeat("PreparingRebalance")
	a.Heartbeat("PreparingRebalance, a past generation", func(req *kmsg.HeartbeatRequest) { req.Generation-- })
	a.Join("a joins again")
	joining.Wait()
}

func heartbeatOldVersions(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 1, a)
	for version := range int16(heartbeatVersion + 1) {
		a.Heartbeat("version "+string('0'+rune(version)), func(req *kmsg.HeartbeatRequest) { req.Version = version })
	}
}

const shortestSession = 6 * time.Second

func sessionExpires(r *Run) {
	g, a, b := r.pair()
	b.Session = shortestSession
	g.Stable("t", 2, a, b)
	a.AwaitRebalance("a is told when b is gone")
	b.Heartbeat("b is no member any more")
	b.Commit("nor may it commit", "t", 1, 0)
	a.Join("a joins alone")
}

func sessionOfOne(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Session = shortestSession
	g.Stable("t", 1, a)
	g.AwaitState("Empty")
	g.Describe("described")
	a.Heartbeat("a is unknown")
	b := g.Member("b", "t")
	b.Join("the next member")
}

func leaveRefused(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Leave("no such group", func(req *kmsg.LeaveGroupRequest) { req.Members[0].MemberID = "nobody" })
	a.Leave("no group", func(req *kmsg.LeaveGroupRequest) { req.Group = "" })
	g.Stable("t", 1, a)
	a.Leave("an id that is not there", func(req *kmsg.LeaveGroupRequest) { req.Members[0].MemberID = "nobody" })
	a.Leave("neither id nor instance", func(req *kmsg.LeaveGroupRequest) { req.Members[0].MemberID = "" })
	a.Leave("an instance that is not there", func(req *kmsg.LeaveGroupRequest) {
		req.Members[0].MemberID, req.Members[0].InstanceID = "", kmsg.StringPtr("i")
	})
	a.Leave("nobody", func(req *kmsg.LeaveGroupRequest) { req.Members = nil })
	a.Heartbeat("a is still there")
	a.Leave("a leaves")
	a.Leave("once more")
}

func leaveOldVersions(r *Run) {
	r.Topic("t", 1)
	for version := range int16(leaveVersion + 1) {
		name := string('0' + rune(version))
		g := r.Group("g" + name)
		m := g.Member("m"+name, "t")
		g.Stable("t", 1, m)
		m.Leave("version "+name, func(req *kmsg.LeaveGroupRequest) { req.Version, req.MemberID = version, m.ID })
		m.Leave("version "+name+" again", func(req *kmsg.LeaveGroupRequest) { req.Version, req.MemberID = version, m.ID })
	}
}

func leaveSeveral(r *Run) {
	r.Topic("t", 3)
	g := r.Group("g")
	a, b, c := g.Member("a", "t"), g.Static("b", "instance-b", "t"), g.Member("c", "t")
	g.Stable("t", 3, a, b, c)
	byID, byInstance, stranger, wrong := kmsg.NewLeaveGroupRequestMember(), kmsg.NewLeaveGroupRequestMember(), kmsg.NewLeaveGroupRequestMember(), kmsg.NewLeaveGroupRequestMember()
	byID.MemberID = c.ID
	byInstance.InstanceID = b.InstanceID
	stranger.MemberID = "nobody"
	wrong.MemberID, wrong.InstanceID = "nobody", b.InstanceID
	g.leaveAll("a wrong id for an instance", wrong)
	g.leaveAll("two members and a stranger", byID, byInstance, stranger)
	a.AwaitRebalance("a is told")
	a.Join("a joins alone")
	b.Heartbeat("b was removed")
	c.Heartbeat("c was removed")
}

func leaveCompleting(r *Run) {
	g, a, b := r.pair()
	g.Joined(a, b)
	waiting := b.BeginSync("b waits for its part", nil)
	r.Note("it waits", "%t", waiting.Waits(300*time.Millisecond))
	a.Leave("the leader leaves")
	waiting.Wait()
	b.Join("b leads")
}

func leavePreparing(r *Run) {
	r.Topic("t", 2)
	g := r.Group("g")
	a, b, c := g.Member("a", "t"), g.Member("b", "t"), g.Member("c", "t")
	g.Stable("t", 2, a, b)
	joining := c.BeginJoin("c joins")
	g.AwaitMembers(3)
	again := a.BeginJoin("a joins again")
	r.Note("both wait for b", "%t", again.Waits(300*time.Millisecond))
	b.Leave("b leaves instead")
	again.Wait()
	joining.Wait()
}

func leaveWaiting(r *Run) {
	g, a, b := r.pair()
	g.Stable("t", 2, a)
	joining := b.BeginJoin("b joins")
	g.AwaitMembers(2)
	leaving := kmsg.NewLeaveGroupRequestMember()
	leaving.MemberID = b.ID
	g.leaveAll("b is removed while it waits", leaving)
	joining.Wait()
	a.AwaitRebalance("the rebalance goes on")
	a.Join("a is alone")
}

func leavePending(r *Run) {
	g := r.Group("g")
	a := g.Member("a", "t")
	a.JoinOnce("an id is given")
	a.Leave("it leaves")
	a.JoinOnce("it cannot join any more")
	g.Describe("no group")
}
