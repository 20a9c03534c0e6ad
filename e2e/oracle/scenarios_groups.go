package oracle

// groupScenarios: consumer groups of the classic protocol.
var groupScenarios = []Scenario{
	{"group-two-members", "two members join, share a topic, commit and leave", groupTwoMembers},
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
