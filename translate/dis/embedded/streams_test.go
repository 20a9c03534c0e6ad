package embedded

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestStreamLifeCycle(t *testing.T) {
	s := startService(t)
	created := s.call("POST", "streams", "", wire.CreateStreamRequest{
		StreamName: "orders", PartitionCount: 2, StreamType: wire.StreamAdvanced, DataType: "JSON",
		DataDuration: 72, DataSchema: `{"type":"string"}`, Tags: []wire.Tag{{Key: "team", Value: "a"}},
	})
	wants[empty](t, created, 201)
	if len(created.body) != 0 {
		t.Errorf("create answered %q", created.body)
	}
	got := s.describe("orders")
	now := s.clock.now().UnixMilli()
	fresh := "[0 : 0]"
	want := wire.DescribeStreamResponse{
		StreamID: got.StreamID, StreamName: "orders", CreateTime: now, LastModifiedTime: now,
		RetentionPeriod: 72, Status: wire.StreamRunning, StreamType: wire.StreamAdvanced, DataType: "JSON",
		DataSchema: `{"type":"string"}`, WritablePartitionCount: 2, ReadablePartitionCount: 2,
		Partitions: []wire.PartitionResponse{
			{Status: wire.PartitionActive, PartitionID: "shardId-0000000000", HashRange: "[0 : 4611686018427387902]", SequenceNumberRange: &fresh},
			{Status: wire.PartitionActive, PartitionID: "shardId-0000000001", HashRange: "[4611686018427387903 : 9223372036854775807]", SequenceNumberRange: &fresh},
		},
		Tags: []wire.Tag{{Key: "team", Value: "a"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(got.StreamID) != 20 {
		t.Errorf("stream id %q", got.StreamID)
	}

	deleted := s.call("DELETE", "streams/orders", "", nil)
	wants[empty](t, deleted, 204)
	wantsError(t, s.call("GET", "streams/orders", "", nil), 400, "DIS.4301", "Stream does not exist. [orders][local]")
	s.createStream("orders", 1)
	if again := s.describe("orders"); again.StreamID == got.StreamID {
		t.Error("the new stream has the id of the old one")
	}
}

func TestStreamDefaults(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	got := s.describe("s")
	if got.StreamType != wire.StreamCommon || got.DataType != "BLOB" || got.RetentionPeriod != 24 {
		t.Errorf("%+v", got)
	}
	if got.Partitions[0].HashRange != "[0 : 9223372036854775807]" {
		t.Errorf("hash range %s", got.Partitions[0].HashRange)
	}
}

func TestCreateStreamErrors(t *testing.T) {
	s := startService(t)
	s.createStream("taken", 1)
	tags := strings.Repeat(`{"key":"k","value":"v"},`, 11)
	tests := []struct{ name, body, code, message string }{
		{"no body", "", "DIS.4202", "Request cannot be empty."},
		{"not JSON", "{", "DIS.4200", "Invalid request. [body][unexpected end of JSON input]"},
		{"taken", `{"stream_name":"taken","partition_count":1}`, "DIS.4307", "Stream already exists. [taken][local]"},
		{"no name", `{"partition_count":1}`, "DIS.4200", "Invalid request. [stream_name][]"},
		{"dot in name", `{"stream_name":"a.b","partition_count":1}`, "DIS.4200", "Invalid request. [stream_name][a.b]"},
		{"65 characters", `{"stream_name":"` + strings.Repeat("x", 65) + `","partition_count":1}`, "DIS.4200",
			"Invalid request. [stream_name][" + strings.Repeat("x", 65) + "]"},
		{"no partitions", `{"stream_name":"s"}`, "DIS.4200", "Invalid request. [partition_count][0]"},
		{"absurd count", `{"stream_name":"s","partition_count":2000000000}`, "DIS.4308", "Insufficient partition quota. [2000000000][10000]"},
		{"type", `{"stream_name":"s","partition_count":1,"stream_type":"HUGE"}`, "DIS.4200", "Invalid request. [stream_type][HUGE]"},
		{"data type", `{"stream_name":"s","partition_count":1,"data_type":"FILE"}`, "DIS.4200", "Invalid request. [data_type][FILE]"},
		{"retention", `{"stream_name":"s","partition_count":1,"data_duration":169}`, "DIS.4200", "Invalid request. [data_duration][169]"},
		{"compression", `{"stream_name":"s","partition_count":1,"compression_format":"lz4"}`, "DIS.4200", "Invalid request. [compression_format][lz4]"},
		{"schema", `{"stream_name":"s","partition_count":1,"data_schema":"{"}`, "DIS.4360", "Invalid data schema. [s]"},
		{"scaling", `{"stream_name":"s","partition_count":1,"auto_scale_enabled":true}`, "DIS.4200", "Invalid request. [auto_scale_min_partition_count][0]"},
		{"scaling range", `{"stream_name":"s","partition_count":1,"auto_scale_enabled":true,"auto_scale_min_partition_count":2,"auto_scale_max_partition_count":1}`,
			"DIS.4200", "Invalid request. [auto_scale_max_partition_count][1]"},
		{"tags", `{"stream_name":"s","partition_count":1,"tags":[` + strings.TrimSuffix(tags, ",") + `]}`, "DIS.4601", "Too many tags. [11][10]"},
		{"tag key", `{"stream_name":"s","partition_count":1,"tags":[{"value":"v"}]}`, "DIS.4200", "Invalid request. [tags][]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			wantsError(t, s.call("POST", "streams", "", test.body), 400, test.code, test.message)
		})
	}
}

func TestListStreamsPages(t *testing.T) {
	s := startService(t)
	var want []string
	for i := range 25 {
		name := fmt.Sprintf("s-%02d", (i*7)%25)
		s.createStream(name, 1+i%2)
		want = append(want, fmt.Sprintf("s-%02d", i))
	}
	var got []string
	start, pages := "", 0
	for {
		list := wants[wire.ListStreamsResponse](t, s.call("GET", "streams", "limit=10&start_stream_name="+start, nil), 200)
		if list.TotalNumber != 25 || len(list.StreamInfoList) != len(list.StreamNames) {
			t.Fatalf("%+v", list)
		}
		for i, info := range list.StreamInfoList {
			if info.StreamName != list.StreamNames[i] || info.StreamID == "" || info.Status != wire.StreamRunning || info.PartitionCount < 1 {
				t.Errorf("%+v", info)
			}
		}
		got = append(got, list.StreamNames...)
		pages++
		if !list.HasMoreStreams {
			break
		}
		start = list.StreamNames[len(list.StreamNames)-1]
	}
	if diff := cmp.Diff(want, got); diff != "" || pages != 3 {
		t.Errorf("%d pages, %s", pages, diff)
	}
	if list := wants[wire.ListStreamsResponse](t, s.call("GET", "streams", "", nil), 200); len(list.StreamNames) != 10 {
		t.Errorf("default limit gave %d", len(list.StreamNames))
	}
	for _, limit := range []string{"0", "101", "x"} {
		wantsError(t, s.call("GET", "streams", "limit="+limit, nil), 400, "DIS.4200", "Invalid request. [limit]["+limit+"]")
	}
}

func TestListStreamsEmpty(t *testing.T) {
	s := startService(t)
	a := s.call("GET", "streams", "", nil)
	if got := string(a.body); got != `{"total_number":0,"stream_names":[],"has_more_streams":false,"stream_info_list":[]}` {
		t.Error(got)
	}
}

func TestDescribePages(t *testing.T) {
	s := startService(t)
	s.createStream("wide", 250)
	tests := []struct {
		query       string
		first, last int
		more        bool
	}{
		{"", 0, 99, true},
		{"limit_partitions=100&start_partitionId=", 0, 99, true},
		{"start_partitionId=shardId-0000000099", 100, 199, true},
		{"start_partitionId=199", 200, 249, false},
		{"limit_partitions=1000", 0, 249, false},
		{"limit_partitions=1&start_partitionId=shardId-0000000008&", 9, 9, true},
		{"start_partitionId=shardId-0000000249", 0, -1, false},
		{"start_partitionId=shardId-0000099999", 0, -1, false},
	}
	for _, test := range tests {
		got := wants[wire.DescribeStreamResponse](t, s.call("GET", "streams/wide", test.query, nil), 200)
		if len(got.Partitions) != test.last-test.first+1 || got.HasMorePartitions != test.more || got.StreamID == "" ||
			got.WritablePartitionCount != 250 {
			t.Errorf("%s: %d partitions, more %v", test.query, len(got.Partitions), got.HasMorePartitions)
			continue
		}
		for i, p := range got.Partitions {
			if p.PartitionID != wire.PartitionID(test.first+i) {
				t.Errorf("%s: partition %d is %s", test.query, i, p.PartitionID)
			}
		}
	}
	wantsError(t, s.call("GET", "streams/wide", "limit_partitions=1001", nil), 400, "DIS.4200", "Invalid request. [limit_partitions][1001]")
	wantsError(t, s.call("GET", "streams/wide", "start_partitionId=x", nil), 400, "DIS.4201", "Invalid partition_id. [x]")
}

// The name is tried first; then the id decides, in the query or in the path.
func TestStreamID(t *testing.T) {
	s := startService(t, func(c *Config) { c.ProjectID = "" })
	s.createStream("a", 1)
	s.createStream("b", 1)
	id := s.describe("a").StreamID
	for path, want := range map[string]string{
		"streams/gone?stream_id=" + id: "a",
		"streams/b?stream_id=" + id:    "b",
		"streams/" + id:                "a",
	} {
		path, query, _ := strings.Cut(path, "?")
		if got := wants[wire.DescribeStreamResponse](t, s.call("GET", path, query, nil), 200); got.StreamName != want {
			t.Errorf("%s: %s", path, got.StreamName)
		}
	}
	put := wire.PutRecordsRequest{StreamID: id, Records: []wire.PutRecord{to(0, "x")}}
	wants[wire.PutRecordsResponse](t, s.send(s.request("POST", "/v2/another-project/records", "", put)), 200)
	if got := s.numbers("a", 0); got.Next != 1 {
		t.Errorf("a has %v", got)
	}
}

// Each project has streams and apps of its own when none is configured.
func TestProjects(t *testing.T) {
	s := startService(t, func(c *Config) { c.ProjectID = "" })
	s.createStream("s", 1)
	wantsError(t, s.send(s.request("GET", "/v2/p2/streams/s", "", nil)), 400, "DIS.4301", "Stream does not exist. [s][p2]")
	wants[empty](t, s.send(s.request("POST", "/v2/p2/streams", "", wire.CreateStreamRequest{StreamName: "s", PartitionCount: 3})), 201)
	if got := s.describe("s"); len(got.Partitions) != 1 {
		t.Errorf("%d partitions", len(got.Partitions))
	}

	fixed := startService(t)
	wantsError(t, fixed.send(fixed.request("GET", "/v2/p2/streams", "", nil)), 400, "DIS.4117", "Invalid project id. [p2]")
}

// TestScaling follows partitions through their life cycle.
func TestScaling(t *testing.T) {
	s := startService(t)
	s.createStream("s", 4)
	for p := range 4 {
		s.put("s", to(p, "old"))
	}
	scale := func(target int) wire.ChangePartitionCountResponse {
		t.Helper()
		return wants[wire.ChangePartitionCountResponse](t, s.call("PUT", "streams/s", "",
			wire.ChangePartitionCountRequest{StreamName: "s", TargetPartitionCount: target}), 200)
	}
	check := func(writable, readable int, partitions ...string) {
		t.Helper()
		got := s.describe("s")
		var lines []string
		for _, p := range got.Partitions {
			numbers := "null"
			if p.SequenceNumberRange != nil {
				numbers = *p.SequenceNumberRange
			}
			lines = append(lines, string(p.Status)+" "+numbers)
		}
		if diff := cmp.Diff(partitions, lines); diff != "" || got.WritablePartitionCount != writable || got.ReadablePartitionCount != readable {
			t.Errorf("writable %d, readable %d, %s", got.WritablePartitionCount, got.ReadablePartitionCount, diff)
		}
	}

	if got := scale(2); got != (wire.ChangePartitionCountResponse{StreamName: "s", CurrentPartitionCount: 4, TargetPartitionCount: 2}) {
		t.Errorf("%+v", got)
	}
	check(2, 4, "ACTIVE [0 : 1]", "ACTIVE [0 : 1]", "DELETED [0 : 1]", "DELETED [0 : 1]")
	if got := s.describe("s").Partitions[1].HashRange; got != "[4611686018427387903 : 9223372036854775807]" {
		t.Errorf("hash range of the last active partition: %s", got)
	}
	refused := s.put("s", to(2, "x"), to(1, "y"))
	if refused.FailedRecordCount != 1 || refused.Records[0].ErrorCode != "DIS.4302" || refused.Records[1].SequenceNumber != "1" {
		t.Errorf("%+v", refused)
	}
	if got := s.readAll("s", 3); len(got) != 1 || string(got[0].Data) != "old" {
		t.Errorf("retired partition: %v", got)
	}
	drained := s.get(s.cursor("s", 3, wire.CursorLatest, ""), "")
	if len(drained.Records) != 0 || drained.NextPartitionCursor == "" {
		t.Errorf("%+v", drained)
	}

	scale(3) // takes a DELETED one back
	check(3, 4, "ACTIVE [0 : 1]", "ACTIVE [0 : 2]", "ACTIVE [0 : 1]", "DELETED [0 : 1]")
	s.clock.advance(25 * time.Hour)
	late := s.cursor("s", 3, wire.CursorLatest, "")
	s.server.sweep()
	check(3, 3, "ACTIVE [1 : 1]", "ACTIVE [2 : 2]", "ACTIVE [1 : 1]", "EXPIRED null")
	expired := "Partition is expired. [s][3]"
	wantsError(t, s.call("GET", "cursors", cursorQuery("s", 3, wire.CursorTrimHorizon, ""), nil), 400, "DIS.4319", expired)
	wantsError(t, s.call("GET", "records", "partition-cursor="+late, nil), 400, "DIS.4319", "Partition is expired. [s][shardId-0000000003]")
	if got := s.put("s", to(3, "x")).Records[0]; got.ErrorCode != "DIS.4319" || got.ErrorMessage != expired {
		t.Errorf("%+v", got)
	}
	s.reopen()
	check(3, 3, "ACTIVE [1 : 1]", "ACTIVE [2 : 2]", "ACTIVE [1 : 1]", "EXPIRED null")

	scale(5) // takes the EXPIRED one back, with its numbers, and adds one
	check(5, 5, "ACTIVE [1 : 1]", "ACTIVE [2 : 2]", "ACTIVE [1 : 1]", "ACTIVE [1 : 1]", "ACTIVE [0 : 0]")
	if got := s.put("s", to(3, "new")).Records[0].SequenceNumber; got != "1" {
		t.Errorf("reactivated partition stored %s", got)
	}
	scale(5)
	s.reopen()
	check(5, 5, "ACTIVE [1 : 1]", "ACTIVE [2 : 2]", "ACTIVE [1 : 1]", "ACTIVE [1 : 2]", "ACTIVE [0 : 0]")
}

func TestScalingErrors(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	change := func(path string, body any) answer { return s.call(http.MethodPut, path, "", body) }
	wantsError(t, change("streams/s", `{"stream_name":"s","target_partition_count":0}`), 400, "DIS.4200", "Invalid request. [target_partition_count][0]")
	wantsError(t, change("streams/s", `{"stream_name":"t","target_partition_count":1}`), 400, "DIS.4200", "Invalid request. [stream_name][t]")
	wantsError(t, change("streams/t", `{"stream_name":"t","target_partition_count":1}`), 400, "DIS.4301", "Stream does not exist. [t][local]")
	wantsError(t, change("streams/s", `{"stream_name":"s","target_partition_count":10001}`), 400, "DIS.4308", "Insufficient partition quota. [10001][10000]")
	wantsError(t, change("streams/s", nil), 400, "DIS.4202", "Request cannot be empty.")
	wantsError(t, s.call("DELETE", "streams/t", "", nil), 400, "DIS.4301", "Stream does not exist. [t][local]")
}
