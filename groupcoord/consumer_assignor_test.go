package groupcoord

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawnGroup is a group for the assignors.
type drawnGroup struct {
	members []subscriber
	counts  map[topicID]int32
}

func drawGroup(t *rapid.T, alike bool) drawnGroup {
	g := drawnGroup{counts: make(map[topicID]int32)}
	var all []topicID
	for i := range rapid.IntRange(1, 6).Draw(t, "topics") {
		id := topicNamed(fmt.Sprintf("t%c", 'a'+i))
		all = append(all, id)
		g.counts[id] = rapid.Int32Range(0, 12).Draw(t, "partitions")
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "members") {
		g.members = append(g.members, g.drawMember(t, fmt.Sprintf("m%d", i), all, alike))
	}
	return g
}

func (g drawnGroup) drawMember(t *rapid.T, id string, all []topicID, alike bool) subscriber {
	m := subscriber{id: id, topics: all}
	if rapid.Bool().Draw(t, "static") {
		m.instance = ptr("instance " + id)
	}
	if !alike {
		m.topics = slices.DeleteFunc(slices.Clone(all), func(topicID) bool { return rapid.Bool().Draw(t, "skips") })
	}
	return m
}

// assigned is a group after its assignment.
func (g drawnGroup) assigned(result map[string]partitionSet) drawnGroup {
	after := drawnGroup{counts: g.counts}
	for _, m := range g.members {
		m.previous = result[m.id]
		after.members = append(after.members, m)
	}
	return after
}

// check is what every assignor owes: every partition that somebody subscribes to
// belongs to one subscriber.
func (g drawnGroup) check(t *rapid.T, result map[string]partitionSet) {
	owners := make(map[partitionID]string)
	for _, m := range g.members {
		has, ok := result[m.id]
		if !ok {
			t.Fatalf("%s is left out", m.id)
		}
		for p := range has {
			if owner := owners[p]; owner != "" {
				t.Fatalf("%s is given to %s and %s", p.text(), owner, m.id)
			}
			if !slices.Contains(m.topics, p.topic) || p.partition < 0 || p.partition >= g.counts[p.topic] {
				t.Fatalf("%s must not have %s", m.id, p.text())
			}
			owners[p] = m.id
		}
	}
	for topic, count := range g.counts {
		for n := range count {
			if p := (partitionID{topic, n}); owners[p] == "" && len(subscribersOf(topic, g.members)) > 0 {
				t.Fatalf("nobody has %s", p.text())
			}
		}
	}
}

func TestRangeAssignor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, rapid.Bool().Draw(t, "alike"))
		result := assignRange(g.members, g.counts)
		g.check(t, result)
		for topic, count := range g.counts {
			g.checkRuns(t, result, topic, count)
		}
	})
}

// checkRuns: neighbours are together, the shares differ by one, and the order is
// that of the members.
func (g drawnGroup) checkRuns(t *rapid.T, result map[string]partitionSet, topic topicID, count int32) {
	ordered := slices.SortedFunc(slices.Values(g.members), rangeOrder)
	next := int32(0)
	readers := subscribersOf(topic, ordered)
	for i, m := range readers {
		share := count / int32(len(readers))
		if int32(i) < count%int32(len(readers)) {
			share++
		}
		for range share {
			if !result[m.id].has(partitionID{topic, next}) {
				t.Fatalf("%s should have %s", m.id, partitionID{topic, next}.text())
			}
			next++
		}
	}
}

func TestUniformAssignor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alike := rapid.Bool().Draw(t, "alike")
		g := drawGroup(t, alike)
		result := assignUniform(g.members, g.counts)
		g.check(t, result)
		g.checkBalance(t, result, alike)

		again := g.assigned(result)
		if repeated := assignUniform(again.members, again.counts); !sameAssignment(repeated, result) {
			t.Fatalf("nothing changed, and yet %v became %v", result, repeated)
		}
		again.change(t)
		changed := assignUniform(again.members, again.counts)
		again.check(t, changed)
		again.checkBalance(t, changed, alike)
	})
}

func sameAssignment(a, b map[string]partitionSet) bool {
	return maps.EqualFunc(a, b, partitionSet.equal)
}

// change lets members come and go, and topics grow and shrink.
func (g *drawnGroup) change(t *rapid.T) {
	if len(g.members) > 1 && rapid.Bool().Draw(t, "goes") {
		g.members = g.members[1:]
	}
	if rapid.Bool().Draw(t, "comes") {
		g.members = append(g.members, subscriber{id: "new", topics: g.members[0].topics})
	}
	for _, topic := range sortedTopics(g.counts) {
		g.counts[topic] = rapid.Int32Range(0, 12).Draw(t, "partitions")
	}
}

// checkBalance: numbers that differ by one at most, or where the subscriptions
// differ, no partition that could go to somebody with two fewer.
func (g drawnGroup) checkBalance(t *rapid.T, result map[string]partitionSet, alike bool) {
	for _, rich := range g.members {
		for _, poor := range g.members {
			if len(result[rich.id]) <= len(result[poor.id])+1 {
				continue
			}
			if alike {
				t.Fatalf("%s has %d, %s has %d", rich.id, len(result[rich.id]), poor.id, len(result[poor.id]))
			}
			for p := range result[rich.id] {
				if slices.Contains(poor.topics, p.topic) {
					t.Fatalf("%s has %d, %s has %d and could have %s", rich.id, len(result[rich.id]), poor.id, len(result[poor.id]), p.text())
				}
			}
		}
	}
}

// With equal subscriptions nothing moves but what has to: from those who leave, and
// to those who come.
func TestUniformAssignorIsSticky(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, true)
		result := assignUniform(g.members, g.counts)

		joined := g.assigned(result)
		joined.members = append(joined.members, subscriber{id: "new", topics: g.members[0].topics})
		after := assignUniform(joined.members, joined.counts)
		for _, m := range g.members {
			if !after[m.id].within(result[m.id]) {
				t.Fatalf("%s was given %v instead of %v when another member joined", m.id, texts(after[m.id]), texts(result[m.id]))
			}
		}

		left := joined.assigned(after)
		gone := rapid.IntRange(0, len(left.members)-1).Draw(t, "leaves")
		left.members = slices.Delete(left.members, gone, gone+1)
		if len(left.members) == 0 {
			return
		}
		for id, has := range assignUniform(left.members, left.counts) {
			if !after[id].within(has) {
				t.Fatalf("%s lost some of %v when another member left", id, texts(after[id]))
			}
		}
	})
}

// Partitions of one topic go to different members.
func TestUniformAssignorSpreadsTopics(t *testing.T) {
	a, b := topicNamed("a"), topicNamed("b")
	topics := []topicID{a, b}
	result := assignUniform([]subscriber{{id: "x", topics: topics}, {id: "y", topics: topics}}, map[topicID]int32{a: 2, b: 2})
	for id, has := range result {
		if len(has.byTopic()) != 2 {
			t.Errorf("%s has %v", id, texts(has))
		}
	}
}
