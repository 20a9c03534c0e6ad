package embedded

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// metric asks for one label over a period around the clock's time.
func (s *service) metric(path, label string, before, after time.Duration) []wire.DataPoint {
	s.t.Helper()
	now := s.clock.now()
	got := wants[wire.MetricsResponse](s.t, s.call("GET", path+"/metrics", fmt.Sprintf("label=%s&start_time=%d&end_time=%d",
		label, now.Add(-before).Unix(), now.Add(after).Unix()), nil), 200)
	if got.Metrics == nil || got.Metrics.Label != label || got.MetricsList != nil {
		s.t.Fatalf("%+v", got)
	}
	return got.Metrics.DataPoints
}

func values(points []wire.DataPoint) []int64 {
	list := []int64{}
	for _, p := range points {
		list = append(list, p.Value)
	}
	return list
}

func TestMetrics(t *testing.T) {
	s := startService(t)
	s.createStream("s", 2)
	begin := s.clock.now().Truncate(time.Minute)
	s.put("s", to(0, "1234"), to(1, "12345"), to(0, "1"), to(9, "refused"))
	s.clock.advance(2 * time.Minute)
	s.put("s", to(1, "x"))
	s.get(s.cursor("s", 1, wire.CursorTrimHorizon, ""), "")
	s.get(s.cursor("s", 1, wire.CursorLatest, ""), "")

	const ago = 2 * time.Minute
	check := func(when string) {
		t.Helper()
		for label, want := range map[string][]int64{
			"total_put_bytes_per_stream":   {10, 0, 1},
			"total_put_records_per_stream": {3, 0, 1},
			"total_put_req_suc_per_stream": {1, 0, 1},
			"total_get_bytes_per_stream":   {0, 0, 6},
			"total_get_records_per_stream": {0, 0, 2},
			"total_get_req_suc_per_stream": {0, 0, 2},
			"traffic_control_put":          {0, 0, 0},
			"traffic_control_get":          {0, 0, 0},
		} {
			if diff := cmp.Diff(want, values(s.metric("streams/s", label, ago, 0))); diff != "" {
				t.Errorf("%s %s: %s", when, label, diff)
			}
		}
		for label, want := range map[string][]int64{
			"total_put_bytes_per_partition":   {5, 0, 1},
			"total_put_records_per_partition": {1, 0, 1},
			"total_get_bytes_per_partition":   {0, 0, 6},
			"total_get_records_per_partition": {0, 0, 2},
		} {
			if diff := cmp.Diff(want, values(s.metric("streams/s/partitions/shardId-0000000001", label, ago, 0))); diff != "" {
				t.Errorf("%s %s: %s", when, label, diff)
			}
		}
		for _, label := range []string{"total_put_req_latency", "total_get_req_latency"} {
			points := s.metric("streams/s", label, ago, time.Hour)
			if len(points) != 3 || points[2].Value < 1 || points[1].Value != 0 {
				t.Errorf("%s %s: %+v", when, label, points)
			}
			for i, p := range points {
				if want := begin.Add(time.Duration(i) * time.Minute).UnixMilli(); p.Timestamp != want {
					t.Errorf("point %d at %d, want %d", i, p.Timestamp, want)
				}
			}
		}
	}
	check("from memory")
	s.server.keepMetrics()
	check("finished minutes stored")
	s.reopen()
	check("reopened")
	s.put("s", to(0, "more"))
	s.reopen()
	if got := values(s.metric("streams/s", "total_put_bytes_per_stream", ago, 0)); got[2] != 5 {
		t.Errorf("a minute in two runs of the server: %v", got)
	}
	wants[empty](t, s.call("DELETE", "streams/s", "", nil), 204)
	if n := s.server.storedKeys(t, kindMetric); n != 0 {
		t.Errorf("%d metrics are left", n)
	}
}

func TestMetricsList(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	s.put("s", to(0, "1234"))
	now := s.clock.now().Unix()
	period := fmt.Sprintf("start_time=%d&end_time=%d", now, now)
	got := wants[wire.MetricsResponse](t, s.call("GET", "streams/s/metrics",
		"label=nonsense&label_list=total_put_bytes_per_stream,total_put_records_per_stream,total_put_bytes_per_stream&"+period, nil), 200)
	at := s.clock.now().Truncate(time.Minute).UnixMilli()
	want := wire.MetricsResponse{MetricsList: []wire.Metric{
		{Label: "total_put_bytes_per_stream", DataPoints: []wire.DataPoint{{Timestamp: at, Value: 4}}},
		{Label: "total_put_records_per_stream", DataPoints: []wire.DataPoint{{Timestamp: at, Value: 1}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A period that has not begun has a series without points, not none.
	future := s.call("GET", "streams/s/metrics", fmt.Sprintf("label=traffic_control_put&start_time=%d&end_time=%d", now+600, now+900), nil)
	if want := `{"metrics":{"dataPoints":[],"label":"traffic_control_put"}}`; string(future.body) != want {
		t.Errorf("%s", future.body)
	}
}

func TestThrottledMetrics(t *testing.T) {
	s := startService(t, documented)
	s.createStream("s", 1)
	records := make([]wire.PutRecord, 1001)
	for i := range records {
		records[i] = to(0, "x")
	}
	s.put("s", records...)
	s.put("s", records...)
	if got := values(s.metric("streams/s", "traffic_control_put", 0, 0)); got[0] != 2 {
		t.Errorf("%v throttled puts", got)
	}
	if got := values(s.metric("streams/s", "total_put_records_per_stream", 0, 0)); got[0] != 1000 {
		t.Errorf("%v records", got)
	}
	for range 3 {
		s.clock.advance(time.Second)
		s.put("s", to(0, strings.Repeat("x", 900_000)))
	}
	for _, want := range []int{200, 200, 400} {
		cursor := s.cursor("s", 0, wire.CursorAtSequence, "&starting-sequence-number=1000")
		if a := s.call("GET", "records", "partition-cursor="+cursor+"&max_fetch_bytes=9000000", nil); a.status != want {
			t.Errorf("status %d, want %d", a.status, want)
		}
	}
	if got := values(s.metric("streams/s", "traffic_control_get", 0, 0)); got[0] != 1 {
		t.Errorf("%v throttled gets", got)
	}
}

func TestMetricsErrors(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	now := s.clock.now().Unix()
	good := fmt.Sprintf("&start_time=%d&end_time=%d", now-60, now)
	week := int64(7 * 24 * 3600)
	tests := []struct{ path, query, code, message string }{
		{"streams/none/metrics", "label=traffic_control_put" + good, "DIS.4301", "Stream does not exist. [none][local]"},
		{"streams/s/partitions/1/metrics", "label=total_put_bytes_per_partition" + good, "DIS.4302", "Partition does not exist. [s][1]"},
		{"streams/s/metrics", "label=" + good, "DIS.4209", "Invalid label. []"},
		{"streams/s/metrics", "label=total_put_bytes_per_partition" + good, "DIS.4209", "Invalid label. [total_put_bytes_per_partition]"},
		{"streams/s/metrics", "label=traffic_control_put,traffic_control_get" + good, "DIS.4209", "Invalid label. [traffic_control_put,traffic_control_get]"},
		{"streams/s/partitions/0/metrics", "label_list=total_put_bytes_per_partition,x" + good, "DIS.4209", "Invalid label. [total_put_bytes_per_partition,x]"},
		{"streams/s/metrics", "label=traffic_control_put", "DIS.4203", "Invalid monitoring period. [][]"},
		{"streams/s/metrics", "label=traffic_control_put&start_time=5&end_time=4", "DIS.4203", "Invalid monitoring period. [5][4]"},
		{"streams/s/metrics", "label=traffic_control_put&start_time=-5&end_time=4", "DIS.4203", "Invalid monitoring period. [-5][4]"},
		{"streams/s/metrics", "label=traffic_control_put&start_time=x&end_time=4", "DIS.4203", "Invalid monitoring period. [x][4]"},
		{"streams/s/metrics", "label=traffic_control_put&start_time=0&end_time=9223372036854775807", "DIS.4203",
			"Invalid monitoring period. [0][9223372036854775807]"},
		{"streams/s/metrics", fmt.Sprintf("label=traffic_control_put&start_time=%d&end_time=%d", now-week-1, now), "DIS.4204",
			"Monitoring period is longer than 7 days. [604801][604800]"},
	}
	for _, test := range tests {
		wantsError(t, s.call("GET", test.path, test.query, nil), 400, test.code, test.message)
	}
	if points := s.metric("streams/s", "traffic_control_put", 7*24*time.Hour, 0); len(points) != 7*24*60+1 {
		t.Errorf("%d points of a week", len(points))
	}
}

// Memory holds the minutes that are not stored yet, and the store a week.
func TestMetricsAreBounded(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	st, err := s.server.catalog.stream(DevProjectID, "s", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		s.put("s", to(0, "x"))
		s.clock.advance(24 * time.Hour)
		s.server.keepMetrics()
		if n := len(st.meter.minutes) + len(st.partitions[0].meter.minutes); n != 0 {
			t.Errorf("%d minutes in memory", n)
		}
	}
	if n := s.server.storedKeys(t, kindMetric); n != 2*7 {
		t.Errorf("%d minutes of a stream and a partition in the store", n)
	}
}
