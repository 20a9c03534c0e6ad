package groupcoord

import (
	"maps"
	"slices"
	"strings"
)

// The assignors of the consumer protocol (KIP-848). An assignor gives each
// partition of the subscribed topics to one member that subscribes to its topic.
const (
	assignorUniform = "uniform"
	assignorRange   = "range"
)

// assignors by the name under which a member asks for one. The first of
// assignorNames is for groups of which no member asks for any.
var (
	assignors     = map[string]assignor{assignorUniform: assignUniform, assignorRange: assignRange}
	assignorNames = []string{assignorUniform, assignorRange}
)

// assignor distributes partitions. The counts have an entry for every subscribed
// topic. The result has one for every member.
type assignor func(members []subscriber, counts map[topicID]int32) map[string]partitionSet

// subscriber is a member as an assignor sees it.
type subscriber struct {
	id       string
	instance *string
	topics   []topicID    // sorted, all of them with a count
	previous partitionSet // what it was to have so far
}

// assignRange gives each member a run of neighbouring partitions of every topic.
// Topics with as many partitions and the same subscribers are cut alike, so that a
// member has the same numbers of all of them. The order of the members does not
// change with their restarts where they are static.
func assignRange(members []subscriber, counts map[topicID]int32) map[string]partitionSet {
	result := emptyAssignment(members)
	ordered := slices.SortedFunc(slices.Values(members), rangeOrder)
	for _, topic := range sortedTopics(counts) {
		readers := subscribersOf(topic, ordered)
		if len(readers) == 0 {
			continue
		}
		share, extra := counts[topic]/int32(len(readers)), counts[topic]%int32(len(readers))
		next := int32(0)
		for i, m := range readers {
			end := next + share
			if int32(i) < extra {
				end++
			}
			for ; next < end; next++ {
				result[m.id].add(partitionID{topic, next})
			}
		}
	}
	return result
}

// rangeOrder puts static members first, by instance, the others by id.
func rangeOrder(a, b subscriber) int {
	switch {
	case a.instance != nil && b.instance != nil:
		return strings.Compare(*a.instance, *b.instance)
	case a.instance != nil:
		return -1
	case b.instance != nil:
		return 1
	default:
		return strings.Compare(a.id, b.id)
	}
}

func emptyAssignment(members []subscriber) map[string]partitionSet {
	result := make(map[string]partitionSet, len(members))
	for _, m := range members {
		result[m.id] = make(partitionSet)
	}
	return result
}

func sortedTopics(counts map[topicID]int32) []topicID {
	return slices.SortedFunc(maps.Keys(counts), compareTopics)
}

// reads reports whether the member subscribes to the topic.
func (m *subscriber) reads(topic topicID) bool {
	_, ok := slices.BinarySearchFunc(m.topics, topic, compareTopics)
	return ok
}

// subscribersOf are the members that subscribe to a topic, in their order.
func subscribersOf(topic topicID, members []subscriber) []subscriber {
	var readers []subscriber
	for _, m := range members {
		if m.reads(topic) {
			readers = append(readers, m)
		}
	}
	return readers
}
