package oracle

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// stateScenarios: what groups look like from outside in each state, and whether
// they can be deleted then.
var stateScenarios = []Scenario{
	{"list-groups", "groups by state and type, in each version", listGroups},
	{"describe-groups", "a group in each state", describeGroups},
	{"describe-versions", "versions 0 to 6 of DescribeGroups", describeVersions},
	{"delete-groups", "only empty groups can be deleted", deleteGroups},
	{"delete-groups-together", "one request deletes what it can", deleteGroupsTogether},
}

// listed lists the groups of this scenario alone, since others are at work.
func (r *Run) listed(label string, version int16, states, types []string) {
	c := r.Conn("lister")
	defer c.Close()
	req := kmsg.NewPtrListGroupsRequest()
	req.Version, req.StatesFilter, req.TypesFilter = version, states, types
	resp := c.Ask("", req).(*kmsg.ListGroupsResponse)
	resp.Groups = slices.DeleteFunc(resp.Groups, func(g kmsg.ListGroupsResponseGroup) bool {
		return !strings.HasPrefix(g.Group, r.Name(""))
	})
	r.step(label, r.describe(c.name, resp, 0))
}

func listGroups(r *Run) {
	filled(r, "t", 1)
	stable, simple, empty := r.Group("stable"), r.Group("simple"), r.Group("empty")
	stable.Stable("t", 1, stable.Member("a", "t"))
	simple.Member("s").Commit("", "t", 0, 5)
	gone := empty.Member("gone", "t")
	empty.Stable("t", 1, gone)
	gone.Commit("", "t", 0, 5)
	gone.Leave("")
	for version := int16(0); version <= 5; version++ {
		r.listed("version "+string('0'+rune(version)), version, nil, nil)
	}
	for _, states := range [][]string{{"Stable"}, {"stable"}, {"Empty", "Dead"}, {"nonsense"}} {
		r.listed("states "+strings.Join(states, ", "), 5, states, nil)
	}
	for _, types := range [][]string{{"classic"}, {"Classic"}, {"consumer"}, {"nonsense"}} {
		r.listed("types "+strings.Join(types, ", "), 5, nil, types)
	}
	r.listed("state and type", 5, []string{"Stable"}, []string{"classic"})
}

func describeGroups(r *Run) {
	g, a, b := r.pair()
	g.Describe("not there")
	a.JoinOnce("")
	g.Describe("somebody has an id")
	a.Join("")
	g.Describe("CompletingRebalance")
	a.Sync("", Plan{"a": {"t": {0, 1}}})
	g.Describe("Stable")
	joining := b.BeginJoin("")
	g.AwaitMembers(2)
	g.Describe("PreparingRebalance")
	b.Group.leaveAll("", leavingByID(b))
	joining.Wait()
	a.Leave("")
	g.Describe("Empty")
}

func leavingByID(m *Member) kmsg.LeaveGroupRequestMember {
	leaving := kmsg.NewLeaveGroupRequestMember()
	leaving.MemberID = m.ID
	return leaving
}

func describeVersions(r *Run) {
	r.Topic("t", 1)
	g := r.Group("g")
	g.Stable("t", 1, g.Static("a", "instance-a", "t"))
	for version := int16(0); version <= 6; version++ {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Version, req.Groups = version, []string{g.ID(), r.Name("nobody")}
		g.admin.Ask("version "+string('0'+rune(version)), req)
	}
}

func deleteGroups(r *Run) {
	filled(r, "t", 1)
	g := r.Group("g")
	g.Delete("not there")
	a := g.Member("a", "t")
	g.Stable("t", 1, a)
	a.Commit("a commits", "t", 0, 5)
	g.Delete("while it has a member")
	a.Heartbeat("the member was not disturbed")
	a.Leave("a leaves")
	g.Delete("empty")
	g.Describe("gone")
	g.Offsets("its offsets too", "t", 0)
	g.Delete("once more")
	b := g.Member("b", "t")
	b.Join("a new group of that name")
}

func deleteGroupsTogether(r *Run) {
	filled(r, "t", 1)
	active, simple := r.Group("active"), r.Group("simple")
	active.Stable("t", 1, active.Member("a", "t"))
	simple.Member("s").Commit("", "t", 0, 5)
	for version := int16(0); version <= 2; version++ {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Version, req.Groups = version, []string{active.ID(), simple.ID(), r.Name("nobody")}
		active.admin.Ask("version "+string('0'+rune(version)), req)
	}
}
