package groupcoord

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// returned is a static member's process started again: same instance, no id.
func (c *consumer) returned() *consumer {
	n := *c
	n.id, n.generation, n.leader = "", -1, false
	return &n
}

func TestStaticLeaderReturns(t *testing.T) {
	tests := []struct {
		version int16
		skip    bool
	}{{9, true}, {8, false}, {5, false}}
	for _, test := range tests {
		inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
			s, a := r.static("s"), r.consumer("a")
			r.stable(s, a)
			n := s.returned()
			n.version = test.version
			resp := n.joined(n.join())
			want(r, "no rebalance", resp.Generation, 1)
			want(r, "new id", n.id != s.id, true)
			want(r, "skips the assignment", resp.SkipAssignment, test.skip)
			if test.skip {
				want(r, "leads", resp.LeaderID, n.id)
				want(r, "sees the members", len(resp.Members), 2)
			} else {
				want(r, "does not know that it leads", resp.LeaderID, s.id)
				want(r, "sees nobody", len(resp.Members), 0)
			}
			want(r, "keeps its assignment", string(n.sync(nil).get().MemberAssignment), "s")
			want(r, "others do not notice", a.heartbeat(), 0)
		})
	}
}

func TestStaticFollowerReturns(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, s := r.consumer("a"), r.static("s")
		r.stable(a, s)
		n := s.returned()
		resp := n.joined(n.join())
		want(r, "leader", resp.LeaderID, a.id)
		want(r, "does not skip what it would not do", resp.SkipAssignment, false)
		want(r, "state", r.state("g"), "Stable")
	})
}

func TestOldStaticMemberIsFenced(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		s := r.static("s")
		r.stable(s)
		n := s.returned()
		n.joined(n.join())
		want(r, "heartbeat", s.heartbeat(), codeFencedInstance)
		want(r, "sync", s.sync(nil).get().ErrorCode, codeFencedInstance)
		want(r, "commit", code(s.commit(0, 1)), codeFencedInstance)
		want(r, "join", s.tryJoin().get().ErrorCode, codeFencedInstance)
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Version, req.Group = 5, "g"
		req.Members = []kmsg.LeaveGroupRequestMember{{MemberID: s.id, InstanceID: s.instance}}
		want(r, "leave", send(r, r.c.LeaveGroup, s.client(), req).get().Members[0].ErrorCode, codeFencedInstance)
		want(r, "nothing stored", len(r.offsets.calls()), 0)
		want(r, "the new one", n.heartbeat(), 0)
	})
}

func TestUnknownInstance(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		a.instance = ptr("nobody")
		want(r, "heartbeat", a.heartbeat(), codeUnknownMember)
		want(r, "sync", a.sync(nil).get().ErrorCode, codeUnknownMember)
		want(r, "commit", code(a.commit(0, 1)), codeUnknownMember)
	})
}

func TestStaticMemberReturnsWithAnotherChoice(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, s := r.consumer("a"), r.static("s")
		a.protocols, s.protocols = offers("range", "sticky"), offers("range", "sticky")
		r.stable(a, s)
		n := s.returned()
		n.protocols = offers("sticky")
		p := n.join()
		p.held()
		want(r, "others", a.heartbeat(), codeRebalanceInProgress)
		want(r, "protocol", *a.joined(a.join()).Protocol, "sticky")
		n.joined(p)
	})
}

func TestStaticMemberReturnsInCompleting(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, s := r.consumer("a"), r.static("s")
		pa, ps := a.join(), s.join()
		r.sleep(2 * time.Second)
		a.joined(pa)
		s.joined(ps)
		held := s.sync(nil)
		held.held()
		n := s.returned()
		p := n.join()
		want(r, "old sync", held.get().ErrorCode, codeFencedInstance)
		p.held()
		want(r, "leader's sync", a.sync(nil).get().ErrorCode, codeRebalanceInProgress)
		want(r, "generation", a.joined(a.join()).Generation, 2)
		n.joined(p)
	})
}

func TestStaticMemberReturnsWhileJoining(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: 3 * time.Second}, func(r *rig) {
		s := r.static("s")
		old := s.join()
		old.held()
		n := s.returned()
		p := n.join()
		want(r, "old join", old.get().ErrorCode, codeFencedInstance)
		r.sleep(3 * time.Second)
		want(r, "one member", len(n.joined(p).Members), 1)
		want(r, "leads", n.leader, true)
	})
}

func TestReturnedStaticMemberHasToSync(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, s := r.consumer("a"), r.static("s")
		pa, ps := a.join(), s.join()
		r.sleep(2 * time.Second)
		a.joined(pa)
		s.joined(ps)
		want(r, "leader", a.sync(nil).get().ErrorCode, 0)
		n := s.returned() // before it had its assignment
		n.joined(n.join())
		for range 11 {
			r.sleep(5 * time.Second)
			want(r, "a", a.heartbeat(), 0)
			want(r, "s", n.heartbeat(), 0)
		}
		r.sleep(5 * time.Second)
		want(r, "removed", n.heartbeat(), codeUnknownMember)
		want(r, "rebalance", a.heartbeat(), codeRebalanceInProgress)
	})
}

func TestStaticSwapSurvivesARestart(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		s := r.static("s")
		r.stable(s)
		n := s.returned()
		n.joined(n.join())
		r.restart()
		want(r, "new id", n.heartbeat(), 0)
		want(r, "old id", s.heartbeat(), codeFencedInstance)
	})
}
