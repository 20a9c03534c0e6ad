package groupcoord

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestSyncGroup(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b, left := r.consumer("a"), r.consumer("b"), r.consumer("left out")
		pa, pb, pl := a.join(), b.join(), left.join()
		want(r, "before its generation", a.sync(nil).get().ErrorCode, codeIllegalGeneration)
		r.sleep(2 * time.Second)
		a.joined(pa)
		b.joined(pb)
		left.joined(pl)

		sb, sl := b.sync(nil), left.sync(nil)
		sb.held()
		stale := *b
		stale.generation = 0
		want(r, "generation", stale.sync(nil).get().ErrorCode, codeIllegalGeneration)

		resp := a.sync(map[string]string{a.id: "A", b.id: "B", "nobody": "N"}).get()
		want(r, "leader", string(resp.MemberAssignment), "A")
		want(r, "type", *resp.ProtocolType, "consumer")
		want(r, "protocol", *resp.Protocol, "range")
		want(r, "follower", string(sb.get().MemberAssignment), "B")
		resp = sl.get()
		want(r, "left out", resp.ErrorCode == 0 && len(resp.MemberAssignment) == 0, true)
		want(r, "again", string(b.sync(nil).get().MemberAssignment), "B")

		b.protocols = offersWith("changed", "range")
		b.join().held()
		want(r, "while preparing", a.sync(nil).get().ErrorCode, codeRebalanceInProgress)
	})
}

func TestSyncGroupProtocolMismatch(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		a.joined(a.join())
		for _, edit := range []func(*kmsg.SyncGroupRequest){
			func(q *kmsg.SyncGroupRequest) { q.Protocol = ptr("sticky") },
			func(q *kmsg.SyncGroupRequest) { q.ProtocolType = ptr("connect") },
			func(q *kmsg.SyncGroupRequest) { q.Protocol = nil },
			func(q *kmsg.SyncGroupRequest) { q.ProtocolType = nil },
		} {
			req := kmsg.NewPtrSyncGroupRequest()
			req.Version, req.Group, req.MemberID, req.Generation = 5, "g", a.id, a.generation
			req.ProtocolType, req.Protocol = ptr("consumer"), ptr("range")
			edit(req)
			want(r, "code", send(r, r.c.SyncGroup, a.client(), req).get().ErrorCode, codeInconsistentProtocol)
		}
		old := kmsg.NewPtrSyncGroupRequest()
		old.Version, old.Group, old.MemberID, old.Generation = 4, "g", a.id, a.generation
		want(r, "before they were there", send(r, r.c.SyncGroup, a.client(), old).get().ErrorCode, 0)
	})
}

func TestMembersThatDoNotSyncAreRemoved(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		a.rebalance, b.rebalance = 20*time.Second, 20*time.Second
		pa, pb := a.join(), b.join()
		r.sleep(2 * time.Second)
		a.joined(pa)
		b.joined(pb)
		want(r, "leader syncs", a.sync(nil).get().ErrorCode, 0)
		for range 19 {
			r.sleep(time.Second)
			want(r, "b is alive", b.heartbeat(), 0)
			want(r, "a is alive", a.heartbeat(), 0)
		}
		r.sleep(time.Second)
		want(r, "b is removed", b.heartbeat(), codeUnknownMember)
		want(r, "a rebalances", a.heartbeat(), codeRebalanceInProgress)
	})
}

func TestNobodySyncs(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		a.rebalance, a.session = 10*time.Second, 20*time.Second
		a.joined(a.join())
		r.sleep(10 * time.Second)
		want(r, "state", r.state("g"), "Empty")
	})
}

func TestHeldSyncStandsForHeartbeats(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		pa, pb := a.join(), b.join()
		r.sleep(2 * time.Second)
		a.joined(pa)
		b.joined(pb)
		held := b.sync(nil)
		for range 6 { // b's session is over twice
			r.sleep(5 * time.Second)
			want(r, "leader", a.heartbeat(), 0)
		}
		held.held()
		a.sync(nil)
		want(r, "sync", held.get().ErrorCode, 0)
		r.sleep(10*time.Second - time.Millisecond)
		want(r, "session began with the answer", len(r.describe("g").Members), 2)
		want(r, "leader", a.heartbeat(), 0)
		r.sleep(time.Millisecond)
		want(r, "and ends", b.heartbeat(), codeUnknownMember)
	})
}

func TestSessionGoesOnWhenARebalanceEndsAHeldSync(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, s := r.consumer("a"), r.static("s")
		pa, ps := a.join(), s.join()
		r.sleep(2 * time.Second)
		a.joined(pa)
		s.joined(ps)
		held := s.sync(nil)
		for range 3 { // s's session is over
			r.sleep(5 * time.Second)
			want(r, "leader", a.heartbeat(), 0)
		}
		a.protocols = offersWith("changed", "range")
		again := a.join()
		want(r, "sync", held.get().ErrorCode, codeRebalanceInProgress)
		r.sleep(10*time.Second - time.Millisecond) // and nothing more comes from s
		again.held()
		r.sleep(time.Millisecond)
		want(r, "without s", len(a.joined(again).Members), 1)
	})
}

func TestHeartbeat(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		nobody := r.consumer("x")
		nobody.id, nobody.generation = "x", 1
		want(r, "no group id", (&consumer{r: r}).heartbeat(), codeInvalidGroupID)
		want(r, "no group", nobody.heartbeat(), codeUnknownMember)

		a := r.consumer("a")
		a.joined(a.join())
		want(r, "completing", a.heartbeat(), 0)
		r.assign(a)
		want(r, "stable", a.heartbeat(), 0)
		want(r, "unknown member", nobody.heartbeat(), codeUnknownMember)
		a.generation = 2
		want(r, "later generation", a.heartbeat(), codeIllegalGeneration)
		a.generation = 0
		want(r, "earlier generation", a.heartbeat(), codeIllegalGeneration)
		a.generation = 1
		p := r.consumer("b").join()
		p.held()
		want(r, "preparing", a.heartbeat(), codeRebalanceInProgress)
	})
}

func TestSessionExpires(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		r.sleep(9 * time.Second)
		want(r, "heartbeat", a.heartbeat(), 0)
		r.sleep(9 * time.Second)
		want(r, "commit counts too", code(a.commit(0, 1)), 0)
		r.sleep(9 * time.Second)
		want(r, "sync counts too", a.sync(nil).get().ErrorCode, 0)
		r.sleep(10*time.Second - time.Millisecond)
		want(r, "state", r.state("g"), "Stable")
		r.sleep(time.Millisecond)
		want(r, "state", r.state("g"), "Empty")
		want(r, "too late", a.heartbeat(), codeUnknownMember)
	})
}

func TestHeartbeatThatWaitedBehindASlowStoreCounts(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second, SaveTimeout: time.Minute}, func(r *rig) {
		a, b := r.consumer("a"), r.static("b")
		r.stable(a, b)
		r.store.saveDelay = 15 * time.Second // longer than a session
		n := b.returned()
		swap := n.join() // saves
		swap.held()
		r.sleep(9 * time.Second)
		req := kmsg.NewPtrHeartbeatRequest()
		req.Group, req.MemberID, req.Generation = "g", a.id, a.generation
		beat := send(r, r.c.Heartbeat, a.client(), req)
		beat.held()
		r.sleep(6 * time.Second)
		want(r, "swap", swap.get().ErrorCode, 0)
		want(r, "heartbeat sent in time", beat.get().ErrorCode, 0)
		want(r, "nobody was removed", len(r.describe("g").Members), 2)
	})
}

func TestSlowStoreCostsNoSession(t *testing.T) {
	inBubble(t, Config{SaveTimeout: time.Minute}, func(r *rig) {
		a := r.consumer("a")
		a.id = a.tryJoin().get().MemberID
		r.store.saveDelay = 15 * time.Second // longer than a session
		p := a.tryJoin()
		r.sleep(15 * time.Second)
		a.joined(p)
		r.sleep(10*time.Second - time.Millisecond)
		want(r, "session began with the answer", a.heartbeat(), 0)
	})
}

func TestLeave(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		want(r, "no group", (&consumer{r: r, group: "none", id: "x"}).leave(), codeUnknownMember)
		a, b, c := r.consumer("a"), r.consumer("b"), r.consumer("c")
		r.stable(a, b, c)
		want(r, "leader leaves", a.leave(), 0)
		want(r, "twice", a.leave(), codeUnknownMember)
		pb := b.join()
		pb.held()
		want(r, "last missing one leaves", c.leave(), 0)
		want(r, "next leads", len(b.joined(pb).Members), 1)
		want(r, "leader", b.leader, true)
		want(r, "last leaves", b.leave(), 0)
		want(r, "state", r.state("g"), "Empty")
	})
}

func TestLeaveEndsHeldRequests(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		pa, pb := a.join(), b.join()
		want(r, "leave", b.leave(), 0)
		resp := pb.get()
		want(r, "held join", resp.ErrorCode, codeUnknownMember)
		want(r, "without id", resp.MemberID, "")
		b.id = ""
		pb = b.join()
		r.sleep(2 * time.Second)
		a.joined(pa)
		b.joined(pb)
		held := b.sync(nil)
		held.held()
		want(r, "leave", b.leave(), 0)
		want(r, "held sync", held.get().ErrorCode, codeUnknownMember)
	})
}

func TestBatchLeave(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, s, pending := r.consumer("a"), r.static("s"), r.consumer("p")
		r.stable(a, s)
		pending.id = pending.tryJoin().get().MemberID
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Version, req.Group = 5, "g"
		req.Members = []kmsg.LeaveGroupRequestMember{
			{MemberID: "nobody"},
			{MemberID: pending.id},
			{InstanceID: ptr("s"), Reason: ptr("scaled down")},
			{InstanceID: ptr("other")},
			{MemberID: a.id},
			{},
		}
		resp := send(r, r.c.LeaveGroup, Client{}, req).get()
		want(r, "whole", resp.ErrorCode, 0)
		var codes []int16
		for i, m := range resp.Members {
			want(r, "echoed", m.MemberID, req.Members[i].MemberID)
			codes = append(codes, m.ErrorCode)
		}
		for i, code := range []int16{codeUnknownMember, 0, 0, codeUnknownMember, 0, codeUnknownMember} {
			want(r, "member", codes[i], code)
		}
		want(r, "state", r.state("g"), "Empty")
	})
}
