package main

import (
	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
)

// metricTable is every metric of the gateway, for the documents.
func metricTable() []gateway.Metric {
	var all []gateway.Metric
	all = append(all, metricBuild)
	for _, m := range unlabelled {
		all = append(all, m.Metric)
	}
	all = append(all, metricRefused, metricGroups)
	all = append(all, gateway.Metrics()...)
	return append(all, callMetrics()...)
}

var metricBuild = gateway.Metric{
	Part: gateway.PartHealth, Name: "kdg_build_info", Type: gateway.Gauge, Unit: "1", Labels: []string{"version", "commit", "go_version"},
	Help: "Always 1; the labels name the running build.",
}

var metricRefused = gateway.Metric{
	Part: gateway.PartHealth, Name: "kdg_dis_refused_streams", Type: gateway.Gauge, Unit: "streams", Labels: []string{"calls"},
	Help: "Streams of which DIS has refused every call of a kind for 30 s or longer, by kind (writes, reads, commits), " +
		"although it answers the gateway: a permission is missing, say, or every call is throttled. The gateway stays ready for what works; /readyz and / name the reason.",
	Worry: "It is not 0: the clients that need it fail until somebody changes what DIS allows, or who else uses it.",
}

var metricGroups = gateway.Metric{
	Part: gateway.PartGroups, Name: "kdg_groups", Type: gateway.Gauge, Unit: "groups", Labels: []string{"state"},
	Help: "Consumer groups in memory that exist, by state: Empty, PreparingRebalance, CompletingRebalance, Stable, Assigning, Reconciling. " +
		"Groups that only have offsets in DIS are not counted.",
	Worry: "A group stays in a state other than Stable and Empty for longer than its rebalance timeout.",
}

// countedMetric is a metric without labels that a part of the gateway counts.
type countedMetric struct {
	gateway.Metric
	value func(tally) float64
}

func counter(part, unit, name, help, worry string, value func(tally) float64) countedMetric {
	return countedMetric{gateway.Metric{Part: part, Name: "kdg_" + name, Type: gateway.Counter, Unit: unit, Help: help, Worry: worry}, value}
}

func gauge(part, unit, name, help, worry string, value func(tally) float64) countedMetric {
	return countedMetric{gateway.Metric{Part: part, Name: "kdg_" + name, Type: gateway.Gauge, Unit: unit, Help: help, Worry: worry}, value}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// unlabelled are the metrics without labels.
var unlabelled = []countedMetric{
	gauge(gateway.PartHealth, "1 or 0", "ready",
		"1 while the gateway is ready as /readyz tells it: DIS answers and the gateway does not drain.",
		"It is 0 for minutes; /readyz names the reason.",
		func(t tally) float64 { return truth(t.health.Ready) }),
	gauge(gateway.PartHealth, "1 or 0", "dis_up",
		"1 while DIS answers the gateway and accepts its keys, as far as the last calls showed.",
		"It is 0: producers and consumers wait.",
		func(t tally) float64 { return truth(t.health.DISUp) }),
	counter(gateway.PartHealth, "outages", "dis_outages_total",
		"Times that DIS was found to be away, or to refuse the gateway, after it had answered.",
		"It grows often: the way to DIS is not stable.",
		func(t tally) float64 { return float64(t.health.Outages) }),
	gauge(gateway.PartTopics, "topics", "topics",
		"Topics as far as the gateway knows without asking DIS.",
		"",
		func(t tally) float64 { return float64(t.topics) }),
	gauge(gateway.PartGroups, "groups", "groups_in_memory",
		"Consumer groups in memory: with members, or asked for in the last minute, also by names that are none.",
		"It comes near kdg_groups_in_memory_limit.",
		func(t tally) float64 { return float64(t.groups.InMemory) }),
	gauge(gateway.PartGroups, "groups", "groups_in_memory_limit",
		"Most groups in memory; requests for further ones are refused with COORDINATOR_NOT_AVAILABLE.",
		"",
		func(t tally) float64 { return float64(t.groups.MaxGroups) }),
	counter(gateway.PartGroups, "requests", "groups_refused_total",
		"Requests for groups that were refused because too many groups are in memory.",
		"It grows: a client makes groups up.",
		func(t tally) float64 { return float64(t.groups.Refused) }),
	gauge(gateway.PartGroups, "members", "group_members",
		"Members of all consumer groups.",
		"",
		func(t tally) float64 { return float64(t.groups.Members) }),
	gauge(gateway.PartGroups, "bytes", "group_member_bytes",
		"What the members of all consumer groups keep in memory: metadata, subscriptions, assignments, names.",
		"It comes near kdg_group_member_bytes_limit.",
		func(t tally) float64 { return float64(t.groups.MemberBytes) }),
	gauge(gateway.PartGroups, "bytes", "group_member_bytes_limit",
		"Most that members may keep; a request that would add to it is refused with COORDINATOR_NOT_AVAILABLE.",
		"",
		func(t tally) float64 { return float64(t.groups.MaxMemberBytes) }),
	counter(gateway.PartGroups, "requests", "group_members_refused_total",
		"Requests of members that were refused because all members keep as much in memory as they may.",
		"It grows: a client sends large metadata for groups, or makes members up.",
		func(t tally) float64 { return float64(t.groups.MembersRefused) }),
	counter(gateway.PartGroups, "rebalances", "group_rebalances_total",
		"Generations that consumer groups began; in the consumer protocol (KIP-848) assignments that were computed.",
		"It grows steadily while nobody scales or deploys: members miss heartbeats or max.poll.interval.ms.",
		func(t tally) float64 { return float64(t.groups.Rebalances) }),
	counter(gateway.PartGroups, "commits", "commits_below_range_total",
		"Commits below a partition's oldest record, stored as the oldest.",
		"A group reads so late that records expire before it has them.",
		func(t tally) float64 { return float64(t.offsets.BelowRange) }),
	counter(gateway.PartGroups, "commits", "commits_above_range_total",
		"Commits above a partition's end, stored as the end.",
		"A stream was made again under a running group, or a tool sets wrong offsets.",
		func(t tally) float64 { return float64(t.offsets.AboveRange) }),
	counter(gateway.PartGroups, "offsets", "foreign_commits_total",
		"Committed offsets of groups with members that another gateway or program was found to have changed.",
		"It grows: two gateways or the DIS Kafka adapter serve one group, and each member gets everything.",
		func(t tally) float64 { return float64(t.foreign) }),
	counter(gateway.PartWriting, "records", "stored_records_total",
		"Records that DIS acknowledged.",
		"",
		func(t tally) float64 { return float64(t.produce.StoredRecords) }),
	counter(gateway.PartWriting, "bytes", "stored_bytes_total",
		"Data of the records that DIS acknowledged, in bytes.",
		"",
		func(t tally) float64 { return float64(t.produce.StoredBytes) }),
	counter(gateway.PartWriting, "records", "throttled_records_total",
		"Records that DIS refused for a time and that were sent again, each time.",
		"It grows for minutes: others write to the same partitions, or --pacing is too high for them.",
		func(t tally) float64 { return float64(t.produce.ThrottledRecords) }),
	counter(gateway.PartWriting, "records", "ambiguous_resent_records_total",
		"Records sent again because DIS did not answer, and those of a batch that it stored in part and its producer sends again as a whole: those that may be in DIS twice.",
		"Each is a possible repeat for consumers.",
		func(t tally) float64 { return float64(t.produce.AmbiguousResentRecords) }),
	counter(gateway.PartWriting, "records", "hole_records_total",
		"Records that DIS refused while it stored a later one of their partition: those out of order.",
		"Each is out of order, and in the log.",
		func(t tally) float64 { return float64(t.produce.HoleRecords) }),
	counter(gateway.PartWriting, "batches", "moved_batches_total",
		"Batches for retired partitions, written to another one.",
		"A stream was scaled down and producers do not know yet.",
		func(t tally) float64 { return float64(t.produce.MovedBatches) }),
	counter(gateway.PartWriting, "records", "moved_records_total",
		"Records for retired partitions, written to another one.",
		"As above.",
		func(t tally) float64 { return float64(t.produce.MovedRecords) }),
	counter(gateway.PartWriting, "batches", "repeated_batches_total",
		"Batches of idempotent producers that came again and were not written again.",
		"",
		func(t tally) float64 { return float64(t.produce.RepeatedBatches) }),
	counter(gateway.PartWriting, "batches", "paced_batches_total",
		"Batches that waited so that DIS would not throttle them.",
		"",
		func(t tally) float64 { return float64(t.produce.PacedBatches) }),
	counter(gateway.PartWriting, "seconds", "pacing_wait_seconds_total",
		"Time that partitions waited so that DIS would not throttle them, added up over partitions.",
		"It grows by more than half a second in each second and partition: the topic needs more partitions.",
		func(t tally) float64 { return t.produce.PacingWait.Seconds() }),
	gauge(gateway.PartWriting, "bytes", "produce_buffer_bytes",
		"Memory used by records on their way to DIS.",
		"",
		func(t tally) float64 { return float64(t.produce.BufferedBytes) }),
	gauge(gateway.PartWriting, "ratio", "produce_buffer_filled_ratio",
		"How full the fuller half of the buffer is, 0 to 1: one half is for what producers send, as it arrives, the other for what goes to DIS.",
		"It is near 1: producers wait.",
		func(t tally) float64 { return t.produce.BufferFilled }),
	gauge(gateway.PartWriting, "bytes", "produce_buffer_limit_bytes",
		"Memory for records on their way to DIS (--produce-buffer).",
		"",
		func(t tally) float64 { return float64(t.produce.BufferLimit) }),
	counter(gateway.PartReading, "records", "fetched_records_total",
		"Records in replies to consumers, each time. A reply has whole batches: a few may lie before the offset asked for.",
		"",
		func(t tally) float64 { return float64(t.fetch.FetchedRecords) }),
	counter(gateway.PartReading, "bytes", "fetched_bytes_total",
		"Batches in replies to consumers, in bytes as they travel.",
		"",
		func(t tally) float64 { return float64(t.fetch.FetchedBytes) }),
	counter(gateway.PartReading, "reads", "throttled_reads_total",
		"Reads that DIS refused for a time and that were made again, each time.",
		"It grows for minutes: others read the same partitions.",
		func(t tally) float64 { return float64(t.fetch.ThrottledReads) }),
	counter(gateway.PartReading, "fetches", "refused_offsets_total",
		"Fetches from offsets that do not exist any more or not yet; their consumers start at another.",
		"Consumers skip or repeat records, as auto.offset.reset says.",
		func(t tally) float64 { return float64(t.fetch.RefusedOffsets) }),
	gauge(gateway.PartReading, "bytes", "fetch_cache_bytes",
		"Memory used by records read from DIS.",
		"",
		func(t tally) float64 { return float64(t.fetch.CacheBytes) }),
	gauge(gateway.PartReading, "bytes", "fetch_cache_limit_bytes",
		"Memory for records read from DIS (--fetch-cache). A full cache is normal: what is unused for longest goes.",
		"",
		func(t tally) float64 { return float64(t.fetch.CacheLimit) }),
	gauge(gateway.PartReading, "bytes", "fetch_reply_bytes",
		"Records in replies that have not left, in bytes; most of them are in the cache too.",
		"It is near its limit: consumers do not read their replies, and all get smaller ones.",
		func(t tally) float64 { return float64(t.fetch.ReplyBytes) }),
	gauge(gateway.PartReading, "bytes", "fetch_reply_limit_bytes",
		"Most records in replies that have not left; near it replies get smaller.",
		"",
		func(t tally) float64 { return float64(t.fetch.ReplyLimit) }),
}
