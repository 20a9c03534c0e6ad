package oracle

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupScenarios: consumer groups of the classic protocol.
var groupScenarios = []Scenario{
	{"group-two-members", "two members join, share a topic, commit and leave", groupTwoMembers},
	{"group-simple-commits", "commits without membership and with a wrong one, in each state", groupSimpleCommits},
	{"group-join-checks", "joins that are refused", groupJoinChecks},
	{"group-sync-checks", "syncs that are refused", groupSyncChecks},
	{"group-rejoin", "members of a stable and of a completing group join again", groupRejoin},
	{"group-static", "a static member comes back, and the old process is fenced", groupStatic},
	{"group-static-versions", "a static leader comes back with each way to be told not to assign", groupStaticVersions},
	{"group-old-join", "clients of before MEMBER_ID_REQUIRED", groupOldJoin},
	{"group-connect", "a group of another protocol type", groupConnect},
	{"group-leader-leaves", "the leader leaves and the next one assigns", groupLeaderLeaves},
	{"group-vote", "members vote for a protocol", groupVote},
}

// pair is how most scenarios begin: the group g of members a and b, who have not
// joined yet, for the topic t of two partitions.
func (r *Run) pair() (g *Group, a, b *Member) {
	r.Topic("t", 2)
	g = r.Group("g")
	return g, g.Member("a", "t"), g.Member("b", "t")
}

// staticPair is pair with the instances instance-a and instance-b.
func (r *Run) staticPair() (g *Group, a, b *Member) {
	r.Topic("t", 2)
	g = r.Group("g")
	return g, g.Static("a", "instance-a", "t"), g.Static("b", "instance-b", "t")
}

func groupTwoMembers(r *Run) {
	g, a, b := r.pair()

	a.JoinOnce("a new member is given an id")
	a.Join("with it, it joins")
	a.Sync("and leads", Plan{"a": {"t": {0, 1}}})
	a.Heartbeat("stable")

	joining := b.BeginJoin("b joins")
	a.AwaitRebalance("a is told to join again")
	a.Join("a joins again")
	joining.Wait()
	follower := b.BeginSync("b gets its part", nil)
	a.Sync("a shares", Plan{"a": {"t": {0}}, "b": {"t": {1}}})
	follower.Wait()

	b.Commit("b commits", "t", 1, 0)
	g.Offsets("committed", "t", 0, 1)
	g.Describe("described")
	b.Leave("b leaves")
	a.AwaitRebalance("a is told")
	a.Leave("a leaves")
	g.Describe("nobody is left")
}

func groupSimpleCommits(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	simple := g.Member("simple")
	simple.Commit("to a group that does not exist", "t", 0, 0)
	g.Describe("it exists now")
	simple.Generation = 3
	simple.Commit("with a generation, empty", "t", 0, 0)
	simple.Generation = -1
	simple.ID = "somebody"
	simple.Commit("with an id, empty", "t", 0, 0)
	simple.ID = ""

	m := g.Member("m", "t")
	m.Join("m joins")
	simple.Commit("without membership, completing", "t", 0, 0)
	m.Commit("of the member, completing", "t", 0, 0)
	m.Sync("m leads", Plan{"m": {"t": {0}}})
	simple.Commit("without membership, stable", "t", 0, 0)
	m.Commit("of the member, stable", "t", 0, 0)
	generation := m.Generation
	for _, wrong := range []struct {
		label      string
		generation int32
	}{{"a past generation", generation - 1}, {"a generation to come", generation + 1}, {"no generation", -1}} {
		m.Generation = wrong.generation
		m.Commit(wrong.label, "t", 0, 0)
	}
	m.Generation = generation
	simple.ID, simple.Generation = "somebody", generation
	simple.Commit("somebody else", "t", 0, 0)
	m.Ask("a topic that does not exist", m.CommitRequest("none", 0, 0))
	m.Ask("a partition that does not exist", m.CommitRequest("t", 7, 0))
	m.Leave("m leaves")
	m.Commit("after it left", "t", 0, 0)
}

func groupJoinChecks(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	first := g.Member("first", "t")
	first.Session = 5999 * time.Millisecond
	first.JoinOnce("session too short")
	first.Session = 30*time.Minute + time.Millisecond
	first.JoinOnce("session too long")
	first.Session = 6 * time.Second
	first.Type = ""
	first.JoinOnce("no protocol type")
	first.Type, first.Protocols = consumerProtocol, nil
	first.JoinOnce("no protocols")
	first.Protocols = []string{defaultAssignorName}
	first.Join("first joins")
	first.Sync("first leads", nil)

	other := g.Member("other", "t")
	other.Type = "connect"
	other.JoinOnce("another protocol type")
	other.Type, other.Protocols = consumerProtocol, []string{"roundrobin"}
	other.JoinOnce("no protocol in common")
	other.Protocols = nil
	other.JoinOnce("no protocols, to a group with members")
	other.Protocols = []string{defaultAssignorName}
	other.ID = "somebody"
	other.JoinOnce("an id that nobody gave")
	instance := "nobody"
	other.InstanceID = &instance
	other.JoinOnce("an instance that nobody has, with an id")
	first.Leave("first leaves")
}

func groupSyncChecks(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	m := g.Member("m", "t")
	m.Join("m joins")
	sync := func(label string, edit func(*kmsg.SyncGroupRequest)) {
		req := m.SyncRequest(Plan{"m": {"t": {0}}})
		edit(req)
		m.Ask(label, req)
	}
	text := func(s string) *string { return &s }
	for _, when := range []string{"completing", "stable"} {
		sync("past generation, "+when, func(q *kmsg.SyncGroupRequest) { q.Generation-- })
		sync("generation to come, "+when, func(q *kmsg.SyncGroupRequest) { q.Generation++ })
		sync("somebody else, "+when, func(q *kmsg.SyncGroupRequest) { q.MemberID = "somebody" })
		sync("another type, "+when, func(q *kmsg.SyncGroupRequest) { q.ProtocolType = text("connect") })
		sync("another protocol, "+when, func(q *kmsg.SyncGroupRequest) { q.Protocol = text("roundrobin") })
		sync("an instance, "+when, func(q *kmsg.SyncGroupRequest) { q.InstanceID = text("i") })
		sync("type and protocol not told, "+when, func(q *kmsg.SyncGroupRequest) { q.ProtocolType, q.Protocol = nil, nil })
	}
	sync("version 3", func(q *kmsg.SyncGroupRequest) { q.Version = 3 })
	sync("an assignment for nobody, ignored", func(q *kmsg.SyncGroupRequest) { q.GroupAssignment[0].MemberID = "nobody" })
	m.Leave("m leaves")
	sync("after it left", func(*kmsg.SyncGroupRequest) {})
}

// two makes a stable group of a leader and a follower.
func two(g *Group, a, b *Member) {
	a.Join("a joins")
	a.Sync("a leads", Plan{"a": {"t": {0, 1}}})
	joining := b.BeginJoin("b joins")
	a.AwaitRebalance("a is told")
	a.Join("a joins again")
	joining.Wait()
	following := b.BeginSync("b follows", nil)
	a.Sync("a shares", Plan{"a": {"t": {0}}, "b": {"t": {1}}})
	following.Wait()
}

func groupRejoin(r *Run) {
	r.Topic("t", 2)
	r.Topic("u", 2)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	two(g, a, b)
	b.JoinOnce("a follower, unchanged, stable")
	b.Heartbeat("nothing happened")
	b.Topics = []string{"t", "u"}
	changed := b.BeginJoin("a follower, changed")
	a.AwaitRebalance("the leader is told")
	// A broker does not look at b's connection while its join is held.
	g.ask("a sync while the group prepares", b.SyncRequest(nil))
	g.ask("a commit while the group prepares", b.CommitRequest("t", 1, 0))
	a.Join("the leader joins, too")
	changed.Wait()
	b.JoinOnce("a follower, unchanged, completing")
	a.JoinOnce("the leader, unchanged, completing")
	b.Heartbeat("a heartbeat, completing")
	held := b.BeginSync("a sync that is held", nil)
	if !held.Waits(100 * time.Millisecond) {
		r.Fatalf("a sync of a follower is answered before the leader's")
	}
	third := g.Member("c", "t")
	coming := third.BeginJoin("a third joins while the group completes")
	held.Wait()
	a.Sync("the leader assigns too late", Plan{"a": {"t": {0}}})
	again := b.BeginJoin("b joins again")
	a.Join("a joins again, and leads")
	again.Wait()
	coming.Wait()
	for _, m := range []*Member{third, b, a} {
		m.Leave(m.name + " leaves")
	}
}

func groupStatic(r *Run) {
	r.Topic("t", 2)
	g := r.Group("g")
	old := g.Static("old", "i", "t")
	old.Join("a static member joins")
	old.Sync("it leads", Plan{"old": {"t": {0, 1}}})
	young := g.Static("young", "i", "t")
	young.Join("it comes back without its id")
	g.Describe("the same instance")
	old.Heartbeat("a heartbeat of the old process")
	old.Sync("a sync of the old process", nil)
	old.Commit("a commit of the old process", "t", 0, 0)
	old.JoinOnce("a join of the old process")
	old.Leave("the old process leaves")
	young.Heartbeat("the new process goes on")
	young.Commit("and commits", "t", 0, 0)
	young.Sync("and has its assignment", nil)
	young.Protocols = []string{"roundrobin"}
	young.Join("with its id and another protocol")
	young.Sync("it assigns", Plan{"young": {"t": {0}}})
	last := g.Static("last", "i", "t")
	last.Join("a third process, with the first protocol")
	last.Leave("it leaves for good")
	g.Describe("empty")
}

func groupStaticVersions(r *Run) {
	r.Topic("t", 1)
	for _, version := range []int16{5, 7, 8, 9} {
		label := "version " + string('0'+rune(version)) + ": "
		g := r.Group("g" + string('0'+rune(version)))
		first := g.Static("first"+string('0'+rune(version)), "i", "t")
		first.Version = version
		first.Join(label + "a static member joins")
		first.Sync(label+"it leads", Plan{first.name: {"t": {0}}})
		second := g.Static("second"+string('0'+rune(version)), "i", "t")
		second.Version = version
		second.Join(label + "it comes back")
		second.Leave(label + "it leaves")
	}
}

func groupOldJoin(r *Run) {
	r.Topic("t", 1)
	for _, version := range []int16{0, 1, 2, 3} {
		name := "v" + string('0'+rune(version))
		g := r.Group(name)
		m := g.Member(name, "t")
		m.Version = version
		m.JoinOnce(name + " joins")
		sync := m.SyncRequest(Plan{name: {"t": {0}}})
		sync.Version = min(version, 2)
		m.Ask(name+" leads", sync)
		leave := kmsg.NewPtrLeaveGroupRequest()
		leave.Version, leave.Group, leave.MemberID = min(version, 2), g.ID(), m.ID
		m.Ask(name+" leaves", leave)
		leave.MemberID = "nobody"
		m.Ask(name+": nobody leaves", leave)
	}
}

func groupConnect(r *Run) {
	g := r.Group("g")
	a, b := g.Member("a"), g.Member("b")
	for _, m := range []*Member{a, b} {
		m.Type, m.Protocols, m.Metadata = "connect", []string{"sessioned", "compatible"}, []byte("http://"+m.name)
	}
	a.Join("a worker joins")
	a.Ask("it assigns", workers(a, a))
	joining := b.BeginJoin("another joins")
	a.AwaitRebalance("the first is told")
	a.Join("the first joins again")
	joining.Wait()
	following := b.Begin("the other follows", workers(b))
	a.Ask("the first assigns", workers(a, a, b))
	following.Wait()
	g.Describe("stable")
	b.Leave("one leaves")
	a.Leave("the other leaves")
	g.Describe("empty")
}

// workers is the sync of a member that gives each of the others some bytes.
func workers(m *Member, others ...*Member) *kmsg.SyncGroupRequest {
	req := m.SyncRequest(nil)
	for _, o := range others {
		assignment := kmsg.NewSyncGroupRequestGroupAssignment()
		assignment.MemberID, assignment.MemberAssignment = o.ID, []byte("tasks of "+o.name)
		req.GroupAssignment = append(req.GroupAssignment, assignment)
	}
	return req
}

func groupLeaderLeaves(r *Run) {
	g, a, b := r.pair()
	two(g, a, b)
	a.Leave("the leader leaves")
	b.AwaitRebalance("the follower is told")
	b.Join("it joins again, as the leader")
	held := g.Member("c", "t").BeginJoin("another comes while it should assign")
	b.AwaitRebalance("it is told")
	b.Leave("it leaves instead")
	held.Wait()
	g.Describe("led by the last")
}

func groupVote(r *Run) {
	r.Topic("t", 3)
	g := r.Group("g")
	a, b, c := g.Member("a", "t"), g.Member("b", "t"), g.Member("c", "t")
	a.Protocols = []string{"range", "roundrobin", "sticky"}
	b.Protocols = []string{"sticky", "roundrobin"}
	c.Protocols = []string{"sticky", "roundrobin", "range"}
	a.Join("a alone")
	a.Sync("a leads", nil)
	joins := []Joining{b.BeginJoin("b joins"), c.BeginJoin("c joins")}
	g.AwaitMembers(3)
	a.Join("a joins again")
	for _, j := range joins {
		j.Wait()
	}
	c.Leave("c leaves")
	b.Leave("b leaves")
	a.Leave("a leaves")
}
