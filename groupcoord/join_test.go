package groupcoord

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestJoinIsRefused(t *testing.T) {
	tests := []struct {
		name string
		edit func(c *consumer)
		code int16
	}{
		{"no group id", func(c *consumer) { c.group = "" }, codeInvalidGroupID},
		{"session too short", func(c *consumer) { c.session = 5999 * time.Millisecond }, codeInvalidSessionTimeout},
		{"session too long", func(c *consumer) { c.session = 30*time.Minute + time.Millisecond }, codeInvalidSessionTimeout},
		{"session before member", func(c *consumer) { c.session, c.id = 0, "x" }, codeInvalidSessionTimeout},
		{"unknown group", func(c *consumer) { c.group, c.id = "other", "x" }, codeUnknownMember},
		{"unknown member", func(c *consumer) { c.id = "x" }, codeUnknownMember},
		{"unknown instance", func(c *consumer) { c.id, c.instance = "x", ptr("i") }, codeUnknownMember},
		{"type differs", func(c *consumer) { c.typ = "connect" }, codeInconsistentProtocol},
		{"no common protocol", func(c *consumer) { c.protocols = offers("sticky") }, codeInconsistentProtocol},
		{"no protocol", func(c *consumer) { c.protocols = nil }, codeInconsistentProtocol},
		{"no protocol in a new group", func(c *consumer) { c.group, c.protocols = "new", nil }, codeInconsistentProtocol},
		{"no type in a new group", func(c *consumer) { c.group, c.typ = "new", "" }, codeInconsistentProtocol},
		{"protocol before member", func(c *consumer) { c.typ, c.id = "connect", "x" }, codeInconsistentProtocol},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, Config{}, func(r *rig) {
				r.stable(r.consumer("a"))
				c := r.consumer("b")
				test.edit(c)
				resp := c.tryJoin().get()
				want(r, "code", resp.ErrorCode, test.code)
				want(r, "generation", resp.Generation, -1)
				want(r, "member", resp.MemberID, c.id)
				want(r, "protocol is null", resp.Protocol == nil && resp.ProtocolType == nil, true)
			})
		})
	}
}

func TestSessionTimeoutLimitsAreInclusive(t *testing.T) {
	for _, session := range []time.Duration{6 * time.Second, 30 * time.Minute} {
		inBubble(t, Config{}, func(r *rig) {
			c := r.consumer("a")
			c.session = session
			r.stable(c)
		})
	}
}

func TestMemberIDIsRequiredFromVersion4(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		c := r.consumer("app")
		c.version = 4
		resp := c.tryJoin().get()
		want(r, "code", resp.ErrorCode, codeMemberIDRequired)
		want(r, "id begins with the client id", len(resp.MemberID) == len("app-")+36 && resp.MemberID[:4] == "app-", true)
		want(r, "state", r.state("g"), "Empty")

		c.id = resp.MemberID
		want(r, "generation", c.joined(c.tryJoin()).Generation, 1)
	})
}

func TestOldVersionsJoinAtOnce(t *testing.T) {
	for _, version := range []int16{0, 1, 3} {
		inBubble(t, Config{}, func(r *rig) {
			c := r.consumer("a")
			c.version = version
			resp := c.joined(c.tryJoin())
			want(r, "leads", resp.LeaderID, resp.MemberID)
			want(r, "members", len(resp.Members), 1)
		})
	}
}

func TestPendingIDExpires(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		c := r.consumer("a")
		c.id = c.tryJoin().get().MemberID
		r.sleep(c.session)
		want(r, "late", c.tryJoin().get().ErrorCode, codeUnknownMember)
	})
}

func TestPendingIDHoldsRebalanceUntilItExpires(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		r.consumer("b").tryJoin().get() // takes an id and never comes back
		again := a.join()
		again.held()
		r.sleep(9 * time.Second)
		again.held()
		r.sleep(time.Second)
		want(r, "generation", a.joined(again).Generation, 2)
	})
}

func TestPendingIDLeaves(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		r.stable(a)
		b.id = b.tryJoin().get().MemberID
		again := a.join()
		again.held()
		want(r, "leave", b.leave(), 0)
		a.joined(again)
	})
}

func TestInitialDelay(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: 3 * time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		first := a.join()
		r.sleep(2 * time.Second)
		second := b.join()
		r.sleep(3*time.Second + 999*time.Millisecond)
		first.held() // extended once, to 6 s
		r.sleep(time.Millisecond)
		want(r, "leads", len(a.joined(first).Members), 2)
		want(r, "follows", len(b.joined(second).Members), 0)
		want(r, "one generation", a.generation == 1 && b.generation == 1, true)
		want(r, "first leads", a.leader && !b.leader, true)
	})
}

func TestInitialDelayEndsAtTheRebalanceTimeout(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: 3 * time.Second}, func(r *rig) {
		a := r.consumer("a")
		a.rebalance = 7 * time.Second
		first := a.join()
		for range 3 { // at 2, 4 and 6 s
			r.sleep(2 * time.Second)
			c := r.consumer("more")
			c.rebalance = 7 * time.Second
			c.join()
		}
		r.sleep(999 * time.Millisecond)
		first.held()
		r.sleep(time.Millisecond)
		want(r, "members", len(a.joined(first).Members), 4)
	})
}

func TestInitialDelayIsOnlyForEmptyGroups(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: 3 * time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		r.stable(a)
		p := b.join()
		p.held()
		a.joined(a.join())
		b.joined(p)
		want(r, "generation", b.generation, 2)
	})
}

func TestRebalanceTimeoutDropsDynamicAndKeepsStatic(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a, b, s := r.consumer("a"), r.consumer("b"), r.static("s")
		for _, c := range []*consumer{a, b, s} {
			c.session, c.rebalance = 5*time.Minute, 20*time.Second
		}
		r.stable(a)
		rejoin := func(c *consumer, others ...*consumer) {
			p := c.join()
			for _, o := range others {
				o.joined(o.join())
			}
			c.joined(p)
		}
		rejoin(b, a)
		p := s.join()
		pa, pb := a.join(), b.join()
		s.joined(p)
		a.joined(pa)
		b.joined(pb)
		r.assign(a, b, s)

		again := b.join()
		r.sleep(0)
		want(r, "b only changes nothing", b.joined(again).Generation, 3)
		b.protocols = offersWith("other", "range")
		again = b.join()
		r.sleep(20*time.Second - time.Millisecond)
		again.held()
		r.sleep(time.Millisecond)
		resp := b.joined(again)
		want(r, "leader moves to who is there", b.leader, true)
		want(r, "generation", resp.Generation, 4)
		if len(resp.Members) != 2 || resp.Members[0].MemberID != s.id && resp.Members[1].MemberID != s.id {
			r.Fatalf("members %+v, want b and the static one", resp.Members)
		}
		want(r, "dynamic one is gone", a.heartbeat(), codeUnknownMember)
	})
}

func TestOnlyStaticMembersLeftPostponesUntilTheirSessionEnds(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		s := r.static("s")
		s.session, s.rebalance = 25*time.Second, 10*time.Second
		a := r.consumer("a")
		a.session, a.rebalance = 6*time.Second, 10*time.Second
		r.stable(s)
		p := a.join()
		s.joined(s.join())
		a.joined(p)
		r.assign(s, a)
		s.heartbeat()
		want(r, "leave", a.leave(), 0) // s has to rejoin and does not
		r.sleep(24 * time.Second)
		want(r, "still preparing", r.state("g"), "PreparingRebalance")
		r.sleep(time.Second)
		want(r, "session over", r.state("g"), "Empty")
	})
}

func TestVote(t *testing.T) {
	tests := []struct {
		name   string
		offers [][]string
		want   string
	}{
		{"only common", [][]string{{"cooperative", "range"}, {"range"}}, "range"},
		{"most first choices", [][]string{{"a", "b"}, {"b", "a"}, {"b", "a"}}, "b"},
		{"first candidate counts", [][]string{{"x", "b", "a"}, {"a", "b"}, {"a", "b"}}, "a"},
		{"draw", [][]string{{"b", "a"}, {"a", "b"}}, "b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
				var consumers []*consumer
				var joins []promise[*kmsg.JoinGroupResponse]
				for _, names := range test.offers {
					c := r.consumer("c")
					c.protocols = offers(names...)
					consumers = append(consumers, c)
					joins = append(joins, c.join())
				}
				r.sleep(2 * time.Second)
				for i, c := range consumers {
					want(r, "protocol", *c.joined(joins[i]).Protocol, test.want)
				}
			})
		})
	}
}

func TestRejoinInStable(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		r.stable(a, b)

		resp := b.joined(b.join())
		want(r, "follower unchanged", resp.Generation, 1)
		want(r, "no members", len(resp.Members), 0)
		want(r, "state", r.state("g"), "Stable")

		pa := a.join()
		pa.held()
		want(r, "leader rebalances", b.heartbeat(), codeRebalanceInProgress)
		b.joined(b.join())
		a.joined(pa)
		want(r, "generation", a.generation, 2)
		r.assign(a, b)

		b.protocols = offersWith("owns 3", "range") // cooperative clients say what they own
		pb := b.join()
		pb.held()
		want(r, "changed follower rebalances", a.heartbeat(), codeRebalanceInProgress)
		resp = a.joined(a.join())
		b.joined(pb)
		want(r, "new metadata", string(resp.Members[1].ProtocolMetadata), "owns 3")
	})
}

func TestRejoinInCompleting(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		pa, pb := a.join(), b.join()
		r.sleep(2 * time.Second)
		a.joined(pa)
		b.joined(pb)

		want(r, "leader gets the members again", len(a.joined(a.join()).Members), 2)
		want(r, "follower", len(b.joined(b.join()).Members), 0)
		want(r, "same generation", b.generation, 1)

		sync := b.sync(nil)
		a.protocols = offersWith("changed", "range")
		again := a.join()
		want(r, "held sync ends", sync.get().ErrorCode, codeRebalanceInProgress)
		again.held()
		b.joined(b.join())
		want(r, "generation", a.joined(again).Generation, 2)
	})
}

func TestGroupMaxSize(t *testing.T) {
	inBubble(t, Config{MaxGroupSize: 2, InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, s := r.consumer("a"), r.static("s")
		r.stable(a, s)
		resp := r.consumer("c").tryJoin().get()
		want(r, "stable", resp.ErrorCode, codeGroupMaxSizeReached)
		want(r, "no id", resp.MemberID, "")

		s.id = ""
		want(r, "static member takes its own place", s.joined(s.join()).Generation, 1)

		pa := a.join()
		s.joined(s.join())
		a.joined(pa)
		want(r, "completing", r.consumer("c").tryJoin().get().ErrorCode, codeGroupMaxSizeReached)
	})
}

func TestGroupMaxSizeWhileJoining(t *testing.T) {
	inBubble(t, Config{MaxGroupSize: 2, InitialRebalanceDelay: 3 * time.Second}, func(r *rig) {
		a, b, c := r.consumer("a"), r.consumer("b"), r.consumer("c")
		c.id = c.tryJoin().get().MemberID
		pa, pb := a.join(), b.join()
		want(r, "third", c.tryJoin().get().ErrorCode, codeGroupMaxSizeReached)
		r.sleep(6 * time.Second)
		a.joined(pa)
		b.joined(pb)
	})
}

func TestVersion0UsesSessionForRebalance(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		a.version, b.version = 0, 0
		a.session, b.session = 30*time.Second, 30*time.Second
		r.stable(a)
		p := b.join()
		for range 29 {
			r.sleep(time.Second)
			a.heartbeat()
		}
		p.held()
		r.sleep(time.Second)
		want(r, "after the session timeout", b.joined(p).Generation, 2)
	})
}

func TestNewMemberIsNotHeldForEver(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		a.rebalance, a.session = 10*time.Minute, 20*time.Minute
		r.stable(a)
		p := b.join()
		r.sleep(5*time.Minute - time.Millisecond)
		p.held()
		r.sleep(time.Millisecond)
		resp := p.get()
		want(r, "code", resp.ErrorCode, codeUnknownMember)
		want(r, "told to join as new", resp.MemberID, "")
		a.joined(a.join())
	})
}

func TestDisconnectDuringJoinKeepsTheMemberUntilItsSessionEnds(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		r.stable(a)
		b.id = b.tryJoin().get().MemberID
		ctx, cancel := context.WithCancel(r.Context())
		p := sendCtx(r, ctx, r.c.JoinGroup, b.client(), b.joinRequest())
		cancel()
		p.held()
		resp := a.joined(a.join())
		want(r, "counts as joined", len(resp.Members), 2)
		want(r, "answered once, for nobody", p.get().ErrorCode, 0)
		r.sleep(9 * time.Second)
		a.heartbeat()
		r.sleep(time.Second)
		want(r, "session over", a.heartbeat(), codeRebalanceInProgress)
		want(r, "alone", len(a.joined(a.join()).Members), 1)
	})
}

func TestJoinIsReplacedByANewerOne(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		r.stable(a)
		first := b.join()
		first.held()
		second := b.tryJoin()
		want(r, "the older ends", first.get().ErrorCode, codeRebalanceInProgress)
		a.joined(a.join())
		b.joined(second)
	})
}

func TestGenerationGoesOnAfterEmpty(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		want(r, "commit", code(a.commit(0, 5)), 0)
		want(r, "leave", a.leave(), 0)
		want(r, "state", r.state("g"), "Empty")
		b := r.consumer("b")
		b.typ = "connect" // an empty group takes any type
		want(r, "generation", b.joined(b.join()).Generation, 3)
	})
}
