package groupcoord

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Heartbeat, versions 0 to 4: v1 throttling, v3 instance id, v4 flexible.
func (c *Coordinator) Heartbeat(_ context.Context, _ Client, req *kmsg.HeartbeatRequest, reply func(*kmsg.HeartbeatResponse)) {
	c.submit(req.Group, &heartbeatEvent{req, reply})
}

type heartbeatEvent struct {
	req   *kmsg.HeartbeatRequest
	reply func(*kmsg.HeartbeatResponse)
}

// loading is success: the member goes on until the group can be asked.
func (e *heartbeatEvent) loading() int16 { return 0 }

func (e *heartbeatEvent) refuse(code int16) {
	resp := e.req.ResponseKind().(*kmsg.HeartbeatResponse)
	resp.ErrorCode = code
	e.reply(resp)
}

func (e *heartbeatEvent) apply(g *group) {
	if g.consumer != nil {
		e.applyToConsumers(g)
		return
	}
	m, code := g.lookup(e.req.MemberID, e.req.InstanceID)
	switch {
	case code != 0:
	case e.req.Generation != g.generation:
		code = codeIllegalGeneration
	default:
		g.touch(m)
		if g.state == preparing {
			code = codeRebalanceInProgress
		}
	}
	g.answer(e, func() { e.refuse(code) })
}
