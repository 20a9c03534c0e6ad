package groupcoord

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// commit sends a commit with the generation the consumer knows, or a wrong one.
func (m *model) commit(t *rapid.T) {
	s := m.slot(t)
	partition := rapid.Int32Range(0, modelPartitions-1).Draw(t, "partition")
	tp := TopicPartition{"t", partition}
	m.tag++
	tag := m.tag
	req := commitRequest("g", partition, tag)
	req.MemberID, req.InstanceID = s.id, s.instance
	req.Generation = s.generation - rapid.SampledFrom([]int32{0, 0, 0, 1}).Draw(t, "behind")

	member := m.g.members.byID[s.id]
	fits := member != nil && req.Generation == m.g.generation && m.g.state != completing
	simple := req.Generation < 0 && m.g.state == empty
	if !fits && !simple {
		m.forbidden[tag] = true
	}
	answered := m.once("commit")
	m.handle(newCommitEvent(req, func(resp *kmsg.OffsetCommitResponse) {
		answered()
		code := resp.Topics[0].Partitions[0].ErrorCode
		if code != 0 {
			return
		}
		if m.forbidden[tag] {
			m.t.Fatalf("commit %d of a wrong generation acknowledged", tag)
		}
		if m.stored[tp] < tag {
			m.t.Fatalf("commit %d acknowledged, but %d is stored", tag, m.stored[tp])
		}
		m.reached["commit"]++
		m.acked[tp] = max(m.acked[tp], tag)
	}))
}

func (m *model) startCommit(e storeCommit) {
	for _, c := range e.commits {
		switch {
		case m.deleting:
			m.t.Fatalf("commit %d is written while the group is deleted", c.Offset)
		case m.forbidden[c.Offset]:
			m.t.Fatalf("commit %d of a wrong generation reached the store", c.Offset)
		case m.writing[c.TopicPartition]:
			m.t.Fatalf("two writes of partition %d at once", c.Partition)
		case c.Offset <= m.written[c.TopicPartition]:
			m.t.Fatalf("commit %d written after %d", c.Offset, m.written[c.TopicPartition])
		}
		m.writing[c.TopicPartition] = true
		m.written[c.TopicPartition] = c.Offset
	}
	m.later(func(ok bool) event {
		results := make([]CommittedOffset, len(e.commits))
		for i, c := range e.commits {
			delete(m.writing, c.TopicPartition)
			// A failed write may have been done all the same.
			if ok || c.Offset%2 == 0 {
				m.stored[c.TopicPartition] = c.Offset
			}
			results[i] = CommittedOffset{TopicPartition: c.TopicPartition, Offset: c.Offset}
			if !ok {
				results[i].Code = codeLoading
			}
		}
		return commitDone{e.commits, results}
	})
}

// fetch must never give less than what was acknowledged before it.
func (m *model) fetch(t *rapid.T) {
	before, deletions := maps.Clone(m.acked), m.deletions
	e := &fetchEvent{all: rapid.Bool().Draw(t, "all")}
	if !e.all {
		for p := range int32(modelPartitions) {
			e.partitions = append(e.partitions, TopicPartition{"t", p})
		}
	}
	answered := m.once("fetch")
	e.reply = func(f fetched) {
		answered()
		if f.code != 0 || m.deletions != deletions {
			return
		}
		m.reached["fetch"]++
		got := make(map[TopicPartition]int64)
		for _, o := range f.offsets {
			got[o.TopicPartition] = o.Offset
		}
		for tp, tag := range before {
			if got[tp] < tag {
				m.t.Fatalf("partition %d: fetched %d after %d was acknowledged", tp.Partition, got[tp], tag)
			}
		}
	}
	m.handle(e)
}

func (m *model) endFetch(e storeFetch, ok bool) event {
	switch {
	case !e.read.event.all:
		return fetchDone{e.read, fetched{offsets: m.lookup(e.read.missing, ok)}}
	case !ok:
		return fetchDone{e.read, fetched{code: codeLoading}}
	default:
		return fetchDone{e.read, fetched{offsets: m.lookup(slices.Collect(maps.Keys(m.stored)), true)}}
	}
}

func (m *model) lookup(partitions []TopicPartition, ok bool) []CommittedOffset {
	var results []CommittedOffset
	for _, tp := range partitions {
		o := CommittedOffset{TopicPartition: tp, Offset: -1}
		if tag, found := m.stored[tp]; found {
			o.Offset = tag
		}
		if !ok {
			o.Offset, o.Code = -1, codeLoading
		}
		results = append(results, o)
	}
	return results
}

func (m *model) storeAnswers(t *rapid.T) {
	if len(m.calls) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.calls)-1).Draw(t, "call")
	call := m.calls[i]
	m.calls = slices.Delete(m.calls, i, i+1)
	m.handle(call(rapid.IntRange(0, 4).Draw(t, "fails") > 0))
}

// delete removes the group if nobody is in it.
func (m *model) delete(*rapid.T) {
	answered := m.once("delete")
	m.handle(&deleteEvent{"g", func(resp kmsg.DeleteGroupsResponseGroup) {
		answered()
		if resp.ErrorCode == 0 {
			m.reached["delete"]++
		}
	}})
}

// startDelete runs a deletion: no write may run beside it.
func (m *model) startDelete() {
	if len(m.writing) > 0 {
		m.t.Fatalf("the group is deleted while %v are written", m.writing)
	}
	m.deleting = true
	m.later(func(ok bool) event {
		m.deleting = false
		if !ok {
			return deleteDone{codeLoading, "the store does not answer"}
		}
		m.deletions++
		known := len(m.stored) > 0
		clear(m.stored)
		clear(m.acked)
		if !known {
			return deleteDone{codeGroupIDNotFound, ""}
		}
		return deleteDone{}
	})
}
