package oracle

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetScenarios: OffsetCommit, OffsetFetch, OffsetDelete.
var offsetScenarios = []Scenario{
	{"commit-simple", "commits without members make a group", commitSimple},
	{"commit-simple-active", "commits without membership while there are members", commitSimpleActive},
	{"commit-refused", "commits of strangers and of the past", commitRefused},
	{"commit-states", "commits in each state of a group", commitStates},
	{"commit-partly", "an unknown partition does not hold up the others", commitPartly},
	{"commit-metadata", "metadata comes back as it was, too much of it is refused", commitMetadata},
	{"commit-versions", "versions 2 to 9 of OffsetCommit", commitVersions},
	{"commit-newest", "the last commit counts, also one that goes back", commitNewest},
	{"commit-beyond", "an offset that the partition does not have", commitBeyond},
	{"commit-after-leave", "an empty group's offsets can be set", commitAfterLeave},
	{"offsets-nothing", "groups, topics and partitions that nobody committed for", offsetsNothing},
	{"offsets-versions", "versions 1 to 9 of OffsetFetch", offsetsVersions},
	{"offsets-all", "all committed offsets of a group", offsetsAll},
	{"offsets-groups", "several groups in one request", offsetsGroups},
	{"offsets-deleted", "offsets of a simple group are deleted", offsetsDeleted},
	{"offsets-deleted-active", "offsets of subscribed topics are kept, others deleted", offsetsDeletedActive},
}

// filled is a topic with ten records in each partition, so that commits have
// something to point at.
func filled(r *Run, topic string, partitions int) {
	r.Topic(topic, partitions)
	c := r.Conn("filler")
	defer c.Close()
	for p := range partitions {
		var records []Record
		for n := range 10 {
			records = append(records, Record{Value: []byte("record " + strconv.Itoa(n))})
		}
		c.Fill(topic, int32(p), Batch{Records: records})
	}
}

func commitSimple(r *Run) {
	filled(r, "t", 2)
	g := r.Group("g")
	a := g.Member("a")
	a.Commit("nobody is a member", "t", 0, 5)
	g.Offsets("committed", "t", 0, 1)
	g.Describe("described")
	a.Commit("no group", "t", 0, 5, func(req *kmsg.OffsetCommitRequest) { req.Group = "" })
	b := g.Member("b", "t")
	b.Join("a member can join it")
	b.Sync("and assign", Plan{"b": {"t": {0, 1}}})
	g.Offsets("the offset is there", "t", 0)
}

func commitSimpleActive(r *Run) {
	filled(r, "t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 1, a)
	admin := g.Member("simple")
	admin.Commit("neither member nor generation", "t", 0, 5)
	admin.Commit("a member without a generation", "t", 0, 5, func(req *kmsg.OffsetCommitRequest) { req.MemberID = a.ID })
	g.Offsets("nothing committed", "t", 0)
}

func commitRefused(r *Run) {
	filled(r, "t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	a.Commit("a generation of a group that is not there", "t", 0, 5, func(req *kmsg.OffsetCommitRequest) { req.MemberID, req.Generation = "nobody", 1 })
	g.Describe("it made no group")
	g.Stable("t", 1, a)
	a.Commit("an id that is not there", "t", 0, 5, func(req *kmsg.OffsetCommitRequest) { req.MemberID = "nobody" })
	a.Commit("a past generation", "t", 0, 5, func(req *kmsg.OffsetCommitRequest) { req.Generation-- })
	a.Commit("a generation to come", "t", 0, 5, func(req *kmsg.OffsetCommitRequest) { req.Generation++ })
	a.Commit("a good one", "t", 0, 6)
	a.Leave("a leaves")
	a.Commit("who left", "t", 0, 7)
	g.Offsets("the good one", "t", 0)
}

func commitStates(r *Run) {
	filled(r, "t", 2)
	g := r.Group("g")
	a, b := g.Member("a", "t"), g.Member("b", "t")
	a.JoinOnce("")
	a.Commit("only an id", "t", 0, 1)
	a.Join("")
	a.Commit("CompletingRebalance", "t", 0, 2)
	a.Sync("", Plan{"a": {"t": {0, 1}}})
	a.Commit("Stable", "t", 0, 3)
	joining := b.BeginJoin("b joins")
	g.AwaitState("PreparingRebalance")
	a.Commit("PreparingRebalance", "t", 0, 4)
	b.Group.admin.Ask("PreparingRebalance, a member that waits to join", b.CommitRequest("t", 1, 4))
	g.Offsets("committed", "t", 0, 1)
	a.Join("a joins again")
	joining.Wait()
}

func commitPartly(r *Run) {
	filled(r, "t", 2)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 2, a)
	a.Commit("a good partition, one and a topic that are not there", "t", 0, 5, func(req *kmsg.OffsetCommitRequest) {
		missing := req.Topics[0].Partitions[0]
		missing.Partition = 7
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, missing)
		other := req.Topics[0]
		other.Topic, other.Partitions = r.Name("nowhere"), other.Partitions[:1]
		req.Topics = append(req.Topics, other)
	})
	g.Offsets("committed", "t", 0, 1, 7)
	g.Offsets("nothing there", "nowhere", 0)
}

func commitMetadata(r *Run) {
	filled(r, "t", 4)
	g := r.Group("g")
	a := g.Member("a")
	for p, metadata := range []string{"", "some text", strings.Repeat("é", 500), strings.Repeat("m", 4097)} {
		a.Commit("metadata of "+strconv.Itoa(len(metadata))+" bytes", "t", int32(p), 3, func(req *kmsg.OffsetCommitRequest) {
			req.Topics[0].Partitions[0].Metadata = &metadata
		})
	}
	a.Commit("no metadata", "t", 0, 4, func(req *kmsg.OffsetCommitRequest) { req.Topics[0].Partitions[0].Metadata = nil })
	g.Offsets("committed", "t", 0, 1, 2, 3)
}

func commitVersions(r *Run) {
	filled(r, "t", 1)
	for version := int16(2); version <= 9; version++ {
		name := string('0' + rune(version))
		g := r.Group("g" + name)
		g.Member("m"+name).Commit("version "+name, "t", 0, int64(version), func(req *kmsg.OffsetCommitRequest) { req.Version = version })
		g.Offsets("committed with version "+name, "t", 0)
	}
}

func commitNewest(r *Run) {
	filled(r, "t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 1, a)
	var commits []*Pending
	for _, offset := range []int64{1, 9, 4} {
		commits = append(commits, a.Begin("offset "+strconv.Itoa(int(offset)), a.CommitRequest("t", 0, offset)))
	}
	for _, c := range commits {
		c.Wait()
	}
	g.Offsets("the last one", "t", 0)
}

func commitBeyond(r *Run) {
	filled(r, "t", 1)
	g := r.Group("g")
	a := g.Member("a")
	a.Commit("the end", "t", 0, 10)
	g.Offsets("the end is committed", "t", 0)
	a.Commit("beyond the end", "t", 0, 1000)
	g.Offsets("beyond is committed", "t", 0)
}

func commitAfterLeave(r *Run) {
	filled(r, "t", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 1, a)
	a.Commit("a member commits", "t", 0, 8)
	a.Leave("it leaves")
	g.Member("admin").Commit("the offset is reset", "t", 0, 2)
	g.Offsets("committed", "t", 0)
	g.Describe("described")
}

func offsetsNothing(r *Run) {
	filled(r, "t", 1)
	g := r.Group("g")
	g.Offsets("no such group", "t", 0)
	g.Member("a").Commit("one commit", "t", 0, 5)
	g.Offsets("a partition that is not there", "t", 0, 9)
	g.Offsets("a topic that is not there", "nowhere", 0, 1)
	r.Group("other").Offsets("another group", "t", 0)
}

// offsetFetch asks one group in the form of any version; nil topics are all.
func (g *Group) offsetFetch(label string, version int16, topics ...kmsg.OffsetFetchRequestTopic) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version = version
	if version < 8 {
		req.Group, req.Topics = g.ID(), topics
	} else {
		group := kmsg.NewOffsetFetchRequestGroup()
		group.Group = g.ID()
		for _, t := range topics {
			topic := kmsg.NewOffsetFetchRequestGroupTopic()
			topic.Topic, topic.Partitions = t.Topic, t.Partitions
			group.Topics = append(group.Topics, topic)
		}
		req.Groups = append(req.Groups, group)
	}
	g.admin.Ask(label, req)
}

func offsetsVersions(r *Run) {
	filled(r, "t", 2)
	g := r.Group("g")
	g.Member("a").Commit("one commit", "t", 0, 5)
	topic := kmsg.NewOffsetFetchRequestTopic()
	topic.Topic, topic.Partitions = r.Name("t"), []int32{0, 1}
	for version := int16(1); version <= 9; version++ {
		g.offsetFetch("version "+string('0'+rune(version)), version, topic)
	}
}

func offsetsAll(r *Run) {
	filled(r, "t", 2)
	filled(r, "u", 1)
	g := r.Group("g")
	g.offsetFetch("no such group", 8)
	a := g.Member("a")
	a.Commit("one", "t", 1, 5)
	a.Commit("two", "u", 0, 6)
	for version := int16(2); version <= 9; version++ {
		g.offsetFetch("version "+string('0'+rune(version)), version)
	}
}

func offsetsGroups(r *Run) {
	filled(r, "t", 2)
	g, h := r.Group("g"), r.Group("h")
	g.Member("a").Commit("in one group", "t", 0, 5)
	h.Member("b").Commit("in another", "t", 1, 6)
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version = offsetsVersion
	for _, name := range []string{g.ID(), h.ID(), r.Name("nobody")} {
		group := kmsg.NewOffsetFetchRequestGroup()
		group.Group = name
		topic := kmsg.NewOffsetFetchRequestGroupTopic()
		topic.Topic, topic.Partitions = r.Name("t"), []int32{0, 1}
		group.Topics = append(group.Topics, topic)
		req.Groups = append(req.Groups, group)
	}
	g.admin.Ask("three groups", req)
}

// deletePartitions deletes offsets of partitions of one topic.
func (g *Group) deletePartitions(label, topic string, partitions ...int32) {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = g.ID()
	t := kmsg.NewOffsetDeleteRequestTopic()
	t.Topic = g.r.Name(topic)
	for _, p := range partitions {
		partition := kmsg.NewOffsetDeleteRequestTopicPartition()
		partition.Partition = p
		t.Partitions = append(t.Partitions, partition)
	}
	req.Topics = append(req.Topics, t)
	g.admin.Ask(label, req)
}

func offsetsDeleted(r *Run) {
	filled(r, "t", 3)
	g := r.Group("g")
	g.deletePartitions("no such group", "t", 0)
	a := g.Member("a")
	a.Commit("partition 0", "t", 0, 5)
	a.Commit("partition 1", "t", 1, 6)
	g.deletePartitions("one that is there, one that was not committed", "t", 0, 2)
	g.deletePartitions("a topic that is not there", "nowhere", 0)
	g.Offsets("one is left", "t", 0, 1, 2)
	g.deletePartitions("the last one", "t", 1)
	g.Offsets("none is left", "t", 0, 1, 2)
}

func offsetsDeletedActive(r *Run) {
	filled(r, "t", 1)
	filled(r, "u", 1)
	g := r.Group("g")
	a := g.Member("a", "t")
	g.Stable("t", 1, a)
	a.Commit("the subscribed topic", "t", 0, 5)
	a.Commit("another topic", "u", 0, 6)
	g.deletePartitions("of the subscribed topic", "t", 0)
	g.deletePartitions("of the other topic", "u", 0)
	g.Offsets("kept", "t", 0)
	g.Offsets("deleted", "u", 0)
	a.Leave("a leaves")
	g.deletePartitions("now of the first topic too", "t", 0)
	g.Offsets("deleted too", "t", 0)
}
