package groupcoord

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// topicID identifies a topic in the consumer protocol; a topic that was deleted
// and created again has another one.
type topicID = [16]byte

func compareTopics(a, b topicID) int { return bytes.Compare(a[:], b[:]) }

// partitionID is a partition as the consumer protocol names it.
type partitionID struct {
	topic     topicID
	partition int32
}

func (p partitionID) compare(other partitionID) int {
	return cmp.Or(compareTopics(p.topic, other.topic), cmp.Compare(p.partition, other.partition))
}

// partitionSet is a set of partitions. A nil one is empty.
type partitionSet map[partitionID]struct{}

func (s partitionSet) has(p partitionID) bool {
	_, ok := s[p]
	return ok
}

func (s partitionSet) add(p partitionID) { s[p] = struct{}{} }

func (s partitionSet) equal(other partitionSet) bool { return maps.Equal(s, other) }

// with gives the partitions that are in either.
func (s partitionSet) with(other partitionSet) partitionSet {
	all := make(partitionSet, len(s)+len(other))
	maps.Copy(all, s)
	maps.Copy(all, other)
	return all
}

// without gives the partitions that are not in other.
func (s partitionSet) without(other partitionSet) partitionSet {
	rest := make(partitionSet)
	for p := range s {
		if !other.has(p) {
			rest.add(p)
		}
	}
	return rest
}

// common gives the partitions that are in both.
func (s partitionSet) common(other partitionSet) partitionSet {
	both := make(partitionSet)
	for p := range s {
		if other.has(p) {
			both.add(p)
		}
	}
	return both
}

// outside gives the partitions of other topics.
func (s partitionSet) outside(topics map[topicID]bool) partitionSet {
	rest := make(partitionSet)
	for p := range s {
		if !topics[p.topic] {
			rest.add(p)
		}
	}
	return rest
}

func (s partitionSet) topics() map[topicID]bool {
	topics := make(map[topicID]bool)
	for p := range s {
		topics[p.topic] = true
	}
	return topics
}

// overlaps reports whether a partition is in both.
func (s partitionSet) overlaps(other partitionSet) bool {
	for p := range s {
		if other.has(p) {
			return true
		}
	}
	return false
}

// within reports whether every partition is in other, too.
func (s partitionSet) within(other partitionSet) bool {
	for p := range s {
		if !other.has(p) {
			return false
		}
	}
	return true
}

// sorted lists the partitions by topic id and number.
func (s partitionSet) sorted() []partitionID {
	return slices.SortedFunc(maps.Keys(s), partitionID.compare)
}

// topicPartitions are partitions of one topic.
type topicPartitions struct {
	topic      topicID
	partitions []int32
}

// byTopic lists the partitions of each topic.
func (s partitionSet) byTopic() []topicPartitions {
	var topics []topicPartitions
	for _, p := range s.sorted() {
		if n := len(topics); n == 0 || topics[n-1].topic != p.topic {
			topics = append(topics, topicPartitions{topic: p.topic})
		}
		last := &topics[len(topics)-1]
		last.partitions = append(last.partitions, p.partition)
	}
	return topics
}
