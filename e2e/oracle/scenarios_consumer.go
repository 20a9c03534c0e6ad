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
	{"consumer-holds-on", "who does not give up in time is fenced", consumerHoldsOn},
	{"consumer-old-version", "version 0 makes the member id", consumerOldVersion},
	{"consumer-classic-requests", "classic requests with the id of a member of the consumer protocol", consumerClassicRequests},
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
