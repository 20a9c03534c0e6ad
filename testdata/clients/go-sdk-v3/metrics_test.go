package gosdkv3

import (
	"strings"
	"testing"
	"time"

	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

// lastHour is a window around now, in seconds as the API wants it.
func lastHour() (start, end int64) {
	now := time.Now()
	return now.Add(-time.Hour).Unix(), now.Add(time.Minute).Unix()
}

func streamMetric(stream string, label model.ShowStreamMetricsRequestLabel) *model.ShowStreamMetricsRequest {
	start, end := lastHour()
	return &model.ShowStreamMetricsRequest{StreamName: stream, Label: &label, StartTime: start, EndTime: end}
}

func partitionMetric(stream, partition string, label model.ShowPartitionMetricsRequestLabel) *model.ShowPartitionMetricsRequest {
	start, end := lastHour()
	return &model.ShowPartitionMetricsRequest{StreamName: stream, PartitionId: partition, Label: &label, StartTime: start, EndTime: end}
}

// total adds up a series and checks that its points lie in the last hour, or at
// the begin of the minute with which it begins, whether they are told in seconds
// or in milliseconds.
func total(t *testing.T, metric *model.Metrics) (sum int64) {
	t.Helper()
	if metric == nil || metric.Label == nil || metric.DataPoints == nil {
		t.Fatalf("no series: %v", metric)
	}
	start, end := lastHour()
	for _, point := range *metric.DataPoints {
		at := *point.Timestamp
		if at > 1e12 {
			at /= 1000
		}
		if at < start-60 || at > end {
			t.Errorf("%s has a point at %d, outside of %d to %d", *metric.Label, *point.Timestamp, start, end)
		}
		sum += *point.Value
	}
	return sum
}

func TestStreamMetrics(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 2)
	putTo(t, c, "s", "0", "12345", "123")
	putTo(t, c, "s", "1", "12")
	equal(t, "records", len(read(t, c, "s", "0")), 2) // two requests: the second finds the end

	labels := model.GetShowStreamMetricsRequestLabelEnum()
	tests := []struct {
		label model.ShowStreamMetricsRequestLabel
		want  int64
	}{
		{labels.TOTAL_PUT_RECORDS_PER_STREAM, 3},
		{labels.TOTAL_PUT_BYTES_PER_STREAM, 10},
		{labels.TOTAL_PUT_REQ_SUC_PER_STREAM, 2},
		{labels.TOTAL_GET_RECORDS_PER_STREAM, 2},
		{labels.TOTAL_GET_BYTES_PER_STREAM, 8},
		{labels.TOTAL_GET_REQ_SUC_PER_STREAM, 2},
		{labels.TRAFFIC_CONTROL_PUT, 0},
		{labels.TRAFFIC_CONTROL_GET, 0},
	}
	var names []string
	for _, test := range tests {
		got := succeed(t, 200, c.ShowStreamMetrics, streamMetric("s", test.label))
		equal(t, "label", *got.Metrics.Label, test.label.Value())
		equal(t, test.label.Value(), total(t, got.Metrics), test.want)
		names = append(names, test.label.Value())
	}
	for _, label := range []model.ShowStreamMetricsRequestLabel{labels.TOTAL_PUT_REQ_LATENCY, labels.TOTAL_GET_REQ_LATENCY} {
		got := succeed(t, 200, c.ShowStreamMetrics, streamMetric("s", label))
		if spent := total(t, got.Metrics); spent < 0 || spent > 60_000 {
			t.Errorf("%s is %d ms", label.Value(), spent)
		}
	}

	all := streamMetric("s", labels.TOTAL_PUT_BYTES_PER_STREAM)
	all.LabelList = new(strings.Join(names, ",")) // it counts, not the label beside it
	list := *succeed(t, 200, c.ShowStreamMetrics, all).MetricsList
	equal(t, "series", len(list), len(tests))
	for i, metric := range list {
		equal(t, "label", *metric.Label, names[i])
		equal(t, names[i], total(t, &metric), tests[i].want)
	}

	// A window in which nothing happened.
	past := streamMetric("s", labels.TOTAL_PUT_RECORDS_PER_STREAM)
	past.StartTime, past.EndTime = past.StartTime-7200, past.StartTime-3600
	empty := succeed(t, 200, c.ShowStreamMetrics, past).Metrics
	if empty.DataPoints != nil {
		for _, point := range *empty.DataPoints {
			equal(t, "value of a time before", *point.Value, 0)
		}
	}
}

func TestPartitionMetrics(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 2)
	putTo(t, c, "s", "0", "12345", "123")
	putTo(t, c, "s", "1", "12")
	read(t, c, "s", "0")
	labels := model.GetShowPartitionMetricsRequestLabelEnum()
	tests := []struct {
		partition string
		label     model.ShowPartitionMetricsRequestLabel
		want      int64
	}{
		{"0", labels.TOTAL_PUT_RECORDS_PER_PARTITION, 2},
		{"shardId-0000000000", labels.TOTAL_PUT_BYTES_PER_PARTITION, 8},
		{"0", labels.TOTAL_GET_RECORDS_PER_PARTITION, 2},
		{"0", labels.TOTAL_GET_BYTES_PER_PARTITION, 8},
		{"1", labels.TOTAL_PUT_RECORDS_PER_PARTITION, 1},
		{"1", labels.TOTAL_GET_RECORDS_PER_PARTITION, 0},
	}
	for _, test := range tests {
		got := succeed(t, 200, c.ShowPartitionMetrics, partitionMetric("s", test.partition, test.label))
		equal(t, "label", *got.Metrics.Label, test.label.Value())
		equal(t, test.label.Value()+" of "+test.partition, total(t, got.Metrics), test.want)
	}
}

func TestMetricsRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	ofStream, ofPartition := model.GetShowStreamMetricsRequestLabelEnum(), model.GetShowPartitionMetricsRequestLabelEnum()
	stream := func(change func(*model.ShowStreamMetricsRequest)) *model.ShowStreamMetricsRequest {
		request := streamMetric("s", ofStream.TOTAL_PUT_BYTES_PER_STREAM)
		change(request)
		return request
	}
	partition := func(change func(*model.ShowPartitionMetricsRequest)) *model.ShowPartitionMetricsRequest {
		request := partitionMetric("s", "0", ofPartition.TOTAL_PUT_BYTES_PER_PARTITION)
		change(request)
		return request
	}
	const week = 7 * 24 * 3600
	streamTests := []struct {
		code   string
		change func(*model.ShowStreamMetricsRequest)
	}{
		{"DIS.4301", func(r *model.ShowStreamMetricsRequest) { r.StreamName = "none" }},
		{"DIS.4209", func(r *model.ShowStreamMetricsRequest) { r.Label = nil }},
		{"DIS.4209", func(r *model.ShowStreamMetricsRequest) {
			r.Label, r.LabelList = nil, new("total_put_bytes_per_stream,unknown")
		}},
		{"DIS.4203", func(r *model.ShowStreamMetricsRequest) { r.EndTime = r.StartTime - 1 }},
		{"DIS.4203", func(r *model.ShowStreamMetricsRequest) { r.StartTime = -1 }},
		{"DIS.4204", func(r *model.ShowStreamMetricsRequest) { r.StartTime = r.EndTime - week - 1 }},
	}
	for _, test := range streamTests {
		refuse(t, test.code, "", c.ShowStreamMetrics, stream(test.change))
	}
	succeed(t, 200, c.ShowStreamMetrics, stream(func(r *model.ShowStreamMetricsRequest) { r.StartTime = r.EndTime - week }))

	partitionTests := []struct {
		code   string
		change func(*model.ShowPartitionMetricsRequest)
	}{
		{"DIS.4301", func(r *model.ShowPartitionMetricsRequest) { r.StreamName = "none" }},
		{"DIS.4302", func(r *model.ShowPartitionMetricsRequest) { r.PartitionId = "1" }},
		{"DIS.4201", func(r *model.ShowPartitionMetricsRequest) { r.PartitionId = "x" }},
		{"DIS.4209", func(r *model.ShowPartitionMetricsRequest) { r.Label = nil }},
		{"DIS.4209", func(r *model.ShowPartitionMetricsRequest) {
			r.Label, r.LabelList = nil, new("total_put_bytes_per_stream") // that of a stream
		}},
		{"DIS.4203", func(r *model.ShowPartitionMetricsRequest) { r.EndTime = r.StartTime - 1 }},
		{"DIS.4204", func(r *model.ShowPartitionMetricsRequest) { r.StartTime = r.EndTime - week - 1 }},
	}
	for _, test := range partitionTests {
		refuse(t, test.code, "", c.ShowPartitionMetrics, partition(test.change))
	}
}
