package gateway

import (
	"container/list"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
)

// maxLagSeries bounds the series of the lag: those of the partitions whose offset
// was committed or looked up last are shown.
const maxLagSeries = 10_000

var metricLag = Metric{
	Part: PartGroups, Name: "kdg_group_lag_records", Type: Gauge, Unit: "records", Labels: []string{"group", "topic", "partition"},
	Help: "Records of a partition that a consumer group has not committed yet, as far as this gateway knows: the end that it saw last less the offset " +
		"that it stored or read last. Of the " + strconv.Itoa(maxLagSeries) + " partitions whose offset was last in use.",
	Worry: "It grows for minutes: the group's consumers are too slow, stuck or gone.",
}

var descLag = metricLag.Desc()

// Lag shows how far behind consumer groups are, from what passes through anyway: it
// never asks DIS. A group without members keeps its series, so that one that has
// stopped is seen to fall behind.
type Lag struct {
	high func(topic string, partition int32) (int64, bool)

	mu      sync.Mutex
	max     int
	entries map[lagKey]*list.Element
	used    *list.List // of *lagEntry, the one in use last at the front
}

type lagKey struct {
	group string
	groupcoord.TopicPartition
}

type lagEntry struct {
	lagKey
	committed int64
	// high is the end as last seen; it may be forgotten where it came from.
	high  int64
	known bool
}

// records are those that are not committed, where the end is known.
func (e *lagEntry) records() int64 { return max(e.high-e.committed, 0) }

var _ prometheus.Collector = (*Lag)(nil)

// NewLag makes the collector; high gives the end of a partition if it is known.
func NewLag(high func(topic string, partition int32) (int64, bool)) *Lag {
	return &Lag{high: high, max: maxLagSeries, entries: make(map[lagKey]*list.Element), used: list.New()}
}

// note takes committed offsets, as they were stored or read. One that is not there
// ends its series, one that failed changes nothing.
func (l *Lag) note(group string, results []groupcoord.CommittedOffset) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range results {
		key := lagKey{group, r.TopicPartition}
		switch {
		case r.Code != 0:
		case r.Offset < 0:
			l.drop(key)
		default:
			l.keep(key, r.Offset)
		}
	}
}

// keep begins or goes on with a series. Group ids are bytes that clients choose, and
// labels are UTF-8: a group that no label can name has none, and must not take
// /metrics from all others.
func (l *Lag) keep(key lagKey, committed int64) {
	if !utf8.ValidString(key.group) || !utf8.ValidString(key.Topic) {
		return
	}
	if at, found := l.entries[key]; found {
		at.Value.(*lagEntry).committed = committed
		l.used.MoveToFront(at)
		return
	}
	for l.used.Len() >= l.max {
		l.drop(l.used.Back().Value.(*lagEntry).lagKey)
	}
	l.entries[key] = l.used.PushFront(&lagEntry{lagKey: key, committed: committed})
}

func (l *Lag) drop(key lagKey) {
	if at, found := l.entries[key]; found {
		l.used.Remove(at)
		delete(l.entries, key)
	}
}

// forget ends the series of a group that was deleted.
func (l *Lag) forget(group string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.entries {
		if key.group == group {
			l.drop(key)
		}
	}
}

// Describe implements prometheus.Collector.
func (l *Lag) Describe(to chan<- *prometheus.Desc) { to <- descLag }

// Collect implements prometheus.Collector.
func (l *Lag) Collect(to chan<- prometheus.Metric) {
	for _, e := range l.behind() {
		to <- metricLag.Value(descLag, float64(e.records()),
			e.group, e.Topic, strconv.Itoa(int(e.Partition)))
	}
}

// behind are the entries whose partition's end is known.
func (l *Lag) behind() []lagEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []lagEntry
	for at := l.used.Front(); at != nil; at = at.Next() {
		e := at.Value.(*lagEntry)
		l.look(e)
		if e.known {
			found = append(found, *e)
		}
	}
	return found
}

// look takes note of the end of the entry's partition, if it is known now.
func (l *Lag) look(e *lagEntry) {
	if high, known := l.high(e.Topic, e.Partition); known {
		e.high, e.known = high, true
	}
}

// GroupLag is how far behind a group is, over the partitions whose committed
// offset passed through this gateway.
type GroupLag struct {
	// Partitions is how many those are, and Unknown of how many no end was seen.
	Partitions, Unknown int
	// Records are not committed yet, over the partitions with a known end.
	Records int64
	// Worst is the partition that is furthest behind, by WorstRecords.
	Worst        groupcoord.TopicPartition
	WorstRecords int64
}

// Groups adds up the lag of each group, by its name.
func (l *Lag) Groups() map[string]GroupLag {
	groups := make(map[string]GroupLag)
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := l.used.Front(); at != nil; at = at.Next() {
		e := at.Value.(*lagEntry)
		l.look(e)
		g := groups[e.group]
		g.add(e)
		groups[e.group] = g
	}
	return groups
}

func (g *GroupLag) add(e *lagEntry) {
	g.Partitions++
	if !e.known {
		g.Unknown++
		return
	}
	behind := e.records()
	g.Records += behind
	if g.Worst.Topic == "" || behind > g.WorstRecords {
		g.Worst, g.WorstRecords = e.TopicPartition, behind
	}
}
