package groupcoord

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// commit sends an offset of partition 0 of topic t.
func (b *beater) commit(version int16, epoch int32, offset int64) int16 {
	b.r.Helper()
	req := commitRequest("g", 0, offset)
	req.Version, req.MemberID, req.Generation = version, b.id, epoch
	return code(send(b.r, b.r.c.OffsetCommit, b.client(), req))
}

// fetchOffset reads it; member nil is a client without membership.
func (r *rig) fetchOffsetAs(member *string, epoch int32) (int64, int16) {
	r.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version = 9
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.MemberID, g.MemberEpoch = "g", member, epoch
	g.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0}}}
	req.Groups = append(req.Groups, g)
	got := send(r, r.c.OffsetFetch, Client{}, req).get().Groups[0]
	return got.Topics[0].Partitions[0].Offset, got.ErrorCode
}

func TestOffsetsOfConsumerMembers(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a, b := r.beater("a", "t"), r.beater("b", "t")
		want(r, "group not known", a.commit(9, 1, 3), codeUnknownMember)
		want(r, "group not known, old client", a.commit(8, 1, 3), codeIllegalGeneration)
		a.join()
		want(r, "commit", a.commit(9, 2, 4), 0)
		want(r, "a version without epochs", a.commit(8, 2, 5), codeUnsupportedVersion)
		want(r, "ahead", a.commit(9, 3, 5), codeStaleMemberEpoch)
		want(r, "unknown", b.commit(9, 1, 5), codeUnknownMember)
		want(r, "without membership", code(send(r, r.c.OffsetCommit, Client{}, commitRequest("g", 0, 5))), codeUnknownMember)
		b.join()
		r.settle(a, b)
		want(r, "behind", a.commit(9, 2, 6), codeStaleMemberEpoch)
		want(r, "only the good one was written", len(r.offsets.calls()), 1)

		for _, tc := range []struct {
			name   string
			member *string
			epoch  int32
			code   int16
		}{
			{"member", ptr("a"), a.epoch, 0},
			{"stale", ptr("a"), 2, codeStaleMemberEpoch},
			{"unknown", ptr("x"), 1, codeUnknownMember},
			{"administrator", nil, -1, 0},
		} {
			offset, code := r.fetchOffsetAs(tc.member, tc.epoch)
			want(r, tc.name, code, tc.code)
			if code == 0 {
				want(r, tc.name, offset, 4)
			}
		}

		a.leave(-1)
		b.leave(-1)
		want(r, "without membership", code(send(r, r.c.OffsetCommit, Client{}, commitRequest("g", 0, 8))), 0)
		want(r, "stored", r.fetchedOffset("g", 0), 8)
	})
}

// A member that gave up partitions reads offsets only at its new epoch.
func TestOffsetsOfSubscribedTopicsAreKept(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2", "u:1"), func(r *rig) {
		a := r.beater("a")
		a.pattern = ptr("t")
		a.join()
		want(r, "commit", a.commit(9, a.epoch, 4), 0)
		req := kmsg.NewPtrOffsetDeleteRequest()
		req.Group = "g"
		for _, topic := range []string{"t", "u"} {
			rt := kmsg.NewOffsetDeleteRequestTopic()
			rt.Topic = topic
			rt.Partitions = []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}
			req.Topics = append(req.Topics, rt)
		}
		resp := send(r, r.c.OffsetDelete, Client{}, req).get()
		want(r, "subscribed", resp.Topics[0].Partitions[0].ErrorCode, codeGroupSubscribed)
		want(r, "not subscribed", resp.Topics[1].Partitions[0].ErrorCode, 0)
	})
}
