package groupcoord

// A partition that a scale-up adds to a topic is found by the group's leader
// minutes later. Kafka's clients begin in it where their reset policy says, and
// with latest skip what was written until then. The DIS Kafka adapter begins at the
// oldest record, and so do the groups here: a partition that was not there when the
// group got its first assignment of the topic, and that has no committed offset, has
// its oldest one. That holds until the group commits there or has no members any
// more, not only for the next generation: with two rebalances in a row a member can
// lose such a partition before it has read anything.

// noteAssigned keeps how many partitions each topic of the group had when it was
// assigned for the first time. The leader's assignment tells more than DIS would: it
// is what the leader knew.
func (g *group) noteAssigned() {
	if g.subscribed == nil {
		return
	}
	counts := make(map[string]int32)
	for _, m := range g.members.list {
		assignment, err := readAssignment(m.assignment)
		if err != nil {
			continue // of an assignor of its own kind
		}
		for _, t := range assignment.Topics {
			for _, p := range t.Partitions {
				counts[t.Topic] = max(counts[t.Topic], p+1)
			}
		}
	}
	g.noteCounts(counts)
}

// noteCounts keeps the partition counts of topics that are new to the group, and
// forgets those that nobody subscribes to any more.
func (g *group) noteCounts(counts map[string]int32) {
	for topic := range g.firstCounts {
		if !g.subscribed[topic] {
			delete(g.firstCounts, topic)
		}
	}
	for topic, n := range counts {
		if _, known := g.firstCounts[topic]; known || !g.subscribed[topic] {
			continue
		}
		if g.firstCounts == nil {
			g.firstCounts = make(map[string]int32)
		}
		g.firstCounts[topic] = n
	}
}

// added reports whether a scale-up added the partition while the group was running.
func (g *group) added(tp TopicPartition) bool {
	first, known := g.firstCounts[tp.Topic]
	return known && tp.Partition >= first && g.state != empty && !g.cfg.AddedFromReset
}
