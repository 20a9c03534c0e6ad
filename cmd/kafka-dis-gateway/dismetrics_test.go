package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// refusedCall is a call that DIS answered with an error.
func refusedCall(status int, code string) dis.Call {
	return dis.Call{
		Operation: "PutRecords", HTTPStatus: status, Code: code, Attempt: 1, Latency: time.Millisecond,
		Err: &dis.Error{Operation: "PutRecords", HTTPStatus: status, Code: code},
	}
}

// seriesOf are the values of a registry by name and labels; of a histogram the number
// of its observations.
func seriesOf(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

func TestCallsOfDISAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	observe := observeCalls(registry)
	observe(dis.Call{Operation: "PutRecords", HTTPStatus: 200, Attempt: 1})
	observe(dis.Call{Operation: "ListStreams", HTTPStatus: 200, Attempt: 3})
	observe(dis.Call{Operation: "ListStreams", Attempt: 2, Err: &dis.Error{Err: errors.New("connection refused")}})
	observe(refusedCall(441, "DIS.4112"))
	observe(refusedCall(403, ""))
	observe(refusedCall(403, wire.CodeForbidden))
	observe(refusedCall(400, wire.CodeThrottled))
	observe(refusedCall(429, ""))
	observe(refusedCall(400, wire.CodeStreamNotFound))
	want := map[string]float64{
		"kdg_dis_request_seconds 200 PutRecords":                             1,
		"kdg_dis_request_seconds 200 ListStreams":                            1,
		"kdg_dis_request_seconds 0 ListStreams":                              1,
		"kdg_dis_request_seconds DIS.4112 PutRecords":                        1,
		"kdg_dis_request_seconds 403 PutRecords":                             1,
		"kdg_dis_request_seconds 429 PutRecords":                             1,
		"kdg_dis_request_seconds " + wire.CodeForbidden + " PutRecords":      1,
		"kdg_dis_request_seconds " + wire.CodeThrottled + " PutRecords":      1,
		"kdg_dis_request_seconds " + wire.CodeStreamNotFound + " PutRecords": 1,
		"kdg_dis_retries_total ListStreams":                                  2,
		"kdg_dis_refused_calls_total credentials":                            1,
		"kdg_dis_refused_calls_total permission":                             2,
		"kdg_dis_refused_calls_total throttled":                              2,
	}
	if diff := cmp.Diff(want, seriesOf(t, registry)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What answers in place of DIS cannot make series at will.
func TestCodesOfDISAreBounded(t *testing.T) {
	var codes codeNames
	for _, odd := range []string{"<html>", strings.Repeat("D", 40), "DIS 4300", "\xff"} {
		if got := codes.of(refusedCall(400, odd)); got != "other" {
			t.Errorf("code %q is shown as %q", odd, got)
		}
	}
	seen := map[string]bool{}
	for i := range 1000 {
		seen[codes.of(refusedCall(400, fmt.Sprintf("DIS.%d", i)))] = true
	}
	if len(seen) != maxCodes+1 || !seen["other"] || codes.of(refusedCall(400, "DIS.7")) != "DIS.7" {
		t.Errorf("%d codes are shown", len(seen))
	}
}
