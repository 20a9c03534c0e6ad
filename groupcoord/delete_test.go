package groupcoord

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteGroups gives the promise of the answer for several groups.
func (r *rig) deleteGroups(groups ...string) promise[*kmsg.DeleteGroupsResponse] {
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Version, req.Groups = 2, groups
	return send(r, r.c.DeleteGroups, Client{}, req)
}

func TestDeleteGroups(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.set("stored", t0, 5)
		a := r.consumer("a")
		r.stable(a)
		resp := r.deleteGroups("g", "none", "stored", "none", "").get()
		want(r, "each once", len(resp.Groups), 4)
		for i, code := range []int16{codeNonEmptyGroup, codeGroupIDNotFound, 0, codeGroupIDNotFound} {
			want(r, resp.Groups[i].Group, resp.Groups[i].ErrorCode, code)
		}
		want(r, "gone", r.state("stored"), "Dead")
		want(r, "its offset", r.fetchedOffset("stored", 0), -1)

		want(r, "commit", code(a.commit(0, 7)), 0)
		want(r, "leave", a.leave(), 0)
		want(r, "empty", r.state("g"), "Empty")
		want(r, "delete", r.deleteGroups("g").get().Groups[0].ErrorCode, 0)
		want(r, "gone", r.state("g"), "Dead")
		want(r, "its offset", r.fetchedOffset("g", 0), -1)
		want(r, "nothing in memory", r.inMemory(), 0)
		snapshot, err := r.store.MemoryStore.Load(r.Context(), "g")
		want(r, "snapshot", len(snapshot), 0)
		want(r, "load", err, nil)
	})
}

// A group that only its coordinator knows can be deleted too, and its generations
// begin again.
func TestDeleteGroupWithoutOffsets(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		want(r, "leave", a.leave(), 0)
		pending := r.consumer("p")
		pending.id = pending.tryJoin().get().MemberID
		want(r, "delete", r.deleteGroups("g").get().Groups[0].ErrorCode, 0)
		want(r, "an id given before", pending.tryJoin().get().ErrorCode, codeUnknownMember)
		b := r.consumer("b")
		want(r, "generation", b.joined(b.join()).Generation, 1)
	})
}

func TestDeleteGroupWhileTheStoreFails(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.set("stored", t0, 5)
		r.offsets.down = true
		want(r, "down", r.deleteGroups("stored").get().Groups[0].ErrorCode, codeLoading)
		r.offsets.down = false
		want(r, "still there", r.fetchedOffset("stored", 0), 5)
		want(r, "delete", r.deleteGroups("stored").get().Groups[0].ErrorCode, 0)
	})
}

// What is committed before the answer is gone with the group; what comes while it
// is being deleted is stored after that, and stays.
func TestDeleteGroupBetweenCommits(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.gate = make(chan struct{}, 8)
		before := send(r, r.c.OffsetCommit, Client{}, commitRequest("g", 0, 5))
		before.held()
		deleting := r.deleteGroups("g")
		again := r.deleteGroups("g")
		after := send(r, r.c.OffsetCommit, Client{}, commitRequest("g", 1, 6))
		after.held()
		deleting.held()
		want(r, "running", len(r.offsets.calls()), 1)

		r.offsets.delay = time.Second
		r.offsets.gate <- struct{}{}
		want(r, "before", code(before), 0)
		deleting.held()
		want(r, "held while the group is deleted", len(r.offsets.calls()), 1)
		r.sleep(2 * time.Second)
		want(r, "deleted", deleting.get().Groups[0].ErrorCode, 0)
		want(r, "nothing left", again.get().Groups[0].ErrorCode, codeGroupIDNotFound)
		r.offsets.gate <- struct{}{}
		want(r, "after", code(after), 0)
		r.offsets.delay = 0
		want(r, "committed before", r.fetchedOffset("g", 0), -1)
		want(r, "committed after", r.fetchedOffset("g", 1), 6)
	})
}

// A member that joins while the group is being deleted is the first of a new one.
func TestJoinWhileTheGroupIsDeleted(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.set("g", t0, 5)
		r.offsets.delay = time.Second
		deleting := r.deleteGroups("g")
		second := r.deleteGroups("g")
		a := r.consumer("a")
		r.stable(a)
		r.sleep(2 * time.Second)
		want(r, "deleted", deleting.get().Groups[0].ErrorCode, 0)
		want(r, "not any more", second.get().Groups[0].ErrorCode, codeNonEmptyGroup)
		want(r, "heartbeat", a.heartbeat(), 0)
		r.offsets.delay = 0
		want(r, "commit", code(a.commit(0, 9)), 0)
		want(r, "offset", r.fetchedOffset("g", 0), 9)
	})
}

// deleteOffsets removes the offsets of partition 0 of topics.
func (r *rig) deleteOffsets(group string, topics ...string) *kmsg.OffsetDeleteResponse {
	r.Helper()
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	for _, topic := range topics {
		t := kmsg.NewOffsetDeleteRequestTopic()
		t.Topic = topic
		t.Partitions = []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}
		req.Topics = append(req.Topics, t)
	}
	return send(r, r.c.OffsetDelete, Client{}, req).get()
}

func removed(resp *kmsg.OffsetDeleteResponse) string {
	codes := fmt.Sprint(resp.ErrorCode)
	for _, t := range resp.Topics {
		codes += fmt.Sprintf(" %s:%d", t.Topic, t.Partitions[0].ErrorCode)
	}
	return codes
}

// subscription is the metadata of a consumer of topics.
func subscription(topics ...string) string {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = topics
	return string(m.AppendTo(nil))
}

func TestOffsetDelete(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		want(r, "no such group", removed(r.deleteOffsets("g", "t")), "69")
		r.offsets.down = true
		want(r, "not known", removed(r.deleteOffsets("g", "t")), "14")
		r.offsets.down = false

		r.offsets.set("g", t0, 5)
		want(r, "stored, not in memory", removed(r.deleteOffsets("g", "t")), "0 t:0")
		want(r, "removed", r.fetchedOffset("g", 0), -1)
		want(r, "visible without offsets", r.state("g"), "Empty")

		a := r.consumer("a")
		a.protocols = offersWith(subscription("t", "u"), "range")
		r.stable(a)
		want(r, "commit", code(a.commit(0, 8)), 0)
		r.offsets.set("g", TopicPartition{"old", 0}, 3)
		r.offsets.refuse[TopicPartition{"unknown", 0}] = 3
		want(r, "active", removed(r.deleteOffsets("g", "t", "old", "u", "unknown")), "0 t:86 old:0 u:86 unknown:3")
		want(r, "kept", r.fetchedOffset("g", 0), 8)

		r.offsets.refuse[TopicPartition{"old", 0}] = codeLoading
		want(r, "the client repeats all", removed(r.deleteOffsets("g", "t", "old")), "14")
		want(r, "leave", a.leave(), 0)
		want(r, "empty", removed(r.deleteOffsets("g", "t")), "0 t:0")
		want(r, "removed", r.fetchedOffset("g", 0), -1)
	})
}

// The subscription that counts is that of the last complete generation; before
// the first, or where it cannot be read, any topic may be among it.
func TestOffsetDeleteWhileSubscriptionsChange(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a := r.consumer("a")
		a.protocols = offersWith(subscription("t"), "range")
		joining := a.join()
		want(r, "before the first", removed(r.deleteOffsets("g", "t", "u")), "0 t:86 u:86")
		r.sleep(2 * time.Second)
		a.joined(joining)
		want(r, "completing", removed(r.deleteOffsets("g", "t", "u")), "0 t:86 u:0")
		r.assign(a)
		b := r.consumer("b")
		b.protocols = offersWith(subscription("u"), "range")
		b.join().held()
		want(r, "b has joined, nothing is complete", removed(r.deleteOffsets("g", "t", "u")), "0 t:86 u:0")
		r.restart()
		want(r, "restored", removed(r.deleteOffsets("g", "t", "u")), "0 t:86 u:0")
	})
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a) // its metadata is no subscription
		want(r, "not readable", removed(r.deleteOffsets("g", "t")), "0 t:86")
	})
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		a.typ = "connect"
		r.stable(a)
		want(r, "another protocol type", removed(r.deleteOffsets("g", "t")), "68")
		want(r, "leave", a.leave(), 0)
		want(r, "empty", removed(r.deleteOffsets("g", "t")), "0 t:0")
	})
}

// An administrator takes several members out with one request and one rebalance.
func TestMembersAreRemovedTogether(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a, s, u := r.consumer("a"), r.static("s"), r.static("u")
		r.stable(a)
		rejoins := []promise[*kmsg.JoinGroupResponse]{s.join(), u.join(), a.join()}
		for i, c := range []*consumer{s, u, a} {
			c.joined(rejoins[i])
		}
		r.assign(a, s, u)
		generation := a.generation

		req := kmsg.NewPtrLeaveGroupRequest()
		req.Version, req.Group = 5, "g"
		req.Members = []kmsg.LeaveGroupRequestMember{
			{InstanceID: ptr("s"), Reason: ptr("decommissioned")},
			{InstanceID: ptr("nobody")},
			{MemberID: "not-" + u.id, InstanceID: ptr("u")},
			{MemberID: u.id, InstanceID: ptr("u")},
			{MemberID: u.id},
		}
		resp := send(r, r.c.LeaveGroup, Client{}, req).get()
		want(r, "whole", resp.ErrorCode, 0)
		for i, code := range []int16{0, codeUnknownMember, codeFencedInstance, 0, codeUnknownMember} {
			want(r, fmt.Sprint("member ", i), resp.Members[i].ErrorCode, code)
		}
		want(r, "told to rejoin", a.heartbeat(), codeRebalanceInProgress)
		want(r, "one rebalance", a.joined(a.join()).Generation, generation+1)
		want(r, "alone", len(r.describe("g").Members), 1)

		req.Group = "none"
		resp = send(r, r.c.LeaveGroup, Client{}, req).get()
		want(r, "no such group", resp.ErrorCode, 0)
		want(r, "no such group", resp.Members[0].ErrorCode, codeUnknownMember)
	})
}
