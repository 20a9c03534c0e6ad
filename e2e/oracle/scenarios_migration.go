package oracle

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// migrationScenarios: groups that move between the protocols, and have members of
// both (KIP-848).
var migrationScenarios = []Scenario{
	{"upgrade", "a member of the consumer protocol joins a classic group", upgrade},
	{"upgrade-empty", "an empty classic group becomes one of the consumer protocol", upgradeEmpty},
	{"upgrade-refused", "a classic group that is not of consumers stays what it is", upgradeRefused},
	{"downgrade", "the group is classic again when the last member of the consumer protocol leaves", downgrade},
	{"downgrade-empty", "an empty group of the consumer protocol becomes classic", downgradeEmpty},
	{"classic-in-consumer", "a classic member joins a group of the consumer protocol", classicInConsumer},
	{"classic-in-consumer-refused", "which classic members cannot join a group of the consumer protocol", classicInConsumerRefused},
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
