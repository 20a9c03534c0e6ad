package main

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// observeCalls counts and times the calls to DIS. The code is the DIS error
// code, else the HTTP status; 0: no answer.
func observeCalls(registry prometheus.Registerer) func(dis.Call) {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "kdg_dis_request_seconds",
		Help:    "Time until DIS had answered, by operation and DIS code or HTTP status (0: no answer).",
		Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30},
	}, []string{"operation", "code"})
	registry.MustRegister(seconds)
	return func(call dis.Call) {
		code := call.Code
		if code == "" {
			code = strconv.Itoa(call.HTTPStatus)
		}
		seconds.WithLabelValues(call.Operation, code).Observe(call.Latency.Seconds())
	}
}
