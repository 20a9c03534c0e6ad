package embedded

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// updateV3 is the call of the API reference; the others are below /v2.
func (s *service) updateV3(stream string, body any) answer {
	s.t.Helper()
	return s.send(s.request("PUT", "/v3/"+DevProjectID+"/streams/"+stream, "", body))
}

// settings is what an update can change.
type settings struct {
	Hours              int
	DataType, Schema   string
	Scaling            bool
	ScaleMin, ScaleMax int
}

func (s *service) settings(stream string) settings {
	s.t.Helper()
	d := s.describe(stream)
	return settings{d.RetentionPeriod, d.DataType, d.DataSchema, d.AutoScaleEnabled, d.AutoScaleMinPartitionCount, d.AutoScaleMaxPartitionCount}
}

func TestUpdateStream(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	s.clock.advance(time.Minute)
	changed := s.updateV3("s", `{"stream_name":"s","data_duration":72,"data_type":"JSON","data_schema":"{}","auto_scale_enabled":true,
		"auto_scale_min_partition_count":1,"auto_scale_max_partition_count":5}`)
	wants[empty](t, changed, 200)
	if diff := cmp.Diff(settings{72, "JSON", "{}", true, 1, 5}, s.settings("s")); diff != "" {
		t.Error(diff)
	}
	if d := s.describe("s"); d.LastModifiedTime-d.CreateTime != time.Minute.Milliseconds() {
		t.Errorf("modified at %d, created at %d", d.LastModifiedTime, d.CreateTime)
	}
	// What is left out stays.
	wants[empty](t, s.updateV3("s", `{"stream_name":"s","auto_scale_enabled":false}`), 200)
	wants[empty](t, s.updateV3("s", `{"auto_scale_max_partition_count":7}`), 200)
	s.reopen()
	if diff := cmp.Diff(settings{72, "JSON", "{}", false, 1, 7}, s.settings("s")); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateStreamOfJavaSDK(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	got := wants[wire.UpdateStreamV2Response](t, s.call("PUT", "streams/s/update/", "",
		`{"update_type":"DATA_TYPE","stream_name":"s","data_type":"CSV","auto_scale_enabled":true}`), 200)
	if got != (wire.UpdateStreamV2Response{StreamName: "s", TargetDataType: "CSV"}) {
		t.Errorf("%+v", got)
	}
	got = wants[wire.UpdateStreamV2Response](t, s.call("PUT", "streams/s/update", "",
		`{"update_type":"AUTO_SCALE","auto_scale_enabled":true,"auto_scale_min_partition_count":2,"auto_scale_max_partition_count":3,"data_type":"JSON"}`), 200)
	if got != (wire.UpdateStreamV2Response{StreamName: "s"}) {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(settings{24, "CSV", "", true, 2, 3}, s.settings("s")); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateStreamErrors(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	tests := []struct{ name, stream, body, code, message string }{
		{"no stream", "none", `{"data_duration":48}`, "DIS.4301", "Stream does not exist. [none][local]"},
		{"another name", "s", `{"stream_name":"t"}`, "DIS.4200", "Invalid request. [stream_name][t]"},
		{"short", "s", `{"data_duration":23}`, "DIS.4200", "Invalid request. [data_duration][23]"},
		{"long", "s", `{"data_duration":169}`, "DIS.4200", "Invalid request. [data_duration][169]"},
		{"data type", "s", `{"data_type":"FILE"}`, "DIS.4200", "Invalid request. [data_type][FILE]"},
		{"schema", "s", `{"data_schema":"{"}`, "DIS.4360", "Invalid data schema. [s]"},
		{"scaling", "s", `{"auto_scale_enabled":true}`, "DIS.4200", "Invalid request. [auto_scale_min_partition_count][0]"},
		{"empty", "s", "", "DIS.4202", "Request cannot be empty."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			wantsError(t, s.updateV3(test.stream, test.body), 400, test.code, test.message)
		})
	}
	wantsError(t, s.call("PUT", "streams/s/update", "", `{"update_type":"NAME"}`), 400, "DIS.4200", "Invalid request. [update_type][NAME]")
	if diff := cmp.Diff(settings{Hours: 24, DataType: "BLOB"}, s.settings("s")); diff != "" {
		t.Error(diff)
	}
}

// A shorter retention takes what it no longer covers at the next sweep.
func TestUpdateOfRetention(t *testing.T) {
	s := startService(t)
	wants[empty](t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: "s", PartitionCount: 1, DataDuration: 72}), 201)
	s.put("s", to(0, "a"))
	s.clock.advance(30 * time.Hour)
	s.server.sweep()
	if got := s.numbers("s", 0).Oldest; got != 0 {
		t.Fatalf("oldest %d", got)
	}
	wants[empty](t, s.updateV3("s", `{"data_duration":24}`), 200)
	s.server.sweep()
	if got := s.numbers("s", 0); got != (wire.SequenceRange{Oldest: 1, Next: 1}) {
		t.Errorf("%v", got)
	}
}

func TestScalingHistory(t *testing.T) {
	s := startService(t)
	s.createStream("s", 2)
	var want []wire.PartitionCountUpdate
	count := 2
	scale := func(target int) {
		wants[empty](t, s.call("PUT", "streams/s", "", wire.ChangePartitionCountRequest{TargetPartitionCount: target}), 200)
		if target != count {
			want = append(want, wire.PartitionCountUpdate{
				CreateTimestamp: s.clock.now().UnixMilli(), SrcPartitionCount: count, TargetPartitionCount: target})
		}
		count = target
		s.clock.advance(time.Second)
	}
	scale(5)
	scale(5)
	scale(1)
	s.reopen()
	if diff := cmp.Diff(want, s.describe("s").UpdatePartitionCounts); diff != "" {
		t.Error(diff)
	}
	for i := range maxScalings {
		scale(2 + i%2)
	}
	if diff := cmp.Diff(want[len(want)-maxScalings:], s.describe("s").UpdatePartitionCounts); diff != "" {
		t.Error(diff)
	}
}

func TestScalingLimits(t *testing.T) {
	tests := []struct {
		limits ScalingLimits
		// targets are tried a minute apart, on a stream of 5 partitions.
		targets []int
		refused []bool
	}{
		{ScalingUnlimited, []int{6, 7, 6, 5, 4, 5}, []bool{false, false, false, false, false, false}},
		{ScalingAPI, []int{6, 7, 5}, []bool{false, true, true}},
		{ScalingManual, []int{4, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, []bool{
			false, true, false, false, false, false, false, false, false, false, false, false, true}},
	}
	for _, test := range tests {
		t.Run(string(test.limits), func(t *testing.T) {
			s := startService(t, func(c *Config) { c.ScalingLimits = test.limits })
			s.createStream("s", 5)
			for i, target := range test.targets {
				a := s.call("PUT", "streams/s", "", wire.ChangePartitionCountRequest{TargetPartitionCount: target})
				if test.refused[i] {
					wantsError(t, a, 400, "DIS.4305", "Too many stream requests. [s][scaling]")
				} else {
					wants[empty](t, a, 200)
				}
				s.clock.advance(time.Minute)
			}
			s.clock.advance(time.Hour)
			wants[empty](t, s.call("PUT", "streams/s", "", wire.ChangePartitionCountRequest{TargetPartitionCount: 20}), 200)
		})
	}
}

func TestPolicies(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	id := s.describe("s").StreamID
	list := func() policiesResponse {
		return wants[policiesResponse](t, s.call("GET", "streams/s/policies", "", nil), 200)
	}
	if diff := cmp.Diff(policiesResponse{StreamID: id, Rules: []policyRule{}}, list()); diff != "" {
		t.Error(diff)
	}
	add := func(version, body string) answer {
		return s.send(s.request("POST", "/"+version+"/local/streams/s/policies", "", body))
	}
	wants[empty](t, add("v2", `{"stream_id":"`+id+`","principal_name":"a.*, b.user","action_type":"putRecords","effect":"accept"}`), 200)
	wants[empty](t, add("v3", `{"stream_id":"`+id+`","principal_id":"0123.*","action_type":"getRecords"}`), 200)
	wants[empty](t, add("v2", `{"principal_name":"a.*","action_type":"putRecords","effect":"deny"}`), 200)
	s.reopen()
	want := policiesResponse{StreamID: id, Rules: []policyRule{
		{PrincipalName: "b.user", ActionType: "putRecords", Effect: "accept"},
		{Principal: "0123.*", ActionType: "getRecords", Effect: "deny"},
		{PrincipalName: "a.*", ActionType: "putRecords", Effect: "deny"},
	}}
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Error(diff)
	}
	for body, message := range map[string]string{
		`{"stream_id":"x","principal_name":"a","action_type":"putRecords"}`:  "Invalid request. [stream_id][x]",
		`{"principal_name":" , ","action_type":"putRecords"}`:                "Invalid request. [principal_name][ , ]",
		`{"principal_name":"a","action_type":"delete"}`:                      "Invalid request. [action_type][delete]",
		`{"principal_name":"a","action_type":"putRecords","effect":"maybe"}`: "Invalid request. [effect][maybe]",
	} {
		wantsError(t, add("v2", body), 400, "DIS.4200", message)
	}
	names := "x"
	for i := range maxPolicyRules {
		names += fmt.Sprint(",x", i)
	}
	wantsError(t, add("v2", `{"principal_name":"`+names+`","action_type":"putRecords"}`), 400, "DIS.4200", "Invalid request. [policies][104]")
}
