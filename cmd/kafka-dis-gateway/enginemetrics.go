package main

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway/health"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// engineMetrics publishes what the parts count themselves.
type engineMetrics struct {
	produce *produce.Engine
	offsets *offsets.Store
	fetch   *fetch.Engine
	catalog *topics.Catalog
	groups  *groupcoord.Coordinator
	health  *health.Health
	foreign atomic.Int64

	descs   []*prometheus.Desc // of unlabelled
	states  *prometheus.Desc
	refused *prometheus.Desc
}

// foreignChange counts a committed offset that somebody else has changed.
func (c *engineMetrics) foreignChange(groupcoord.ForeignChange) { c.foreign.Add(1) }

// describe prepares the descriptions.
func (c *engineMetrics) describe() {
	for _, m := range unlabelled {
		c.descs = append(c.descs, m.Desc())
	}
	c.states = metricGroups.Desc()
	c.refused = metricRefused.Desc()
}

// tally is what the parts have counted at one moment.
type tally struct {
	produce produce.Metrics
	fetch   fetch.Metrics
	offsets offsets.Stats
	groups  groupcoord.Stats
	health  health.State
	topics  int
	foreign int64
}

func (c *engineMetrics) read() tally {
	return tally{
		c.produce.Metrics(), c.fetch.Metrics(), c.offsets.Stats(), c.groups.Stats(),
		c.health.State(), c.catalog.Count(), c.foreign.Load(),
	}
}

// Describe implements prometheus.Collector.
func (c *engineMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		to <- desc
	}
	to <- c.states
	to <- c.refused
}

// Collect implements prometheus.Collector.
func (c *engineMetrics) Collect(to chan<- prometheus.Metric) {
	now := c.read()
	for i, m := range unlabelled {
		to <- m.Value(c.descs[i], m.value(now))
	}
	for kind, streams := range c.health.RefusedStreams() {
		to <- metricRefused.Value(c.refused, float64(streams), kind)
	}
	for state, groups := range now.groups.States {
		to <- metricGroups.Value(c.states, float64(groups), state)
	}
}
