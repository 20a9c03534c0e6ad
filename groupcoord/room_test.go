package groupcoord

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Members are bounded by what all of them keep: further ones are told to try again,
// those that are there go on, and there is room again when they are gone.
func TestMetadataOfAllMembersIsBounded(t *testing.T) {
	inBubble(t, Config{MaxMemberBytes: 100_000}, func(r *rig) {
		large := offersWith(strings.Repeat("x", 30_000), "range")
		var members []*consumer
		for i := range 4 {
			c := r.consumer("x")
			c.group, c.version, c.protocols = fmt.Sprint("g", i), 3, large
			p := c.tryJoin()
			if i == 3 {
				want(r, "one too many", p.get().ErrorCode, codeNotAvailable)
				break
			}
			c.joined(p)
			r.assign(c)
			members = append(members, c)
		}
		want(r, "a heartbeat of one that is there", members[0].heartbeat(), 0)
		members[0].joined(members[0].tryJoin())
		r.assign(members[0])
		members[0].protocols = offersWith(strings.Repeat("x", 50_000), "range")
		want(r, "a join that would add", members[0].tryJoin().get().ErrorCode, codeNotAvailable)
		stats := r.c.Stats()
		want(r, "refused", stats.MembersRefused, 2)
		if stats.MemberBytes < 90_000 || stats.MemberBytes > 100_000 {
			t.Errorf("members keep %d bytes", stats.MemberBytes)
		}

		want(r, "leave", members[1].leave(), 0)
		want(r, "there is room again", members[0].tryJoin().get().ErrorCode, 0)
		r.sleep(r.c.cfg.EmptyGroupLinger + time.Minute)
		want(r, "members keep when all are gone", r.c.Stats().MemberBytes, 0)
	})
}

// Members that wait in a rebalance which does not end count too.
func TestMembersThatWaitAreBounded(t *testing.T) {
	inBubble(t, Config{MaxMemberBytes: 100_000}, func(r *rig) {
		r.stable(r.consumer("first"))
		refused := 0
		for range 10 {
			c := r.consumer("x")
			c.version, c.protocols = 3, offersWith(strings.Repeat("x", 30_000), "range")
			p := send(r, r.c.JoinGroup, c.client(), c.joinRequest())
			if resp, answered := p.now(); answered && resp.ErrorCode == codeNotAvailable {
				refused++
			}
		}
		want(r, "refused", refused, 7)
	})
}

func TestAssignmentsAreBounded(t *testing.T) {
	inBubble(t, Config{MaxMemberBytes: 50_000}, func(r *rig) {
		c := r.consumer("x")
		c.joined(c.join())
		large := map[string]string{c.id: strings.Repeat("a", 60_000)}
		want(r, "too large", c.sync(large).get().ErrorCode, codeNotAvailable)
		small := map[string]string{c.id: "a", "nobody": strings.Repeat("a", 60_000)}
		want(r, "what is for nobody is not kept", c.sync(small).get().ErrorCode, 0)
	})
}

func TestSubscriptionsAreBounded(t *testing.T) {
	inBubble(t, Config{MaxMemberBytes: 50_000}, func(r *rig) {
		b := r.beater("b", "t")
		b.join()
		other := r.beater("other")
		for i := range 1000 {
			other.topics = append(other.topics, fmt.Sprintf("a topic of forty characters, more or less %d", i))
		}
		resp := other.send(other.fullRequest()).get()
		want(r, "too many names", resp.ErrorCode, codeNotAvailable)
		b.beat()
		b.topics = other.topics
		want(r, "of a member that is there", b.send(b.fullRequest()).get().ErrorCode, codeNotAvailable)
		b.topics = []string{"t"}
		b.beat()
		want(r, "leave", b.leave(leftForGood), 0)
		r.sleep(r.c.cfg.EmptyGroupLinger + time.Second)
		want(r, "kept", r.c.Stats().MemberBytes, 0)
	})
}

// Whom the group does not know any more is told so while there is no room: who takes it
// for trouble of the coordinator would go on with partitions that others have by now.
func TestRemovedMembersLearnOfItWithoutRoom(t *testing.T) {
	inBubble(t, Config{MaxMemberBytes: 2000}, func(r *rig) {
		b := r.beater("b", "t")
		b.join()
		filler := r.consumer("x")
		filler.group, filler.version, filler.protocols = "other", 3, offersWith(strings.Repeat("x", 800), "range")
		filler.joined(filler.tryJoin())
		r.assign(filler)
		full := r.beater("late", "t")
		full.topics = append(full.topics, strings.Repeat("a", 2000))
		want(r, "a new member", full.send(full.fullRequest()).get().ErrorCode, codeNotAvailable)

		stranger := r.beater("stranger", strings.Repeat("t", 2000))
		stranger.epoch = 3
		want(r, "a member that is not there", stranger.send(stranger.fullRequest()).get().ErrorCode, codeUnknownMember)
		b.epoch += 5
		b.topics = []string{strings.Repeat("t", 2000)}
		want(r, "a member at a wrong epoch", b.send(b.fullRequest()).get().ErrorCode, codeFencedMemberEpoch)

		gone := r.consumer("x")
		gone.group, gone.id, gone.protocols = "other", "gone", offersWith(strings.Repeat("x", 2000), "range")
		want(r, "a classic member that is not there", gone.tryJoin().get().ErrorCode, codeUnknownMember)
	})
}

// Ids that nobody comes back with count until their time is over.
func TestIDsThatWereGivenOutCount(t *testing.T) {
	inBubble(t, Config{MaxMemberBytes: 100_000}, func(r *rig) {
		first := r.consumer("first")
		r.stable(first)
		refused := 0
		for range 500 {
			c := r.consumer("x")
			if code := c.tryJoin().get().ErrorCode; code == codeNotAvailable {
				refused++
			} else {
				want(r, "answer", code, codeMemberIDRequired)
			}
		}
		if refused < 100 || refused > 200 {
			t.Errorf("%d of 500 were refused", refused)
		}
		r.sleep(time.Hour)
		want(r, "kept when all are gone", r.c.Stats().MemberBytes, 0)
	})
}

// What a group keeps is counted for the gateway that has it, not twice.
func TestKeptBytesFollowTheGroup(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		c := r.consumer("x")
		r.stable(c)
		before := r.c.Stats().MemberBytes
		r.restart()
		want(r, "heartbeat", c.heartbeat(), 0)
		want(r, "kept", r.c.Stats().MemberBytes, before)
	})
}
