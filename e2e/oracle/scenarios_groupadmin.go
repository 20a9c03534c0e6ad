package oracle

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupAdminScenarios: what administrators do with groups.
var groupAdminScenarios = []Scenario{
	{"group-unknown", "every request about a group that does not exist", groupUnknown},
	{"group-nameless", "every request about the group without a name", groupNameless},
	{"group-list", "groups are listed by state and by type", groupList},
	{"group-delete", "a group is deleted, and begins anew", groupDelete},
	{"group-offset-delete", "offsets are deleted while the group is active, and when it is not", groupOffsetDelete},
	{"group-offset-delete-types", "offsets of groups that are no consumers, or not yet complete", groupOffsetDeleteTypes},
	{"group-batch-leave", "an administrator removes several members with one request", groupBatchLeave},
}

func (g *Group) ask(label string, req kmsg.Request) { g.admin.Ask(label, req) }

func (g *Group) describeAt(label string, version int16, names ...string) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Version, req.Groups, req.IncludeAuthorizedOperations = version, names, version < 6 && version >= 3
	g.ask(label, req)
}

// deleteOffsets deletes the offset of partition 0 of topics.
func (g *Group) deleteOffsets(label, group string, topics ...string) {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	for _, topic := range topics {
		t := kmsg.NewOffsetDeleteRequestTopic()
		t.Topic = g.r.Name(topic)
		t.Partitions = []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}
		req.Topics = append(req.Topics, t)
	}
	g.ask(label, req)
}

func (g *Group) leaveAll(label string, members ...kmsg.LeaveGroupRequestMember) {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version, req.Group, req.Members = leaveVersion, g.ID(), members
	g.ask(label, req)
}

// askAboutNothing sends what a member and an administrator of the group could ask.
func askAboutNothing(r *Run, g *Group, name string) {
	m := g.Member("m", "t")
	m.ID, m.Generation = "somebody", 5
	join := m.JoinRequest()
	join.Group = name
	m.Ask("join with an id", join)
	sync := m.SyncRequest(nil)
	sync.Group = name
	m.Ask("sync", sync)
	heartbeat := kmsg.NewPtrHeartbeatRequest()
	heartbeat.Version, heartbeat.Group, heartbeat.MemberID, heartbeat.Generation = heartbeatVersion, name, m.ID, m.Generation
	m.Ask("heartbeat", heartbeat)
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Version, leave.Group, leave.MemberID = 2, name, m.ID
	m.Ask("leave, version 2", leave)
	leave.Version, leave.Members = leaveVersion, []kmsg.LeaveGroupRequestMember{{MemberID: m.ID}}
	m.Ask("leave", leave)
	commit := m.CommitRequest("t", 0, 0)
	commit.Group = name
	m.Ask("commit of a member", commit)
	g.describeAt("describe, version 5", 5, name)
	g.describeAt("describe, version 6", 6, name)
	g.deleteOffsets("delete an offset", name, "t")
	remove := kmsg.NewPtrDeleteGroupsRequest()
	remove.Version, remove.Groups = 2, []string{name}
	g.ask("delete", remove)
}

func groupUnknown(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	askAboutNothing(r, g, g.ID())
	g.Offsets("offsets", "t", 0)
}

func groupNameless(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	askAboutNothing(r, g, "")
}

// listed writes down the groups of this scenario.
func (g *Group) listed(label string, states, types []string) {
	req := kmsg.NewPtrListGroupsRequest()
	req.Version, req.StatesFilter, req.TypesFilter = 5, states, types
	resp, ok := g.admin.Ask("", req).(*kmsg.ListGroupsResponse)
	if !ok {
		g.r.Fatalf("ListGroups closed the connection")
	}
	found := []string{codeName(resp.ErrorCode)}
	for _, l := range resp.Groups {
		if l.Group == g.ID() {
			found = append(found, l.Group, l.ProtocolType, l.GroupState, l.GroupType)
		}
	}
	g.r.Note(label, "%s", strings.Join(found, " "))
}

func groupList(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	g.listed("before", nil, nil)
	m := g.Member("m", "t")
	m.Join("m joins")
	g.listed("completing", []string{"COMPLETINGREBALANCE"}, nil)
	m.Sync("m leads", Plan{"m": {"t": {0}}})
	g.listed("all", nil, nil)
	g.listed("in a state of two", []string{"Empty", "stable"}, []string{"Consumer", "cLASSIC"})
	g.listed("in another state", []string{"Empty"}, nil)
	g.listed("of another type", nil, []string{"consumer"})
	g.listed("of no type", nil, []string{"unheard-of"})
	g.listed("in no state", []string{"unheard-of"}, nil)
	m.Commit("m commits", "t", 0, 0)
	m.Leave("m leaves")
	g.listed("empty", []string{"Empty"}, []string{"classic"})
	simple := r.Group("simple")
	simple.Member("s").Commit("a commit without membership", "t", 0, 0)
	simple.listed("a simple group", nil, nil)
}

func groupDelete(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	m := g.Member("m", "t")
	m.Join("m joins")
	g.Delete("while the group completes")
	m.Sync("m leads", Plan{"m": {"t": {0}}})
	m.Commit("m commits", "t", 0, 0)
	g.Delete("while the group is stable")
	m.Leave("m leaves")
	g.describeAt("empty", 6, g.ID())
	g.Delete("an empty group")
	g.describeAt("deleted", 6, g.ID())
	g.Offsets("no offsets", "t", 0)
	g.Delete("again")
	again := g.Member("again", "t")
	again.Join("the first generation")
	again.Leave("and leaves")
}

func groupOffsetDelete(r *Run) {
	r.Topic("t", 1)
	r.Topic("u", 1)
	g := r.Group("g")
	m := g.Member("m", "t")
	m.Join("m joins")
	m.Sync("m leads", Plan{"m": {"t": {0}}})
	m.Commit("m commits", "t", 0, 0)
	m.Commit("m commits another topic", "u", 0, 0)
	g.deleteOffsets("active", g.ID(), "t", "u", "none")
	g.Offsets("of its topic", "t", 0)
	g.Offsets("of the other topic", "u", 0)
	m.Leave("m leaves")
	g.deleteOffsets("empty", g.ID(), "t", "u", "none")
	g.Offsets("nothing is left", "t", 0)
	g.Describe("still there")
}

func groupOffsetDeleteTypes(r *Run) {
	r.Topic("t", 1)
	g := r.Group("connect")
	m := g.Member("m")
	m.Type, m.Metadata = "connect", []byte("some bytes")
	m.Join("m joins")
	m.Sync("m leads", nil)
	g.deleteOffsets("members of another type", g.ID(), "t")
	m.Leave("m leaves")
	g.deleteOffsets("empty", g.ID(), "t")

	strange := r.Group("strange")
	s := strange.Member("s")
	s.Metadata = []byte("no subscription")
	s.Join("s joins")
	strange.deleteOffsets("metadata that cannot be read", strange.ID(), "t")
	s.Leave("s leaves")
}

func groupBatchLeave(r *Run) {
	r.Topic("t", 3)
	g := r.Group("g")
	a, s, u := g.Static("a", "ia", "t"), g.Static("s", "is", "t"), g.Static("u", "iu", "t")
	a.Join("a joins")
	a.Sync("a leads", Plan{"a": {"t": {0, 1, 2}}})
	joins := []Joining{s.BeginJoin("s joins"), u.BeginJoin("u joins")}
	a.AwaitRebalance("a is told")
	g.AwaitMembers(3)
	a.Join("a joins again")
	for _, j := range joins {
		j.Wait()
	}
	is, iu, nobody := "is", "iu", "nobody"
	g.leaveAll("two leave, and some cannot",
		kmsg.LeaveGroupRequestMember{InstanceID: &is},
		kmsg.LeaveGroupRequestMember{InstanceID: &nobody},
		kmsg.LeaveGroupRequestMember{MemberID: "somebody", InstanceID: &iu},
		kmsg.LeaveGroupRequestMember{MemberID: u.ID, InstanceID: &iu},
		kmsg.LeaveGroupRequestMember{MemberID: u.ID},
		kmsg.LeaveGroupRequestMember{MemberID: "nobody"})
	a.AwaitRebalance("a has to join again")
	a.Join("a is alone")
	g.leaveAll("none")
	g.leaveAll("the last, by its id alone", kmsg.LeaveGroupRequestMember{MemberID: a.ID})
	g.Describe("nobody is left")
}
