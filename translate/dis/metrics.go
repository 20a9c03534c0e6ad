package dis

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// MetricsQuery asks for series of values. The period, at most
// wire.MaxMetricsWindow, counts in whole seconds.
type MetricsQuery struct {
	Labels []string // wire.MetricPutBytes and the like
	Start  time.Time
	End    time.Time
}

// StreamMetrics returns one series per label. DIS.4204: the period is too long;
// DIS.4209: unknown label.
func (c *Client) StreamMetrics(ctx context.Context, stream string, query MetricsQuery) ([]wire.Metric, error) {
	return c.metrics(ctx, newRequest("StreamMetrics", http.MethodGet, c.manager, "streams", stream, "metrics"), query)
}

// PartitionMetrics does the same for one partition, whose labels are others.
func (c *Client) PartitionMetrics(ctx context.Context, stream string, partition int, query MetricsQuery) ([]wire.Metric, error) {
	return c.metrics(ctx, newRequest("PartitionMetrics", http.MethodGet, c.manager,
		"streams", stream, "partitions", wire.PartitionID(partition), "metrics"), query)
}

func (c *Client) metrics(ctx context.Context, call *request, query MetricsQuery) ([]wire.Metric, error) {
	var result wire.MetricsResponse
	labels := "label"
	if len(query.Labels) != 1 {
		labels = "label_list"
	}
	call.set(labels, strings.Join(query.Labels, ",")).
		set("start_time", strconv.FormatInt(query.Start.Unix(), 10)).
		set("end_time", strconv.FormatInt(query.End.Unix(), 10)).into(&result)
	if err := c.run(ctx, call); err != nil {
		return nil, err
	}
	if result.Metrics != nil && len(result.MetricsList) == 0 {
		return []wire.Metric{*result.Metrics}, nil
	}
	return result.MetricsList, nil
}
