package gateway

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	metricTopicStoredRecords = Metric{
		Part: PartTopics, Name: "kdg_topic_stored_records_total", Type: Counter, Unit: "records", Labels: []string{"topic"},
		Help: "Records of a topic that DIS acknowledged to this gateway. The series ends with the topic.",
	}
	metricTopicStoredBytes = Metric{
		Part: PartTopics, Name: "kdg_topic_stored_bytes_total", Type: Counter, Unit: "bytes", Labels: []string{"topic"},
		Help: "Data of the records of a topic that DIS acknowledged to this gateway, as DIS stores them.",
	}
	metricTopicFetchedRecords = Metric{
		Part: PartTopics, Name: "kdg_topic_fetched_records_total", Type: Counter, Unit: "records", Labels: []string{"topic"},
		Help: "Records of a topic in replies to consumers, each time. A reply has whole batches: a few may lie before the offset asked for.",
	}
	metricTopicFetchedBytes = Metric{
		Part: PartTopics, Name: "kdg_topic_fetched_bytes_total", Type: Counter, Unit: "bytes", Labels: []string{"topic"},
		Help: "Batches of a topic in replies to consumers, as they travel: compressed with --fetch-compression.",
	}
)

// Traffic counts what is written to and read from each topic. Only topics that exist
// have counts, so there are no more of them than streams.
type Traffic struct {
	exists func(topic string) bool
	descs  [4]*prometheus.Desc

	mu     sync.RWMutex
	topics map[string]*topicCounts
}

type topicCounts struct{ storedRecords, storedBytes, fetchedRecords, fetchedBytes atomic.Int64 }

// TopicTraffic is what was counted of a topic since the gateway started.
type TopicTraffic struct {
	Topic                        string
	StoredRecords, StoredBytes   int64
	FetchedRecords, FetchedBytes int64
}

var _ prometheus.Collector = (*Traffic)(nil)

// NewTraffic makes the collector; exists tells, without waiting for anything, whether
// there is a topic.
func NewTraffic(exists func(topic string) bool) *Traffic {
	t := &Traffic{exists: exists, topics: map[string]*topicCounts{}}
	for i, m := range trafficMetrics {
		t.descs[i] = m.metric.Desc()
	}
	return t
}

// Stored counts records that DIS acknowledged. It does not block.
func (t *Traffic) Stored(topic string, records, bytes int) {
	c := t.of(topic)
	c.storedRecords.Add(int64(records))
	c.storedBytes.Add(int64(bytes))
}

// Fetched counts records that a consumer gets. It does not block.
func (t *Traffic) Fetched(topic string, records, bytes int) {
	c := t.of(topic)
	c.fetchedRecords.Add(int64(records))
	c.fetchedBytes.Add(int64(bytes))
}

// Topics gives the counts of all topics that had traffic, by name.
func (t *Traffic) Topics() []TopicTraffic {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropGone()
	all := make([]TopicTraffic, 0, len(t.topics))
	for name, c := range t.topics {
		all = append(all, TopicTraffic{
			name, c.storedRecords.Load(), c.storedBytes.Load(), c.fetchedRecords.Load(), c.fetchedBytes.Load(),
		})
	}
	slices.SortFunc(all, func(a, b TopicTraffic) int { return strings.Compare(a.Topic, b.Topic) })
	return all
}

func (t *Traffic) of(topic string) *topicCounts {
	t.mu.RLock()
	c := t.topics[topic]
	t.mu.RUnlock()
	if c != nil {
		return c
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c = t.topics[topic]; c == nil {
		t.dropGone() // here too, in case nobody ever asks for the counts
		c = &topicCounts{}
		t.topics[topic] = c
	}
	return c
}

// dropGone forgets the topics that do not exist any more.
func (t *Traffic) dropGone() {
	maps.DeleteFunc(t.topics, func(topic string, _ *topicCounts) bool { return !t.exists(topic) })
}

// trafficMetrics are the series of a topic, in the order of Traffic.descs.
var trafficMetrics = [4]struct {
	metric Metric
	value  func(TopicTraffic) int64
}{
	{metricTopicStoredRecords, func(t TopicTraffic) int64 { return t.StoredRecords }},
	{metricTopicStoredBytes, func(t TopicTraffic) int64 { return t.StoredBytes }},
	{metricTopicFetchedRecords, func(t TopicTraffic) int64 { return t.FetchedRecords }},
	{metricTopicFetchedBytes, func(t TopicTraffic) int64 { return t.FetchedBytes }},
}

// Describe implements prometheus.Collector.
func (t *Traffic) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range t.descs {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (t *Traffic) Collect(to chan<- prometheus.Metric) {
	for _, counts := range t.Topics() {
		for i, m := range trafficMetrics {
			to <- m.metric.Value(t.descs[i], float64(m.value(counts)), counts.Topic)
		}
	}
}
