package groupcoord

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// classicConsumer is a consumer of the classic protocol whose metadata and
// assignments are real.
func (r *rig) classicConsumer(name string, topics ...string) *consumer {
	c := r.consumer(name)
	c.subscribe(topics, nil)
	return c
}

// subscribe sets the metadata; owned are partitions like "t0" of a cooperative
// client, nil for an eager one.
func (c *consumer) subscribe(topics, owned []string) {
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.Topics = 1, topics
	set := make(partitionSet)
	for _, p := range owned {
		set.add(partitionNamed(p))
	}
	for _, t := range set.byTopic() {
		o := kmsg.NewConsumerMemberMetadataOwnedPartition()
		o.Topic, o.Partitions = topicText(t.topic), t.partitions
		m.OwnedPartitions = append(m.OwnedPartitions, o)
	}
	c.protocols = offersWith(string(m.AppendTo(nil)), "range")
}

func topicText(id topicID) string { s := partitionID{topic: id}.text(); return s[:len(s)-1] }

// encodedAssignment encodes partitions like "t0".
func encodedAssignment(partitions ...string) string {
	set, names := make(partitionSet), make(map[topicID]string)
	for _, p := range partitions {
		id := partitionNamed(p)
		set.add(id)
		names[id.topic] = topicText(id.topic)
	}
	return string(writeAssignment(set, names, 1))
}

// assigned reads what a SyncGroup was answered.
func (c *consumer) assigned(p promise[*kmsg.SyncGroupResponse]) []string {
	c.r.Helper()
	resp := p.get()
	want(c.r, c.name+" syncs", resp.ErrorCode, 0)
	var a kmsg.ConsumerMemberAssignment
	if err := a.ReadFrom(resp.MemberAssignment); err != nil {
		c.r.Fatalf("assignment of %s: %v", c.name, err)
	}
	set := make(partitionSet)
	for _, t := range a.Topics {
		for _, p := range t.Partitions {
			set.add(partitionID{topicNamed(t.Topic), p})
		}
	}
	return texts(set)
}

// rejoin joins once more and returns the new assignment.
func (c *consumer) rejoin() []string {
	c.r.Helper()
	c.joined(c.join())
	return c.assigned(c.sync(nil))
}

// An eager classic consumer in a group of the consumer protocol.
func TestClassicMemberInConsumerGroup(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:3"), func(r *rig) {
		a := r.beater("a", "t")
		a.join()
		x := r.classicConsumer("x", "t")
		resp := x.joined(x.join())
		want(r, "generation is the member epoch", resp.Generation, 3)
		want(r, "leads nobody", resp.LeaderID, "")
		want(r, "protocol", *resp.Protocol, "range")
		want(r, "is not told the members", len(resp.Members), 0)
		wantList(r, "x has nothing yet", x.assigned(x.sync(nil)))
		want(r, "x waits", x.heartbeat(), 0)
		d := r.describeConsumers(1)
		want(r, "type of a", d.Members[0].MemberType, memberTypeConsumer)
		want(r, "type of x", d.Members[1].MemberType, memberTypeClassic)

		a.beat()
		a.has("t0", "t1")
		want(r, "x is told to rejoin", x.heartbeat(), codeRebalanceInProgress)
		wantList(r, "x", x.rejoin(), "t2")
		want(r, "stable", x.heartbeat(), 0)
		want(r, "state", r.describeConsumers(1).State, "Stable")

		want(r, "a leaves", a.leave(-1), 0)
		want(r, "the group is classic now", r.describe("g").State, "PreparingRebalance")
		want(r, "x is told to rejoin", x.heartbeat(), codeRebalanceInProgress)
		resp = x.joined(x.join())
		want(r, "x leads", resp.LeaderID, x.id)
		want(r, "generation goes on", resp.Generation, 4)
		want(r, "described", r.describeConsumers(1).ErrorCode, codeGroupIDNotFound)
	})
}

// A cooperative classic consumer gives up what it has to in steps.
func TestCooperativeMemberInConsumerGroup(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a := r.beater("a", "t")
		a.join()
		x := r.classicConsumer("x", "t")
		x.joined(x.join())
		x.sync(nil).get()
		a.follow()
		wantList(r, "x", x.rejoin(), "t1")
		want(r, "a leaves", a.leave(-1), 0)

		// The group is a classic one, until b joins.
		b := r.beater("b", "t")
		want(r, "x is classic alone", x.heartbeat(), codeRebalanceInProgress)
		resp := x.joined(x.join())
		want(r, "x leads", resp.LeaderID, x.id)
		x.assigned(x.sync(map[string]string{x.id: encodedAssignment("t0", "t1")}))
		x.subscribe([]string{"t"}, []string{"t0", "t1"})
		wantList(r, "b has nothing yet", b.join())
		want(r, "x is told", x.heartbeat(), codeRebalanceInProgress)
		wantList(r, "x must give up one", x.rejoin(), "t0")
		want(r, "x is told again", x.heartbeat(), codeRebalanceInProgress)
		want(r, "b waits", len(b.beat()), 0)
		x.subscribe([]string{"t"}, []string{"t0"})
		wantList(r, "x keeps", x.rejoin(), "t0")
		want(r, "x is through", x.heartbeat(), 0)
		wantList(r, "b gets it", b.beat(), "t1")
	})
}

func TestClassicGroupIsUpgraded(t *testing.T) {
	inConsumerBubble(t, Config{InitialRebalanceDelay: time.Second}, newFakeTopics("t:4"), func(r *rig) {
		x, y := r.classicConsumer("x", "t"), r.classicConsumer("y", "t")
		joins := []promise[*kmsg.JoinGroupResponse]{x.join(), y.join()}
		r.sleep(2 * time.Second)
		x.joined(joins[0])
		y.joined(joins[1])
		if !x.leader {
			x, y = y, x
		}
		pending := y.sync(nil)
		x.assigned(x.sync(map[string]string{x.id: encodedAssignment("t0", "t1"), y.id: encodedAssignment("t2", "t3")}))
		y.assigned(pending)
		generation := x.generation

		b := r.beater("b", "t")
		wantList(r, "b has nothing yet", b.join())
		want(r, "epoch", b.epoch, generation+1)
		want(r, "members", len(r.describeConsumers(1).Members), 3)
		want(r, "commit of a classic member", code(x.commit(0, 5)), 0)
		want(r, "x is told", x.heartbeat(), codeRebalanceInProgress)
		want(r, "sync meanwhile", x.sync(nil).get().ErrorCode, codeRebalanceInProgress)
		// Both are eager: they come back with nothing and get their new share at once.
		xs, ys := x.rejoin(), y.rejoin()
		bs := b.beat()
		all := slices.Concat(xs, ys, bs)
		slices.Sort(all)
		wantList(r, "everything is owned once", all, "t0", "t1", "t2", "t3")
		want(r, "b has one", len(bs), 1)
		want(r, "wrong generation", func() int16 { x.generation--; defer func() { x.generation++ }(); return x.heartbeat() }(), codeIllegalGeneration)
		want(r, "commit of a wrong generation", func() int16 { x.generation--; defer func() { x.generation++ }(); return code(x.commit(0, 6)) }(), codeIllegalGeneration)

		want(r, "b leaves", b.leave(-1), 0)
		want(r, "downgrade", r.describe("g").State, "PreparingRebalance")
		want(r, "x is told", x.heartbeat(), codeRebalanceInProgress)
	})
}

// Members that wait in a classic rebalance are told to come back.
func TestUpgradeDuringRebalance(t *testing.T) {
	inConsumerBubble(t, Config{InitialRebalanceDelay: 3 * time.Second}, newFakeTopics("t:2"), func(r *rig) {
		x := r.classicConsumer("x", "t")
		join := x.join()
		join.held()
		b := r.beater("b", "t")
		b.join()
		want(r, "join", join.get().ErrorCode, codeRebalanceInProgress)
		xs := x.rejoin()
		want(r, "x has its share at once", len(xs), 1)
		all := slices.Concat(xs, b.follow())
		slices.Sort(all)
		wantList(r, "everything is owned once", all, "t0", "t1")
		want(r, "x is through", x.heartbeat(), 0)
	})
}

func TestGroupsThatCannotBeUpgraded(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		b := r.beater("b", "t")
		connect := r.classicConsumer("x", "t")
		connect.typ = "connect"
		r.stable(connect)
		want(r, "connect", b.send(b.fullRequest()).get().ErrorCode, codeGroupIDNotFound)
		connect.leave()

		strange := r.consumer("y") // its metadata is not that of a consumer
		r.stable(strange)
		want(r, "unreadable", b.send(b.fullRequest()).get().ErrorCode, codeGroupIDNotFound)
		want(r, "still classic", strange.heartbeat(), 0)
		strange.leave()

		custom := r.classicConsumer("z", "t")
		custom.joined(custom.join())
		a := kmsg.NewConsumerMemberAssignment()
		a.UserData = []byte("mine")
		want(r, "sync", custom.sync(map[string]string{custom.id: string(a.AppendTo(nil))}).get().ErrorCode, 0)
		want(r, "custom assignor", b.send(b.fullRequest()).get().ErrorCode, codeGroupIDNotFound)
		custom.leave()
		wantList(r, "an empty group becomes one", b.join(), "t0", "t1")
		want(r, "and begins anew", b.epoch, 2)
	})
}

func TestEmptyConsumerGroupBecomesClassic(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		b := r.beater("b", "t")
		b.join()
		b.leave(-1)
		x := r.classicConsumer("x", "t")
		x.id = "unknown"
		want(r, "unknown id", x.tryJoin().get().ErrorCode, codeUnknownMember)
		want(r, "still of the consumer protocol", r.describeConsumers(1).State, "Empty")
		x.id = ""
		want(r, "first generation", x.joined(x.join()).Generation, 1)
		want(r, "classic", r.describe("g").State, "CompletingRebalance")
	})
}

func TestClassicJoinIsChecked(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		b := r.beater("b", "t")
		b.join()
		x := r.classicConsumer("x", "t")
		x.typ = "connect"
		want(r, "type", x.tryJoin().get().ErrorCode, codeInconsistentProtocol)
		y := r.consumer("y")
		want(r, "metadata", y.tryJoin().get().ErrorCode, codeInconsistentProtocol)
		z := r.classicConsumer("z", "t")
		z.session = time.Second
		want(r, "session", z.tryJoin().get().ErrorCode, codeInvalidSessionTimeout)
		ok := r.classicConsumer("ok", "t")
		ok.joined(ok.join())
		other := r.classicConsumer("other", "t")
		other.protocols[0].Name = "mine"
		want(r, "no common protocol", other.tryJoin().get().ErrorCode, codeInconsistentProtocol)
		want(r, "a member of the consumer protocol beats in the classic one", func() int16 {
			c := r.consumer("b")
			c.id, c.generation = "b", b.epoch
			return c.heartbeat()
		}(), codeUnknownMember)
		late := r.classicConsumer("late", "t")
		late.id = "removed-before"
		want(r, "an id that was not given", late.tryJoin().get().ErrorCode, codeUnknownMember)
		late.id = ""
		late.id = late.tryJoin().get().MemberID
		want(r, "leaves before it has joined", late.leave(), 0)
		want(r, "and cannot join", late.tryJoin().get().ErrorCode, codeUnknownMember)
		want(r, "leaves", ok.leave(), 0)
		want(r, "leaves again", ok.leave(), codeUnknownMember)
	})
}

// Classic members have the rebalance timeout to rejoin, and to sync.
func TestClassicMembersThatAreLate(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		b := r.beater("b", "t")
		b.join()
		x := r.classicConsumer("x", "t")
		x.rebalance, x.session = 20*time.Second, 30*time.Second
		x.joined(x.join())
		r.sleep(20 * time.Second)
		want(r, "did not sync", x.heartbeat(), codeUnknownMember)
		b.follow()

		x.id = ""
		x.joined(x.join())
		x.sync(nil).get()
		b.follow()
		want(r, "told to rejoin", x.heartbeat(), codeRebalanceInProgress)
		r.sleep(10 * time.Second)
		b.beat()
		want(r, "told again", x.heartbeat(), codeRebalanceInProgress)
		r.sleep(10 * time.Second)
		want(r, "did not rejoin", x.heartbeat(), codeUnknownMember)
		wantList(r, "b has all", b.follow(), "t0", "t1")
	})
}

// A static member may change the protocol with a restart, in both directions.
func TestStaticMemberChangesTheProtocol(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		x := r.classicConsumer("x", "t")
		x.instance = ptr("one")
		x.joined(x.join())
		x.assigned(x.sync(map[string]string{x.id: encodedAssignment("t0", "t1")}))
		b := r.staticBeater("b", "one", "t")
		wantList(r, "takes the place of a classic member", b.join(), "t0", "t1")
		want(r, "members", len(r.describeConsumers(1).Members), 1)
		want(r, "old process", x.heartbeat(), codeFencedInstance)

		y := r.classicConsumer("y", "t")
		y.instance = ptr("one")
		y.joined(y.join())
		want(r, "the group is classic again", r.describe("g").State, "PreparingRebalance")
		want(r, "sync", y.sync(nil).get().ErrorCode, codeRebalanceInProgress)
		resp := y.joined(y.join())
		want(r, "leads", resp.LeaderID, y.id)
		want(r, "old process", b.send(b.request()).get().ErrorCode, codeUnknownMember)
	})
}

// A commit that was under way when the group changed its protocol ends as any.
func TestCommitAcrossUpgrade(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		r.offsets.gate = make(chan struct{}, 4)
		x := r.classicConsumer("x", "t")
		x.joined(x.join())
		x.assigned(x.sync(map[string]string{x.id: encodedAssignment("t0", "t1")}))
		commit := x.commit(0, 7)
		commit.held()
		b := r.beater("b", "t")
		b.join()
		r.offsets.gate <- struct{}{}
		want(r, "commit", code(commit), 0)
		r.sleep(10 * time.Second)
		want(r, "the session ends as any", x.heartbeat(), codeUnknownMember)
	})
}

// A cooperative member may still use what its leader took from it a moment ago: in the
// consumer group it has that until it says otherwise.
func TestUpgradeKeepsWhatCooperativeMembersStillHave(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		x := r.classicConsumer("x", "t")
		x.joined(x.join())
		x.assigned(x.sync(map[string]string{x.id: encodedAssignment("t0", "t1")}))
		x.subscribe([]string{"t"}, []string{"t0", "t1"})
		x.joined(x.join())
		x.sync(map[string]string{x.id: encodedAssignment("t0")}).get() // it does not get the answer

		b := r.beater("b", "t")
		wantList(r, "b waits", b.join())
		wantList(r, "x must give up one", x.rejoin(), "t0")
		want(r, "b waits", len(b.beat()), 0)
		x.subscribe([]string{"t"}, []string{"t0"})
		wantList(r, "x has given it up", x.rejoin(), "t0")
		wantList(r, "b", b.beat(), "t1")
	})
}

// That is so for a topic, too, that nobody subscribes to any more and nobody was given.
func TestUpgradeKeepsTopicsThatCooperativeMembersLeave(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:1", "u:2"), func(r *rig) {
		x := r.classicConsumer("x", "t", "u")
		x.joined(x.join())
		x.assigned(x.sync(map[string]string{x.id: encodedAssignment("t0", "u0", "u1")}))
		x.subscribe([]string{"t"}, []string{"t0", "u0", "u1"})
		x.joined(x.join())
		x.sync(map[string]string{x.id: encodedAssignment("t0")}).get() // it does not get the answer

		b := r.beater("b", "t")
		wantList(r, "b has nothing yet", b.join())
		b.topics = []string{"u"}
		wantList(r, "b waits", b.has())
		wantList(r, "x must give up a topic", x.rejoin(), "t0")
		want(r, "b waits", len(b.beat()), 0)
		x.subscribe([]string{"t"}, []string{"t0"})
		wantList(r, "x has given it up", x.rejoin(), "t0")
		wantList(r, "b", b.beat(), "u0", "u1")
	})
}

// The same where the group has been one of the consumer protocol before.
func TestUpgradeSoonAfterDowngrade(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a := r.beater("a", "t")
		a.join()
		x := r.classicConsumer("x", "t")
		x.joined(x.join())
		a.has("t0", "t1")
		a.has("t0")
		wantList(r, "x", x.rejoin(), "t1")
		want(r, "a leaves", a.leave(-1), 0)
		b := r.beater("b", "t")
		wantList(r, "b gets what is free", b.join(), "t0")
		x.subscribe([]string{"t"}, []string{"t1"})
		wantList(r, "x keeps its own", x.rejoin(), "t1")
	})
}

// While the catalog fails it is not known what the members of a classic group have.
func TestUpgradeWaitsForTheCatalog(t *testing.T) {
	topics := newFakeTopics("t:2")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		x := r.classicConsumer("x", "t")
		x.joined(x.join())
		x.assigned(x.sync(map[string]string{x.id: encodedAssignment("t0", "t1")}))
		topics.fail(true)
		b := r.beater("b", "t")
		want(r, "tries again", b.send(b.fullRequest()).get().ErrorCode, codeLoading)
		want(r, "still classic", x.heartbeat(), 0)
		topics.fail(false)
		wantList(r, "x has everything", b.join())
	})
}
