package groupcoord

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// supports reports whether a client with these protocols can be in the group:
// it has the group's type and a protocol that every member has.
func (g *group) supports(protocolType string, protocols []kmsg.JoinGroupRequestProtocol) bool {
	if g.state == empty {
		return protocolType != "" && len(protocols) > 0
	}
	return protocolType == g.protocolType &&
		slices.ContainsFunc(protocols, func(p kmsg.JoinGroupRequestProtocol) bool { return g.common(p.Name) })
}

// common reports whether every member lists the protocol.
func (g *group) common(name string) bool {
	for _, m := range g.members.list {
		if !slices.ContainsFunc(m.protocols, func(p protocol) bool { return p.Name == name }) {
			return false
		}
	}
	return true
}

// vote chooses the protocol of a generation: each member votes for the first it
// lists among those all have. A draw goes to the one that got a vote first, in
// the order of the members' arrival.
func (g *group) vote() string {
	votes := make(map[string]int)
	var candidates []string
	for _, m := range g.members.list {
		for _, p := range m.protocols {
			if !g.common(p.Name) {
				continue
			}
			if votes[p.Name] == 0 {
				candidates = append(candidates, p.Name)
			}
			votes[p.Name]++
			break
		}
	}
	best := ""
	for _, name := range candidates {
		if votes[name] > votes[best] {
			best = name
		}
	}
	return best
}

// rebalanceTimeout is the longest any member may take to rejoin.
func (g *group) rebalanceTimeout() time.Duration {
	var longest time.Duration
	for _, m := range g.members.list {
		longest = max(longest, m.rebalance)
	}
	return longest
}
