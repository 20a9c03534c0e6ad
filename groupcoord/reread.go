package groupcoord

import (
	"slices"
	"strings"
)

// reread is a read of acknowledged offsets to see whether they still are.
type reread struct {
	entries []rereadEntry
	then    []func()
}

type rereadEntry struct {
	partition TopicPartition
	was       *CommittedOffset
}

func (r *reread) partitions() []TopicPartition {
	list := make([]TopicPartition, len(r.entries))
	for i, e := range r.entries {
		list[i] = e.partition
	}
	return list
}

// reread starts to read the acknowledged offsets again. With hold, reads wait
// for it: a new generation must see what others have stored meanwhile.
func (g *group) reread(hold bool) {
	g.refreshAfter()
	r := &reread{}
	for tp, l := range g.offsets.lanes {
		if l.acked != nil && l.running == nil && l.waiting == nil && l.reread == nil {
			r.entries = append(r.entries, rereadEntry{tp, l.acked})
			if hold {
				l.reread = r
			}
		}
	}
	if len(r.entries) > 0 {
		slices.SortFunc(r.entries, func(a, b rereadEntry) int { return a.partition.compare(b.partition) })
		g.effects = append(g.effects, storeReread{r})
	}
}

func (g *group) refreshAfter() {
	g.refreshAt = g.now.Add(g.cfg.RefreshInterval)
	g.wakeAt(g.refreshAt)
}

// rereadDone is the end of a storeReread. A read that failed changes nothing:
// the last acknowledged offset is still the best answer there is.
type rereadDone struct {
	reread  *reread
	results []CommittedOffset
}

func (e rereadDone) apply(g *group) {
	for i, entry := range e.reread.entries {
		l := g.offsets.lanes[entry.partition]
		if l == nil {
			continue
		}
		if l.reread == e.reread {
			l.reread = nil
		}
		result := e.results[i]
		untouched := l.acked == entry.was && l.running == nil
		if untouched && l.acked != nil && result.Code == 0 && result.Offset != entry.was.Offset {
			g.foreignChange(l, result)
		}
		g.offsets.tidy(entry.partition, l)
	}
	for _, then := range e.reread.then {
		then()
	}
}

// foreignChange takes over an offset that somebody else has stored.
func (g *group) foreignChange(l *lane, found CommittedOffset) {
	if l.lost.has(found.Offset) {
		if l.waiting == nil { // what waits is newer still
			g.restore(l, found)
		}
		return
	}
	g.effects = append(g.effects, foreign{ForeignChange{
		Group:          g.name,
		TopicPartition: found.TopicPartition,
		Acknowledged:   l.acked.Offset,
		Found:          found.Offset,
	}})
	l.acked = nil
	if found.Offset >= 0 {
		l.acked = &found
	}
}

func (tp TopicPartition) compare(other TopicPartition) int {
	if tp.Topic != other.Topic {
		return strings.Compare(tp.Topic, other.Topic)
	}
	return int(tp.Partition) - int(other.Partition)
}
