package groupcoord

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var t0 = TopicPartition{"t", 0}

// simple commits without membership.
func (r *rig) simple(group string, partition int32, offset int64) promise[*kmsg.OffsetCommitResponse] {
	return send(r, r.c.OffsetCommit, Client{}, commitRequest(group, partition, offset))
}

func TestCommitInEachState(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		a.id, a.generation = "x", 3
		want(r, "no group, generation", code(a.commit(0, 1)), codeIllegalGeneration)
		want(r, "no group, simple", code(r.simple("g", 0, 1)), 0)
		want(r, "exists now", r.state("g"), "Empty")
		want(r, "empty, generation", code(a.commit(0, 1)), codeUnknownMember)
		want(r, "empty, simple", code(r.simple("g", 0, 2)), 0)

		a.id = ""
		a.joined(a.join())
		want(r, "completing", code(a.commit(0, 3)), codeRebalanceInProgress)
		r.assign(a)
		want(r, "stable", code(a.commit(0, 4)), 0)
		want(r, "simple while there are members", code(r.simple("g", 0, 0)), codeUnknownMember)
		stale := *a
		stale.generation--
		want(r, "stale", code(stale.commit(0, 0)), codeIllegalGeneration)
		stale.generation = -1
		want(r, "member without generation", code(stale.commit(0, 0)), codeIllegalGeneration)
		stale.id = "nobody"
		want(r, "unknown member", code(stale.commit(0, 0)), codeUnknownMember)

		b := r.consumer("b")
		p := b.join()
		p.held()
		want(r, "preparing", code(a.commit(0, 5)), 0)
		a.joined(a.join())
		b.joined(p)

		var stored []int64
		for _, call := range r.offsets.calls() {
			stored = append(stored, call[0].Offset)
		}
		if diff := cmp.Diff([]int64{1, 2, 4, 5}, stored); diff != "" {
			r.Fatalf("stored (-want +got):\n%s", diff)
		}
	})
}

func TestCommitAnswersEachPartition(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.refuse[TopicPartition{"t", 1}] = 3
		req := commitRequest("g", 0, 1)
		ps := &req.Topics[0].Partitions
		for i, metadata := range []*string{ptr(""), nil, ptr(strings.Repeat("ä", 1000)), ptr(strings.Repeat("ä", 1001))} {
			p := kmsg.NewOffsetCommitRequestTopicPartition()
			p.Partition, p.Offset, p.Metadata, p.LeaderEpoch = int32(i+1), int64(i+1), metadata, 7
			*ps = append(*ps, p)
		}
		*ps = append(*ps, (*ps)[0]) // named twice
		(*ps)[5].Offset = 9
		resp := send(r, r.c.OffsetCommit, Client{}, req).get()
		var codes []int16
		for _, p := range resp.Topics[0].Partitions {
			codes = append(codes, p.ErrorCode)
		}
		if diff := cmp.Diff([]int16{0, 3, 0, 0, codeMetadataTooLarge, 0}, codes); diff != "" {
			r.Fatalf("codes (-want +got):\n%s", diff)
		}
		want(r, "the last one counts", r.fetchedOffset("g", 0), 9)
		want(r, "one call", len(r.offsets.calls()), 1)
		want(r, "nothing of the refused", r.fetchedOffset("g", 1), -1)
	})
}

func TestCommitWithoutPartitions(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		req := commitRequest("g", 0, 1)
		req.Topics = nil
		want(r, "topics", len(send(r, r.c.OffsetCommit, Client{}, req).get().Topics), 0)
		want(r, "calls", len(r.offsets.calls()), 0)
	})
}

func TestNewestCommitWins(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		r.offsets.gate = make(chan struct{})
		first := a.commit(0, 1)
		second := a.commit(0, 2)
		other := a.commit(1, 7)
		third := a.commit(0, 3)
		first.held()
		want(r, "no more than one of a partition", len(r.offsets.calls()), 2)
		want(r, "heartbeats go on", a.heartbeat(), 0)

		r.offsets.gate <- struct{}{}
		r.offsets.gate <- struct{}{}
		want(r, "first", code(first), 0)
		want(r, "other partition", code(other), 0)
		second.held()
		r.offsets.refuse[t0] = codeLoading
		r.offsets.gate <- struct{}{}
		want(r, "superseded gets the newest's result", code(second), codeLoading)
		want(r, "newest", code(third), codeLoading)
		calls := r.offsets.calls()
		want(r, "calls", len(calls), 3)
		want(r, "the second was never written", calls[2][0].Offset, 3)
	})
}

// A member whose commit is not answered yet cannot be heard of: its heartbeats
// wait behind the commit's reply. A slow store must not cost it its membership.
func TestSlowCommitKeepsItsMember(t *testing.T) {
	inBubble(t, Config{CommitTimeout: 12 * time.Second}, func(r *rig) {
		a := r.consumer("a") // session of 10 s
		r.stable(a)
		r.offsets.gate = make(chan struct{})
		first, second := a.commit(0, 1), a.commit(0, 2)
		r.sleep(11 * time.Second)
		want(r, "still a member", r.state("g"), "Stable")
		first.held()
		r.offsets.gate <- struct{}{}
		want(r, "first", code(first), 0)
		r.sleep(11 * time.Second) // the second runs
		want(r, "still a member", r.state("g"), "Stable")
		r.offsets.gate <- struct{}{}
		want(r, "second", code(second), 0)
		r.sleep(10*time.Second - time.Millisecond)
		want(r, "the session begins with the answer", r.state("g"), "Stable")
		r.sleep(time.Millisecond)
		want(r, "and ends without heartbeats", r.state("g"), "Empty")
	})
}

func TestCommitsInFlight(t *testing.T) {
	inBubble(t, Config{CommitsInFlight: 2}, func(r *rig) {
		r.offsets.gate = make(chan struct{})
		var all []promise[*kmsg.OffsetCommitResponse]
		for p := range int32(5) {
			all = append(all, r.simple("g", p, 1))
		}
		all[0].held()
		want(r, "calls", len(r.offsets.calls()), 2)
		r.offsets.gate <- struct{}{}
		r.sleep(0)
		calls := r.offsets.calls()
		want(r, "calls", len(calls), 3)
		want(r, "all that waited go together", len(calls[2]), 3)
		close(r.offsets.gate)
		for _, p := range all {
			want(r, "commit", code(p), 0)
		}
	})
}

func TestCommitEndsWithItsTimeout(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.gate = make(chan struct{})
		p := r.simple("g", 0, 1)
		r.sleep(6*time.Second - time.Millisecond)
		p.held()
		r.sleep(time.Millisecond)
		want(r, "code", code(p), codeLoading)
	})
}

// TestCommitsBehindOneThatHangs are answered with it: heartbeats wait behind their
// replies, and sessions are shorter than two timeouts. The partition is free for the
// next.
func TestCommitsBehindOneThatHangs(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.gate = make(chan struct{})
		first := r.simple("g", 0, 1)
		r.sleep(4 * time.Second)
		second, third := r.simple("g", 0, 2), r.simple("g", 0, 3)
		r.sleep(2 * time.Second)
		for _, p := range []promise[*kmsg.OffsetCommitResponse]{first, second, third} {
			want(r, "commit", code(p), codeLoading)
		}
		want(r, "calls", len(r.offsets.calls()), 1)
		next := r.simple("g", 0, 4)
		r.offsets.gate <- struct{}{}
		want(r, "next", code(next), 0)
	})
}

func TestFetchWaitsForCommits(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.gate = make(chan struct{})
		first := r.simple("g", 0, 1)
		second := r.simple("g", 0, 2)
		fetch, all := r.fetch("g", 0, 1), r.fetch("g")
		third := r.simple("g", 0, 3) // takes the place of the second
		want(r, "other partitions do not wait", r.fetchedOffset("g", 1), -1)
		r.offsets.gate <- struct{}{}
		fetch.held()
		all.held()
		r.offsets.gate <- struct{}{}
		want(r, "fetched", fetch.get().Topics[0].Partitions[0].Offset, 3)
		want(r, "all", all.get().Topics[0].Partitions[0].Offset, 3)
		for _, p := range []promise[*kmsg.OffsetCommitResponse]{first, second, third} {
			want(r, "commit", code(p), 0)
		}
	})
}

func TestAcknowledgedCommitsAreServedFromMemory(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		want(r, "commit", code(a.commit(0, 5)), 0)
		reads := r.offsets.reads()
		r.offsets.set("g", t0, 1) // an eventually consistent store is behind
		want(r, "offset", r.fetchedOffset("g", 0), 5)
		want(r, "no read", r.offsets.reads(), reads)
		want(r, "in the list of all too", r.fetch("g").get().Topics[0].Partitions[0].Offset, 5)

		r.offsets.refuse[t0] = codeLoading
		want(r, "commit fails", code(a.commit(0, 6)), codeLoading)
		want(r, "unknown what is stored: read", r.fetchedOffset("g", 0), 1)

		delete(r.offsets.refuse, t0)
		want(r, "commit", code(a.commit(0, 7)), 0)
		want(r, "leave", a.leave(), 0)
		r.offsets.set("g", t0, 2)
		want(r, "nobody left: read", r.fetchedOffset("g", 0), 2)
	})
}

func TestForeignChangeIsSeenByTheNextGeneration(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		want(r, "commit", code(a.commit(0, 5)), 0)
		want(r, "commit", code(a.commit(1, 6)), 0)
		r.offsets.set("g", t0, 2)
		r.offsets.delay = time.Second
		a.joined(a.join()) // the leader wants a new generation
		fetch := r.fetch("g", 0)
		fetch.held()
		r.sleep(time.Second)
		want(r, "offset", fetch.get().Topics[0].Partitions[0].Offset, 2)
		if diff := cmp.Diff([]ForeignChange{{"g", t0, 5, 2}}, r.foreign); diff != "" {
			r.Fatalf("foreign changes (-want +got):\n%s", diff)
		}
	})
}

// TestLostCommitThatArrivesLate, behind one that was acknowledged, is no change by
// somebody else: the acknowledged offset is stored again, once, and served meanwhile.
func TestLostCommitThatArrivesLate(t *testing.T) {
	inBubble(t, Config{RefreshInterval: 5 * time.Second}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		r.offsets.refuse[t0] = codeLoading
		for offset := range int64(6) { // more than are remembered
			want(r, "no answer", code(a.commit(0, 10+offset)), codeLoading)
		}
		delete(r.offsets.refuse, t0)
		want(r, "commit", code(a.commit(0, 20)), 0)
		r.offsets.set("g", t0, 15)
		calls := len(r.offsets.calls())
		r.sleep(5 * time.Second)
		want(r, "stored again", len(r.offsets.calls()), calls+1)
		want(r, "foreign", len(r.foreign), 0)
		want(r, "offset", r.fetchedOffset("g", 0), 20)
		want(r, "heartbeat", a.heartbeat(), 0)
		r.sleep(5 * time.Second)
		want(r, "and stays", len(r.offsets.calls()), calls+1)

		r.offsets.set("g", t0, 15)
		a.joined(a.join()) // a new generation looks at once
		want(r, "sync", a.sync(nil).get().ErrorCode, 0)
		want(r, "offset of the next generation", r.fetchedOffset("g", 0), 20)
		r.sleep(time.Millisecond)
		want(r, "stored again", len(r.offsets.calls()), calls+2)
		r.offsets.set("g", t0, 3) // which this group never sent
		a.joined(a.join())
		want(r, "offset of somebody else", r.fetchedOffset("g", 0), 3)
		if diff := cmp.Diff([]ForeignChange{{"g", t0, 20, 3}}, r.foreign); diff != "" {
			r.Fatalf("foreign changes (-want +got):\n%s", diff)
		}
	})
}

func TestForeignChangeIsSeenPeriodically(t *testing.T) {
	inBubble(t, Config{RefreshInterval: 5 * time.Second}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		want(r, "commit", code(a.commit(0, 5)), 0)
		want(r, "commit", code(a.commit(1, 6)), 0)
		r.sleep(5 * time.Second)
		want(r, "no change", len(r.foreign), 0)

		r.offsets.set("g", t0, -1)
		r.offsets.unread[TopicPartition{"t", 1}] = codeLoading
		want(r, "heartbeat", a.heartbeat(), 0)
		r.sleep(5 * time.Second)
		if diff := cmp.Diff([]ForeignChange{{"g", t0, 5, -1}}, r.foreign); diff != "" {
			r.Fatalf("foreign changes (-want +got):\n%s", diff)
		}
		want(r, "gone", r.fetchedOffset("g", 0), -1)
		want(r, "not read, so the last known", r.fetchedOffset("g", 1), 6)
	})
}

func TestOwnCommitDuringRereadIsNotForeign(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		want(r, "commit", code(a.commit(0, 5)), 0)
		r.offsets.delay = 2 * time.Second
		p := r.consumer("b").join() // preparing: commits are taken
		p.held()
		a.joined(a.join()) // the re-read begins, and ends in 2 s
		r.assign2(a, p)
		want(r, "commit", code(a.commit(0, 6)), 0)
		r.sleep(2 * time.Second)
		want(r, "foreign", len(r.foreign), 0)
		want(r, "offset", r.fetchedOffset("g", 0), 6)
	})
}

// assign2 completes a generation of a and whoever waits in p.
func (r *rig) assign2(a *consumer, p promise[*kmsg.JoinGroupResponse]) {
	r.Helper()
	b := r.consumer("b")
	b.joined(p)
	r.assign(a, b)
}

func TestFetchAnswersEveryPartition(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		want(r, "unknown group", r.fetchedOffset("nobody", 4), -1)
		want(r, "commit", code(r.simple("g", 1, 5)), 0)
		resp := r.fetch("g", 0, 1, 2, 1).get()
		var got []int64
		for _, p := range resp.Topics[0].Partitions {
			want(r, "epoch", p.LeaderEpoch, -1)
			want(r, "metadata", *p.Metadata, "")
			want(r, "code", p.ErrorCode, 0)
			got = append(got, p.Offset)
		}
		if diff := cmp.Diff([]int64{-1, 5, -1, 5}, got); diff != "" {
			r.Fatalf("offsets (-want +got):\n%s", diff)
		}

		r.offsets.unread[t0] = codeLoading
		resp = r.fetch("g", 0, 1).get()
		want(r, "whole", resp.ErrorCode, codeLoading)
		want(r, "partitions", len(resp.Topics[0].Partitions), 2)
		for _, p := range resp.Topics[0].Partitions {
			want(r, "never none without an error", p.ErrorCode == codeLoading && p.Offset == -1, true)
		}

		r.offsets.unread[t0] = 29
		resp = r.fetch("g", 0, 1).get()
		want(r, "a final error stays with its partition", resp.ErrorCode, 0)
		want(r, "code", resp.Topics[0].Partitions[0].ErrorCode, 29)
		want(r, "the other", resp.Topics[0].Partitions[1].Offset, 5)
	})
}

func TestFetchAll(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		want(r, "none", len(r.fetch("g").get().Topics), 0)
		for p := range int32(3) {
			want(r, "commit", code(r.simple("g", p, int64(p))), 0)
		}
		resp := r.fetch("g").get()
		want(r, "one topic", len(resp.Topics), 1)
		want(r, "partitions", len(resp.Topics[0].Partitions), 3)
		r.offsets.down = true
		want(r, "store down", r.fetch("g").get().ErrorCode, codeLoading)
	})
}

func TestFetchVersions(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		want(r, "commit", code(r.simple("g", 0, 5)), 0)
		want(r, "commit without a group id", code(r.simple("", 0, 7)), 0)
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Version, req.Group = 1, "g"
		want(r, "v1 has no list of all", len(send(r, r.c.OffsetFetch, Client{}, req).get().Topics), 0)

		req = kmsg.NewPtrOffsetFetchRequest()
		req.Version = 8
		one := kmsg.NewOffsetFetchRequestGroupTopic()
		one.Topic, one.Partitions = "t", []int32{0, 1}
		for _, group := range []string{"g", "nobody", ""} {
			g := kmsg.NewOffsetFetchRequestGroup()
			g.Group, g.Topics = group, []kmsg.OffsetFetchRequestGroupTopic{one}
			req.Groups = append(req.Groups, g)
		}
		all := kmsg.NewOffsetFetchRequestGroup()
		all.Group = "g"
		req.Groups = append(req.Groups, all)
		resp := send(r, r.c.OffsetFetch, Client{}, req).get()
		want(r, "groups", len(resp.Groups), 4)
		for i, offset := range []int64{5, -1, 7, 5} {
			want(r, "group", resp.Groups[i].Group, req.Groups[i].Group)
			want(r, "offset", resp.Groups[i].Topics[0].Partitions[0].Offset, offset)
		}
		want(r, "partitions", len(resp.Groups[2].Topics[0].Partitions), 2)
		want(r, "empty group id", resp.Groups[2].ErrorCode, 0)
		want(r, "list of all", len(resp.Groups[3].Topics[0].Partitions), 1)

		req.Groups = nil
		want(r, "no groups", len(send(r, r.c.OffsetFetch, Client{}, req).get().Groups), 0)
	})
}

func TestSlowStoreDoesNotHoldTheGroup(t *testing.T) {
	inBubble(t, Config{CommitTimeout: 12 * time.Second}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		r.offsets.gate = make(chan struct{})
		r.offsets.delay = 7 * time.Second
		commit, fetch := a.commit(0, 1), r.fetch("g", 3)
		for range 3 {
			r.sleep(2 * time.Second)
			want(r, "heartbeat", a.heartbeat(), 0)
		}
		a.joined(a.join())
		want(r, "a whole rebalance", a.sync(nil).get().ErrorCode, 0)
		commit.held()
		fetch.held()
		close(r.offsets.gate)
		want(r, "commit", code(commit), 0)
		r.sleep(time.Second)
		want(r, "fetch", fetch.get().ErrorCode, 0)
	})
}
