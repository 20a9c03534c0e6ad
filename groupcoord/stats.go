package groupcoord

// Stats are what a Coordinator has in memory, and what it has counted.
type Stats struct {
	// InMemory are the groups that something was asked of and that are not forgotten
	// yet, whether they exist or are only names; MaxGroups bounds them.
	InMemory, MaxGroups int
	// States has the number of groups that exist by their state, as ListGroups shows
	// it. Groups of which there are only stored offsets are not among them.
	States map[string]int
	// Members are those of all groups.
	Members int
	// Rebalances counts the generations that began, in the consumer protocol
	// (KIP-848) the assignments that were computed.
	Rebalances int64
	// Refused counts the requests for further groups while MaxGroups were in memory.
	Refused int64
	// MemberBytes is what the members of all groups keep in memory, which
	// MaxMemberBytes bounds, and MembersRefused counts the requests that would have
	// added to it beyond.
	MemberBytes, MaxMemberBytes, MembersRefused int64
}

// Stats reads them. Every state has its number, also 0.
func (c *Coordinator) Stats() Stats {
	room := c.cfg.room
	s := Stats{
		MaxGroups: c.cfg.MaxGroups, States: map[string]int{}, Rebalances: c.rebalances.Load(), Refused: c.refused.Load(),
		MemberBytes: room.kept.Load(), MaxMemberBytes: room.limit, MembersRefused: room.refused.Load(),
	}
	for _, name := range stateNames {
		s.States[name] = 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.InMemory = len(c.actors)
	for _, a := range c.actors {
		if l := a.listed.Load(); l != nil {
			s.States[l.state.String()]++
			s.Members += l.members
		}
	}
	return s
}

// size is the number of members.
func (g *group) size() int {
	if g.consumer != nil {
		return g.consumer.len()
	}
	return g.members.len()
}

// era is the generation, in the consumer protocol the epoch of the last assignment.
func (g *group) era() int32 {
	if g.consumer != nil {
		return g.consumer.targetEpoch
	}
	return g.generation
}

// countRebalance counts what the last event began. A group that became empty has a
// new generation too, and one that ended begins again with the first.
func (a *actor) countRebalance() {
	now := a.group.era()
	if now > a.counted && a.group.size() > 0 {
		a.c.rebalances.Add(1)
	}
	a.counted = now
}
