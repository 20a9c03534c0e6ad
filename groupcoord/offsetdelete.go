package groupcoord

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetDelete, version 0 (KIP-496). Offsets of topics that a member of the group
// is subscribed to are not removed (86); a group with members of another protocol
// type than "consumer" is answered 68, one that does not exist 69. A partition
// without an offset is no error.
func (c *Coordinator) OffsetDelete(_ context.Context, _ Client, req *kmsg.OffsetDeleteRequest, reply func(*kmsg.OffsetDeleteResponse)) {
	c.submit(req.Group, newOffsetDeleteEvent(req, reply))
}

type offsetDeleteEvent struct {
	req   *kmsg.OffsetDeleteRequest
	reply func(*kmsg.OffsetDeleteResponse)
	resp  *kmsg.OffsetDeleteResponse // every partition of the request
	left  int                        // partitions without a result
	again int16                      // a failure after which the client should repeat all
}

func newOffsetDeleteEvent(req *kmsg.OffsetDeleteRequest, reply func(*kmsg.OffsetDeleteResponse)) *offsetDeleteEvent {
	resp := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetDeleteResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetDeleteResponseTopicPartition()
			rp.Partition = p.Partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return &offsetDeleteEvent{req: req, reply: reply, resp: resp}
}

func (e *offsetDeleteEvent) loading() int16 { return codeLoading }

func (e *offsetDeleteEvent) refuse(code int16) {
	resp := e.req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	resp.ErrorCode = code
	e.reply(resp)
}

func (e *offsetDeleteEvent) apply(g *group) {
	if g.exists {
		e.remove(g)
		return
	}
	g.offsets.held[e] = true
	g.effects = append(g.effects, storeExists{e})
}

// remove queues the removals as commits of no offset, so that they keep their
// place among the commits of their partition.
func (e *offsetDeleteEvent) remove(g *group) {
	if g.state != empty && g.protocolType != consumerType {
		g.refuse(e, codeNonEmptyGroup)
		return
	}
	g.offsets.held[e] = true
	e.left = 1 // until all of them are queued
	for i, t := range e.req.Topics {
		for j, p := range t.Partitions {
			resp := &e.resp.Topics[i].Partitions[j]
			if g.subscribes(t.Topic) {
				resp.ErrorCode = codeGroupSubscribed
				continue
			}
			e.left++
			none := OffsetCommit{TopicPartition: TopicPartition{t.Topic, p.Partition}, Offset: -1, LeaderEpoch: -1}
			g.offsets.put(none, Request{}, func(result CommittedOffset) {
				resp.ErrorCode = result.Code
				if retried(result.Code) {
					e.again = result.Code
				}
				e.settled(g)
			})
		}
	}
	e.settled(g)
	g.writeReady()
}

// settled counts down the results and answers after the last. Clients repeat the
// request for an error of the whole and give up for one of a partition.
func (e *offsetDeleteEvent) settled(g *group) {
	e.left--
	if e.left > 0 {
		return
	}
	delete(g.offsets.held, e)
	if e.again != 0 {
		g.refuse(e, e.again)
		return
	}
	g.answer(e, func() { e.reply(e.resp) })
}

// storeExists asks whether a group that is not known here has offsets.
type storeExists struct {
	event *offsetDeleteEvent
}

func (e storeExists) run(a *actor) {
	a.start(a.c.cfg.FetchTimeout, nil, func(ctx context.Context) event {
		exists, err := a.c.offsets.Exists(ctx, a.name)
		return existsDone{e.event, exists, err}
	})
}

func (storeExists) abort(int16) {}

// existsDone is the end of a storeExists.
type existsDone struct {
	event  *offsetDeleteEvent
	exists bool
	err    error
}

func (e existsDone) apply(g *group) {
	delete(g.offsets.held, e.event)
	switch {
	case g.exists || e.exists:
		e.event.remove(g)
	case e.err != nil:
		g.log.Warn().Err(e.err).Msg("look for the group before offsets of it are removed")
		g.refuse(e.event, codeLoading)
	default:
		g.refuse(e.event, codeGroupIDNotFound)
	}
}
