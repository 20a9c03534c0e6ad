package groupcoord

import (
	"slices"
	"strings"
)

// offsets orders the reads and writes of a group's committed offsets, and
// remembers what it has acknowledged.
//
// A partition has at most one write running and one waiting. A newer commit
// takes the place of the waiting one; both are answered with its result. What
// reads wait for is therefore bounded by two writes, however many commits come.
type offsets struct {
	lanes map[TopicPartition]*lane
	ready []TopicPartition // those with a write that waits and none that runs
	calls int              // running storeCommits
	held  map[request]bool // commits and fetches without an answer
	// stored: the group has, or once had, committed offsets.
	stored bool
}

// lane is the queue of one partition.
type lane struct {
	running, waiting *write
	// acked is the last acknowledged commit while the group has members, nil
	// when it has to be read.
	acked *CommittedOffset
	// reread holds reads back until a new generation's re-read has ended.
	reread *reread
}

// write is an offset to be stored, and who waits for it.
type write struct {
	commit OffsetCommit
	then   []func(CommittedOffset)
}

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

func newOffsets() offsets {
	return offsets{lanes: make(map[TopicPartition]*lane), held: make(map[request]bool)}
}

// busy reports whether somebody waits or a write runs.
func (o *offsets) busy() bool { return o.calls > 0 || len(o.ready) > 0 || len(o.held) > 0 }

func (o *offsets) lane(tp TopicPartition) *lane {
	l := o.lanes[tp]
	if l == nil {
		l = &lane{}
		o.lanes[tp] = l
	}
	return l
}

// tidy forgets a lane that holds nothing.
func (o *offsets) tidy(tp TopicPartition, l *lane) {
	if *l == (lane{}) {
		delete(o.lanes, tp)
	}
}

// forget drops what was acknowledged: nobody of the group is left to whom it
// would matter that others write the same offsets.
func (o *offsets) forget() {
	for tp, l := range o.lanes {
		l.acked = nil
		o.tidy(tp, l)
	}
}

// abandon gives up all that waits; refuse is called for each request.
func (o *offsets) abandon(refuse func(request)) {
	for r := range o.held {
		refuse(r)
	}
	*o = newOffsets()
}

// put queues a commit; then is called with its result or that of a newer one.
func (o *offsets) put(c OffsetCommit, then func(CommittedOffset)) {
	l := o.lane(c.TopicPartition)
	if l.waiting == nil {
		l.waiting = &write{}
		if l.running == nil {
			o.ready = append(o.ready, c.TopicPartition)
		}
	}
	l.waiting.commit = c
	l.waiting.then = append(l.waiting.then, then)
}

// writeReady starts what can be written, all partitions in one call.
func (g *group) writeReady() {
	o := &g.offsets
	if len(o.ready) == 0 || o.calls >= g.cfg.CommitsInFlight {
		return
	}
	commits := make([]OffsetCommit, len(o.ready))
	for i, tp := range o.ready {
		l := o.lanes[tp]
		l.running, l.waiting = l.waiting, nil
		commits[i] = l.running.commit
	}
	o.ready = nil
	o.calls++
	g.effects = append(g.effects, storeCommit{commits})
}

// commitDone is the end of a storeCommit.
type commitDone struct {
	commits []OffsetCommit
	results []CommittedOffset
}

func (e commitDone) apply(g *group) {
	o := &g.offsets
	o.calls--
	for i, c := range e.commits {
		result := e.results[i]
		l := o.lanes[c.TopicPartition]
		w := l.running
		l.running, l.acked = nil, nil
		if result.Code == 0 {
			o.stored = true
			if g.state != empty && result.Offset >= 0 {
				l.acked = &result
			}
		} else {
			g.log.Warn().Str("topic", c.Topic).Int32("partition", c.Partition).Int64("offset", c.Offset).
				Int16("code", result.Code).Str("reason", result.Message).Msg("offset not committed")
		}
		if l.waiting != nil {
			o.ready = append(o.ready, c.TopicPartition)
		}
		o.tidy(c.TopicPartition, l)
		for _, then := range w.then {
			then(result)
		}
	}
	g.writeReady()
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
