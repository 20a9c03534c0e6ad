package groupcoord

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetFetch, versions 0 to 9: v2 an error for the whole and null topics for
// all that is committed, v3 throttling, v5 leader epoch (always -1), v6
// flexible, v7 require stable (nothing is ever unstable without transactions),
// v8 several groups, v9 member epochs of the consumer protocol (KIP-848). v0,
// which read from ZooKeeper, is treated as v1.
//
// Every partition asked for is answered, also on failure.
func (c *Coordinator) OffsetFetch(_ context.Context, client Client, req *kmsg.OffsetFetchRequest, reply func(*kmsg.OffsetFetchResponse)) {
	if req.Version < 8 {
		e := &fetchEvent{request: client.Request, partitions: requestedPartitions(req.Topics), all: req.Topics == nil && req.Version >= 2}
		e.reply = func(f fetched) { reply(fetchResponse(req, f)) }
		c.submit(req.Group, e)
		return
	}
	gatherAll(len(req.Groups), func(i int, put func(kmsg.OffsetFetchResponseGroup)) {
		g := req.Groups[i]
		e := &fetchEvent{request: client.Request, partitions: requestedGroupPartitions(g.Topics), all: g.Topics == nil}
		if req.Version >= memberEpochs {
			e.member, e.epoch = g.MemberID, g.MemberEpoch
		}
		e.reply = func(f fetched) { put(fetchGroup(g.Group, f)) }
		c.submit(g.Group, e)
	}, func(groups []kmsg.OffsetFetchResponseGroup) {
		resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
		resp.Groups = groups
		reply(resp)
	})
}

// fetched is the answer for one group.
type fetched struct {
	code    int16
	offsets []CommittedOffset
	// oldest has the first offsets of added partitions without a committed one.
	oldest map[TopicPartition]CommittedOffset
}

type fetchEvent struct {
	request    Request
	all        bool
	partitions []TopicPartition
	reply      func(fetched)
	waits      int

	member *string // who asks, and its epoch; nil: nobody of the group
	epoch  int32
}

func (e *fetchEvent) loading() int16 { return codeLoading }

func (e *fetchEvent) refuse(code int16) { e.reply(e.failed(code)) }

// failed puts the code on each partition, for the versions that have it only
// there.
func (e *fetchEvent) failed(code int16) fetched {
	f := fetched{code: code}
	for _, tp := range e.partitions {
		f.offsets = append(f.offsets, CommittedOffset{TopicPartition: tp, Offset: -1, Code: code})
	}
	return f
}

// apply reads after the commits that came before.
func (e *fetchEvent) apply(g *group) {
	if code := g.checkConsumerFetch(e); code != 0 {
		g.refuse(e, code)
		return
	}
	g.offsets.held[e] = true
	e.waits = 1 // until all are counted
	if e.all {
		for _, l := range g.offsets.lanes {
			e.waitFor(g, l)
		}
	} else {
		for _, tp := range e.partitions {
			if l := g.offsets.lanes[tp]; l != nil {
				e.waitFor(g, l)
			}
		}
	}
	g.fetchReady(e)
}

func (e *fetchEvent) waitFor(g *group, l *lane) {
	last := l.waiting
	if last == nil {
		last = l.running
	}
	if last != nil {
		e.waits++
		last.then = append(last.then, func(CommittedOffset) { g.fetchReady(e) })
	}
	if l.reread != nil {
		e.waits++
		l.reread.then = append(l.reread.then, func() { g.fetchReady(e) })
	}
}

// read is an OffsetFetch that needs the store.
type read struct {
	event   *fetchEvent
	missing []TopicPartition // unless all are read
	added   map[TopicPartition]bool
}

// fetchReady reads when nothing is waited for any more: from memory what was
// acknowledged here, the rest from the store.
func (g *group) fetchReady(e *fetchEvent) {
	e.waits--
	if e.waits > 0 {
		return
	}
	r := &read{event: e}
	for _, tp := range e.partitions {
		if g.acked(tp) != nil {
			continue
		}
		r.missing = append(r.missing, tp)
		if g.added(tp) {
			if r.added == nil {
				r.added = make(map[TopicPartition]bool)
			}
			r.added[tp] = true
		}
	}
	if !e.all && len(r.missing) == 0 {
		g.answerFetch(e, nil, nil)
		return
	}
	g.effects = append(g.effects, storeFetch{r})
}

func (g *group) acked(tp TopicPartition) *CommittedOffset {
	if l := g.offsets.lanes[tp]; l != nil {
		return l.acked
	}
	return nil
}

// fetchDone is the end of a storeFetch.
type fetchDone struct {
	read   *read
	result fetched
}

func (e fetchDone) apply(g *group) {
	ev := e.read.event
	switch {
	case e.result.code != 0:
		delete(g.offsets.held, ev)
		g.refuse(ev, e.result.code)
	case ev.all:
		g.answerFetchAll(ev, e.result.offsets)
	default:
		found := make(map[TopicPartition]CommittedOffset, len(e.read.missing))
		for i, tp := range e.read.missing {
			found[tp] = e.result.offsets[i]
		}
		g.answerFetch(ev, found, e.result.oldest)
	}
}

// answerFetch answers each partition with what was acknowledged here, perhaps
// while the store was read, or else with what the store had.
//
// Clients repeat a fetch only for an error of the whole, and take others for
// fatal: an offset that could not be read now fails them all.
func (g *group) answerFetch(e *fetchEvent, found, oldest map[TopicPartition]CommittedOffset) {
	delete(g.offsets.held, e)
	var f fetched
	for _, tp := range e.partitions {
		o, ok := found[tp]
		if acked := g.acked(tp); acked != nil {
			o, ok = *acked, true
		}
		if !ok {
			// Acknowledged when asked for, and given up since then.
			o = CommittedOffset{Code: codeLoading}
		}
		if o.Offset >= 0 && o.Code == 0 {
			g.offsets.stored = true
		} else if first, ok := oldest[tp]; ok && o.Code == 0 {
			o = first
		}
		o.TopicPartition = tp
		if retried(o.Code) {
			g.refuse(e, o.Code)
			return
		}
		f.offsets = append(f.offsets, o)
	}
	g.answer(e, func() { e.reply(f) })
}

func retried(code int16) bool {
	return code == codeLoading || code == codeNotAvailable || code == codeNotCoordinator
}

func (g *group) answerFetchAll(e *fetchEvent, offsets []CommittedOffset) {
	delete(g.offsets.held, e)
	seen := make(map[TopicPartition]bool, len(offsets))
	for i, o := range offsets {
		seen[o.TopicPartition] = true
		if acked := g.acked(o.TopicPartition); acked != nil {
			offsets[i] = *acked
		}
	}
	for tp, l := range g.offsets.lanes {
		if l.acked != nil && !seen[tp] {
			offsets = append(offsets, *l.acked)
		}
	}
	if len(offsets) > 0 {
		g.offsets.stored = true
	}
	slices.SortFunc(offsets, func(a, b CommittedOffset) int { return a.TopicPartition.compare(b.TopicPartition) })
	g.answer(e, func() { e.reply(fetched{offsets: offsets}) })
}

func requestedPartitions(topics []kmsg.OffsetFetchRequestTopic) []TopicPartition {
	var list []TopicPartition
	for _, t := range topics {
		for _, p := range t.Partitions {
			list = append(list, TopicPartition{t.Topic, p})
		}
	}
	return list
}

func requestedGroupPartitions(topics []kmsg.OffsetFetchRequestGroupTopic) []TopicPartition {
	var list []TopicPartition
	for _, t := range topics {
		for _, p := range t.Partitions {
			list = append(list, TopicPartition{t.Topic, p})
		}
	}
	return list
}

func fetchResponse(req *kmsg.OffsetFetchRequest, f fetched) *kmsg.OffsetFetchResponse {
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	resp.ErrorCode = f.code
	for _, o := range f.offsets {
		p := kmsg.NewOffsetFetchResponseTopicPartition()
		p.Partition, p.Offset, p.ErrorCode = o.Partition, o.Offset, o.Code
		p.Metadata = kmsg.StringPtr(o.Metadata)
		last := len(resp.Topics) - 1
		if last < 0 || resp.Topics[last].Topic != o.Topic {
			t := kmsg.NewOffsetFetchResponseTopic()
			t.Topic = o.Topic
			resp.Topics = append(resp.Topics, t)
			last++
		}
		resp.Topics[last].Partitions = append(resp.Topics[last].Partitions, p)
	}
	return resp
}

func fetchGroup(name string, f fetched) kmsg.OffsetFetchResponseGroup {
	g := kmsg.NewOffsetFetchResponseGroup()
	g.Group, g.ErrorCode = name, f.code
	for _, o := range f.offsets {
		p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		p.Partition, p.Offset, p.ErrorCode = o.Partition, o.Offset, o.Code
		p.Metadata = kmsg.StringPtr(o.Metadata)
		last := len(g.Topics) - 1
		if last < 0 || g.Topics[last].Topic != o.Topic {
			t := kmsg.NewOffsetFetchResponseGroupTopic()
			t.Topic = o.Topic
			g.Topics = append(g.Topics, t)
			last++
		}
		g.Topics[last].Partitions = append(g.Topics[last].Partitions, p)
	}
	return g
}
