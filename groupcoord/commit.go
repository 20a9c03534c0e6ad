package groupcoord

import (
	"context"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetCommit, versions 0 to 9: v1 generation and member, v2 to v4 a retention
// time, which is ignored, v3 throttling, v6 leader epoch, v7 instance id, v8
// flexible, v9 member epochs of the consumer protocol (KIP-848). v0 is treated as a
// commit without membership.
func (c *Coordinator) OffsetCommit(_ context.Context, client Client, req *kmsg.OffsetCommitRequest, reply func(*kmsg.OffsetCommitResponse)) {
	e := newCommitEvent(req, reply)
	e.request = client.Request
	c.submit(req.Group, e)
}

type commitEvent struct {
	req   *kmsg.OffsetCommitRequest
	reply func(*kmsg.OffsetCommitResponse)
	resp  *kmsg.OffsetCommitResponse // every partition of the request
	left  int                        // partitions without a result
	from  string                     // member id, "" for a commit without membership

	request Request
}

func newCommitEvent(req *kmsg.OffsetCommitRequest, reply func(*kmsg.OffsetCommitResponse)) *commitEvent {
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition = p.Partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return &commitEvent{req: req, reply: reply, resp: resp}
}

func (e *commitEvent) loading() int16 { return codeLoading }

func (e *commitEvent) refuse(code int16) {
	for _, t := range e.resp.Topics {
		for i := range t.Partitions {
			t.Partitions[i].ErrorCode = code
		}
	}
	e.reply(e.resp)
}

func (e *commitEvent) apply(g *group) {
	from, code := g.checkCommit(e.req)
	if code != 0 {
		g.refuse(e, code)
		return
	}
	if e.from = from; from != "" {
		g.commits[from]++
	}
	g.exists = true
	g.offsets.held[e] = true
	e.left = 1 // until all of them are queued
	for i, t := range e.req.Topics {
		for j, p := range t.Partitions {
			e.put(g, t.Topic, p, &e.resp.Topics[i].Partitions[j])
		}
	}
	g.commitSettled(e)
	g.writeReady()
}

// put queues one partition unless its metadata is too long.
func (e *commitEvent) put(g *group, topic string, p kmsg.OffsetCommitRequestTopicPartition, resp *kmsg.OffsetCommitResponseTopicPartition) {
	commit := OffsetCommit{
		TopicPartition: TopicPartition{topic, p.Partition},
		Offset:         p.Offset,
		LeaderEpoch:    p.LeaderEpoch,
	}
	if p.Metadata != nil {
		commit.Metadata = *p.Metadata
	}
	if utf8.RuneCountInString(commit.Metadata) > g.cfg.MaxMetadata {
		resp.ErrorCode = codeMetadataTooLarge
		return
	}
	e.left++
	g.offsets.put(commit, e.request, func(result CommittedOffset) {
		resp.ErrorCode = result.Code
		g.commitSettled(e)
	})
}

// commitSettled counts down the results and answers after the last.
func (g *group) commitSettled(e *commitEvent) {
	e.left--
	if e.left == 0 {
		delete(g.offsets.held, e)
		g.committed(e.from)
		g.answer(e, func() { e.reply(e.resp) })
	}
}

// committed notes that a commit of the member has its answer. Replies leave a
// connection in the order of the requests, so a heartbeat behind a slow commit has
// none either, and clients do not send the next before: the session begins anew.
func (g *group) committed(id string) {
	if id == "" {
		return
	}
	if g.commits[id]--; g.commits[id] == 0 {
		delete(g.commits, id)
	}
	if m := g.members.byID[id]; m != nil {
		g.touch(m)
	}
	if g.consumer != nil && g.consumer.byID[id] != nil {
		g.touchConsumer(g.consumer.byID[id])
	}
}

// checkCommit decides whether the offsets may be stored, and counts a member's
// commit as a sign of life. It returns the member's id, "" for a commit without
// membership.
func (g *group) checkCommit(req *kmsg.OffsetCommitRequest) (string, int16) {
	simple := req.Generation < 0
	switch {
	case !g.exists && !simple:
		return "", codeOfLostGroup(req)
	case simple && g.state == empty:
		return "", 0 // assign mode, or an administrator
	case g.consumer != nil:
		return g.checkConsumerCommit(req)
	}
	m, code := g.lookup(req.MemberID, req.InstanceID)
	switch {
	case code != 0:
		return "", code // also without membership while there are members
	case req.Generation != g.generation:
		return "", codeIllegalGeneration
	}
	g.touch(m)
	if g.state == completing {
		return "", codeRebalanceInProgress
	}
	return m.id, 0
}
