package groupcoord

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Names that nobody joined or committed under leave nothing behind.
func TestMadeUpGroupsLeaveNothing(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		describe := kmsg.NewPtrDescribeGroupsRequest()
		describe.Version = 5
		fetch := kmsg.NewPtrOffsetFetchRequest()
		fetch.Version = 8
		for i := range 1000 {
			name := fmt.Sprint("made-up-", i)
			describe.Groups = append(describe.Groups, name)
			group := kmsg.NewOffsetFetchRequestGroup()
			group.Group = name
			fetch.Groups = append(fetch.Groups, group)
		}
		described := send(r, r.c.DescribeGroups, Client{}, describe).get()
		fetched := send(r, r.c.OffsetFetch, Client{}, fetch).get()
		for i, name := range describe.Groups {
			want(r, "described", described.Groups[i].Group, name)
			want(r, "fetched", fetched.Groups[i].Group, name)
		}
		heartbeat := kmsg.NewPtrHeartbeatRequest()
		heartbeat.Group, heartbeat.MemberID = "made-up", "nobody"
		want(r, "heartbeat", send(r, r.c.Heartbeat, Client{}, heartbeat).get().ErrorCode, codeUnknownMember)
		want(r, "groups in memory", r.inMemory(), 0)
	})
}

// Few groups of a request are asked at a time: while the store does not answer,
// the others wait.
func TestGroupsOfARequestAreAskedAFewAtATime(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.delay = time.Second
		fetch := kmsg.NewPtrOffsetFetchRequest()
		fetch.Version = 8
		for i := range 3 * gatherWidth {
			group := kmsg.NewOffsetFetchRequestGroup()
			group.Group = fmt.Sprint(i)
			fetch.Groups = append(fetch.Groups, group)
		}
		p := send(r, r.c.OffsetFetch, Client{}, fetch)
		p.held()
		want(r, "asked at once", r.offsets.reads(), gatherWidth)
		r.sleep(3 * time.Second)
		want(r, "answered", len(p.get().Groups), 3*gatherWidth)
	})
}

func TestGroupNamedTwiceIsDescribedOnce(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{"b", "a", "b", "a"}
		groups := send(r, r.c.DescribeGroups, Client{}, req).get().Groups
		want(r, "groups", len(groups), 2)
		want(r, "first", groups[0].Group, "b")
		want(r, "second", groups[1].Group, "a")
	})
}

// A client that asks for ids and never comes back with one costs little.
func TestIDsThatAreNeverUsedAreBounded(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		var ids []string
		for i := range maxPending + 2 {
			c := r.consumer(strings.Repeat("é", 5000))
			c.session = 30*time.Second + time.Duration(i)*time.Millisecond
			resp := c.tryJoin().get()
			want(r, "code", resp.ErrorCode, codeMemberIDRequired)
			if len(resp.MemberID) > 110 {
				t.Fatalf("a member id of %d bytes", len(resp.MemberID))
			}
			ids = append(ids, resp.MemberID)
		}
		late := r.consumer("late")
		late.id = ids[0]
		want(r, "the oldest is forgotten", late.join().get().ErrorCode, codeUnknownMember)
		late.id = ids[len(ids)-1]
		want(r, "a later one is good", late.join().get().ErrorCode, 0)
	})
}

// Groups that somebody makes up by asking for member ids are gone soon, however long
// a session the ids were asked with.
func TestMadeUpGroupsWithPendingIDsAreForgotten(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		for i := range 100 {
			c := r.consumer("x")
			c.group, c.session = fmt.Sprint("made-up-", i), 30*time.Minute
			want(r, "join", c.tryJoin().get().ErrorCode, codeMemberIDRequired)
		}
		want(r, "in memory", r.inMemory(), 100)
		r.sleep(maxAlonePending + r.c.cfg.EmptyGroupLinger + time.Second)
		want(r, "in memory", r.inMemory(), 0)

		// An id of a group with members is good for the session, as in Kafka.
		a := r.consumer("a")
		r.stable(a)
		late := r.consumer("late")
		late.session = 30 * time.Minute
		late.id = late.tryJoin().get().MemberID
		for range 20 {
			r.sleep(5 * time.Second)
			want(r, "heartbeat", a.heartbeat(), 0)
		}
		late.join().held()
	})
}

func TestGroupsInMemoryAreBounded(t *testing.T) {
	inBubble(t, Config{MaxGroups: 3}, func(r *rig) {
		var members []*consumer
		for i := range 4 {
			c := r.consumer("x")
			c.group, c.version = fmt.Sprint("g", i), 3
			p := c.tryJoin()
			if i == 3 {
				want(r, "one too many", p.get().ErrorCode, codeNotAvailable)
				break
			}
			c.joined(p)
			members = append(members, c)
		}
		want(r, "in memory", r.inMemory(), 3)
		want(r, "the others go on", members[0].heartbeat(), 0)
		want(r, "commit to another group", code(send(r, r.c.OffsetCommit, Client{}, commitRequest("g3", 0, 1))), codeNotAvailable)
		want(r, "leave", members[0].leave(), 0)
		r.sleep(r.c.cfg.EmptyGroupLinger + time.Second)
		want(r, "there is room again", code(send(r, r.c.OffsetCommit, Client{}, commitRequest("g3", 0, 1))), 0)
	})
}

// What a member may keep here by its metadata, and a leader by its assignments, is
// what a frame may hold; metadata of offsets is bounded by characters.
func TestOffsetMetadataIsBounded(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		for length, wanted := range map[int]int16{1000: 0, 1001: codeMetadataTooLarge} {
			req := commitRequest("g", 0, 1)
			req.Topics[0].Partitions[0].Metadata = ptr(strings.Repeat("ä", length))
			want(r, fmt.Sprint(length, " characters"), code(send(r, r.c.OffsetCommit, Client{}, req)), wanted)
		}
	})
}
