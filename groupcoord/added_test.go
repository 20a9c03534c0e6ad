package groupcoord

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// assignment is what a leader gives a consumer: partitions of topic t.
func assignment(partitions ...int32) string {
	a := kmsg.NewConsumerMemberAssignment()
	t := kmsg.NewConsumerMemberAssignmentTopic()
	t.Topic, t.Partitions = "t", partitions
	a.Topics = append(a.Topics, t)
	return string(a.AppendTo(nil))
}

// lead makes the consumer the only member and gives it partitions of topic t.
func (c *consumer) lead(partitions ...int32) {
	c.r.Helper()
	c.protocols = offersWith(subscription("t"), "range")
	c.joined(c.join())
	want(c.r, "sync", c.sync(map[string]string{c.id: assignment(partitions...)}).get().ErrorCode, 0)
}

func TestPartitionAddedToARunningGroupBeginsAtItsOldest(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		a.lead(0, 1)
		want(r, "nothing committed", r.fetchedOffset("g", 1), -1)
		want(r, "not assigned to anybody", r.fetchedOffset("g", 2), fakeOldest)

		a.lead(0, 1, 2)
		want(r, "added", r.fetchedOffset("g", 2), fakeOldest)
		want(r, "there before", r.fetchedOffset("g", 1), -1)
		want(r, "not among all", len(r.fetch("g").get().Topics), 0)
		r.restart()
		want(r, "after a restart", r.fetchedOffset("g", 2), fakeOldest)
		a.lead(0, 1, 2)
		want(r, "until something is committed", r.fetchedOffset("g", 2), fakeOldest)
		want(r, "commit", code(a.commit(2, 7)), 0)
		want(r, "committed", r.fetchedOffset("g", 2), 7)
	})
}

// The number of partitions that counts is the leader's, also when the assignment
// leaves one out for a moment, as cooperative rebalances do.
func TestPartitionLeftOutForARebalanceIsNotNew(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		a.lead(0, 1, 2)
		a.lead(0, 1)
		a.lead(0, 1, 2)
		want(r, "nothing committed", r.fetchedOffset("g", 2), -1)
		want(r, "added", r.fetchedOffset("g", 3), fakeOldest)
	})
}

func TestAddedPartitionsOfGroupsThatEnd(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		a.lead(0)
		want(r, "running", r.fetchedOffset("g", 1), fakeOldest)
		want(r, "leave", a.leave(), 0)
		want(r, "empty", r.fetchedOffset("g", 1), -1)
		a = r.consumer("a")
		a.lead(0, 1)
		want(r, "it began with both", r.fetchedOffset("g", 1), -1)

		// Topics that are no longer subscribed to are forgotten.
		a.protocols = offersWith(subscription("u"), "range")
		a.joined(a.join())
		want(r, "sync", a.sync(nil).get().ErrorCode, 0)
		want(r, "not of this group", r.fetchedOffset("g", 2), -1)
	})
}

func TestAddedPartitionsAsTheClientsWant(t *testing.T) {
	inBubble(t, Config{AddedFromReset: true}, func(r *rig) {
		r.consumer("a").lead(0)
		want(r, "left to the client", r.fetchedOffset("g", 1), -1)
	})
}

// A beginning that is not known now is no "nothing committed": the client would go
// by its reset policy.
func TestOldestOfAnAddedPartitionIsNotKnown(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.consumer("a").lead(0)
		r.offsets.down = true
		want(r, "fetch", r.fetch("g", 1).get().ErrorCode, codeLoading)
		r.offsets.down = false
		want(r, "fetch again", r.fetchedOffset("g", 1), fakeOldest)
	})
}

func TestGroupsAreOff(t *testing.T) {
	inBubble(t, Config{Off: true}, func(r *rig) {
		want(r, "join", r.consumer("a").tryJoin().get().ErrorCode, codeNotAuthorized)
		want(r, "commit", code(send(r, r.c.OffsetCommit, Client{}, commitRequest("g", 0, 5))), codeNotAuthorized)
		want(r, "fetch", r.fetch("g", 0).get().ErrorCode, codeNotAuthorized)
		want(r, "list", send(r, r.c.ListGroups, Client{}, kmsg.NewPtrListGroupsRequest()).get().ErrorCode, codeNotAuthorized)
		want(r, "describe", r.describe("g").ErrorCode, codeNotAuthorized)
		want(r, "delete", r.deleteGroups("g").get().Groups[0].ErrorCode, codeNotAuthorized)
		want(r, "delete offsets", removed(r.deleteOffsets("g", "t")), "30")
		want(r, "in memory", r.inMemory(), 0)
	})
}

var errTooLong = errors.New("the name is too long")

func TestGroupNameIsRefused(t *testing.T) {
	check := func(group string) error {
		if group == "too-long" {
			return errTooLong
		}
		return nil
	}
	inBubble(t, Config{CheckGroup: check}, func(r *rig) {
		c := r.consumer("a")
		c.group = "too-long"
		want(r, "join", c.tryJoin().get().ErrorCode, codeInvalidGroupID)
		want(r, "commit", code(send(r, r.c.OffsetCommit, Client{}, commitRequest("too-long", 0, 5))), codeInvalidGroupID)
		want(r, "describe", r.describe("too-long").ErrorCode, codeInvalidGroupID)
		want(r, "another", code(send(r, r.c.OffsetCommit, Client{}, commitRequest("g", 0, 5))), 0)
	})
}
