package oracle

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// joiningScenarios: JoinGroup of the classic protocol.
var joiningScenarios = []Scenario{
	{"join-refused", "groups and members that cannot join", joinRefused},
	{"join-session-limits", "session timeouts at and beyond their limits", joinSessionLimits},
	{"join-old-versions", "versions 2 and 3 join without an id, 4 to 9 are told to take one", joinOldVersions},
	{"join-given-id", "an id is good for its group alone", joinGivenID},
	{"join-other-type", "a group has one protocol type", joinOtherType},
	{"join-other-protocol", "members need a protocol that all of them know", joinOtherProtocol},
	{"join-protocol-vote", "the protocol that most members put first is taken", joinProtocolVote},
	{"join-follower-again", "a follower that joins again unchanged gets the running generation", joinFollowerAgain},
	{"join-follower-changed", "a follower with another subscription starts a rebalance", joinFollowerChanged},
	{"join-leader-again", "a leader that joins again starts a rebalance", joinLeaderAgain},
	{"join-leader-changed", "a leader with another subscription starts a rebalance", joinLeaderChanged},
	{"join-completing-again", "who lost the answer gets it again while the leader assigns", joinCompletingAgain},
	{"join-completing-changed", "another subscription while the leader assigns starts over", joinCompletingChanged},
	{"join-completing-new", "a new member while the leader assigns starts over", joinCompletingNew},
	{"join-twice-waiting", "a second join of a member that waits for the first", joinTwiceWaiting},
	{"join-three-at-once", "three members that come to a running group in one rebalance", joinThreeAtOnce},
	{"join-rebalance-timeout", "who does not join again in time is left out", joinRebalanceTimeout},
	{"join-hung-up", "a member that hangs up while it joins is still a member", joinHungUp},
	{"join-connect", "groups of Connect workers, whose metadata nobody reads", joinConnect},
	{"join-leader-gone", "another member leads when the leader has gone", joinLeaderGone},
	{"join-after-empty", "generations go on when a group was empty", joinAfterEmpty},
	{"join-cooperative", "cooperative rebalancing: one round takes away, the next gives", joinCooperative},
}

func joinRefused(r *Run) {
	g := r.Group("g")
	a := g.Member("a", "t")
	a.JoinOnce("no group", func(req *kmsg.JoinGroupRequest) { req.Group = "" })
	a.JoinOnce("an id in a group that is not there", func(req *kmsg.JoinGroupRequest) { req.MemberID = "nobody" })
	a.JoinOnce("no protocols", func(req *kmsg.JoinGroupRequest) { req.MemberID, req.Protocols = "", nil })
	a.JoinOnce("no protocol type", func(req *kmsg.JoinGroupRequest) { req.ProtocolType = "" })
	a.Join("a good one")
	g.Member("b", "t").JoinOnce("an id that the group did not give", func(req *kmsg.JoinGroupRequest) { req.MemberID = "nobody" })
	g.Describe("one member")
}

func joinSessionLimits(r *Run) {
	g := r.Group("g")
	for _, limit := range []struct {
		name    string
		session time.Duration
	}{
		{"below", 5999 * time.Millisecond}, {"lowest", 6 * time.Second}, {"highest", 30 * time.Minute}, {"above", 30*time.Minute + time.Millisecond},
	} {
		m := g.Member(limit.name, "t")
		m.Session = limit.session
		m.JoinOnce(limit.name)
	}
}

func joinOldVersions(r *Run) {
	for _, name := range []string{"2", "3", "4", "5", "6", "7", "8", "9"} {
		m := r.Group("g"+name).Member("m"+name, "t")
		m.Version = int16(name[0] - '0')
		m.JoinOnce("version " + name)
		if m.Generation < 0 {
			m.JoinOnce("version " + name + " with its id")
		}
	}
}

func joinGivenID(r *Run) {
	g, other := r.Group("g"), r.Group("other")
	a := g.Member("a", "t")
	a.JoinOnce("an id is given")
	elsewhere := other.Member("elsewhere", "t")
	elsewhere.JoinOnce("the other group does not know it", func(req *kmsg.JoinGroupRequest) { req.MemberID = a.ID })
	g.Describe("who only has an id is no member yet")
	a.Heartbeat("nor has it a heartbeat")
	a.Join("it joins")
	a.Heartbeat("now it has")
}

func joinOtherType(r *Run) {
	g := r.Group("g")
	r.Topic("t", 1)
	g.Stable("t", 1, g.Member("a", "t"))
	b := g.Member("b", "t")
	b.Type = "connect"
	b.JoinOnce("another type")
	b.Type = consumerProtocol
	b.JoinOnce("the same type")
	g.Describe("the first member was not disturbed")
}

func joinOtherProtocol(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Protocols = []string{"range", "roundrobin"}
	g.Stable("t", 1, a)
	b := g.Member("b", "t")
	b.Protocols = []string{"sticky"}
	b.JoinOnce("none in common")
	b.Protocols = []string{"sticky", "roundrobin"}
	joining := b.BeginJoin("one in common")
	a.AwaitRebalance("a is told to join again")
	a.Join("a joins again")
	joining.Wait()
	a.Protocols = []string{"range"}
	a.JoinOnce("a drops what it had in common with b")
}

func joinProtocolVote(r *Run) {
	r.Topic("t", 3)
	g := r.Group("g")
	a, b, c := g.Member("a", "t"), g.Member("b", "t"), g.Member("c", "t")
	a.Protocols = []string{"range", "roundrobin", "sticky"}
	b.Protocols = []string{"sticky", "roundrobin", "range"}
	c.Protocols = []string{"roundrobin", "sticky"}
	a.Join("a votes for range")
	joining := []Joining{b.BeginJoin("b votes for sticky"), c.BeginJoin("c has no range, and votes for roundrobin")}
	g.AwaitMembers(3)
	a.Protocols = []string{"roundrobin", "range", "sticky"}
	a.Join("a votes for roundrobin, and leads")
	for _, j := range joining {
		j.Wait()
	}
}

func joinFollowerAgain(r *Run) {
	g, a, b := r.pair()
	g.Stable("t", 2, a, b)
	b.Join("b joins again as it is")
	b.Sync("and gets what it had", nil)
	a.Heartbeat("a is not disturbed")
}

func joinFollowerChanged(r *Run) {
	g, a, b := r.pair()
	g.Stable("t", 2, a, b)
	b.Topics = []string{"t", "u"}
	joining := b.BeginJoin("b has another subscription")
	a.AwaitRebalance("a is told to join again")
	a.Join("a leads")
	joining.Wait()
}

func joinLeaderAgain(r *Run) {
	g, a, b := r.pair()
	g.Stable("t", 2, a, b)
	joining := a.BeginJoin("a joins again as it is")
	b.AwaitRebalance("b is told to join again")
	b.Join("b joins again")
	joining.Wait()
}

func joinLeaderChanged(r *Run) {
	g, a, b := r.pair()
	g.Stable("t", 2, a, b)
	a.Topics = []string{"t", "u"}
	joining := a.BeginJoin("a has another subscription")
	b.AwaitRebalance("b is told to join again")
	b.Join("b joins again")
	joining.Wait()
}

func joinCompletingAgain(r *Run) {
	g, a, b := r.pair()
	a.Join("")
	joining := b.BeginJoin("")
	g.AwaitMembers(2)
	a.Join("a leads")
	joining.Wait()
	g.Describe("the leader has to assign")
	a.Join("the leader again: with the members")
	b.Join("the follower again")
	a.Heartbeat("no rebalance")
	waiting := b.BeginSync("b gets its part", nil)
	a.Sync("a assigns", Plan{"a": {"t": {0}}, "b": {"t": {1}}})
	waiting.Wait()
}

func joinCompletingChanged(r *Run) {
	g, a, b := r.pair()
	g.Joined(a, b)
	waiting := a.BeginSync("a had assigned to nobody", nil, func(req *kmsg.SyncGroupRequest) { req.MemberID = b.ID })
	b.Topics = []string{"t", "u"}
	joining := b.BeginJoin("b has another subscription")
	waiting.Wait()
	a.Heartbeat("a is told to join again")
	a.Sync("too late to assign", Plan{"a": {"t": {0}}, "b": {"t": {1}}})
	a.Join("a joins again")
	joining.Wait()
}

func joinCompletingNew(r *Run) {
	g, a, b := r.pair()
	a.Join("a is to assign")
	joining := b.BeginJoin("b joins")
	g.AwaitMembers(2)
	a.Sync("too late", Plan{"a": {"t": {0, 1}}})
	a.Join("a joins again")
	joining.Wait()
}

func joinTwiceWaiting(r *Run) {
	g, a, b := r.pair()
	g.Stable("t", 2, a)
	first := b.BeginJoin("b joins")
	g.AwaitMembers(2)
	again := g.Member("again", "t")
	again.ID = b.ID
	second := again.BeginJoin("b joins on another connection")
	r.Note("the first has an answer", "%t", !first.Waits(time.Second))
	a.Join("a joins again")
	second.Wait()
}

func joinThreeAtOnce(r *Run) {
	r.Topic("t", 4)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 4, a)
	b, c, d := g.Member("b", "t"), g.Member("c", "t"), g.Member("d", "t")
	joining := []Joining{b.BeginJoin("b"), c.BeginJoin("c"), d.BeginJoin("d")}
	g.AwaitMembers(4)
	g.Describe("all of them are members, who wait")
	a.Join("a")
	for _, j := range joining {
		j.Wait()
	}
	g.syncAll("t", 4, []*Member{a, b, c, d})
	g.Describe("everybody has a part")
}

func joinRebalanceTimeout(r *Run) {
	g, a, b := r.pair()
	a.Rebalance, b.Rebalance = 2*time.Second, 3*time.Second
	g.Stable("t", 2, a)
	joining := b.BeginJoin("b waits for a, and leads then")
	r.Note("nothing within a second", "%t", joining.Waits(time.Second))
	joining.Wait()
	a.Heartbeat("a is no member any more")
	a.Commit("nor may it commit", "t", 0, 0)
	a.JoinOnce("nor join with its id")
}

func joinHungUp(r *Run) {
	g, a, b := r.pair()
	g.Stable("t", 2, a)
	b.BeginJoin("")
	g.AwaitMembers(2)
	b.Close()
	a.Join("a joins again")
	b.Join("b again, with its id")
	waiting := b.BeginSync("b gets its part", nil)
	a.Sync("a assigns", Plan{"a": {"t": {0}}, "b": {"t": {1}}})
	waiting.Wait()
}

func joinConnect(r *Run) {
	g := r.Group("g")
	a, b := g.Member("a"), g.Member("b")
	for _, m := range []*Member{a, b} {
		m.Type, m.Protocols, m.Metadata = "connect", []string{"sessioned", "compatible"}, []byte{0, 1, 0xff}
	}
	a.Join("a joins")
	joining := b.BeginJoin("b joins")
	g.AwaitMembers(2)
	a.Join("a joins again")
	joining.Wait()
	waiting := b.BeginSync("b gets its work", nil)
	a.Sync("a gives it out", nil, func(req *kmsg.SyncGroupRequest) {
		for _, m := range []*Member{a, b} {
			work := kmsg.NewSyncGroupRequestGroupAssignment()
			work.MemberID, work.MemberAssignment = m.ID, []byte("work of "+m.name)
			req.GroupAssignment = append(req.GroupAssignment, work)
		}
	})
	waiting.Wait()
	g.Describe("described")
	a.Commit("a commits where there is no topic", "t", 0, 1)
}

func joinLeaderGone(r *Run) {
	r.Topic("t", 3)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	g.Stable("t", 3, a, b)
	a.Leave("the leader leaves")
	b.AwaitRebalance("b is told")
	b.Join("b leads")
	b.Sync("and has all", Plan{"b": {"t": {0, 1, 2}}})
	a.ID, a.Generation = "", -1
	joining := a.BeginJoin("a comes back")
	b.AwaitRebalance("b is told again")
	b.Join("b leads still")
	joining.Wait()
}

func joinAfterEmpty(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 1, a)
	a.Leave("a leaves")
	g.Describe("nobody")
	b := g.Member("b", "t")
	b.Join("b is in the third generation")
	b.Leave("b leaves before it has assigned")
	c := g.Member("c", "t")
	c.Type, c.Protocols = "connect", []string{"compatible"}
	c.Join("an empty group takes any type")
}

// owning is the metadata of a cooperative member (ConsumerProtocolSubscription 1).
func (m *Member) owning(topic string, partitions ...int32) {
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Version = 1
	for _, name := range m.Topics {
		meta.Topics = append(meta.Topics, m.r.Name(name))
	}
	owned := kmsg.NewConsumerMemberMetadataOwnedPartition()
	owned.Topic, owned.Partitions = m.r.Name(topic), partitions
	meta.OwnedPartitions = append(meta.OwnedPartitions, owned)
	m.Metadata = meta.AppendTo(nil)
}

func joinCooperative(r *Run) {
	g, a, b := r.pair()
	for _, m := range []*Member{a, b} {
		m.Protocols = []string{"cooperative-sticky"}
	}
	g.Stable("t", 2, a)
	joining := b.BeginJoin("b joins")
	a.AwaitRebalance("a is told")
	a.owning("t", 0, 1)
	a.Join("a joins again and owns all")
	joining.Wait()
	waiting := b.BeginSync("b gets nothing yet", nil)
	a.Sync("a keeps one", Plan{"a": {"t": {0}}, "b": {}})
	waiting.Wait()
	b.Heartbeat("the generation is stable")
	a.owning("t", 0)
	again := a.BeginJoin("a gave one up and joins again")
	b.AwaitRebalance("b is told")
	b.Join("b joins again")
	again.Wait()
	waiting = b.BeginSync("b gets the other one", nil)
	a.Sync("a assigns both", Plan{"a": {"t": {0}}, "b": {"t": {1}}})
	waiting.Wait()
	g.Describe("described")
}
