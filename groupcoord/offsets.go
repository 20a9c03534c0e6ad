package groupcoord

import (
	"slices"
	"time"
)

// offsets orders the reads and writes of a group's committed offsets, and
// remembers what it has acknowledged.
//
// A partition has at most one write running and one waiting. A newer commit
// takes the place of the waiting one; both are answered with its result. What
// reads wait for is therefore bounded by two writes, however many commits come. The
// one that waits for a write that hangs is answered with it: no commit takes longer
// than a timeout then.
type offsets struct {
	lanes map[TopicPartition]*lane
	ready []TopicPartition // those with a write that waits and none that runs
	calls int              // running storeCommits
	// deletes are the deletions of the group; the first runs or waits for the
	// running writes, and no write begins before they are through.
	deletes []*deleteEvent
	held    map[request]bool // commits and fetches without an answer
	// stored: the group has, or once had, committed offsets.
	stored  bool
	trouble commitTrouble
}

// lane is the queue of one partition.
type lane struct {
	running, waiting *write
	// acked is the last acknowledged commit while the group has members, nil
	// when it has to be read.
	acked *CommittedOffset
	// reread holds reads back until a new generation's re-read has ended.
	reread *reread
	// lost are commits of which it is not known whether they were stored.
	lost lostCommits
}

// write is an offset to be stored, and who waits for it.
type write struct {
	commit   OffsetCommit
	requests []Request // that wait, the one with the offset last
	then     []func(CommittedOffset)
	started  time.Time
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
	o.trouble = commitTrouble{}
	for tp, l := range o.lanes {
		l.acked, l.lost = nil, lostCommits{}
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
func (o *offsets) put(c OffsetCommit, from Request, then func(CommittedOffset)) {
	l := o.lane(c.TopicPartition)
	if l.waiting == nil {
		l.waiting = &write{}
		if l.running == nil {
			o.ready = append(o.ready, c.TopicPartition)
		}
	}
	l.waiting.commit, l.waiting.requests = c, append(l.waiting.requests, from)
	l.waiting.then = append(l.waiting.then, then)
}

// writeReady starts what can be written, all partitions in one call.
func (g *group) writeReady() {
	o := &g.offsets
	if len(o.ready) == 0 || o.calls >= g.cfg.CommitsInFlight || len(o.deletes) > 0 {
		return
	}
	commits := make([]OffsetCommit, len(o.ready))
	var requests []Request
	for i, tp := range o.ready {
		l := o.lanes[tp]
		l.running, l.waiting = l.waiting, nil
		l.running.started = g.now
		commits[i] = l.running.commit
		for _, from := range l.running.requests {
			if !slices.Contains(requests, from) {
				requests = append(requests, from)
			}
		}
	}
	o.ready = nil
	o.calls++
	g.effects = append(g.effects, storeCommit{commits, requests})
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
		} else if result.Code == codeLoading && g.state != empty {
			l.lost.note(c.Offset)
		}
		g.logCommit(c, w.requests[len(w.requests)-1], result)
		if waiting := l.waiting; waiting != nil && result.Code == codeLoading && g.now.Sub(w.started) >= g.cfg.CommitTimeout {
			// Heartbeats wait behind its reply too, and two timeouts in a row are
			// longer than many sessions. The client is told to try again.
			l.waiting = nil
			w.then = append(w.then, waiting.then...)
		} else if waiting != nil {
			o.ready = append(o.ready, c.TopicPartition)
		}
		o.tidy(c.TopicPartition, l)
		for _, then := range w.then {
			then(result)
		}
	}
	g.deleteReady()
	g.writeReady()
}

// logCommit logs the beginning, the duration and the end of trouble.
func (g *group) logCommit(c OffsetCommit, from Request, result CommittedOffset) {
	trouble := &g.offsets.trouble
	if result.Code == 0 {
		if failed := trouble.over(c.TopicPartition); failed > 0 {
			g.log.Info().Int("failed", failed).Msg("offsets are committed again")
		}
		return
	}
	if trouble.note(result, g.now) {
		g.log.Warn().Str("topic", cut(c.Topic)).Int32("partition", c.Partition).Int64("offset", c.Offset).
			Int16("code", result.Code).Str("reason", result.Message).Stringer("request", from).Int("failed", trouble.failed).
			Msg("offset not committed; more of the kind are counted and logged once a minute")
	}
}
