package groupcoord

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestConsumerHeartbeatIsChecked(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:3"), func(r *rig) {
		for _, tc := range []struct {
			name   string
			change func(*kmsg.ConsumerGroupHeartbeatRequest)
			code   int16
		}{
			{"no member id in v1", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberID = "" }, codeInvalidRequest},
			{"no member id after the join", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.Version, q.MemberID, q.MemberEpoch = 0, "", 1 }, codeInvalidRequest},
			{"no member id leaving", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.Version, q.MemberID, q.MemberEpoch = 0, "", -1 }, codeInvalidRequest},
			{"no group", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.Group = "" }, codeInvalidRequest},
			{"empty instance", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.InstanceID = ptr("") }, codeInvalidRequest},
			{"empty rack", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.RackID = ptr("") }, codeInvalidRequest},
			{"no rebalance timeout", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.RebalanceTimeoutMillis = -1 }, codeInvalidRequest},
			{"owned not said", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.Topics = nil }, codeInvalidRequest},
			{"owns something", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.Topics = ownedTopics([]string{"t0"}) }, codeInvalidRequest},
			{"no subscription", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.SubscribedTopicNames = nil }, codeInvalidRequest},
			{"-2 without instance", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch = -2 }, codeInvalidRequest},
			{"-3", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch = -3 }, codeInvalidRequest},
			{"unknown assignor", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.ServerAssignor = ptr("mine") }, codeUnsupportedAssignor},
			{"bad pattern", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.SubscribedTopicRegex = ptr("a(b") }, codeInvalidRegex},
			{"unknown group", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch = 3 }, codeUnknownMember},
			{"leaves an unknown group", func(q *kmsg.ConsumerGroupHeartbeatRequest) { q.MemberEpoch = -1 }, codeGroupIDNotFound},
		} {
			b := r.beater("a", "t")
			req := b.fullRequest()
			tc.change(req)
			want(r, tc.name, b.send(req).get().ErrorCode, tc.code)
			want(r, "groups after "+tc.name, r.inMemory(), 0)
		}
	})
}

// The first member has everything, a second one gets its share only when the first
// has told that it gave it up.
func TestRevokeBeforeAssign(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:3"), func(r *rig) {
		a, b := r.beater("a", "t"), r.beater("b", "t")
		wantList(r, "a joins", a.join(), "t0", "t1", "t2")
		want(r, "epoch", a.epoch, 2)
		want(r, "interval", a.interval, 5000)
		want(r, "nothing new", len(a.beat()), 0)
		want(r, "state", r.describeConsumers(1).State, "Stable")

		wantList(r, "b gets nothing", b.join())
		want(r, "b is at the target", b.epoch, 3)
		want(r, "state", r.describeConsumers(1).State, "Reconciling")
		wantList(r, "a has to give up one", a.beat(), "t0", "t1")
		want(r, "a stays", a.epoch, 2)
		want(r, "a is told once", len(a.beat()), 0)
		want(r, "b waits", len(b.beat()), 0)
		wantList(r, "a still has it", a.has("t0", "t1", "t2"), "t0", "t1")
		want(r, "b waits", len(b.beat()), 0)
		want(r, "a stays", a.epoch, 2)

		a.has("t0", "t1")
		want(r, "a goes on", a.epoch, 3)
		wantList(r, "b gets it", b.beat(), "t2")
		want(r, "state", r.describeConsumers(1).State, "Stable")
	})
}

func TestMemberThatDoesNotGiveUpIsFenced(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a, b := r.beater("a", "t"), r.beater("b", "t")
		a.rebalance = 20 * time.Second
		a.join()
		b.join()
		wantList(r, "a has to give up", a.beat(), "t0")
		for range 3 {
			r.sleep(5 * time.Second)
			a.beat()
			want(r, "b waits", len(b.beat()), 0)
		}
		r.sleep(5 * time.Second)
		want(r, "a is fenced", a.send(a.request()).get().ErrorCode, codeUnknownMember)
		wantList(r, "b has everything", b.beat(), "t0", "t1")
		want(r, "epoch", b.epoch, 4)
	})
}

func TestConsumerSession(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a, b := r.beater("a", "t"), r.beater("b", "t")
		a.join()
		r.sleep(44 * time.Second)
		a.beat()
		b.join()
		r.sleep(44 * time.Second)
		b.beat()
		r.sleep(time.Second)
		want(r, "a is gone", a.send(a.request()).get().ErrorCode, codeUnknownMember)
		wantList(r, "b has everything", b.beat(), "t0", "t1")
		r.sleep(45 * time.Second)
		d := r.describeConsumers(1)
		want(r, "state", d.State, "Empty")
		want(r, "epoch", d.Epoch, 5)
	})
}

// The consumer protocol of an unused group costs nothing.
func TestEmptyConsumerGroupIsForgotten(t *testing.T) {
	topics := newFakeTopics("t:2")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		a := r.beater("a", "t")
		a.join()
		want(r, "leave", a.leave(-1), 0)
		asked := topics.calls()
		r.sleep(61 * time.Second)
		want(r, "groups", r.inMemory(), 0)
		want(r, "lookups", topics.calls(), asked)
	})
}

func TestConsumerLeaves(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a, b := r.beater("a", "t"), r.beater("b", "t")
		a.join()
		b.join()
		r.settle(a, b)
		resp := a.send(func() *kmsg.ConsumerGroupHeartbeatRequest { q := a.request(); q.MemberEpoch = -1; return q }()).get()
		want(r, "left", resp.ErrorCode, 0)
		want(r, "id", *resp.MemberID, "a")
		want(r, "epoch", resp.MemberEpoch, -1)
		want(r, "again", a.leave(-1), codeUnknownMember)
		want(r, "state", r.describeConsumers(1).State, "Assigning")
		wantList(r, "b", b.beat(), "t0", "t1")
		want(r, "leave", b.leave(-1), 0)
		want(r, "state", r.describeConsumers(1).State, "Empty")
		a.join()
		want(r, "epochs go on", a.epoch, 6)
	})
}

func TestWrongMemberEpochs(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:4"), func(r *rig) {
		a, b := r.beater("a", "t"), r.beater("b", "t")
		a.join()
		req := a.request()
		req.MemberEpoch = 3
		want(r, "ahead", a.send(req).get().ErrorCode, codeFencedMemberEpoch)

		// The answer to the join was lost: the client joins again.
		a.epoch, a.owned = 0, nil
		wantList(r, "joins again", a.join(), "t0", "t1", "t2", "t3")
		want(r, "same epoch", a.epoch, 2)

		b.join()
		a.beat()
		a.has("t0", "t1")
		want(r, "a went on", a.epoch, 3)
		// That answer was lost: a tries again with the epoch before.
		a.epoch = 2
		req = a.request()
		want(r, "does not say what it has", a.send(req).get().ErrorCode, codeFencedMemberEpoch)
		req = a.fullRequest()
		req.Topics = ownedTopics([]string{"t0", "t1", "t2"})
		want(r, "has what it must not", a.send(req).get().ErrorCode, codeFencedMemberEpoch)
		wantList(r, "tries again", a.has("t0", "t1"), "t0", "t1")
		want(r, "is told its epoch", a.epoch, 3)
		a.epoch = 1
		want(r, "too far behind", a.send(a.fullRequest()).get().ErrorCode, codeFencedMemberEpoch)
		wantList(r, "has given up all and joins anew", a.join(), "t0", "t1")
		want(r, "at the same epoch", a.epoch, 3)
	})
}

// A member may miss one answer after the other while it waits for partitions: none of
// them has led it any further.
func TestAnswersLostWhileWaiting(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:4", "u:1"), func(r *rig) {
		c, s := r.beater("c", "t"), r.beater("s", "u")
		c.join()
		s.join()
		r.settle(c, s)
		before := s.epoch
		s.topics = []string{"t", "u"}
		for range 3 {
			s.epoch = before
			wantList(r, "s waits", s.has("u0"), "u0")
			want(r, "epoch of s", s.epoch, before+1)
		}
		c.follow()
		wantList(r, "s", s.beat(), "t3", "u0")
	})
}

func TestMemberIDMadeByTheServer(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:1"), func(r *rig) {
		a := r.beater("a", "t")
		a.version, a.id = 0, ""
		wantList(r, "joins", a.join(), "t0")
		if a.id == "" {
			t.Fatal("no id")
		}
		want(r, "goes on", len(a.beat()), 0)
		want(r, "leaves", a.leave(-1), 0)
	})
}

func TestConsumerGroupMaxSize(t *testing.T) {
	inConsumerBubble(t, Config{MaxGroupSize: 1}, newFakeTopics("t:1"), func(r *rig) {
		a, b := r.beater("a", "t"), r.beater("b", "t")
		a.join()
		want(r, "full", b.send(b.fullRequest()).get().ErrorCode, codeGroupMaxSizeReached)
		a.join()
		a.leave(-1)
		b.join()
	})
}

func TestAssignorOfTheMajority(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("a:3", "b:3"), func(r *rig) {
		x, y := r.beater("x", "a", "b"), r.beater("y", "a", "b")
		x.join()
		want(r, "default", r.describeConsumers(1).AssignorName, "uniform")
		y.assignor = ptr("range")
		y.join()
		want(r, "asked for", r.describeConsumers(1).AssignorName, "range")
		r.settle(x, y)
		wantList(r, "x", x.owned, "a0", "a1", "b0", "b1")
		wantList(r, "y", y.owned, "a2", "b2")
	})
}

func TestChangedSubscription(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("a:2", "b:2"), func(r *rig) {
		x := r.beater("x", "a")
		wantList(r, "x", x.join(), "a0", "a1")
		x.topics = []string{"b", "b"}
		wantList(r, "gives up first", x.has("a0", "a1"))
		want(r, "stays", x.epoch, 2)
		wantList(r, "has given up", x.has(), "b0", "b1")
		want(r, "epoch", x.epoch, 3)
		x.topics = []string{}
		x.owned = []string{"b0", "b1"}
		wantList(r, "nothing", x.follow())
		want(r, "state", r.describeConsumers(1).State, "Stable")
	})
}
