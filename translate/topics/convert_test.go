package topics

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestPartitions(t *testing.T) {
	active := func(low, high int64) translate.Partition {
		return translate.Partition{Status: wire.PartitionActive, Range: wire.SequenceRange{Oldest: low, Next: high}}
	}
	retired := translate.Partition{Status: wire.PartitionDeleted, Range: wire.SequenceRange{Oldest: 5, Next: 9}}
	expired := translate.Partition{Status: wire.PartitionExpired}
	creating := translate.Partition{Status: wire.PartitionCreating}
	type described = []wire.PartitionResponse
	cases := []struct {
		name      string
		described described
		before    []translate.Partition
		want      []translate.Partition
		unsettled bool
	}{
		{
			name:      "in any order",
			described: described{partition(1, wire.PartitionActive, "[3 : 7]"), partition(0, wire.PartitionActive, "[0 : 0]")},
			want:      []translate.Partition{active(0, 0), active(3, 7)},
		},
		{
			name: "retired and expired stay in place",
			described: described{
				partition(0, wire.PartitionActive, "[1 : 2]"), partition(1, wire.PartitionExpired, ""), partition(2, wire.PartitionDeleted, "[5 : 9]"), partition(3, wire.PartitionExpired, ""),
			},
			want: []translate.Partition{active(1, 2), expired, retired, expired},
		},
		{
			name:      "in creation at the end",
			described: described{partition(0, wire.PartitionActive, "[1 : 2]"), partition(1, wire.PartitionCreating, ""), partition(2, wire.PartitionCreating, "")},
			want:      []translate.Partition{active(1, 2)},
			unsettled: true,
		},
		{
			name:      "in creation before an active one",
			described: described{partition(0, wire.PartitionActive, "[1 : 2]"), partition(1, wire.PartitionCreating, ""), partition(2, wire.PartitionActive, "[0 : 0]")},
			want:      []translate.Partition{active(1, 2), creating, active(0, 0)},
			unsettled: true,
		},
		{
			name:      "not shown",
			described: described{partition(0, wire.PartitionActive, "[1 : 2]"), partition(2, wire.PartitionActive, "[0 : 0]")},
			want:      []translate.Partition{active(1, 2), expired, active(0, 0)},
		},
		{
			name:      "range unreadable during a scaling, seen before",
			described: described{partition(0, wire.PartitionActive, "[1 : 2]"), partition(1, wire.PartitionActive, "scaling")},
			before:    []translate.Partition{active(1, 2), active(3, 4)},
			want:      []translate.Partition{active(1, 2), active(3, 4)},
			unsettled: true,
		},
		{
			name:      "range unreadable, never seen",
			described: described{partition(0, wire.PartitionActive, "[1 : 2]"), partition(1, wire.PartitionActive, "scaling")},
			want:      []translate.Partition{active(1, 2)},
			unsettled: true,
		},
		{
			name:      "brought back to life",
			described: described{partition(0, wire.PartitionActive, "[1 : 2]"), partition(1, wire.PartitionCreating, "")},
			before:    []translate.Partition{active(1, 2), expired},
			want:      []translate.Partition{active(1, 2), expired},
			unsettled: true,
		},
		{
			name:      "the count never shrinks",
			described: described{partition(0, wire.PartitionActive, "[1 : 2]")},
			before:    []translate.Partition{active(1, 2), retired},
			want:      []translate.Partition{active(1, 2), expired},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, unsettled, err := toPartitions(c.described, c.before)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if unsettled != c.unsettled {
				t.Errorf("unsettled %v, want %v", unsettled, c.unsettled)
			}
		})
	}
}

func TestPartitionsRefuseNonsense(t *testing.T) {
	for _, id := range []string{"shardId-x", "", "shardId-2000000000"} {
		if _, _, err := toPartitions([]wire.PartitionResponse{{PartitionID: id, Status: wire.PartitionExpired}}, nil); err == nil {
			t.Errorf("partition id %q was accepted", id)
		}
	}
}

// Clients store both ids, so a change of the formula is a break.
func TestIDsNeverChange(t *testing.T) {
	id := TopicID("0123456789abcdef", "stream-1")
	if got := hex.EncodeToString(id[:]); got != wantTopicID {
		t.Errorf("topic id %s, want %s", got, wantTopicID)
	}
	if got := ClusterID("0123456789abcdef", "eu-de"); got != wantClusterID {
		t.Errorf("cluster id %s, want %s", got, wantClusterID)
	}
}

const (
	wantTopicID   = "597168db534957a7b19bea78d85d374e"
	wantClusterID = "rINdDCazUTq_slsAieo2VQ"
)

func TestIDsDiffer(t *testing.T) {
	if TopicID("p", "s") == TopicID("p", "t") || TopicID("p", "s") == TopicID("q", "s") {
		t.Error("two streams have one topic id")
	}
	if TopicID("p", "") != ([16]byte{}) {
		t.Error("an unknown stream id gave a topic id")
	}
	seen := map[string]bool{}
	for i := range 300 {
		id := ClusterID(strings.Repeat("p", i), "r")
		if len(id) != 22 || id[0] == '-' || seen[id] || strings.ContainsAny(id, "+/=") {
			t.Errorf("cluster id %q", id)
		}
		seen[id] = true
	}
}

func TestRetentionHours(t *testing.T) {
	const hour = 3_600_000
	for milliseconds, want := range map[int64]int{
		0: 24, 1: 24, 24 * hour: 24, 24*hour + 1: 48, 72 * hour: 72, 100 * hour: 120, 168 * hour: 168,
	} {
		if got, err := RetentionHours(milliseconds); err != nil || got != want {
			t.Errorf("%d ms: %d hours, %v, want %d", milliseconds, got, err, want)
		}
	}
	for _, milliseconds := range []int64{-1, -5, 168*hour + 1, 1 << 62} {
		_, err := RetentionHours(milliseconds)
		if got := translate.KafkaError(translate.CallCreateTopic, err); got.Code != codeInvalidConfig {
			t.Errorf("%d ms: got %+v, want INVALID_CONFIG", milliseconds, got)
		}
	}
}
