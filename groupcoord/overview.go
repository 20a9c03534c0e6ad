package groupcoord

import (
	"slices"
	"strings"
)

// Overview is a group as an operator sees it.
type Overview struct {
	Name string
	// State is Kafka's name of it, such as Stable.
	State string
	// Type is classic or consumer (KIP-848).
	Type    string
	Members int
}

// Overview shows the groups in memory, by name: those with members, and others in
// use. It asks nobody, neither the groups nor the store of the offsets.
func (c *Coordinator) Overview() []Overview {
	c.mu.Lock()
	groups := make([]Overview, 0, len(c.actors))
	for name, a := range c.actors {
		if l := a.listed.Load(); l != nil {
			groups = append(groups, Overview{name, l.state.String(), string(l.kind), l.members})
		}
	}
	c.mu.Unlock()
	slices.SortFunc(groups, func(a, b Overview) int { return strings.Compare(a.Name, b.Name) })
	return groups
}
