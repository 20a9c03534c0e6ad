package groupcoord

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// memberEpochs is the version of OffsetCommit and OffsetFetch from which on they
// carry the epoch of a member of the consumer protocol.
const memberEpochs = 9

// codeOfLostGroup is for a commit of a member to a group of which nothing is known:
// that of a gateway that was started again. Apache Kafka, whose groups survive, has
// 69 for new clients; with 25 they join again.
func codeOfLostGroup(req *kmsg.OffsetCommitRequest) int16 {
	if req.Version >= memberEpochs {
		return codeUnknownMember
	}
	return codeIllegalGeneration
}

// checkConsumerCommit decides whether a member may store offsets, and returns its
// id. What a member commits at an epoch that it has left is never stored.
func (g *group) checkConsumerCommit(req *kmsg.OffsetCommitRequest) (string, int16) {
	m := g.consumer.byID[req.MemberID]
	switch {
	case m == nil:
		return "", codeUnknownMember // also without membership while there are members
	case m.classic == nil && req.Version < memberEpochs:
		return "", codeUnsupportedVersion
	case req.Generation != m.epoch:
		return "", m.wrongEpoch()
	}
	return m.id, 0
}

// wrongEpoch is the code for a member's offsets at another epoch than its own.
func (m *consumerMember) wrongEpoch() int16 {
	if m.classic != nil {
		return codeIllegalGeneration
	}
	return codeStaleMemberEpoch
}

// checkConsumerFetch refuses a member that reads offsets and is not where the group
// has led it: they may be about to change. The offsets of a group that is not known
// here are in the store all the same.
func (g *group) checkConsumerFetch(e *fetchEvent) int16 {
	if g.consumer == nil || e.member == nil {
		return 0
	}
	m := g.consumer.byID[*e.member]
	switch {
	case m == nil:
		return codeUnknownMember
	case e.epoch != m.epoch:
		return m.wrongEpoch()
	default:
		return 0
	}
}

// consumerSubscribes reports whether a member reads the topic.
func (g *group) consumerSubscribes(topic string) bool {
	return slices.ContainsFunc(g.consumer.list, func(m *consumerMember) bool {
		return slices.Contains(m.topics, topic) || slices.Contains(g.lookups.view.matched[m.pattern], topic)
	})
}
