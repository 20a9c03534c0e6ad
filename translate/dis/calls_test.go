package dis

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Every call as it stands on the wire: method, path, query and body.
func TestCallsOnTheWire(t *testing.T) {
	partition, key, timestamp := 3, "k", int64(1700000000000)
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
			call:   func(ctx context.Context, c *Client) error { return c.DeleteCheckpoints(ctx, "a", "s", &partition) },
			answer: step{status: 204}, method: "DELETE",
			uri: "/v2/p1/checkpoints?app_name=a&checkpoint_type=LAST_READ&partition_id=shardId-0000000003&stream_name=s",
		},
		{
			name:   "DeleteCheckpoints of a stream",
			call:   func(ctx context.Context, c *Client) error { return c.DeleteCheckpoints(ctx, "a", "s", nil) },
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
	client, _ := play(t, func(c *Config) { c.ManagerEndpoint = "http://manager.test/prefix/" })
	for _, call := range []struct{ base, want string }{
		{client.records, "http://dis.test/v2/p1"},
		{client.manager, "http://manager.test/prefix/v2/p1"},
	} {
		if call.base != call.want {
			t.Errorf("got %s, want %s", call.base, call.want)
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
