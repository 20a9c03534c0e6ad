package main

import (
	"errors"
	"regexp"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// callMetrics are those of single calls of DIS.
func callMetrics() []gateway.Metric {
	return []gateway.Metric{metricDISSeconds, metricDISRetries, metricDISRefused}
}

var (
	metricDISSeconds = gateway.Metric{
		Part: gateway.PartCalls, Name: "kdg_dis_request_seconds", Type: gateway.Histogram, Unit: "seconds", Labels: []string{"operation", "code"},
		Help: "Time until DIS had answered a call, by operation and by DIS code or HTTP status (0: no answer). " +
			"Its _count is the number of calls.",
		Worry: "The times rise, or codes other than those of success (200 and the like) last.",
	}
	metricDISRetries = gateway.Metric{
		Part: gateway.PartCalls, Name: "kdg_dis_retries_total", Type: gateway.Counter, Unit: "calls", Labels: []string{"operation"},
		Help: "Calls of DIS that were made again because the one before had failed, by operation. PutRecords is not repeated as a " +
			"call: its records are, see kdg_throttled_records_total and kdg_ambiguous_resent_records_total.",
		Worry: "It grows steadily: DIS or the way to it is in trouble.",
	}
	metricDISRefused = gateway.Metric{
		Part: gateway.PartCalls, Name: "kdg_dis_refused_calls_total", Type: gateway.Counter, Unit: "calls", Labels: []string{"reason"},
		Help: "Calls that DIS refused for who calls and not for what was asked, by reason: credentials (it does not accept the keys or the token), " +
			"permission (the keys' user may not do this), throttled (too many calls or too much data).",
		Worry: "credentials and permission: at once, nothing works until they are right.",
	}
)

// The reasons of metricDISRefused.
const (
	refusedCredentials = "credentials"
	refusedPermission  = "permission"
	refusedThrottled   = "throttled"
)

// disBuckets reach from an embedded DIS to the longest call.
var disBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// observeCalls registers the metrics of calls and gives what takes note of one.
func observeCalls(registry prometheus.Registerer) func(dis.Call) {
	seconds := prometheus.NewHistogramVec(metricDISSeconds.HistogramOpts(disBuckets), metricDISSeconds.Labels)
	retries := prometheus.NewCounterVec(metricDISRetries.CounterOpts(), metricDISRetries.Labels)
	refused := prometheus.NewCounterVec(metricDISRefused.CounterOpts(), metricDISRefused.Labels)
	for _, reason := range []string{refusedCredentials, refusedPermission, refusedThrottled} {
		refused.WithLabelValues(reason) // a first one is seen as a change
	}
	registry.MustRegister(seconds, retries, refused)
	var codes codeNames
	return func(call dis.Call) {
		seconds.WithLabelValues(call.Operation, codes.of(call)).Observe(call.Latency.Seconds())
		if call.Attempt > 1 {
			retries.WithLabelValues(call.Operation).Inc()
		}
		if reason := refusal(call.Err); reason != "" {
			refused.WithLabelValues(reason).Inc()
		}
	}
}

func refusal(err error) string {
	var failure *dis.Error
	switch {
	case !errors.As(err, &failure):
		return ""
	case failure.Throttled():
		return refusedThrottled
	case translate.PermissionRefused(err):
		return refusedPermission
	case translate.CredentialsRefused(err):
		return refusedCredentials
	}
	return ""
}

// maxCodes bounds the codes that are told apart. DIS documents fewer; what answers in
// its place may send anything.
const maxCodes = 200

var plainCode = regexp.MustCompile(`^[A-Za-z]{1,8}\.?[0-9]{1,6}$`)

// codeNames gives calls the label of their outcome: the DIS code, else the HTTP
// status, 0 for no answer.
type codeNames struct {
	mu    sync.Mutex
	known map[string]bool
}

func (c *codeNames) of(call dis.Call) string {
	if call.Code == "" {
		return strconv.Itoa(call.HTTPStatus)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[call.Code] {
		return call.Code
	}
	if len(c.known) >= maxCodes || !plainCode.MatchString(call.Code) {
		return "other"
	}
	if c.known == nil {
		c.known = map[string]bool{}
	}
	c.known[call.Code] = true
	return call.Code
}
