package oracle

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerScenarios: groups of the consumer protocol (KIP-848).
var consumerScenarios = []Scenario{
	{"consumer-alone", "one member gets everything at once", consumerAlone},
	{"consumer-two", "the second member gets its part when the first has given it up", consumerTwo},
	{"consumer-leaves", "what a member leaves behind goes to the others", consumerLeaves},
	{"consumer-refused", "first heartbeats that are no good", consumerRefused},
	{"consumer-epochs", "heartbeats of the past and of the future", consumerEpochs},
	{"consumer-lost-answer", "a member that lost the answer repeats the epoch before", consumerLostAnswer},
	{"consumer-again", "a member that joins with the id it has", consumerAgain},
	{"consumer-assignors", "the assignors that the server has", consumerAssignors},
	{"consumer-subscription", "a member changes its topics", consumerSubscription},
	{"consumer-topic-later", "a topic that comes after its subscriber", consumerTopicLater},
	{"consumer-regex", "subscriptions by regular expression", consumerRegex},
	{"consumer-static", "a static member goes and comes back", consumerStatic},
	{"consumer-static-refused", "an instance that is in use, or of somebody else", consumerStaticRefused},
	{"consumer-static-leaves", "a static member leaves for good", consumerStaticLeaves},
	{"consumer-commits", "commits and their epochs", consumerCommits},
	{"consumer-fetches", "OffsetFetch by members", consumerFetches},
	{"consumer-described", "both ways to describe a group, and both kinds of group", consumerDescribed},
	{"consumer-listed", "types and states of the list", consumerListed},
	{"consumer-deleted", "deleting groups and offsets", consumerDeleted},
	{"consumer-holds-on", "who does not give up in time is fenced", consumerHoldsOn},
	{"consumer-removed", "an administrator removes members", consumerRemoved},
	{"consumer-old-version", "version 0 makes the member id", consumerOldVersion},
	{"consumer-classic-requests", "classic requests with the id of a member of the consumer protocol", consumerClassicRequests},
	{"upgrade", "a member of the consumer protocol joins a classic group", upgrade},
	{"upgrade-empty", "an empty classic group becomes one of the consumer protocol", upgradeEmpty},
	{"upgrade-refused", "a classic group that is not of consumers stays what it is", upgradeRefused},
	{"downgrade", "the group is classic again when the last member of the consumer protocol leaves", downgrade},
	{"downgrade-empty", "an empty group of the consumer protocol becomes classic", downgradeEmpty},
	{"classic-in-consumer", "a classic member joins a group of the consumer protocol", classicInConsumer},
	{"classic-in-consumer-refused", "which classic members cannot join a group of the consumer protocol", classicInConsumerRefused},
}

type pulse = kmsg.ConsumerGroupHeartbeatRequest

// owns is for Pulse: partitions of one topic that the member owns; none is an
// empty list.
func (m *Member) owns(topic string, partitions ...int32) func(*pulse) {
	return func(req *pulse) {
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		if len(partitions) == 0 {
			return
		}
		t := kmsg.NewConsumerGroupHeartbeatRequestTopic()
		t.TopicID, t.Partitions = m.r.TopicID(topic), partitions
		req.Topics = append(req.Topics, t)
	}
}

// pulseUntil sends heartbeats until the answer has an assignment, and writes
// that one down.
func (m *Member) pulseUntil(label string, edit ...func(*pulse)) {
	var answer *kmsg.ConsumerGroupHeartbeatResponse
	m.r.Eventually(label, func() bool {
		answer = m.Pulse("", edit...)
		return answer == nil || answer.ErrorCode != 0 || answer.Assignment != nil
	})
	if answer == nil {
		m.r.Fatalf("%s: the connection was closed", label)
	}
	if label != "" {
		m.r.step(label, m.r.describe(m.name, answer, 0))
	}
}

// subscribable is Topic, and waits until groups of the consumer protocol know the
// topic: a broker tells its coordinator after it has told its clients.
func (r *Run) subscribable(topic string, partitions int) {
	r.Topic(topic, partitions)
	r.knownToGroups(topic)
}

func filledSubscribable(r *Run, topic string, partitions int) {
	filled(r, topic, partitions)
	r.knownToGroups(topic)
}

func (r *Run) knownToGroups(topic string) {
	probe := r.Group("probe-"+topic).Member("probe-"+topic, topic)
	r.Eventually("partitions of "+topic+" to be given to a group", func() bool {
		answer := probe.Pulse("")
		return answer != nil && answer.Assignment != nil && len(answer.Assignment.Topics) > 0
	})
	probe.Generation = -1
	probe.Pulse("")
	r.Group("probe-" + topic).Delete("")
}

// describeConsumer asks with ConsumerGroupDescribe.
func (g *Group) describeConsumer(label string) {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Version, req.Groups = 1, []string{g.ID()}
	g.admin.Ask(label, req)
}

func consumerAlone(r *Run) {
	r.subscribable("t", 3)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins")
	a.Pulse("nothing changed")
	a.Pulse("it owns what it was given", a.owns("t", 0, 1, 2))
	g.describeConsumer("described")
}

func consumerTwo(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	a.Pulse("a joins")
	a.Pulse("a owns all", a.owns("t", 0, 1))
	b.Pulse("b joins, and gets nothing yet")
	g.describeConsumer("a has to give one up")
	a.pulseUntil("a is told")
	a.Pulse("a still owns both", a.owns("t", 0, 1))
	b.Pulse("b waits")
	a.Pulse("a gave one up", a.owns("t", 0))
	b.pulseUntil("b has it")
	b.Pulse("b owns it", b.owns("t", 1))
	a.Pulse("nothing changed for a")
	g.describeConsumer("described")
}

func consumerLeaves(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	a.Pulse("")
	a.Pulse("", a.owns("t", 0, 1))
	b.Pulse("")
	a.pulseUntil("")
	a.Pulse("", a.owns("t", 0))
	b.pulseUntil("b has a part")
	b.Pulse("b owns it", b.owns("t", 1))
	b.Generation = -1
	b.Pulse("b leaves")
	a.pulseUntil("a has all")
	b.Generation = 1
	b.Pulse("b is no member any more")
	a.Generation = -1
	a.Pulse("a leaves")
	g.describeConsumer("empty")
	a.Pulse("who left leaves again")
}

func consumerRefused(r *Run) {
	r.subscribable("t", 1)
	g := r.Group("g")
	for _, bad := range []struct {
		label string
		edit  func(*pulse)
	}{
		{"no group", func(req *pulse) { req.Group = "" }},
		{"no member id", func(req *pulse) { req.MemberID = "" }},
		{"no topics", func(req *pulse) { req.SubscribedTopicNames = nil }},
		{"nothing about what it owns", func(req *pulse) { req.Topics = nil }},
		{"no rebalance timeout", func(req *pulse) { req.RebalanceTimeoutMillis = -1 }},
		{"an empty instance", func(req *pulse) { req.InstanceID = kmsg.StringPtr("") }},
		{"an empty rack", func(req *pulse) { req.RackID = kmsg.StringPtr("") }},
		{"an unknown assignor", func(req *pulse) { req.ServerAssignor = kmsg.StringPtr("best") }},
		{"no instance, and it says that it comes back", func(req *pulse) { req.MemberEpoch = -2 }},
		{"an epoch of nothing", func(req *pulse) { req.MemberEpoch = -3 }},
		{"an epoch of a group that is not there", func(req *pulse) { req.MemberEpoch = 1 }},
		{"leaving a group that is not there", func(req *pulse) { req.MemberEpoch = -1 }},
	} {
		g.Member(bad.label, "t").Pulse(bad.label, bad.edit)
	}
	g.describeConsumer("no group came of it")
}

func consumerEpochs(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	a.Pulse("a joins")
	b.Pulse("b joins")
	a.pulseUntil("a has to give up")
	a.Pulse("a gave up", a.owns("t", 0))
	a.Pulse("an epoch to come", func(req *pulse) { req.MemberEpoch += 5 })
	a.Pulse("a past epoch that owns nothing", a.owns("t"), func(req *pulse) { req.MemberEpoch-- })
	a.Pulse("a past epoch that owns too much", a.owns("t", 0, 1), func(req *pulse) { req.MemberEpoch-- })
	a.Pulse("an id that is not there", func(req *pulse) { req.MemberID = "nobody" })
	a.Pulse("a good one")
}

func consumerLostAnswer(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins")
	first := func(req *pulse) {
		req.MemberEpoch, req.RebalanceTimeoutMillis = 0, int32(a.Rebalance.Milliseconds())
		req.SubscribedTopicNames = []string{r.Name("t")}
	}
	a.Pulse("a joins again, as if there had been no answer", a.owns("t"), first)
	a.Pulse("and goes on", a.owns("t", 0, 1))
	b := g.Member("b", "t")
	b.Pulse("b joins")
	a.pulseUntil("a has to give up")
	a.Pulse("a gave up", a.owns("t", 0))
	a.Pulse("once more with the epoch before", a.owns("t", 0), func(req *pulse) { req.MemberEpoch-- })
}

func consumerAgain(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins")
	a.Pulse("a owns all", a.owns("t", 0, 1))
	a.Pulse("a full heartbeat", a.owns("t", 0, 1), func(req *pulse) {
		req.RebalanceTimeoutMillis, req.SubscribedTopicNames = int32(a.Rebalance.Milliseconds()), []string{r.Name("t")}
	})
	a.Pulse("a starts from nothing", a.owns("t"), func(req *pulse) {
		req.MemberEpoch, req.RebalanceTimeoutMillis = 0, int32(a.Rebalance.Milliseconds())
		req.SubscribedTopicNames = []string{r.Name("t")}
	})
}

func consumerAssignors(r *Run) {
	r.subscribable("t", 3)
	r.subscribable("u", 3)
	for _, name := range []string{"uniform", "range"} {
		g := r.Group("g-" + name)
		a := g.Member("a-"+name, "t", "u")
		a.Pulse(name+" for one", func(req *pulse) { req.ServerAssignor = &name })
		g.describeConsumer(name + " described")
		a.Pulse(name+" and an assignor that is not there", func(req *pulse) { req.ServerAssignor = kmsg.StringPtr("best") })
	}
}

func consumerSubscription(r *Run) {
	r.subscribable("t", 1)
	r.subscribable("u", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins for one topic")
	a.Pulse("a owns it", a.owns("t", 0))
	a.Pulse("a wants another", func(req *pulse) { req.SubscribedTopicNames = []string{r.Name("u")} })
	a.pulseUntil("it gave up the first", a.owns("t"))
	a.Pulse("a wants none", func(req *pulse) { req.SubscribedTopicNames = []string{} })
	a.Pulse("a wants one that is not there", a.owns("t"), func(req *pulse) { req.SubscribedTopicNames = []string{r.Name("nowhere")} })
}

func consumerTopicLater(r *Run) {
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins before there is a topic")
	g.describeConsumer("it has nothing")
	r.subscribable("t", 2)
	var answer *kmsg.ConsumerGroupHeartbeatResponse
	r.Eventually("partitions", func() bool {
		answer = a.Pulse("")
		return answer.Assignment != nil && len(answer.Assignment.Topics) > 0
	})
	r.step("it has what came", r.describe(a.name, answer, 0))
}

func consumerRegex(r *Run) {
	r.subscribable("orders-1", 1)
	r.subscribable("orders-2", 1)
	r.subscribable("bills", 1)
	g := r.Group("g")
	a := g.Member("a")
	regex := func(pattern string) func(*pulse) {
		return func(req *pulse) {
			req.SubscribedTopicNames, req.SubscribedTopicRegex = nil, &pattern
		}
	}
	a.Pulse("a pattern that is none", regex("(*"))
	a.ID, a.Generation = "", -1
	a.awaitTopics("topics that fit", 2, regex(r.Name("orders-.*")))
	g.describeConsumer("described")
	a.Pulse("it owns them", a.owns("orders-1", 0))
	a.awaitTopics("topics that fit a pattern for a part of a name", 0, regex("orders"))
}

// awaitTopics sends a heartbeat, which edit changes, and more of them until the
// member is assigned partitions of so many topics. A broker looks for the topics
// of a pattern after it has answered, so how many heartbeats it takes is no
// matter.
func (m *Member) awaitTopics(label string, topics int, edit func(*pulse)) {
	answer := m.Pulse("", edit)
	m.r.Eventually(label, func() bool {
		if answer == nil || answer.ErrorCode != 0 {
			m.r.Fatalf("%s: %+v", label, answer)
		}
		if answer.Assignment != nil && len(answer.Assignment.Topics) == topics {
			return true
		}
		answer = m.Pulse("")
		return false
	})
	m.r.Note(label, "%d", topics)
}

func consumerStatic(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a, b := g.Static("a", "instance-a", "t"), g.Static("b", "instance-b", "t")
	a.Pulse("a joins")
	a.Pulse("a owns all", a.owns("t", 0, 1))
	b.Pulse("b joins")
	a.pulseUntil("a has to give up")
	a.Pulse("a gave up", a.owns("t", 0))
	b.pulseUntil("b has a part")
	b.Pulse("b owns it", b.owns("t", 1))
	b.Generation = -2
	b.Pulse("b goes and will come back")
	a.Pulse("nothing for a")
	g.describeConsumer("b's place is kept")
	again := b.again("b-again")
	again.Pulse("b comes back with another id")
	a.Pulse("still nothing for a")
	b.Generation = 2
	b.Pulse("the old b")
	g.describeConsumer("described")
}

func consumerStaticRefused(r *Run) {
	r.subscribable("t", 1)
	g := r.Group("g")
	a := g.Static("a", "instance-a", "t")
	a.Pulse("a joins")
	second := a.again("second")
	second.Pulse("the instance is in use")
	a.Pulse("an instance with another id", func(req *pulse) { req.MemberID = "nobody" })
	a.Pulse("an instance that is not there", func(req *pulse) { req.InstanceID = kmsg.StringPtr("other") })
	a.Pulse("a is as before")
}

func consumerStaticLeaves(r *Run) {
	r.subscribable("t", 1)
	g := r.Group("g")
	a := g.Static("a", "instance-a", "t")
	a.Pulse("a joins")
	a.Generation = -1
	a.Pulse("a leaves for good")
	g.describeConsumer("nobody")
	again := a.again("again")
	again.Pulse("the instance joins anew")
}

func consumerCommits(r *Run) {
	filledSubscribable(r, "t", 2)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins")
	version9 := func(req *kmsg.OffsetCommitRequest) { req.Version = 9 }
	a.Commit("with its epoch", "t", 0, 3, version9)
	a.Commit("version 8 knows no epochs", "t", 0, 4)
	a.Commit("an epoch to come", "t", 0, 5, version9, func(req *kmsg.OffsetCommitRequest) { req.Generation++ })
	a.Commit("a past epoch", "t", 0, 6, version9, func(req *kmsg.OffsetCommitRequest) { req.Generation-- })
	a.Commit("an id that is not there", "t", 0, 7, version9, func(req *kmsg.OffsetCommitRequest) { req.MemberID = "nobody" })
	g.Member("simple").Commit("no member", "t", 0, 8, version9)
	g.Offsets("committed", "t", 0)
	a.Generation = -1
	a.Pulse("a leaves")
	g.Member("admin").Commit("no member, when nobody is there", "t", 0, 9, version9)
	g.Offsets("committed then", "t", 0)
}

func consumerFetches(r *Run) {
	filledSubscribable(r, "t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins")
	a.Commit("a commits", "t", 0, 3, func(req *kmsg.OffsetCommitRequest) { req.Version = 9 })
	fetch := func(label, member string, epoch int32) {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Version = 9
		group := kmsg.NewOffsetFetchRequestGroup()
		group.Group, group.MemberEpoch = g.ID(), epoch
		if member != "" {
			group.MemberID = &member
		}
		topic := kmsg.NewOffsetFetchRequestGroupTopic()
		topic.Topic, topic.Partitions = r.Name("t"), []int32{0}
		group.Topics = append(group.Topics, topic)
		req.Groups = append(req.Groups, group)
		a.Ask(label, req)
	}
	fetch("a member", a.ID, a.Generation)
	fetch("an epoch to come", a.ID, a.Generation+1)
	fetch("a past epoch", a.ID, a.Generation-1)
	fetch("an id that is not there", "nobody", 1)
	fetch("no member", "", -1)
}

func consumerDescribed(r *Run) {
	r.subscribable("t", 1)
	g, classic := r.Group("g"), r.Group("classic")
	a := g.Member("a", "t")
	a.Pulse("a joins")
	classic.Stable("t", 1, classic.Member("c", "t"))
	g.describeConsumer("the new way")
	g.Describe("the classic way")
	classic.describeConsumer("a classic group the new way")
	r.Group("nobody").describeConsumer("a group that is not there")
	a.Generation = -1
	a.Pulse("a leaves")
	g.describeConsumer("empty, the new way")
	g.Describe("empty, the classic way")
}

func consumerListed(r *Run) {
	r.subscribable("t", 1)
	g, classic, empty := r.Group("g"), r.Group("classic"), r.Group("empty")
	g.Member("a", "t").Pulse("")
	classic.Stable("t", 1, classic.Member("c", "t"))
	gone := empty.Member("gone", "t")
	gone.Pulse("")
	gone.Generation = -1
	gone.Pulse("")
	r.listed("all", 5, nil, nil)
	r.listed("of the consumer protocol", 5, nil, []string{"consumer"})
	r.listed("classic", 5, nil, []string{"classic"})
	r.listed("stable", 5, []string{"Stable"}, nil)
	r.listed("empty", 5, []string{"Empty"}, nil)
}

func consumerDeleted(r *Run) {
	filledSubscribable(r, "t", 1)
	filledSubscribable(r, "u", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins")
	for _, topic := range []string{"t", "u"} {
		a.Commit("a commits for "+topic, topic, 0, 3, func(req *kmsg.OffsetCommitRequest) { req.Version = 9 })
	}
	g.deletePartitions("the subscribed topic", "t", 0)
	g.deletePartitions("another topic", "u", 0)
	g.Delete("while it has a member")
	a.Generation = -1
	a.Pulse("a leaves")
	g.Delete("empty")
	g.Offsets("nothing left", "t", 0)
	g.describeConsumer("gone")
}

func consumerHoldsOn(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	a.Rebalance = 2 * time.Second
	a.Pulse("a joins")
	a.Pulse("a owns all", a.owns("t", 0, 1))
	b.Pulse("b joins")
	a.pulseUntil("a has to give one up")
	var answer *kmsg.ConsumerGroupHeartbeatResponse
	r.Eventually("everything is b's", func() bool {
		if resp := b.Pulse(""); resp.Assignment != nil {
			answer = resp
		}
		return answer != nil && len(answer.Assignment.Topics) == 1 && len(answer.Assignment.Topics[0].Partitions) == 2
	})
	r.Note("partitions of b in the end", "%v", answer.Assignment.Topics[0].Partitions)
	a.Pulse("a is fenced")
}

func consumerRemoved(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a, b := g.Static("a", "instance-a", "t"), g.Member("b", "t")
	a.Pulse("a joins")
	b.Pulse("b joins")
	byInstance := kmsg.NewLeaveGroupRequestMember()
	byInstance.InstanceID = a.InstanceID
	stranger := kmsg.NewLeaveGroupRequestMember()
	stranger.MemberID = "nobody"
	g.leaveAll("one by instance, and a stranger", byInstance, stranger)
	a.Pulse("a is gone")
	g.leaveAll("one by id", leavingByID(b))
	g.describeConsumer("described")
}

func consumerOldVersion(r *Run) {
	r.subscribable("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("no member id", func(req *pulse) { req.Version, req.MemberID = 0, "" })
	b := g.Member("b", "t")
	b.Pulse("a member id", func(req *pulse) { req.Version = 0 })
}

func consumerClassicRequests(r *Run) {
	r.subscribable("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins")
	a.Heartbeat("Heartbeat")
	a.Sync("SyncGroup", nil)
	a.Leave("LeaveGroup")
	a.Pulse("a was removed by it")
}

func upgrade(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	g.Stable("t", 2, a)
	b.Pulse("b joins with the consumer protocol")
	a.AwaitRebalance("a is told to join again")
	g.describeConsumer("both are members")
	a.owning("t", 0, 1)
	a.Join("a joins again and owns all")
	a.Sync("it keeps one", nil)
	a.Heartbeat("it has to join once more, without what it gave up")
	a.owning("t", 0)
	a.Join("it joins")
	a.Sync("and has what it kept", nil)
	a.Heartbeat("stable")
	b.pulseUntil("b has the other one")
	g.describeConsumer("described")
}

func upgradeEmpty(r *Run) {
	filledSubscribable(r, "t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 1, a)
	a.Commit("a commits", "t", 0, 3)
	a.Leave("a leaves")
	b := g.Member("b", "t")
	b.Pulse("b joins with the consumer protocol")
	g.describeConsumer("described")
	g.Offsets("the offsets are still there", "t", 0)
}

func upgradeRefused(r *Run) {
	r.subscribable("t", 1)
	g := r.Group("g")
	a := g.Member("a")
	a.Type, a.Protocols, a.Metadata = "connect", []string{"compatible"}, []byte{0, 1, 0xff}
	a.Join("a worker of Connect")
	b := g.Member("b", "t")
	b.Pulse("b is not let in")
	a.Heartbeat("a was not disturbed")
}

func downgrade(r *Run) {
	r.subscribable("t", 1)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	a.Pulse("a joins with the consumer protocol")
	a.Pulse("a owns all", a.owns("t", 0))
	b.Join("b joins with the classic one")
	b.Sync("b has nothing yet", nil)
	g.describeConsumer("both are members")
	a.Generation = -1
	a.Pulse("a leaves")
	b.AwaitRebalance("b is told")
	g.Describe("a classic group")
	b.Join("b joins again, and leads")
	b.Sync("b assigns", Plan{"b": {"t": {0}}})
	g.Describe("described")
}

func downgradeEmpty(r *Run) {
	filledSubscribable(r, "t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins with the consumer protocol")
	a.Commit("a commits", "t", 0, 3, func(req *kmsg.OffsetCommitRequest) { req.Version = 9 })
	a.Generation = -1
	a.Pulse("a leaves")
	b := g.Member("b", "t")
	b.Join("b joins with the classic one")
	b.Sync("b assigns", Plan{"b": {"t": {0}}})
	g.Describe("described")
	g.Offsets("the offsets are still there", "t", 0)
}

func classicInConsumer(r *Run) {
	r.subscribable("t", 2)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	a.Pulse("a joins with the consumer protocol")
	a.Pulse("a owns all", a.owns("t", 0, 1))
	b.JoinOnce("b is given an id")
	b.Join("b joins with the classic protocol")
	b.Sync("b has nothing yet", nil)
	b.Heartbeat("b waits")
	a.pulseUntil("a has to give one up")
	a.Pulse("a gave one up", a.owns("t", 0))
	b.AwaitRebalance("b is told to join again")
	b.Join("b joins again")
	b.Sync("b has its part", nil)
	b.Heartbeat("b is stable")
	g.Describe("described the classic way")
	g.describeConsumer("described the new way")
	b.Leave("b leaves")
	a.pulseUntil("a has all again")
}

func classicInConsumerRefused(r *Run) {
	r.subscribable("t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Pulse("a joins with the consumer protocol")
	other := g.Member("worker")
	other.Type, other.Protocols, other.Metadata = "connect", []string{"compatible"}, []byte{0, 1, 0xff}
	other.JoinOnce("a worker of Connect")
	unread := g.Member("unread", "t")
	unread.Metadata = []byte{0xff}
	unread.JoinOnce("metadata that cannot be read", func(req *kmsg.JoinGroupRequest) { req.Version = 3 })
	unread.Protocols = nil
	unread.JoinOnce("no protocols")
	stranger := g.Member("stranger", "t")
	stranger.JoinOnce("an id that is not there", func(req *kmsg.JoinGroupRequest) { req.MemberID = "nobody" })
	a.Pulse("a was not disturbed")
}
