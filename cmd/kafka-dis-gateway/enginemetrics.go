package main

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
)

// counts publishes what the translators count themselves.
type counts struct {
	produce *produce.Engine
	offsets *offsets.Store
	fetch   *fetch.Engine
	foreign atomic.Int64
	metrics []count
}

// foreignChange counts a committed offset that somebody else has changed.
func (c *counts) foreignChange(groupcoord.ForeignChange) { c.foreign.Add(1) }

// tally is what the translators have counted at one moment.
type tally struct {
	produce produce.Metrics
	fetch   fetch.Metrics
	offsets offsets.Stats
	foreign int64
}

func (c *counts) read() tally {
	return tally{c.produce.Metrics(), c.fetch.Metrics(), c.offsets.Stats(), c.foreign.Load()}
}

type count struct {
	description *prometheus.Desc
	kind        prometheus.ValueType
	value       func(tally) float64
}

func newCounts(writer *produce.Engine, reader *fetch.Engine, store *offsets.Store) *counts {
	c := &counts{produce: writer, fetch: reader, offsets: store}
	add := func(name, help string, kind prometheus.ValueType, value func(tally) float64) {
		c.metrics = append(c.metrics, count{prometheus.NewDesc("kdg_"+name, help, nil, nil), kind, value})
	}
	total := func(name, help string, value func(tally) int64) {
		add(name, help, prometheus.CounterValue, func(t tally) float64 { return float64(value(t)) })
	}
	size := func(name, help string, value func(tally) int64) {
		add(name, help, prometheus.GaugeValue, func(t tally) float64 { return float64(value(t)) })
	}
	total("stored_records_total", "Records that DIS acknowledged.",
		func(t tally) int64 { return t.produce.StoredRecords })
	total("stored_bytes_total", "Data of the records that DIS acknowledged, in bytes.",
		func(t tally) int64 { return t.produce.StoredBytes })
	total("throttled_records_total", "Records that DIS refused for a time and that were sent again, each time.",
		func(t tally) int64 { return t.produce.ThrottledRecords })
	total("ambiguous_resent_records_total", "Records sent again because DIS did not answer: those that may be in DIS twice.",
		func(t tally) int64 { return t.produce.AmbiguousResentRecords })
	total("hole_records_total", "Records that DIS refused while it stored a later one of their partition: those out of order.",
		func(t tally) int64 { return t.produce.HoleRecords })
	total("moved_batches_total", "Batches for retired partitions, written to another one.",
		func(t tally) int64 { return t.produce.MovedBatches })
	total("moved_records_total", "Records for retired partitions, written to another one.",
		func(t tally) int64 { return t.produce.MovedRecords })
	total("repeated_batches_total", "Batches of idempotent producers that came again and were not written again.",
		func(t tally) int64 { return t.produce.RepeatedBatches })
	total("paced_batches_total", "Batches that waited so that DIS would not throttle them.",
		func(t tally) int64 { return t.produce.PacedBatches })
	add("pacing_wait_seconds_total", "Time that partitions waited so that DIS would not throttle them, added up over partitions.", prometheus.CounterValue,
		func(t tally) float64 { return t.produce.PacingWait.Seconds() })
	size("produce_buffer_bytes", "Memory used by records on their way to DIS.",
		func(t tally) int64 { return t.produce.BufferedBytes })
	total("commits_below_range_total", "Commits below a partition's oldest record, stored as the oldest.",
		func(t tally) int64 { return t.offsets.BelowRange })
	total("commits_above_range_total", "Commits above a partition's end, stored as the end.",
		func(t tally) int64 { return t.offsets.AboveRange })
	total("foreign_commits_total", "Committed offsets of groups with members that another gateway or program was found to have changed.",
		func(t tally) int64 { return t.foreign })
	total("throttled_reads_total", "Reads that DIS refused for a time and that were made again, each time.",
		func(t tally) int64 { return t.fetch.ThrottledReads })
	total("refused_offsets_total", "Fetches from offsets that do not exist any more or not yet; their consumers start at another.",
		func(t tally) int64 { return t.fetch.RefusedOffsets })
	size("fetch_cache_bytes", "Memory used by records read from DIS.",
		func(t tally) int64 { return t.fetch.CacheBytes })
	size("fetch_reply_bytes", "Records in replies that have not left, in bytes; most of them are in the cache too.",
		func(t tally) int64 { return t.fetch.ReplyBytes })
	return c
}

// Describe implements prometheus.Collector.
func (c *counts) Describe(to chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		to <- m.description
	}
}

// Collect implements prometheus.Collector.
func (c *counts) Collect(to chan<- prometheus.Metric) {
	now := c.read()
	for _, m := range c.metrics {
		to <- prometheus.MustNewConstMetric(m.description, m.kind, m.value(now))
	}
}
