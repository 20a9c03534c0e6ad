package gateway

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

func TestTraffic(t *testing.T) {
	there := map[string]bool{"t": true, "u": true}
	traffic := NewTraffic(func(topic string) bool { return there[topic] })
	registry := prometheus.NewRegistry()
	registry.MustRegister(traffic)

	traffic.Stored("t", 3, 300)
	traffic.Stored("t", 1, 50)
	traffic.Fetched("t", 8, 900)
	traffic.Fetched("u", 1, 70)
	want := map[string]float64{
		"kdg_topic_stored_records_total topic=t": 4, "kdg_topic_stored_bytes_total topic=t": 350,
		"kdg_topic_fetched_records_total topic=t": 8, "kdg_topic_fetched_bytes_total topic=t": 900,
		"kdg_topic_stored_records_total topic=u": 0, "kdg_topic_stored_bytes_total topic=u": 0,
		"kdg_topic_fetched_records_total topic=u": 1, "kdg_topic_fetched_bytes_total topic=u": 70,
	}
	if diff := cmp.Diff(want, gathered(t, registry)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	there["t"] = false
	if diff := cmp.Diff([]TopicTraffic{{Topic: "u", FetchedRecords: 1, FetchedBytes: 70}}, traffic.Topics()); diff != "" {
		t.Errorf("after t is gone (-want +got)\n%s", diff)
	}
	there["t"] = true
	traffic.Stored("t", 1, 1)
	if got := traffic.Topics()[0]; got.StoredRecords != 1 {
		t.Errorf("the new topic t begins with %d records, want 1", got.StoredRecords)
	}
}

// Topics that come and go leave nothing behind, also when nobody looks.
func TestTrafficOfGoneTopicsIsForgotten(t *testing.T) {
	last := ""
	traffic := NewTraffic(func(topic string) bool { return topic == last })
	for i := range 1000 {
		last = fmt.Sprintf("t%d", i)
		traffic.Stored(last, 1, 1)
	}
	if len(traffic.topics) > 2 {
		t.Errorf("%d topics are remembered", len(traffic.topics))
	}
}
