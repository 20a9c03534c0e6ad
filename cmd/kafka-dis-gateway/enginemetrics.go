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

type count struct {
	description *prometheus.Desc
	kind        prometheus.ValueType
	value       func(produce.Metrics, offsets.Stats) float64
}

func newCounts(writer *produce.Engine, reader *fetch.Engine, store *offsets.Store) *counts {
	c := &counts{produce: writer, fetch: reader, offsets: store}
	add := func(name, help string, kind prometheus.ValueType, value func(produce.Metrics, offsets.Stats) float64) {
		description := prometheus.NewDesc("kdg_"+name, help, nil, nil)
		c.metrics = append(c.metrics, count{description, kind, value})
	}
	total := prometheus.CounterValue
	add("stored_records_total", "Records that DIS acknowledged.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.StoredRecords) })
	add("stored_bytes_total", "Data of the records that DIS acknowledged, in bytes.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.StoredBytes) })
	add("throttled_records_total", "Records that DIS refused for a time and that were sent again, each time.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.ThrottledRecords) })
	add("ambiguous_resent_records_total", "Records sent again because DIS did not answer: those that may be in DIS twice.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.AmbiguousResentRecords) })
	add("hole_records_total", "Records that DIS refused while it stored a later one of their partition: those out of order.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.HoleRecords) })
	add("moved_batches_total", "Batches for retired partitions, written to another one.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.MovedBatches) })
	add("moved_records_total", "Records for retired partitions, written to another one.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.MovedRecords) })
	add("repeated_batches_total", "Batches of idempotent producers that came again and were not written again.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.RepeatedBatches) })
	add("paced_batches_total", "Batches that waited so that DIS would not throttle them.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.PacedBatches) })
	add("pacing_wait_seconds_total", "Time that partitions waited so that DIS would not throttle them, added up over partitions.", total,
		func(p produce.Metrics, _ offsets.Stats) float64 { return p.PacingWait.Seconds() })
	add("produce_buffer_bytes", "Memory used by records on their way to DIS.", prometheus.GaugeValue,
		func(p produce.Metrics, _ offsets.Stats) float64 { return float64(p.BufferedBytes) })
	add("commits_below_range_total", "Commits below a partition's oldest record, stored as the oldest.", total,
		func(_ produce.Metrics, o offsets.Stats) float64 { return float64(o.BelowRange) })
	add("commits_above_range_total", "Commits above a partition's end, stored as the end.", total,
		func(_ produce.Metrics, o offsets.Stats) float64 { return float64(o.AboveRange) })
	add("foreign_commits_total", "Committed offsets of groups with members that another gateway or program was found to have changed.", total,
		func(produce.Metrics, offsets.Stats) float64 { return float64(c.foreign.Load()) })
	read := func(value func(fetch.Metrics) int64) func(produce.Metrics, offsets.Stats) float64 {
		return func(produce.Metrics, offsets.Stats) float64 { return float64(value(c.fetch.Metrics())) }
	}
	add("throttled_reads_total", "Reads that DIS refused for a time and that were made again, each time.", total,
		read(func(f fetch.Metrics) int64 { return f.ThrottledReads }))
	add("refused_offsets_total", "Fetches from offsets that do not exist any more or not yet; their consumers start at another.", total,
		read(func(f fetch.Metrics) int64 { return f.RefusedOffsets }))
	add("fetch_cache_bytes", "Memory used by records read from DIS.", prometheus.GaugeValue,
		read(func(f fetch.Metrics) int64 { return f.CacheBytes }))
	add("fetch_reply_bytes", "Records in replies that have not left, in bytes; most of them are in the cache too.", prometheus.GaugeValue,
		read(func(f fetch.Metrics) int64 { return f.ReplyBytes }))
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
	written, committed := c.produce.Metrics(), c.offsets.Stats()
	for _, m := range c.metrics {
		to <- prometheus.MustNewConstMetric(m.description, m.kind, m.value(written, committed))
	}
}
