package gateway

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

// recordingStore notes what it is asked and answers with the same numbers.
type recordingStore struct {
	commits []offsets.OffsetCommit
	fetched []offsets.TopicPartition
}

var stored = []offsets.CommittedOffset{
	{TopicPartition: offsets.TopicPartition{Topic: "t", Partition: 2}, Offset: 41, Metadata: "m", Code: 0},
	{TopicPartition: offsets.TopicPartition{Topic: "u", Partition: 0}, Offset: -1, Code: 14, Message: "later"},
}

func (r *recordingStore) Commit(_ context.Context, _ string, commits []offsets.OffsetCommit) []offsets.CommittedOffset {
	r.commits = commits
	return stored
}

func (r *recordingStore) Fetch(_ context.Context, _ string, partitions []offsets.TopicPartition) []offsets.CommittedOffset {
	r.fetched = partitions
	return stored
}

func (r *recordingStore) Oldest(_ context.Context, partitions []offsets.TopicPartition) []offsets.CommittedOffset {
	r.fetched = partitions
	return stored
}

func (r *recordingStore) FetchAll(context.Context, string) ([]offsets.CommittedOffset, error) {
	return stored, errors.New("half")
}

func (r *recordingStore) Groups(context.Context) ([]string, error) { return []string{"g"}, nil }

func (r *recordingStore) Exists(_ context.Context, group string) (bool, error) {
	return group == "g", nil
}

func (r *recordingStore) Delete(_ context.Context, group string) translate.Failure {
	return translate.Failure{Code: 68, Message: "app " + group + " is in use"}
}

func TestOffsetStoreCarriesEveryField(t *testing.T) {
	inner := &recordingStore{}
	store := OffsetStore{inner, NewLag(func(string, int32) (int64, bool) { return 50, true })}
	at := groupcoord.TopicPartition{Topic: "t", Partition: 2}
	want := []groupcoord.CommittedOffset{
		{TopicPartition: at, Offset: 41, Metadata: "m"},
		{TopicPartition: groupcoord.TopicPartition{Topic: "u"}, Offset: -1, Code: 14, Message: "later"},
	}

	got := store.Commit(t.Context(), "g", []groupcoord.OffsetCommit{{TopicPartition: at, Offset: 41, LeaderEpoch: 7, Metadata: "m"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commit: %s", diff)
	}
	sent := []offsets.OffsetCommit{{TopicPartition: offsets.TopicPartition{Topic: "t", Partition: 2}, Offset: 41, LeaderEpoch: 7, Metadata: "m"}}
	if diff := cmp.Diff(sent, inner.commits); diff != "" {
		t.Errorf("commit sent: %s", diff)
	}
	if diff := cmp.Diff(want, store.Fetch(t.Context(), "g", []groupcoord.TopicPartition{at})); diff != "" {
		t.Errorf("fetch: %s", diff)
	}
	if diff := cmp.Diff([]offsets.TopicPartition{{Topic: "t", Partition: 2}}, inner.fetched); diff != "" {
		t.Errorf("fetch sent: %s", diff)
	}
	all, err := store.FetchAll(t.Context(), "g")
	if diff := cmp.Diff(want, all); diff != "" || err == nil {
		t.Errorf("fetch all: error %v, %s", err, diff)
	}
	if groups, err := store.Groups(t.Context()); err != nil || len(groups) != 1 {
		t.Errorf("groups %v, error %v", groups, err)
	}
	inner.fetched = nil
	if diff := cmp.Diff(want, store.Oldest(t.Context(), []groupcoord.TopicPartition{at})); diff != "" || len(inner.fetched) != 1 {
		t.Errorf("oldest: %s", diff)
	}
	if exists, err := store.Exists(t.Context(), "g"); !exists || err != nil {
		t.Errorf("exists: %v, %v", exists, err)
	}
	if behind := store.lag.behind(); len(behind) != 1 || behind[0].high-behind[0].committed != 9 {
		t.Errorf("lag: %+v", behind)
	}
	if code, message := store.Delete(t.Context(), "g"); code != 68 || message != "app g is in use" {
		t.Errorf("delete: %d %q", code, message)
	}
}
