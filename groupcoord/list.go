package groupcoord

import (
	"context"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListGroups, versions 0 to 5: v1 throttling, v3 flexible, v4 a filter by state
// (KIP-518), v5 one by type (KIP-848). Both filters ignore case, and a word that
// names nothing fits no group. Groups that are only known by their stored offsets
// are empty classic ones without a protocol type.
func (c *Coordinator) ListGroups(ctx context.Context, _ Client, req *kmsg.ListGroupsRequest, reply func(*kmsg.ListGroupsResponse)) {
	resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
	if c.cfg.Off {
		resp.ErrorCode = codeNotAuthorized
		reply(resp)
		return
	}
	if !wanted(req, onlyStored) {
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

// onlyStored is what a group looks like of which nothing but offsets is known.
var onlyStored = listing{state: empty, kind: kindClassic}

func wanted(req *kmsg.ListGroupsRequest, l listing) bool {
	return among(req.StatesFilter, l.state.String()) && among(req.TypesFilter, string(l.kind))
}

// among reports whether a filter lets a word through; an empty one lets all.
func among(filter []string, word string) bool {
	return len(filter) == 0 || slices.ContainsFunc(filter, func(name string) bool { return strings.EqualFold(name, word) })
}

// listed shows the groups in memory and the stored ones, by name.
func (c *Coordinator) listed(req *kmsg.ListGroupsRequest, stored map[string]bool) []kmsg.ListGroupsResponseGroup {
	all := make(map[string]listing, len(stored))
	for name := range stored {
		all[name] = onlyStored
	}
	c.mu.Lock()
	for name, a := range c.actors {
		if l := a.listed.Load(); l != nil {
			all[name] = *l
		}
	}
	c.mu.Unlock()

	var groups []kmsg.ListGroupsResponseGroup
	for name, l := range all {
		if !wanted(req, l) {
			continue
		}
		g := kmsg.NewListGroupsResponseGroup()
		g.Group, g.ProtocolType, g.GroupState, g.GroupType = name, l.protocolType, l.state.String(), string(l.kind)
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b kmsg.ListGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
	return groups
}
