package groupcoord

import (
	"cmp"
	"slices"
)

// assignUniform gives the members as equal numbers of partitions as their
// subscriptions allow, and moves as few as possible from where they were.
//
// With equal subscriptions the numbers differ by one at most. With different ones
// no partition could move to another subscriber that has two fewer than its owner.
func assignUniform(members []subscriber, counts map[topicID]int32) map[string]partitionSet {
	u := newUniform(members, counts)
	if u.alike() {
		u.trim()
		u.deal()
	} else {
		u.place()
		u.even()
	}
	result := make(map[string]partitionSet, len(members))
	for _, m := range u.members {
		result[m.id] = m.has
	}
	return result
}

type uniform struct {
	members []*uniformMember
	counts  map[topicID]int32
	free    []partitionID // without an owner, sorted
}

type uniformMember struct {
	subscriber
	has partitionSet
	// mayHave is its share when all subscriptions are alike.
	mayHave int
}

// newUniform lets each member keep what it had and still subscribes to.
func newUniform(members []subscriber, counts map[topicID]int32) *uniform {
	u := &uniform{counts: counts}
	owned := make(partitionSet)
	for _, m := range members {
		keeps := &uniformMember{subscriber: m, has: make(partitionSet)}
		for p := range m.previous {
			if p.partition < counts[p.topic] && keeps.reads(p.topic) && !owned.has(p) {
				keeps.has.add(p)
				owned.add(p)
			}
		}
		u.members = append(u.members, keeps)
	}
	for _, topic := range sortedTopics(counts) {
		if len(subscribersOf(topic, members)) == 0 {
			continue
		}
		for n := range counts[topic] {
			if p := (partitionID{topic, n}); !owned.has(p) {
				u.free = append(u.free, p)
			}
		}
	}
	return u
}

// alike reports whether all members subscribe to the same topics.
func (u *uniform) alike() bool {
	for _, m := range u.members {
		if !slices.Equal(m.topics, u.members[0].topics) {
			return false
		}
	}
	return true
}

// trim fixes each member's share, and takes from it what it has too many. Shares
// that are larger by one go to those that have the partitions already, then to
// those with the fewest.
func (u *uniform) trim() {
	if len(u.members) == 0 {
		return
	}
	total := len(u.free)
	for _, m := range u.members {
		total += len(m.has)
	}
	share, larger := total/len(u.members), total%len(u.members)
	byNeed := slices.Clone(u.members)
	slices.SortStableFunc(byNeed, func(a, b *uniformMember) int {
		return cmp.Or(cmpBool(len(b.has) > share, len(a.has) > share), cmp.Compare(len(a.has), len(b.has)))
	})
	for i, m := range byNeed {
		m.mayHave = share
		if i < larger {
			m.mayHave++
		}
		if surplus := m.has.sorted(); len(surplus) > m.mayHave {
			for _, p := range surplus[m.mayHave:] {
				delete(m.has, p)
				u.free = append(u.free, p)
			}
		}
	}
	slices.SortFunc(u.free, partitionID.compare)
}

// cmpBool orders false before true.
func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// deal gives the free partitions in turn to those with a share left, so that
// neighbours of one topic go to different members.
func (u *uniform) deal() {
	turn := 0
	next := func() *uniformMember {
		m := u.members[turn%len(u.members)]
		turn++
		return m
	}
	for _, p := range u.free {
		m := next()
		for len(m.has) >= m.mayHave {
			m = next()
		}
		m.has.add(p)
	}
}

// place gives each free partition to the subscriber with the fewest, those of
// topics with few subscribers first.
func (u *uniform) place() {
	readers := u.readers()
	slices.SortStableFunc(u.free, func(a, b partitionID) int {
		return cmp.Compare(len(readers[a.topic]), len(readers[b.topic]))
	})
	for _, p := range u.free {
		if to := fewest(readers[p.topic]); to != nil {
			to.has.add(p)
		}
	}
}

func (u *uniform) readers() map[topicID][]*uniformMember {
	readers := make(map[topicID][]*uniformMember, len(u.counts))
	for _, m := range u.members {
		for _, topic := range m.topics {
			readers[topic] = append(readers[topic], m)
		}
	}
	return readers
}

func fewest(members []*uniformMember) *uniformMember {
	var found *uniformMember
	for _, m := range members {
		if found == nil || len(m.has) < len(found.has) {
			found = m
		}
	}
	return found
}

// even moves partitions as long as that makes two members more equal. It ends: the
// sum of the squares of the numbers becomes smaller each time.
func (u *uniform) even() {
	readers := u.readers()
	topics := sortedTopics(u.counts)
	for moved := true; moved; {
		moved = false
		for _, topic := range topics {
			for u.evenTopic(topic, readers[topic]) {
				moved = true
			}
		}
	}
}

// evenTopic moves one partition of a topic if that helps.
func (u *uniform) evenTopic(topic topicID, readers []*uniformMember) bool {
	to := fewest(readers)
	var from *uniformMember
	var which partitionID
	for _, m := range readers {
		if len(m.has) <= len(to.has)+1 || from != nil && len(m.has) <= len(from.has) {
			continue
		}
		if p, ok := u.spare(m, topic); ok {
			from, which = m, p
		}
	}
	if from == nil {
		return false
	}
	delete(from.has, which)
	to.has.add(which)
	return true
}

// spare picks a partition of the topic that the member can give away: one that it
// did not have before, if possible.
func (u *uniform) spare(m *uniformMember, topic topicID) (spare partitionID, ok bool) {
	for n := range u.counts[topic] {
		p := partitionID{topic, n}
		if !m.has.has(p) {
			continue
		}
		if !m.previous.has(p) {
			return p, true
		}
		spare, ok = p, true
	}
	return spare, ok
}
