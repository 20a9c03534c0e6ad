package gateway

import "github.com/prometheus/client_golang/prometheus"

// Metric is one line of the tables of metrics: the metric itself, the page /metrics
// and docs/metrics.md are all made from it.
type Metric struct {
	// Part is the heading under which the documents list it.
	Part string
	// Name follows the rules of Prometheus: the prefix kdg_, the unit, and _total
	// for a counter.
	Name string
	Type MetricType
	// Unit is what a value of 1 stands for.
	Unit string
	// Labels are its variable labels; which values they take is part of Help.
	Labels []string
	// Help says what is counted or measured.
	Help string
	// Worry says when an operator should look after it; empty: it only informs.
	Worry string
}

// MetricType is a type of Prometheus.
type MetricType string

// The types in use.
const (
	Counter   MetricType = "counter"
	Gauge     MetricType = "gauge"
	Histogram MetricType = "histogram"
)

// The parts of the tables.
const (
	PartHealth  = "Health"
	PartClients = "Kafka clients"
	PartTopics  = "Topics"
	PartGroups  = "Consumer groups"
	PartWriting = "Writing to DIS"
	PartReading = "Reading from DIS"
	PartCalls   = "Calls of DIS"
)

// Desc describes the metric to a registry.
func (m Metric) Desc() *prometheus.Desc {
	return prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
}

// CounterOpts are the options of a counter.
func (m Metric) CounterOpts() prometheus.CounterOpts {
	return prometheus.CounterOpts{Name: m.Name, Help: m.Help}
}

// GaugeOpts are the options of a gauge.
func (m Metric) GaugeOpts() prometheus.GaugeOpts {
	return prometheus.GaugeOpts{Name: m.Name, Help: m.Help}
}

// HistogramOpts are the options of a histogram with the upper bounds of its
// buckets, in its unit.
func (m Metric) HistogramOpts(buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: buckets}
}

// valueType is that of a value that is counted elsewhere.
func (m Metric) valueType() prometheus.ValueType {
	if m.Type == Counter {
		return prometheus.CounterValue
	}
	return prometheus.GaugeValue
}

// Value gives a value that is counted elsewhere to a collector. There are as many
// labels as the metric has.
func (m Metric) Value(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, m.valueType(), value, labels...)
}
