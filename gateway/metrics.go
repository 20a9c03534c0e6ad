package gateway

import (
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Metrics are those of the Kafka side, all of them.
func Metrics() []Metric {
	return []Metric{
		metricRequests, metricRequestSeconds, metricReceived, metricSent, metricThrottled,
		metricConnections, metricSoftware, metricClosed,
		metricTopicStoredRecords, metricTopicStoredBytes, metricTopicFetchedRecords, metricTopicFetchedBytes,
		metricLag,
	}
}

var (
	metricRequests = Metric{
		Part: PartClients, Name: "kdg_requests_total", Type: Counter, Unit: "requests", Labels: []string{"api", "code", "error"},
		Help: "Kafka requests answered, by API and by the first error in the reply: its code and its name (0, NONE).",
		Worry: "Errors that last, above all of Produce, Fetch and OffsetCommit. REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED and, " +
			"for a moment, NOT_LEADER_OR_FOLLOWER are part of normal operation.",
	}
	metricRequestSeconds = Metric{
		Part: PartClients, Name: "kdg_request_seconds", Type: Histogram, Unit: "seconds", Labels: []string{"api"},
		Help: "Time from the first byte of a Kafka request until its reply leaves, by API. That of Fetch, JoinGroup and SyncGroup includes " +
			"what the client asked to wait for.",
		Worry: "Produce far above kdg_dis_request_seconds of PutRecords: requests wait for pacing, for the buffer or behind others.",
	}
	metricReceived = Metric{
		Part: PartClients, Name: "kdg_received_bytes_total", Type: Counter, Unit: "bytes",
		Help: "Bytes read from Kafka connections.",
	}
	metricSent = Metric{
		Part: PartClients, Name: "kdg_sent_bytes_total", Type: Counter, Unit: "bytes",
		Help: "Bytes written to Kafka connections.",
	}
	metricThrottled = Metric{
		Part: PartClients, Name: "kdg_throttle_seconds_total", Type: Counter, Unit: "seconds",
		Help:  "Time for which producers were asked to wait, and their connections not read, because DIS takes no more.",
		Worry: "It grows steadily: producers have more than the partitions of their streams may take.",
	}
	metricConnections = Metric{
		Part: PartClients, Name: "kdg_connections", Type: Gauge, Unit: "connections",
		Help: "Kafka connections that are open.",
	}
	metricSoftware = Metric{
		Part: PartClients, Name: "kdg_client_connections", Type: Gauge, Unit: "connections", Labels: []string{"software"},
		Help: "Open Kafka connections by the name of the client software (KIP-511). unknown: the client told none; " +
			"other: a name that is none, or beyond the " + strconv.Itoa(maxSoftwareNames) + " that most connections have.",
	}
	metricClosed = Metric{
		Part: PartClients, Name: "kdg_connections_closed_total", Type: Counter, Unit: "connections", Labels: []string{"reason"},
		Help:  "Kafka connections that ended, by why: normal, malformed, failed, panic.",
		Worry: "panic: a fault of the gateway, whose log has the stack. malformed: something that is no Kafka client connects.",
	}
)

// requestBuckets reach from a reply out of memory to the longest wait of a client.
var requestBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

type metrics struct {
	requests       *prometheus.CounterVec
	seconds        *prometheus.HistogramVec
	connections    prometheus.Gauge
	closedByReason *prometheus.CounterVec
	received, sent prometheus.Counter
	throttled      prometheus.Counter // seconds
}

func newMetrics(registerer prometheus.Registerer, clients prometheus.Collector) (*metrics, error) {
	m := &metrics{
		requests:       prometheus.NewCounterVec(metricRequests.CounterOpts(), metricRequests.Labels),
		seconds:        prometheus.NewHistogramVec(metricRequestSeconds.HistogramOpts(requestBuckets), metricRequestSeconds.Labels),
		connections:    prometheus.NewGauge(metricConnections.GaugeOpts()),
		closedByReason: prometheus.NewCounterVec(metricClosed.CounterOpts(), metricClosed.Labels),
		received:       prometheus.NewCounter(metricReceived.CounterOpts()),
		sent:           prometheus.NewCounter(metricSent.CounterOpts()),
		throttled:      prometheus.NewCounter(metricThrottled.CounterOpts()),
	}
	for _, reason := range []string{closedNormal, closedMalformed, closedFailed, closedPanic} {
		m.closedByReason.WithLabelValues(reason) // a first one is seen as a change
	}
	if registerer == nil {
		return m, nil
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.connections, m.closedByReason, m.received, m.sent, m.throttled, clients} {
		errs = append(errs, registerer.Register(c))
	}
	return m, errors.Join(errs...)
}

// answered counts a request whose reply is about to leave.
func (m *metrics) answered(x *exchange) {
	code := firstError(x.reply)
	m.requests.WithLabelValues(x.api.name, strconv.Itoa(int(code)), errorName(code)).Inc()
	m.seconds.WithLabelValues(x.api.name).Observe(time.Since(x.arrived).Seconds())
}

// errorName is the name of an error code as Kafka's documents have it.
func errorName(code int16) string {
	switch code {
	case 0:
		return "NONE"
	case notLeaderOrFollower:
		return "NOT_LEADER_OR_FOLLOWER" // kerr has the name from before Kafka 2.6
	}
	return kerr.TypedErrorForCode(code).Message
}

// The reasons of metricClosed.
const (
	closedNormal    = "normal"
	closedMalformed = "malformed"
	closedFailed    = "failed"
	closedPanic     = "panic"
)

func (m *metrics) closed(cause error) {
	reason := closedFailed
	var bad badFrame
	var p panicked
	switch {
	case errors.As(cause, &bad):
		reason = closedMalformed
	case errors.As(cause, &p):
		reason = closedPanic
	case quiet(cause):
		reason = closedNormal
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

// CloseWrite is there for connections that can be closed in one direction.
func (c countedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (c countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.metrics.sent.Add(float64(n))
	return n, err
}
