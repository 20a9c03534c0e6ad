package groupcoord

import (
	"time"

	"pgregory.net/rapid"
)

// recovery bounds how long a group may need until everybody is well: what crashed
// goes with its session, at most 45 s, a new member that nobody waits for any more
// after 5 minutes, and each ends in a rebalance of at most a minute.
const recovery = 10 * time.Minute

// recover lets all clients behave and the store answer. Soon the group is stable,
// they are its only members, and share all partitions.
func (m *model) recover() {
	m.drain()
	for end := m.now.Add(recovery); m.now.Before(end); m.advance(time.Second) {
		for _, s := range m.slots {
			m.behave(s)
		}
		m.drain()
		if m.well() {
			m.reached["recover"]++
			return
		}
	}
	m.t.Fatalf("after %v of good behaviour: %v, %d members, generation %d, leader %s; clients %+v",
		recovery, m.g.state, m.g.members.len(), m.g.generation, m.g.leader, m.slots)
}

// behave does what a client does next.
func (m *model) behave(s *slot) {
	switch {
	case s.joining:
	case s.id == "" || s.generation < 0:
		m.joinWith(s, joining{version: 9, session: 10_000, rebalance: 20_000, protocols: []string{"y"}})
	case !s.synced:
		m.syncAs(s)
		if !s.synced && s.generation >= 0 && m.g.state != completing {
			s.generation = -1 // refused: it joins again
		}
	default:
		m.heartbeatAs(s)
	}
}

// well reports whether all members are clients that have their part of the
// partitions, and nothing is left over.
func (m *model) well() bool {
	if m.g.state != stable || m.g.members.len() != len(m.slots) {
		return false
	}
	owned := 0
	for _, s := range m.slots {
		if !s.synced || s.generation != m.g.generation {
			return false
		}
		owned += len(s.owned) // nobody else's, as checkSync has seen
	}
	return owned == modelAssigned
}

// joining is what a client joins with.
type joining struct {
	version            int16
	session, rebalance int32 // ms
	protocols          []string
}

func drawJoining(t *rapid.T) joining {
	return joining{
		version:   rapid.Int16Range(0, 9).Draw(t, "version"),
		session:   rapid.SampledFrom([]int32{6000, 10000, 45000}).Draw(t, "session"),
		rebalance: rapid.SampledFrom([]int32{1000, 20000, int32(modelMaxRebalance.Milliseconds())}).Draw(t, "rebalance"),
		protocols: rapid.SampledFrom([][]string{{"x", "y"}, {"y", "x"}, {"y"}}).Draw(t, "protocols"),
	}
}
