package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestGroupsAreAdministered goes through the life of a group as an administrator
// sees it: listed, described, kept from being deleted while it has members,
// emptied, and deleted with its offsets, in which DIS's app goes too.
func TestGroupsAreAdministered(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:2")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	produceNumbers(t, d.kafka, "t", 2, 0, 20)
	admin := kadm.NewClient(newFranz(t, d.kafka))
	member := newFranz(t, d.kafka, kgo.ConsumerGroup("billing.eu"), kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
	franz{d.kafka}.poll(t, member, 20)
	if err := member.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}

	listed, err := admin.ListGroupsByType(ctx, []string{"Classic"}, "STABLE")
	if err != nil || listed["billing.eu"].State != "Stable" || listed["billing.eu"].ProtocolType != "consumer" {
		t.Errorf("list: %+v, %v", listed, err)
	}
	described, err := admin.DescribeGroups(ctx, "billing.eu", "none")
	if err != nil || len(described["billing.eu"].Members) != 1 {
		t.Errorf("describe: %+v, %v", described, err)
	}
	if err := described["none"].Err; !errors.Is(err, kerr.GroupIDNotFound) {
		t.Errorf("describe of no group: %v", err)
	}
	var one kadm.TopicsSet
	one.Add("t", 0)
	if err := deleteGroup(ctx, admin, "billing.eu"); !errors.Is(err, kerr.NonEmptyGroup) {
		t.Errorf("delete of a group with members: %v", err)
	}
	if removed, err := admin.DeleteOffsets(ctx, "billing.eu", one); err != nil || !errors.Is(removed["t"][0], kerr.GroupSubscribedToTopic) {
		t.Errorf("delete of a subscribed topic's offset: %v, %v", removed, err)
	}

	member.Close()
	if removed, err := admin.DeleteOffsets(ctx, "billing.eu", one); err != nil || removed.Error() != nil {
		t.Errorf("delete offset: %v, %v", removed, err)
	}
	left, err := admin.FetchOffsets(ctx, "billing.eu")
	if _, found := left.Lookup("t", 0); err != nil || found {
		t.Errorf("offsets left: %+v, %v", left, err)
	}
	if kept, found := left.Lookup("t", 1); !found || kept.At == 0 {
		t.Errorf("the other offset: %+v, found %v", kept, found)
	}
	if err := deleteGroup(ctx, admin, "billing.eu"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := deleteGroup(ctx, admin, "billing.eu"); !errors.Is(err, kerr.GroupIDNotFound) {
		t.Errorf("delete again: %v", err)
	}
	if listed, err := admin.ListGroups(ctx); err != nil || len(listed) != 0 {
		t.Errorf("listed after the end: %v, %v", listed, err)
	}
}

func deleteGroup(ctx context.Context, admin *kadm.Client, group string) error {
	deleted, err := admin.DeleteGroups(ctx, group)
	return errors.Join(err, deleted[group].Err)
}
