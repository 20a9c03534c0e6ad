package groupcoord

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Another owner goes on with the same members, epochs and partitions, and does not
// give away what somebody has not given up.
func TestConsumerGroupSurvivesItsOwner(t *testing.T) {
	topics := newFakeTopics("t:3", "u:1")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		a, b := r.staticBeater("a", "one", "t"), r.beater("b", "t")
		b.pattern = ptr("u.*")
		x := r.classicConsumer("x", "t")
		a.join()
		b.join()
		x.joined(x.join())
		x.sync(nil).get()
		must := a.beat()
		before := r.describeConsumers(1)

		r.restart()
		after := r.describeConsumers(1)
		want(r, "state", after.State, before.State)
		want(r, "epoch", after.Epoch, before.Epoch)
		want(r, "members", len(after.Members), 3)
		for i, m := range after.Members {
			want(r, "id", m.MemberID, before.Members[i].MemberID)
			want(r, "epoch of "+m.MemberID, m.MemberEpoch, before.Members[i].MemberEpoch)
			want(r, "type of "+m.MemberID, m.MemberType, before.Members[i].MemberType)
			want(r, "targets of "+m.MemberID, len(m.TargetAssignment.TopicPartitions), len(before.Members[i].TargetAssignment.TopicPartitions))
		}
		want(r, "instance", *after.Members[0].InstanceID, "one")
		want(r, "pattern", *after.Members[1].SubscribedTopicRegex, "u.*")

		// a has not given anything up: the others must not get it.
		want(r, "b waits", len(b.beat()), 0)
		want(r, "x waits", x.heartbeat(), 0)
		a.owned = must
		a.follow()
		x.rejoin()
		r.settle(a, b)
		want(r, "stable", r.describeConsumers(1).State, "Stable")
		want(r, "no other epoch", r.describeConsumers(1).Epoch, before.Epoch)
		topics.set("u2:1")
		r.sleep(5 * time.Second)
		want(r, "topics are watched", r.describeConsumers(1).Epoch, before.Epoch+1)
	})
}

// The time to give partitions up begins anew with another owner.
func TestRevocationTimeoutAfterRestart(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a, b := r.beater("a", "t"), r.beater("b", "t")
		a.rebalance = 20 * time.Second
		a.join()
		b.join()
		a.beat()
		r.sleep(15 * time.Second)
		r.restart()
		r.describeConsumers(1)
		r.sleep(15 * time.Second)
		a.beat()
		want(r, "not yet", len(b.beat()), 0)
		r.sleep(5 * time.Second)
		wantList(r, "b", b.beat(), "t0", "t1")
	})
}

func TestConsumerGroupIsListedAndDescribed(t *testing.T) {
	inConsumerBubble(t, Config{}, newFakeTopics("t:2"), func(r *rig) {
		a := r.beater("a", "t")
		a.join()
		want(r, "commit", a.commit(9, a.epoch, 4), 0)
		list := kmsg.NewPtrListGroupsRequest()
		list.Version, list.TypesFilter = 5, []string{"consumer"}
		listed := send(r, r.c.ListGroups, Client{}, list).get().Groups
		want(r, "listed", len(listed), 1)
		want(r, "type", listed[0].GroupType, "consumer")
		want(r, "protocol type", listed[0].ProtocolType, "consumer")
		want(r, "state", listed[0].GroupState, "Stable")

		d := r.describeConsumers(1)
		m := d.Members[0]
		want(r, "state", d.State, "Stable")
		want(r, "epochs", d.Epoch, d.AssignmentEpoch)
		want(r, "assignor", d.AssignorName, "uniform")
		want(r, "client", m.ClientID+" "+m.ClientHost, "a 127.0.0.1")
		want(r, "topic", m.Assignment.TopicPartitions[0].Topic, "t")
		want(r, "id", m.Assignment.TopicPartitions[0].TopicID, topicNamed("t"))
		want(r, "partitions", len(m.TargetAssignment.TopicPartitions[0].Partitions), 2)

		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Version, req.Groups = 6, []string{"g"}
		classic := send(r, r.c.DescribeGroups, Client{}, req).get().Groups[0]
		want(r, "not a classic group", classic.ErrorCode, codeGroupIDNotFound)
		want(r, "message", *classic.ErrorMessage, "group g is not a classic group")
		want(r, "before v6", r.describe("g").State, "Dead")
		want(r, "delete", r.deleteGroups("g").get().Groups[0].ErrorCode, codeNonEmptyGroup)
		a.leave(-1)
		want(r, "delete", r.deleteGroups("g").get().Groups[0].ErrorCode, 0)
		want(r, "gone", r.describeConsumers(1).ErrorCode, codeGroupIDNotFound)

		none := kmsg.NewPtrConsumerGroupDescribeRequest()
		none.Groups = []string{"", "none", "none"}
		groups := send(r, r.c.ConsumerGroupDescribe, Client{}, none).get().Groups
		want(r, "each once", len(groups), 2)
		want(r, "without a name", groups[0].ErrorCode, codeInvalidGroupID)
		want(r, "unknown", groups[1].ErrorCode, codeGroupIDNotFound)
	})
}
