package oracle

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Stable joins members as Joined does and syncs them. Partition n of the topic
// goes to the member n mod their number. It writes nothing down.
func (g *Group) Stable(topic string, partitions int, members ...*Member) {
	g.Joined(members...)
	g.syncAll(topic, partitions, members)
}

// Joined joins members that have not joined yet; the first one leads, and has to
// assign. It writes nothing down. The generation is 1 for one member, 2 for more.
func (g *Group) Joined(members ...*Member) {
	leader, followers := members[0], members[1:]
	leader.mustJoin(leader.Join(""))
	if len(followers) == 0 {
		return
	}
	var joining []Joining
	for _, m := range followers {
		joining = append(joining, m.BeginJoin(""))
	}
	g.AwaitMembers(len(members))
	leader.mustJoin(leader.Join(""))
	for i, j := range joining {
		followers[i].mustJoin(j.Wait())
	}
}

func (m *Member) mustJoin(resp *kmsg.JoinGroupResponse) {
	if resp == nil || resp.ErrorCode != 0 {
		m.r.Fatalf("%s did not join: %+v", m.name, resp)
	}
}

func (g *Group) syncAll(topic string, partitions int, members []*Member) {
	plan := Plan{}
	for p := range partitions {
		name := members[p%len(members)].name
		if plan[name] == nil {
			plan[name] = map[string][]int32{}
		}
		plan[name][topic] = append(plan[name][topic], int32(p))
	}
	var syncing []*Pending
	for _, m := range members[1:] {
		syncing = append(syncing, m.BeginSync("", nil))
	}
	members[0].Sync("", plan)
	for _, s := range syncing {
		s.Wait()
	}
}

// AwaitMembers waits until the group has so many members; those that were only
// given an id do not count.
func (g *Group) AwaitMembers(n int) {
	g.await(fmt.Sprintf("%d members in %s", n, g.name), func(d kmsg.DescribeGroupsResponseGroup) bool { return len(d.Members) == n })
}

// AwaitState waits until the group is in a state, by Kafka's name for it.
func (g *Group) AwaitState(state string) {
	g.await(g.name+" to be "+state, func(d kmsg.DescribeGroupsResponseGroup) bool { return d.State == state })
}

func (g *Group) await(what string, done func(kmsg.DescribeGroupsResponseGroup) bool) {
	g.r.Eventually(what, func() bool {
		resp, ok := g.admin.Ask("", g.describeRequest()).(*kmsg.DescribeGroupsResponse)
		return ok && len(resp.Groups) == 1 && done(resp.Groups[0])
	})
}

func (g *Group) describeRequest() *kmsg.DescribeGroupsRequest {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Version, req.Groups = describeVersion, []string{g.ID()}
	return req
}
