package groupcoord

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteGroups, versions 0 to 2: v1 throttling, v2 flexible. A group with members
// is answered 68, one that does not exist 69. Its offsets are gone when it is
// answered 0. A group that is named twice is deleted and answered once.
func (c *Coordinator) DeleteGroups(_ context.Context, _ Client, req *kmsg.DeleteGroupsRequest, reply func(*kmsg.DeleteGroupsResponse)) {
	names := distinct(req.Groups)
	gatherAll(len(names), func(i int, put func(kmsg.DeleteGroupsResponseGroup)) {
		c.submit(names[i], &deleteEvent{names[i], put})
	}, func(groups []kmsg.DeleteGroupsResponseGroup) {
		resp := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
		resp.Groups = groups
		reply(resp)
	})
}

type deleteEvent struct {
	name  string
	reply func(kmsg.DeleteGroupsResponseGroup)
}

func (e *deleteEvent) loading() int16 { return codeLoading }

func (e *deleteEvent) refuse(code int16) {
	g := kmsg.NewDeleteGroupsResponseGroup()
	g.Group, g.ErrorCode = e.name, code
	e.reply(g)
}

// apply queues the deletion. Writes that run are waited for, those that come are
// held: what was committed before the answer is gone with the group, and what is
// committed after it stays.
func (e *deleteEvent) apply(g *group) {
	g.offsets.held[e] = true
	g.offsets.deletes = append(g.offsets.deletes, e)
	if len(g.offsets.deletes) == 1 {
		g.deleteReady()
	}
}

// deleteReady starts the first deletion, or refuses those of a group with
// members.
func (g *group) deleteReady() {
	o := &g.offsets
	for len(o.deletes) > 0 && o.calls == 0 {
		if g.state == empty {
			o.calls++
			g.effects = append(g.effects, storeDelete{})
			return
		}
		g.endDelete(codeNonEmptyGroup)
	}
}

// endDelete answers the first deletion.
func (g *group) endDelete(code int16) {
	e := g.offsets.deletes[0]
	g.offsets.deletes = g.offsets.deletes[1:]
	delete(g.offsets.held, e)
	g.refuse(e, code)
}

// deleteDone is the end of a storeDelete.
type deleteDone struct {
	code    int16
	message string
}

func (e deleteDone) apply(g *group) {
	o := &g.offsets
	o.calls--
	code := e.code
	switch {
	case code == 0 || code == codeGroupIDNotFound:
		if g.exists {
			code = 0 // nothing but what is known here, which goes now
		}
		o.stored = false
		if g.state == empty {
			g.vanish()
		}
	case code != codeNonEmptyGroup:
		g.log.Warn().Int16("code", code).Str("reason", e.message).Msg("group not deleted")
	}
	g.endDelete(code)
	g.deleteReady()
	g.writeReady()
}

// vanish makes the group one that does not exist. Ids that were given out are
// unknown from now on.
func (g *group) vanish() {
	g.changed = g.exists
	g.exists = false
	g.endConsumer()
	clear(g.pending)
}

// storeDelete removes the group from the offset store.
type storeDelete struct{}

func (storeDelete) run(a *actor) {
	a.start(a.c.cfg.CommitTimeout, nil, func(ctx context.Context) event {
		if !a.mayWrite(ctx) {
			return deleteDone{codeLoading, leaseTooShort}
		}
		code, message := a.c.offsets.Delete(ctx, a.name)
		return deleteDone{code, message}
	})
}

func (storeDelete) abort(int16) {} // those who wait are refused with the group
