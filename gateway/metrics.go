package gateway

import (
	"errors"
	"net"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// The metrics of the Kafka side, all of them.
var (
	metricRequests = prometheus.CounterOpts{
		Name: "kdg_requests_total",
		Help: "Kafka requests answered, by API and by the first error code in the reply (0: none).",
	}
	metricConnections = prometheus.GaugeOpts{
		Name: "kdg_connections",
		Help: "Kafka connections that are open.",
	}
	metricClosed = prometheus.CounterOpts{
		Name: "kdg_connections_closed_total",
		Help: "Kafka connections that ended, by why: normal, malformed, failed, panic.",
	}
	metricReceived = prometheus.CounterOpts{
		Name: "kdg_received_bytes_total",
		Help: "Bytes read from Kafka connections.",
	}
	metricThrottled = prometheus.CounterOpts{
		Name: "kdg_throttle_seconds_total",
		Help: "Time for which producers were asked to wait, and their connections not read, because DIS takes no more.",
	}
	metricSent = prometheus.CounterOpts{
		Name: "kdg_sent_bytes_total",
		Help: "Bytes written to Kafka connections.",
	}
	metricLag = prometheus.NewDesc("kdg_group_lag_records",
		"Records of a partition that a consumer group has not committed yet, as far as this gateway knows: the end that it saw last less the offset "+
			"that it stored or read last. Of the "+strconv.Itoa(maxLagSeries)+" partitions whose offset was last in use.",
		[]string{"group", "topic", "partition"}, nil)
)

type metrics struct {
	requests       *prometheus.CounterVec
	connections    prometheus.Gauge
	closedByReason *prometheus.CounterVec
	received, sent prometheus.Counter
	throttled      prometheus.Counter // seconds
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests:       prometheus.NewCounterVec(metricRequests, []string{"api", "code"}),
		connections:    prometheus.NewGauge(metricConnections),
		closedByReason: prometheus.NewCounterVec(metricClosed, []string{"reason"}),
		received:       prometheus.NewCounter(metricReceived),
		sent:           prometheus.NewCounter(metricSent),
		throttled:      prometheus.NewCounter(metricThrottled),
	}
	if registerer == nil {
		return m, nil
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.requests, m.connections, m.closedByReason, m.received, m.sent, m.throttled} {
		errs = append(errs, registerer.Register(c))
	}
	return m, errors.Join(errs...)
}

// answered counts a request whose reply is about to leave.
func (m *metrics) answered(x *exchange) {
	m.requests.WithLabelValues(x.api.name, strconv.Itoa(int(firstError(x.reply)))).Inc()
}

func (m *metrics) closed(cause error) {
	reason := "failed"
	var bad badFrame
	var p panicked
	switch {
	case errors.As(cause, &bad):
		reason = "malformed"
	case errors.As(cause, &p):
		reason = "panic"
	case quiet(cause):
		reason = "normal"
	}
	m.closedByReason.WithLabelValues(reason).Inc()
}

// counted counts the bytes of a connection.
func (m *metrics) counted(nc net.Conn) net.Conn { return countedConn{nc, m} }

type countedConn struct {
	net.Conn
	metrics *metrics
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.metrics.received.Add(float64(n))
	return n, err
}

func (c countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.metrics.sent.Add(float64(n))
	return n, err
}
