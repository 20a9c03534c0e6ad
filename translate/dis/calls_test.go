package dis

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Every call as it stands on the wire: method, path, query and body.
func TestCallsOnTheWire(t *testing.T) {
	partition, key, timestamp, scaling := 3, "k", int64(1700000000000), false
	period := MetricsQuery{Start: time.Unix(1700000000, 0), End: time.Unix(1700003600, 999)}
	tests := []struct {
		name   string
		call   func(context.Context, *Client) error
		answer step
		method string
		uri    string
		body   string
	}{
		{
			name: "CreateStream",
			call: func(ctx context.Context, c *Client) error {
				return c.CreateStream(ctx, wire.CreateStreamRequest{StreamName: "s", PartitionCount: 2, StreamType: wire.StreamAdvanced})
			},
			answer: step{status: 201}, method: "POST", uri: "/v2/p1/streams",
			body: `{"stream_name":"s","partition_count":2,"stream_type":"ADVANCED"}`,
		},
		{
			name:   "DeleteStream",
			call:   func(ctx context.Context, c *Client) error { return c.DeleteStream(ctx, "s") },
			answer: step{status: 204}, method: "DELETE", uri: "/v2/p1/streams/s",
		},
		{
			name:   "name that needs encoding",
			call:   func(ctx context.Context, c *Client) error { return c.DeleteStream(ctx, "a/b c?ü*") },
			answer: step{status: 204}, method: "DELETE", uri: "/v2/p1/streams/a%2Fb%20c%3F%C3%BC%2A",
		},
		{
			name:   "DescribeStream",
			call:   func(ctx context.Context, c *Client) error { _, err := c.DescribeStream(ctx, "s"); return err },
			answer: step{status: 200, body: "{}"}, method: "GET", uri: "/v2/p1/streams/s?limit_partitions=1000",
		},
		{
			name:   "DescribeStreamByID",
			call:   func(ctx context.Context, c *Client) error { _, err := c.DescribeStreamByID(ctx, "id1"); return err },
			answer: step{status: 200, body: "{}"}, method: "GET", uri: "/v2/p1/streams/id1?limit_partitions=1000&stream_id=id1",
		},
		{
			name:   "ListStreams",
			call:   func(ctx context.Context, c *Client) error { _, err := c.ListStreams(ctx); return err },
			answer: step{status: 200, body: "{}"}, method: "GET", uri: "/v2/p1/streams?limit=100",
		},
		{
			name:   "ChangePartitionCount",
			call:   func(ctx context.Context, c *Client) error { _, err := c.ChangePartitionCount(ctx, "s", 4); return err },
			answer: step{status: 200}, method: "PUT", uri: "/v2/p1/streams/s", body: `{"stream_name":"s","target_partition_count":4}`,
		},
		{
			name: "PutRecords",
			call: func(ctx context.Context, c *Client) error {
				_, err := c.PutRecords(ctx, &wire.PutRecordsRequest{StreamName: "s", Records: []wire.PutRecord{
					{Data: []byte("hello"), PartitionID: "shardId-0000000003", PartitionKey: &key, Timestamp: &timestamp},
				}})
				return err
			},
			answer: step{status: 200, body: `{"records":[{}]}`}, method: "POST", uri: "/v2/p1/records",
			body: `{"stream_name":"s","records":[{"data":"aGVsbG8=","partition_id":"shardId-0000000003","partition_key":"k","timestamp":1700000000000}]}`,
		},
		{
			name: "GetRecords",
			call: func(ctx context.Context, c *Client) error {
				_, err := c.GetRecords(ctx, GetRecordsRequest{Cursor: "a=b&c", MaxBytes: 1000, Limit: 5, AppName: "g"})
				return err
			},
			answer: step{status: 200, body: "{}"}, method: "GET",
			uri: "/v2/p1/records?app_name=g&limit=5&max_fetch_bytes=1000&partition-cursor=a%3Db%26c",
		},
		{
			name: "GetCursor at a number", call: cursor(CursorRequest{StreamName: "s", Partition: 3, Type: wire.CursorAtSequence, SequenceNumber: 0}),
			answer: step{status: 200, body: `{"partition_cursor":"c"}`}, method: "GET",
			uri: "/v2/p1/cursors?cursor-type=AT_SEQUENCE_NUMBER&partition-id=shardId-0000000003&starting-sequence-number=0&stream-name=s",
		},
		{
			name: "GetCursor without a type", call: cursor(CursorRequest{StreamName: "s", SequenceNumber: 9}),
			answer: step{status: 200, body: `{"partition_cursor":"c"}`}, method: "GET",
			uri: "/v2/p1/cursors?partition-id=shardId-0000000000&starting-sequence-number=9&stream-name=s",
		},
		{
			name: "GetCursor at a time", call: cursor(CursorRequest{StreamID: "id1", Type: wire.CursorAtTimestamp, Timestamp: timestamp}),
			answer: step{status: 200, body: `{"partition_cursor":"c"}`}, method: "GET",
			uri: "/v2/p1/cursors?cursor-type=AT_TIMESTAMP&partition-id=shardId-0000000000&stream-id=id1&timestamp=1700000000000",
		},
		{
			name: "GetCursor at the end", call: cursor(CursorRequest{StreamName: "s", Type: wire.CursorLatest}),
			answer: step{status: 200, body: `{"partition_cursor":"c"}`}, method: "GET",
			uri: "/v2/p1/cursors?cursor-type=LATEST&partition-id=shardId-0000000000&stream-name=s",
		},
		{
			name: "CommitCheckpoint", call: commit, answer: step{status: 201}, method: "POST", uri: "/v2/p1/checkpoints",
			body: `{"app_name":"a","checkpoint_type":"LAST_READ","stream_name":"s","partition_id":"0","sequence_number":"7"}`,
		},
		{
			name: "GetCheckpoint",
			call: func(ctx context.Context, c *Client) error {
				_, err := c.GetCheckpoint(ctx, CheckpointKey{App: "a", StreamName: "s", StreamID: "id1", Partition: 3})
				return err
			},
			answer: step{status: 200, body: "{}"}, method: "GET",
			uri: "/v2/p1/checkpoints?app_name=a&checkpoint_type=LAST_READ&partition_id=shardId-0000000003&stream_id=id1&stream_name=s",
		},
		{
			name:   "DeleteCheckpoints of a partition",
			call:   func(ctx context.Context, c *Client) error { return c.DeleteCheckpoints(ctx, "a", "s", "", &partition) },
			answer: step{status: 204}, method: "DELETE",
			uri: "/v2/p1/checkpoints?app_name=a&checkpoint_type=LAST_READ&partition_id=shardId-0000000003&stream_name=s",
		},
		{
			name: "DeleteCheckpoints of a shared stream",
			call: func(ctx context.Context, c *Client) error {
				return c.DeleteCheckpoints(ctx, "a", "", "id1", &partition)
			},
			answer: step{status: 204}, method: "DELETE",
			uri: "/v2/p1/checkpoints?app_name=a&checkpoint_type=LAST_READ&partition_id=shardId-0000000003&stream_id=id1",
		},
		{
			name:   "DeleteCheckpoints of a stream",
			call:   func(ctx context.Context, c *Client) error { return c.DeleteCheckpoints(ctx, "a", "s", "", nil) },
			answer: step{status: 204}, method: "DELETE", uri: "/v2/p1/checkpoints?app_name=a&checkpoint_type=LAST_READ&stream_name=s",
		},
		{name: "CreateApp", call: createApp, answer: step{status: 201}, method: "POST", uri: "/v2/p1/apps", body: `{"app_name":"a"}`},
		{
			name:   "ListApps of a stream",
			call:   func(ctx context.Context, c *Client) error { _, err := c.ListApps(ctx, "s"); return err },
			answer: step{status: 200, body: "{}"}, method: "GET", uri: "/v2/p1/apps?limit=100&stream_name=s",
		},
		{
			name:   "DescribeApp",
			call:   func(ctx context.Context, c *Client) error { _, err := c.DescribeApp(ctx, "a"); return err },
			answer: step{status: 200, body: "{}"}, method: "GET", uri: "/v2/p1/apps/a",
		},
		{name: "DeleteApp", call: deleteApp, answer: step{status: 204}, method: "DELETE", uri: "/v2/p1/apps/a"},
		{
			name: "UpdateStream",
			call: func(ctx context.Context, c *Client) error {
				return c.UpdateStream(ctx, wire.UpdateStreamRequest{StreamName: "s", DataDuration: 48, AutoScaleEnabled: &scaling})
			},
			answer: step{status: 200}, method: "PUT", uri: "/v3/p1/streams/s",
			body: `{"stream_name":"s","data_duration":48,"auto_scale_enabled":false}`,
		},
		{
			name: "UpdateStreamV2",
			call: func(ctx context.Context, c *Client) error {
				_, err := c.UpdateStreamV2(ctx, wire.UpdateStreamV2Request{UpdateType: wire.UpdateDataType, StreamName: "s", DataType: "JSON"})
				return err
			},
			answer: step{status: 200, body: `{"stream_name":"s","target_data_type":"JSON"}`}, method: "PUT", uri: "/v2/p1/streams/s/update",
			body: `{"update_type":"DATA_TYPE","stream_name":"s","data_type":"JSON"}`,
		},
		{
			name: "AddTag",
			call: func(ctx context.Context, c *Client) error {
				return c.AddTag(ctx, "id1", wire.Tag{Key: "k", Value: "v"})
			},
			answer: step{status: 204}, method: "POST", uri: "/v2/p1/stream/id1/tags", body: `{"tag":{"key":"k","value":"v"}}`,
		},
		{
			name:   "StreamTags",
			call:   func(ctx context.Context, c *Client) error { _, err := c.StreamTags(ctx, "id1"); return err },
			answer: step{status: 200, body: `{"tags":[]}`}, method: "GET", uri: "/v2/p1/stream/id1/tags",
		},
		{
			name:   "DeleteTag",
			call:   func(ctx context.Context, c *Client) error { return c.DeleteTag(ctx, "id1", "a/b") },
			answer: step{status: 204}, method: "DELETE", uri: "/v2/p1/stream/id1/tags/a%2Fb",
		},
		{
			name: "ChangeTags",
			call: func(ctx context.Context, c *Client) error {
				return c.ChangeTags(ctx, "id1", wire.TagsDelete, []wire.Tag{{Key: "k", Value: "v"}})
			},
			answer: step{status: 204}, method: "POST", uri: "/v2/p1/stream/id1/tags/action",
			body: `{"action":"delete","tags":[{"key":"k","value":"v"}]}`,
		},
		{
			name:   "ProjectTags",
			call:   func(ctx context.Context, c *Client) error { _, err := c.ProjectTags(ctx); return err },
			answer: step{status: 200, body: `{"tags":[]}`}, method: "GET", uri: "/v2/p1/stream/tags",
		},
		{
			name: "StreamsByTags",
			call: func(ctx context.Context, c *Client) error {
				_, err := c.StreamsByTags(ctx, wire.InstancesRequest{Tags: []wire.TagValues{{Key: "k", Values: []string{"v"}}}})
				return err
			},
			answer: step{status: 200, body: `{"resources":[],"total_count":0}`}, method: "POST", uri: "/v2/p1/stream/resource_instances/action",
			body: `{"action":"filter","limit":"1000","offset":"0","tags":[{"key":"k","values":["v"]}]}`,
		},
		{
			name: "CountStreamsByTags",
			call: func(ctx context.Context, c *Client) error {
				_, err := c.CountStreamsByTags(ctx, wire.InstancesRequest{Limit: "5", Offset: "5"})
				return err
			},
			answer: step{status: 200, body: `{"total_count":7}`}, method: "POST", uri: "/v2/p1/stream/resource_instances/action",
			body: `{"action":"count"}`,
		},
		{
			name: "StreamMetrics of one label",
			call: func(ctx context.Context, c *Client) error {
				query := period
				query.Labels = []string{wire.MetricPutBytes}
				_, err := c.StreamMetrics(ctx, "s", query)
				return err
			},
			answer: step{status: 200, body: `{}`}, method: "GET",
			uri: "/v2/p1/streams/s/metrics?end_time=1700003600&label=total_put_bytes_per_stream&start_time=1700000000",
		},
		{
			name: "PartitionMetrics of two labels",
			call: func(ctx context.Context, c *Client) error {
				query := period
				query.Labels = []string{wire.MetricPartitionPutBytes, wire.MetricPartitionGetBytes}
				_, err := c.PartitionMetrics(ctx, "s", 3, query)
				return err
			},
			answer: step{status: 200, body: `{}`}, method: "GET",
			uri: "/v2/p1/streams/s/partitions/shardId-0000000003/metrics?end_time=1700003600" +
				"&label_list=total_put_bytes_per_partition%2Ctotal_get_bytes_per_partition&start_time=1700000000",
		},
		{
			name: "CreateTransferTask",
			call: func(ctx context.Context, c *Client) error {
				return c.CreateTransferTask(ctx, "s", wire.CreateTransferTaskRequest{
					DestinationType: wire.DestinationOBS, OBSDestinationDescriptor: &wire.OBSDestination{
						TaskName: "t", AgencyName: "a", OBSBucketPath: "b", DeliverTimeInterval: 30, ConsumerStrategy: wire.CursorTrimHorizon,
					},
				})
			},
			answer: step{status: 201}, method: "POST", uri: "/v2/p1/streams/s/transfer-tasks",
			body: `{"destination_type":"OBS","obs_destination_descriptor":{"task_name":"t","agency_name":"a","obs_bucket_path":"b",` +
				`"deliver_time_interval":30,"consumer_strategy":"TRIM_HORIZON"}}`,
		},
		{
			name:   "ListTransferTasks",
			call:   func(ctx context.Context, c *Client) error { _, err := c.ListTransferTasks(ctx, "s"); return err },
			answer: step{status: 200, body: `{}`}, method: "GET", uri: "/v2/p1/streams/s/transfer-tasks",
		},
		{
			name: "DescribeTransferTask",
			call: func(ctx context.Context, c *Client) error {
				_, err := c.DescribeTransferTask(ctx, "s", "t")
				return err
			},
			answer: step{status: 200, body: `{}`}, method: "GET", uri: "/v2/p1/streams/s/transfer-tasks/t",
		},
		{
			name: "ChangeTransferTasks",
			call: func(ctx context.Context, c *Client) error {
				return c.ChangeTransferTasks(ctx, "s", wire.TransferStop, "id1", "id2")
			},
			answer: step{status: 200}, method: "POST", uri: "/v2/p1/streams/s/transfer-tasks/action",
			body: `{"action":"stop","tasks":[{"id":"id1"},{"id":"id2"}]}`,
		},
		{
			name:   "DeleteTransferTask",
			call:   func(ctx context.Context, c *Client) error { return c.DeleteTransferTask(ctx, "s", "t") },
			answer: step{status: 204}, method: "DELETE", uri: "/v2/p1/streams/s/transfer-tasks/t",
		},
		{
			name:   "ConsumerState",
			call:   func(ctx context.Context, c *Client) error { _, err := c.ConsumerState(ctx, "a", "s", ""); return err },
			answer: step{status: 200, body: "{}"}, method: "GET", uri: "/v2/p1/apps/a/streams/s?checkpoint_type=LAST_READ&limit=100",
		},
		{
			name:   "ConsumerState of a shared stream",
			call:   func(ctx context.Context, c *Client) error { _, err := c.ConsumerState(ctx, "a", "", "id1"); return err },
			answer: step{status: 200, body: "{}"}, method: "GET", uri: "/v2/p1/apps/a/streams/id1?checkpoint_type=LAST_READ&limit=100&stream_id=id1",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, script := play(t, nil, test.answer)
			if err := test.call(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			got := script.sent[0]
			if got.method != test.method || got.uri != test.uri {
				t.Errorf("got  %s %s\nwant %s %s", got.method, got.uri, test.method, test.uri)
			}
			if got.body != test.body {
				t.Errorf("body\n%s\nwant\n%s", got.body, test.body)
			}
		})
	}
}

func cursor(at CursorRequest) func(context.Context, *Client) error {
	return func(ctx context.Context, c *Client) error { _, err := c.GetCursor(ctx, at); return err }
}

// An empty name would turn "delete the stream" into a request to the list.
func TestNamesThatAreNoPathSegment(t *testing.T) {
	for _, name := range []string{"", ".", ".."} {
		client, _ := play(t, nil)
		if failure := failedWith(t, client.DeleteStream(t.Context(), name)); !failure.NotProcessed || failure.HTTPStatus != 0 {
			t.Errorf("%q: %v", name, failure)
		}
	}
}

func TestManagerEndpoint(t *testing.T) {
	server := func(name string) *httptest.Server {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", name+" "+r.URL.Path)
			w.WriteHeader(http.StatusTeapot)
		})
	}
	cfg := testConfig(server("records").URL)
	cfg.ManagerEndpoint = server("manager").URL + "/prefix/"
	client := dial(t, cfg)
	for want, call := range map[string]func(context.Context, *Client) error{
		"records /v2/p1/records":              put,
		"records /v2/p1/cursors":              cursor(CursorRequest{StreamName: "s"}),
		"records /v2/p1/checkpoints":          commit,
		"manager /prefix/v2/p1/streams/s":     describe,
		"manager /prefix/v2/p1/apps":          createApp,
		"manager /prefix/v2/p1/stream/i/tags": func(ctx context.Context, c *Client) error { _, err := c.StreamTags(ctx, "i"); return err },
		"manager /prefix/v3/p1/streams/s": func(ctx context.Context, c *Client) error {
			return c.UpdateStream(ctx, wire.UpdateStreamRequest{StreamName: "s"})
		},
	} {
		if got := failedWith(t, call(t.Context(), client)).RequestID; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestGetCheckpoint(t *testing.T) {
	tests := []struct {
		name   string
		answer step
		want   *Checkpoint
		fails  bool
	}{
		{name: "stored", answer: step{status: 200, body: `{"sequence_number":"10","metadata":"m"}`}, want: &Checkpoint{SequenceNumber: 10, Metadata: "m"}},
		{name: "stored at 0", answer: step{status: 200, body: `{"sequence_number":"0"}`}, want: &Checkpoint{}},
		{name: "number instead of text", answer: step{status: 200, body: `{"sequence_number":10}`}, want: &Checkpoint{SequenceNumber: 10}},
		{name: "minus one", answer: step{status: 200, body: `{"sequence_number":"-1","metadata":""}`}},
		{name: "empty", answer: step{status: 200, body: `{"sequence_number":"","metadata":""}`}},
		{name: "null", answer: step{status: 200, body: `{"sequence_number":null,"metadata":null}`}},
		{name: "its own error code", answer: refusal(400, wire.CodeNoCheckpoint)},
		{name: "unknown app", answer: refusal(400, wire.CodeAppNotFound), fails: true},
		{name: "not a number", answer: step{status: 200, body: `{"sequence_number":"ten"}`}, fails: true},
		{name: "no body", answer: step{status: 200}, fails: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, _ := play(t, nil, test.answer)
			got, err := client.GetCheckpoint(t.Context(), CheckpointKey{App: "a", StreamName: "s"})
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChangePartitionCountAnswers(t *testing.T) {
	for body, current := range map[string]int{
		"": 0, `{}`: 0, `{"stream_name":"s","current_partition_count":2,"target_partition_count":4}`: 2,
	} {
		client, _ := play(t, nil, step{status: 200, body: body})
		got, err := client.ChangePartitionCount(t.Context(), "s", 4)
		if err != nil {
			t.Fatal(err)
		}
		want := wire.ChangePartitionCountResponse{StreamName: "s", CurrentPartitionCount: current, TargetPartitionCount: 4}
		if *got != want {
			t.Errorf("body %q: got %+v, want %+v", body, *got, want)
		}
	}
}

func TestCursorWithoutText(t *testing.T) {
	client, _ := play(t, nil, step{status: 200, body: `{}`})
	if _, err := client.GetCursor(t.Context(), CursorRequest{StreamName: "s"}); err == nil {
		t.Error("an answer without a cursor passed")
	}
}

func TestRecordsArrive(t *testing.T) {
	client, _ := play(t, nil, step{status: 200, body: `{"records":[{"partition_key":"k","sequence_number":"5","data":"aGVsbG8=",` +
		`"timestamp":1700000000000,"timestamp_type":"CreateTime"}],"next_partition_cursor":"next"}`})
	got, err := client.GetRecords(t.Context(), GetRecordsRequest{Cursor: "c"})
	if err != nil {
		t.Fatal(err)
	}
	key := "k"
	want := &wire.GetRecordsResponse{NextPartitionCursor: "next", Records: []wire.Record{{
		PartitionKey: &key, SequenceNumber: "5", Data: []byte("hello"), Timestamp: 1700000000000, TimestampType: "CreateTime",
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Two reads into the same memory: the records are in it, and it grows only when
// it has to.
func TestRecordsArriveInBorrowedMemory(t *testing.T) {
	answer := func(data string) step {
		return step{status: 200, header: http.Header{"Content-Type": {"application/x-protobuf"}},
			body: string(wire.AppendProtoGetRecordsResponse(nil, &wire.GetRecordsResponse{NextPartitionCursor: "next",
				Records: []wire.Record{{SequenceNumber: "5", Data: []byte(data)}}}))}
	}
	client, _ := play(t, nil, answer("the first"), answer("second"))
	var memory []byte
	for _, want := range []string{"the first", "second"} {
		before := cap(memory)
		got, err := client.GetRecords(t.Context(), GetRecordsRequest{Cursor: "c", Memory: &memory})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Records) != 1 || string(got.Records[0].Data) != want || !bytes.Contains(memory, []byte(want)) {
			t.Errorf("got %+v in %q, want %q", got, memory, want)
		}
		if before > 0 && cap(memory) != before {
			t.Errorf("the memory grew from %d to %d bytes", before, cap(memory))
		}
	}
}

// A 200 says only that DIS looked at every record.
func TestRefusedRecordsAreNoError(t *testing.T) {
	client, _ := play(t, nil, step{status: 200, body: `{"failed_record_count":1,"records":[{"error_code":"DIS.4303","error_message":"slow"}]}`})
	got, err := client.PutRecords(t.Context(), &wire.PutRecordsRequest{StreamName: "s", Records: make([]wire.PutRecord, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if got.FailedRecordCount != 1 || got.Records[0].ErrorCode != "DIS.4303" || got.Records[0].ErrorMessage != "slow" {
		t.Errorf("got %+v", got)
	}
}
