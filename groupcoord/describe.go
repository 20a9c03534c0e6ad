package groupcoord

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeGroups, versions 0 to 6: v1 throttling, v3 authorized operations, v4
// instance id, v5 flexible, v6 GROUP_ID_NOT_FOUND with a message (KIP-1043). A
// group that does not exist is "Dead", before v6 without an error; one that has
// only stored offsets is "Empty". A group that is named twice is described once: a
// large group times many names would be a reply without bounds.
func (c *Coordinator) DescribeGroups(ctx context.Context, _ Client, req *kmsg.DescribeGroupsRequest, reply func(*kmsg.DescribeGroupsResponse)) {
	names := distinct(req.Groups)
	gatherAll(len(names), func(i int, put func(kmsg.DescribeGroupsResponseGroup)) {
		if names[i] == "" {
			put(describeGroup("", stateDead)) // the one API where it is just not there
			return
		}
		c.submit(names[i], &describeEvent{names[i], put})
	}, func(groups []kmsg.DescribeGroupsResponseGroup) {
		resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
		resp.Groups = groups
		c.findStored(ctx, resp, func(resp *kmsg.DescribeGroupsResponse) {
			for i := range resp.Groups {
				finishDescription(req, &resp.Groups[i])
			}
			reply(resp)
		})
	})
}

// groupOperations is the set of ACL operations on a group, which everybody may do:
// READ (3), DELETE (6) and DESCRIBE (8), a bit for each (KIP-430).
const groupOperations = 1<<3 | 1<<6 | 1<<8

// finishDescription adds what depends on the request alone.
func finishDescription(req *kmsg.DescribeGroupsRequest, g *kmsg.DescribeGroupsResponseGroup) {
	if req.Version >= 6 && g.ErrorCode == 0 && g.State == stateDead {
		g.ErrorCode = codeGroupIDNotFound
		if g.ErrorMessage == nil {
			g.ErrorMessage = kmsg.StringPtr("there is no group " + g.Group)
		}
	}
	if req.Version >= 6 && g.ErrorCode == codeNotAuthorized {
		g.ErrorMessage = kmsg.StringPtr("this gateway serves no consumer groups")
	}
	if req.IncludeAuthorizedOperations && g.ErrorCode == 0 {
		g.AuthorizedOperations = groupOperations
	}
}

// distinct are the names, each where it comes first.
func distinct(names []string) []string {
	seen := make(map[string]bool, len(names))
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}

// findStored corrects the groups that are known only by their offsets.
func (c *Coordinator) findStored(ctx context.Context, resp *kmsg.DescribeGroupsResponse, reply func(*kmsg.DescribeGroupsResponse)) {
	if !slices.ContainsFunc(resp.Groups, missing) {
		reply(resp)
		return
	}
	started := c.background(func() {
		stored, err := c.storedGroups(ctx)
		for i := range resp.Groups {
			g := &resp.Groups[i]
			switch {
			case !missing(*g):
			case err != nil:
				g.State, g.ErrorCode = "", codeLoading
			case stored[g.Group]:
				g.State = empty.String()
			}
		}
		reply(resp)
	})
	if !started {
		reply(resp)
	}
}

func missing(g kmsg.DescribeGroupsResponseGroup) bool {
	return g.State == stateDead && g.Group != "" && g.ErrorMessage == nil
}

// storedGroups lists the groups with offsets; ctx is that of a connection.
func (c *Coordinator) storedGroups(ctx context.Context) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.ListTimeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	names, err := c.offsets.Groups(ctx)
	if err != nil {
		c.cfg.Logger.Warn().Err(err).Msg("list groups with stored offsets")
		return nil, err
	}
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set, nil
}

func describeGroup(name, state string) kmsg.DescribeGroupsResponseGroup {
	g := kmsg.NewDescribeGroupsResponseGroup()
	g.Group = name
	g.State = state
	return g
}

type describeEvent struct {
	name  string
	reply func(kmsg.DescribeGroupsResponseGroup)
}

func (e *describeEvent) loading() int16 { return codeLoading }

func (e *describeEvent) refuse(code int16) {
	g := describeGroup(e.name, "")
	g.ErrorCode = code
	e.reply(g)
}

func (e *describeEvent) apply(g *group) {
	description := describeGroup(e.name, stateDead)
	switch {
	case g.consumer != nil:
		// ConsumerGroupDescribe shows it; clients ask there first.
		description.ErrorMessage = kmsg.StringPtr("group " + e.name + " is not a classic group")
	case g.exists:
		description = g.describe()
	}
	g.answer(e, func() { e.reply(description) })
}

// describe shows the members and what they were assigned last, and once the
// group is stable their protocol and metadata.
func (g *group) describe() kmsg.DescribeGroupsResponseGroup {
	d := describeGroup(g.name, g.state.String())
	d.ProtocolType = g.protocolType
	if g.state == stable {
		d.Protocol = g.protocol
	}
	for _, m := range g.members.list {
		r := kmsg.NewDescribeGroupsResponseGroupMember()
		r.MemberID, r.InstanceID = m.id, m.instance
		r.ClientID, r.ClientHost = m.client.ID, m.client.Host
		r.MemberAssignment = m.assignment
		if g.state == stable {
			r.ProtocolMetadata = m.metadata(g.protocol)
		}
		d.Members = append(d.Members, r)
	}
	return d
}
