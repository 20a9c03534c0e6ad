package groupcoord

import (
	"slices"
	"testing"
	"time"
)

// acks sends what the client has taken over, and nothing else that is known.
func (b *beater) acks(owned ...string) []string {
	b.r.Helper()
	b.owned = owned
	req := b.request()
	req.Topics = ownedTopics(owned)
	return b.took(b.send(req))
}

// inDoubt brings a member into doubt: it is told to have a0 to a2 and is about to take
// them over. An answer is lost, so that it says everything, among it that it has
// nothing, and it now subscribes to b. It gets the answer to that if it is told. Then s
// joins, who subscribes to a.
func inDoubt(r *rig, told bool) (c, s *beater) {
	r.Helper()
	c, s = r.beater("c", "a"), r.beater("s", "a")
	c.rebalance = 20 * time.Second
	wantList(r, "c is told", c.join(), "a0", "a1", "a2")
	c.topics = []string{"b"}
	wantList(r, "c is told something else", c.has(), "b0", "b1")
	want(r, "epoch of c", c.epoch, 3)
	if !told {
		c.epoch = 2
	}
	wantList(r, "s must wait", s.join())
	return c, s
}

func inDoubtBubble(t *testing.T, told bool, test func(r *rig, c, s *beater)) {
	t.Helper()
	inConsumerBubble(t, Config{}, newFakeTopics("a:3", "b:2"), func(r *rig) {
		c, s := inDoubt(r, told)
		test(r, c, s)
	})
}

// A report that lacks partitions which the member was told to have does not give them
// up: it may be about to take them over, and when the answer is lost it does not know
// that it must not.
func TestPartitionsNotYetTakenOverAreNotGivenAway(t *testing.T) {
	inDoubtBubble(t, false, func(r *rig, c, s *beater) {
		d := r.describeConsumers(1)
		want(r, "state", d.State, "Reconciling")
		want(r, "topics of c", len(d.Members[0].Assignment.TopicPartitions), 1)
		want(r, "topic of c", d.Members[0].Assignment.TopicPartitions[0].Topic, "b")

		wantList(r, "c tries again", c.has(), "b0", "b1")
		c.epoch = 2 // that is lost, too, and c takes over what it was told first
		c.owned = []string{"a0", "a1", "a2"}
		want(r, "s waits", len(s.beat()), 0)
		want(r, "what c has is not its own", c.send(c.fullRequest()).get().ErrorCode, codeFencedMemberEpoch)
		want(r, "s waits", len(s.beat()), 0)
		wantList(r, "c has given it up and joins anew", c.join(), "b0", "b1")
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
	})
}

// A member that acknowledges what it was told last has not taken over what it was told
// before.
func TestAcknowledgementEndsDoubt(t *testing.T) {
	inDoubtBubble(t, true, func(r *rig, c, s *beater) {
		want(r, "c is taking over", len(c.beat()), 0)
		want(r, "s waits", len(s.beat()), 0)
		c.acks("b0", "b1")
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
	})
}

// Clients finish what they have begun, at whatever epoch they are meanwhile, and then
// give it up as they have to.
func TestFormerAssignmentIsTakenOverLate(t *testing.T) {
	inDoubtBubble(t, true, func(r *rig, c, s *beater) {
		want(r, "c is taking over", len(c.beat()), 0)
		c.acks("a0", "a1", "a2")
		for range 3 {
			r.sleep(5 * time.Second)
			want(r, "c gives it up", len(c.beat()), 0)
			want(r, "s waits", len(s.beat()), 0)
		}
		c.acks("b0", "b1")
		want(r, "c goes on", c.epoch, 4)
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
		want(r, "state", r.describeConsumers(1).State, "Stable")
	})
}

// One that does not give it up then has the time for it that it has for everything.
func TestFormerAssignmentIsNotGivenUp(t *testing.T) {
	inDoubtBubble(t, true, func(r *rig, c, s *beater) {
		c.acks("a0", "a1", "a2")
		r.sleep(19 * time.Second)
		want(r, "c has it", len(c.beat()), 0)
		want(r, "s waits", len(s.beat()), 0)
		r.sleep(time.Second)
		want(r, "c is removed", c.send(c.request()).get().ErrorCode, codeUnknownMember)
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
	})
}

// It has that time also if it had others to give up before: it has only just begun with
// the assignment that lacks both.
func TestFormerAssignmentHasItsOwnTimeToBeGivenUp(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("a:1", "b:1", "d:1"), func(r *rig) {
		c, s := r.beater("c", "b"), r.beater("s", "a")
		c.rebalance = 20 * time.Second
		c.join()
		c.acks("b0")
		c.topics = []string{"a", "b"}
		wantList(r, "c is told of a", c.has("b0"), "a0", "b0")
		c.topics = []string{"b"}
		wantList(r, "c is told that it has lost a", c.has("b0"), "b0")
		c.topics = []string{"d"}
		wantList(r, "c is to give up b", c.has("b0"))
		r.sleep(15 * time.Second)
		c.acks("a0", "b0")
		r.sleep(15 * time.Second)
		want(r, "c has time", len(c.beat()), 0)
		wantList(r, "s must wait", s.join())
		wantList(r, "c has given up both", c.acks(), "d0")
		wantList(r, "s", s.beat(), "a0")
	})
}

// A client that always says everything acknowledges nothing, but what it was given
// later tells that it is done with what was before.
func TestLaterPartitionsEndDoubt(t *testing.T) {
	inDoubtBubble(t, true, func(r *rig, c, s *beater) {
		wantList(r, "c has nothing", c.has(), "b0", "b1")
		want(r, "s waits", len(s.beat()), 0)
		c.has("b1")
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
	})
}

// Nothing is in doubt for ever, and nobody is removed for it: no client takes longer
// for an assignment than its rebalance timeout. That time begins when it must know, and
// what it has at its end is reported with the second heartbeat after it: the first one
// may have been sent before.
func TestDoubtEndsInTime(t *testing.T) {
	inDoubtBubble(t, true, func(r *rig, c, s *beater) {
		r.sleep(30 * time.Second) // nobody knows whether c has got its last answer
		for range 5 {
			want(r, "c", len(c.beat()), 0)
			want(r, "s waits", len(s.beat()), 0)
			r.sleep(5 * time.Second)
		}
		want(r, "c is a member", len(c.beat()), 0)
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
		want(r, "epoch of c", c.epoch, 4)
		want(r, "state", r.describeConsumers(1).State, "Stable")
	})
	inDoubtBubble(t, false, func(r *rig, c, s *beater) {
		wantList(r, "c does not know yet", c.has(), "b0", "b1")
		r.sleep(15 * time.Second)
		for range 3 {
			want(r, "c knows", len(c.beat()), 0)
			want(r, "s waits", len(s.beat()), 0)
			r.sleep(10 * time.Second)
		}
		want(r, "c goes on", len(c.beat()), 0)
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
	})
}

// A member that took over what is in doubt in the last moment reports it after its
// time, and has it.
func TestDoubtIsConfirmedInTheLastMoment(t *testing.T) {
	inDoubtBubble(t, true, func(r *rig, c, s *beater) {
		want(r, "c is taking over", len(c.beat()), 0)
		r.sleep(20 * time.Second)
		want(r, "c was still taking over when it sent that", len(c.beat()), 0)
		want(r, "s waits", len(s.beat()), 0)
		c.acks("a0", "a1", "a2")
		want(r, "s waits", len(s.beat()), 0)
		c.acks("b0", "b1")
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
	})
}

// What comes into doubt has its own time, even if something else is in doubt already.
func TestEachDoubtHasItsOwnTime(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("a:1", "b:1", "d:1"), func(r *rig) {
		c, s := r.beater("c", "a"), r.beater("s", "a", "b")
		c.rebalance = 20 * time.Second
		c.join()
		c.topics = []string{"b"}
		c.has()
		c.beat()
		r.sleep(20 * time.Second)
		c.topics = []string{"d"}
		wantList(r, "b is in doubt, too", c.has(), "d0")
		wantList(r, "s must wait", s.join())
		for range 4 {
			c.beat()
			want(r, "s waits", len(s.beat()), 0)
			r.sleep(5 * time.Second)
		}
	})
}

// Whoever is gone takes nothing over.
func TestDoubtEndsWithTheMember(t *testing.T) {
	inDoubtBubble(t, false, func(r *rig, c, s *beater) {
		want(r, "c leaves", c.leave(-1), 0)
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
	})
	inDoubtBubble(t, false, func(r *rig, c, s *beater) {
		r.sleep(44 * time.Second)
		want(r, "s waits", len(s.beat()), 0)
		r.sleep(time.Second)
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
	})
}

// A static member that leaves for a while has nothing meanwhile, and its new process
// takes over only what it is told.
func TestDoubtEndsWithTheProcess(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("a:3", "b:2"), func(r *rig) {
		c, s := r.staticBeater("c", "one", "a"), r.beater("s", "a")
		c.join()
		c.topics = []string{"b"}
		c.has()
		wantList(r, "s must wait", s.join())
		want(r, "c leaves", c.leave(-2), 0)
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
		c2 := r.staticBeater("c2", "one", "b")
		wantList(r, "returns", c2.join(), "b0", "b1")
	})
}

// The new process of a static member has never been told what the former one was: what
// it does not have is free.
func TestNewProcessHasNothingInDoubt(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("a:3", "b:2"), func(r *rig) {
		c, s := r.staticBeater("c", "one", "a"), r.beater("s", "a")
		c.join()
		c.leave(-2)
		c2 := r.staticBeater("c2", "one", "b")
		wantList(r, "c2", c2.join(), "b0", "b1")
		wantList(r, "s", s.join(), "a0", "a1", "a2")
	})
}

// Another owner of the group has the same doubts.
func TestDoubtSurvivesTheOwner(t *testing.T) {
	inDoubtBubble(t, true, func(r *rig, c, s *beater) {
		r.restart()
		want(r, "s waits", len(s.beat()), 0)
		want(r, "c is taking over", len(c.beat()), 0)
		want(r, "s waits", len(s.beat()), 0)
		r.restart()
		c.has("b0")
		wantList(r, "s", s.beat(), "a0", "a1", "a2")
	})
}

// What a member has to give up and never had is in doubt as well: it may not have got
// the answer that takes it away.
func TestRevokedBeforeTakenOver(t *testing.T) {
	topics := newFakeTopics("a:3")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		c, s := r.beater("c", "a"), r.beater("s", "a")
		c.join()
		s.join()
		wantList(r, "c has to give up one", c.beat(), "a0", "a1")
		wantList(r, "everything was lost so far", c.has(), "a0", "a1")
		want(r, "c goes on", c.epoch, 3)
		want(r, "s waits", len(s.beat()), 0)
		c.has("a0", "a1")
		wantList(r, "c took the topic over without it", s.beat(), "a2")
	})
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		c, s := r.beater("c", "a"), r.beater("s", "a")
		c.join()
		s.join()
		wantList(r, "c has to give up one", c.beat(), "a0", "a1")
		c.acks()
		wantList(r, "c has got the answer", s.beat(), "a2")
	})
}

// A client that acknowledges takes over later what it does not know the name of yet,
// unless it was told before that it must not.
func TestAcknowledgementOfAPart(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("a:1", "b:1"), func(r *rig) {
		c, s := r.beater("c", "a", "b"), r.beater("s", "b")
		wantList(r, "c is told", c.join(), "a0", "b0")
		req := c.request()
		req.SubscribedTopicNames, req.Topics = []string{"a"}, ownedTopics([]string{"a0"})
		wantList(r, "c is told less", c.took(c.send(req)), "a0")
		wantList(r, "s must wait", s.join())
		c.acks("a0")
		wantList(r, "s", s.beat(), "b0")
	})
}

// What a member has reported and does not report any more it has given up.
func TestReportedPartitionsAreGivenUpAtOnce(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("a:3", "b:2"), func(r *rig) {
		c, s := r.beater("c", "a"), r.beater("s", "a")
		c.join()
		c.has("a0", "a1", "a2")
		c.topics = []string{"b"}
		wantList(r, "c", c.has(), "b0", "b1")
		wantList(r, "s", s.join(), "a0", "a1", "a2")
	})
}

// A topic of which a client has taken over an earlier part may still get its later one.
func TestEarlierPartitionsProveNothing(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2", "u:1"), func(r *rig) {
		x, y, c := r.beater("x", "t"), r.beater("y", "t"), r.beater("c", "t")
		x.join()
		y.join()
		r.settle(x, y)
		wantList(r, "c waits", c.join())
		var got []string
		for _, leaves := range []*beater{x, y} {
			leaves.leave(-1)
			got = append(slices.Clone(got), leaves.owned...)
			slices.Sort(got)
			wantList(r, "c", c.beat(), got...)
		}
		c.topics = []string{"u"}
		wantList(r, "c has the first", c.has(x.owned...))
		wantList(r, "c has given it up", c.has(), "u0")
		s := r.beater("s", "t")
		wantList(r, "s gets the first", s.join(), x.owned...)
		c.acks("u0")
		wantList(r, "s gets both", s.beat(), "t0", "t1")
	})
}

// What comes into doubt later is not settled by what the member was given before.
func TestEachDoubtHasItsOwnEnd(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("a:1", "b:1", "d:1"), func(r *rig) {
		c := r.beater("c", "a")
		wantList(r, "c is told", c.join(), "a0")
		c.topics = []string{"b"}
		wantList(r, "c is told something else", c.has(), "b0")
		c.topics = []string{"d"}
		wantList(r, "and something else", c.has(), "d0")
		s := r.beater("s", "a", "b")
		wantList(r, "s must wait", s.join())
		wantList(r, "c took over what it was told second", c.has("b0"), "d0")
		want(r, "s waits", len(s.beat()), 0)
		c.has("d0")
		wantList(r, "s", s.beat(), "a0", "b0")
	})
}

// What a member gets back it may report from the first time: that does not tell that
// it is done with what it was given in between, or with it.
func TestPartitionsThatComeBackProveNothing(t *testing.T) {
	t.Run("of what was given in between", func(t *testing.T) {
		inConsumerBubble(t, Config{}, newFakeTopics("a:1", "b:1"), func(r *rig) {
			c, s := r.beater("c", "a"), r.beater("s", "b")
			wantList(r, "c is told", c.join(), "a0")
			c.topics = []string{"b"}
			wantList(r, "c is told something else", c.has(), "b0")
			c.topics = []string{"a"}
			wantList(r, "c gets it back", c.has(), "a0")
			wantList(r, "s must wait", s.join())
			c.has("a0")
			want(r, "s waits", len(s.beat()), 0)
			c.acks("a0")
			wantList(r, "s", s.beat(), "b0")
		})
	})
	t.Run("of what came with it", func(t *testing.T) {
		topics := newFakeTopics("a:1", "b:1")
		inConsumerBubble(t, Config{}, topics, func(r *rig) {
			c, s := r.beater("c", "a"), r.beater("s", "a")
			wantList(r, "c is told", c.join(), "a0")
			c.topics = []string{"b"}
			wantList(r, "c is told something else", c.has(), "b0")
			topics.set("a:2")
			c.topics = []string{"a"}
			wantList(r, "c gets more", c.has(), "a0", "a1")
			wantList(r, "s must wait", s.join())
			before := c.epoch
			wantList(r, "c loses one", c.has(), "a0")
			c.epoch = before // it is not told
			c.has("a0")
			want(r, "s waits", len(s.beat()), 0)
			c.acks("a0")
			wantList(r, "s", s.beat(), "a1")
		})
	})
	t.Run("after it was to be given up", func(t *testing.T) {
		inConsumerBubble(t, Config{}, newFakeTopics("a:1", "b:1"), func(r *rig) {
			c, s := r.beater("c", "a", "b"), r.beater("s", "b")
			wantList(r, "c is told", c.join(), "a0", "b0")
			req := c.request()
			req.SubscribedTopicNames = []string{"b"}
			wantList(r, "c is to give one up", c.took(c.send(req)), "b0")
			c.topics = []string{"a"}
			wantList(r, "c gets it back", c.has(), "a0")
			wantList(r, "s must wait", s.join())
			c.has("a0") // it does not know the name of b yet
			want(r, "s waits", len(s.beat()), 0)
			c.acks("a0")
			wantList(r, "s", s.beat(), "b0")
		})
	})
}
