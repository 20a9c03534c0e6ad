package oracle

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerAdminScenarios: offsets of groups of the consumer protocol, and what
// administrators ask of such groups.
var consumerAdminScenarios = []Scenario{
	{"consumer-commits", "commits and their epochs", consumerCommits},
	{"consumer-fetches", "OffsetFetch by members", consumerFetches},
	{"consumer-described", "both ways to describe a group, and both kinds of group", consumerDescribed},
	{"consumer-listed", "types and states of the list", consumerListed},
	{"consumer-deleted", "deleting groups and offsets", consumerDeleted},
	{"consumer-removed", "an administrator removes members", consumerRemoved},
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
