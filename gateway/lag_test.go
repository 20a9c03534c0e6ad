package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
)

func committedAt(topic string, partition int32, offset int64) groupcoord.CommittedOffset {
	return groupcoord.CommittedOffset{TopicPartition: groupcoord.TopicPartition{Topic: topic, Partition: partition}, Offset: offset}
}

func TestLag(t *testing.T) {
	ends := map[string]int64{"t": 100, "u": 7}
	lag := NewLag(func(topic string, partition int32) (int64, bool) {
		end, known := ends[topic]
		return end, known && partition < 2
	})
	registry := prometheus.NewRegistry()
	registry.MustRegister(lag)
	check := func(what string, want map[string]float64) {
		t.Helper()
		if diff := cmp.Diff(want, gathered(t, registry)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", what, diff)
		}
	}
	series := func(group, topic, partition string) string {
		return "kdg_group_lag_records group=" + group + " partition=" + partition + " topic=" + topic
	}
	check("nothing committed", map[string]float64{})

	failed := committedAt("t", 0, -1)
	failed.Code = 14
	lag.note("g", []groupcoord.CommittedOffset{
		committedAt("t", 0, 40), committedAt("t", 1, 100), committedAt("t", 2, 5), committedAt("u", 0, 9), failed,
	})
	lag.note("h", []groupcoord.CommittedOffset{committedAt("t", 0, 99)})
	check("known ends", map[string]float64{
		series("g", "t", "0"): 60, series("g", "t", "1"): 0, // of partition 2 no end is known
		series("g", "u", "0"): 0, // committed beyond the end that is known
		series("h", "t", "0"): 1,
	})

	ends["t"] = 110
	delete(ends, "u") // where the end came from it is forgotten, not here
	lag.note("g", []groupcoord.CommittedOffset{committedAt("t", 1, -1), committedAt("u", 0, 3)})
	check("moved on", map[string]float64{series("g", "t", "0"): 70, series("g", "u", "0"): 4, series("h", "t", "0"): 11})

	lag.forget("g")
	check("deleted", map[string]float64{series("h", "t", "0"): 11})
}

func TestLagIsBounded(t *testing.T) {
	lag := NewLag(func(string, int32) (int64, bool) { return 10, true })
	lag.max = 3
	for partition := range int32(3) {
		lag.note("g", []groupcoord.CommittedOffset{committedAt("t", partition, 1)})
	}
	lag.note("g", []groupcoord.CommittedOffset{committedAt("t", 0, 2), committedAt("t", 3, 1)})
	var kept []int32
	for _, e := range lag.behind() {
		kept = append(kept, e.Partition)
	}
	if diff := cmp.Diff([]int32{3, 0, 2}, kept); diff != "" || len(lag.entries) != 3 {
		t.Errorf("kept %v of %d", kept, len(lag.entries))
	}
}

// A client may commit for a group whose id is no text: the others keep their series.
func TestLagOfGroupsThatNoLabelCanName(t *testing.T) {
	lag := NewLag(func(string, int32) (int64, bool) { return 10, true })
	registry := prometheus.NewRegistry()
	registry.MustRegister(lag)
	lag.note("\xff\xfe", []groupcoord.CommittedOffset{committedAt("t", 0, 1)})
	lag.note("g", []groupcoord.CommittedOffset{committedAt("t", 0, 4)})
	lag.note("a\x00b", []groupcoord.CommittedOffset{committedAt("t", 0, 5)})
	want := map[string]float64{
		"kdg_group_lag_records group=g partition=0 topic=t":      6,
		"kdg_group_lag_records group=a\x00b partition=0 topic=t": 5,
	}
	if diff := cmp.Diff(want, gathered(t, registry)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
