package wire

import "time"

// MaxMetricsWindow is the longest period that one query of metrics may cover.
const MaxMetricsWindow = 7 * 24 * time.Hour

// The labels of a stream's metrics.
const (
	MetricPutBytes      = "total_put_bytes_per_stream"
	MetricGetBytes      = "total_get_bytes_per_stream"
	MetricPutRecords    = "total_put_records_per_stream"
	MetricGetRecords    = "total_get_records_per_stream"
	MetricPutLatency    = "total_put_req_latency" // ms, mean
	MetricGetLatency    = "total_get_req_latency" // ms, mean
	MetricPutSuccesses  = "total_put_req_suc_per_stream"
	MetricGetSuccesses  = "total_get_req_suc_per_stream"
	MetricPutsThrottled = "traffic_control_put"
	MetricGetsThrottled = "traffic_control_get"
)

// The labels of a partition's metrics.
const (
	MetricPartitionPutBytes   = "total_put_bytes_per_partition"
	MetricPartitionGetBytes   = "total_get_bytes_per_partition"
	MetricPartitionPutRecords = "total_put_records_per_partition"
	MetricPartitionGetRecords = "total_get_records_per_partition"
)

// MetricsResponse is the answer of GET /v2/{project}/streams/{stream}/metrics and
// .../partitions/{partition}/metrics: Metrics for a query with label, MetricsList
// for one with label_list.
type MetricsResponse struct {
	Metrics     *Metric  `json:"metrics,omitempty"`
	MetricsList []Metric `json:"metrics_list,omitempty"`
}

// Metric is one series.
type Metric struct {
	DataPoints []DataPoint `json:"dataPoints"`
	Label      string      `json:"label"`
}

// DataPoint is the value of a metric at a time. No document names the unit of
// Timestamp.
type DataPoint struct {
	Timestamp int64 `json:"timestamp"`
	Value     int64 `json:"value"`
}
