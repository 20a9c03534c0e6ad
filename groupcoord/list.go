package groupcoord

import (
	"context"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListGroups, versions 0 to 4: v1 throttling, v3 flexible, v4 a filter by
// state, which ignores case. Groups that are only known by their stored offsets
// are empty ones without a protocol type.
func (c *Coordinator) ListGroups(ctx context.Context, _ Client, req *kmsg.ListGroupsRequest, reply func(*kmsg.ListGroupsResponse)) {
	resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
	if !wanted(req, empty) {
		resp.Groups = c.listed(req, nil)
		reply(resp)
		return
	}
	started := c.background(func() {
		stored, err := c.storedGroups(ctx)
		if err != nil {
			resp.ErrorCode = codeLoading // which administrators' clients repeat
		} else {
			resp.Groups = c.listed(req, stored)
		}
		reply(resp)
	})
	if !started {
		resp.ErrorCode = codeNotAvailable
		reply(resp)
	}
}

func wanted(req *kmsg.ListGroupsRequest, s state) bool {
	return len(req.StatesFilter) == 0 ||
		slices.ContainsFunc(req.StatesFilter, func(name string) bool { return strings.EqualFold(name, s.String()) })
}

// listed shows the groups in memory and the stored ones, by name.
func (c *Coordinator) listed(req *kmsg.ListGroupsRequest, stored map[string]bool) []kmsg.ListGroupsResponseGroup {
	active := make(map[string]listing, len(stored))
	for name := range stored {
		active[name] = listing{}
	}
	c.mu.Lock()
	for name, a := range c.actors {
		if l := a.listed.Load(); l != nil {
			active[name] = *l
		}
	}
	c.mu.Unlock()

	var groups []kmsg.ListGroupsResponseGroup
	for name, l := range active {
		if !wanted(req, l.state) {
			continue
		}
		g := kmsg.NewListGroupsResponseGroup()
		g.Group, g.ProtocolType, g.GroupState = name, l.protocolType, l.state.String()
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b kmsg.ListGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
	return groups
}
