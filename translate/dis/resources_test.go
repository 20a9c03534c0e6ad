package dis

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestStreamsByTagsReadsAllPages(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1001, 2500} {
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			var filter wire.InstancesRequest
			if err := json.NewDecoder(r.Body).Decode(&filter); err != nil {
				t.Error(err)
			}
			offset, badOffset := strconv.Atoi(string(filter.Offset))
			limit, badLimit := strconv.Atoi(string(filter.Limit))
			if badOffset != nil || badLimit != nil || filter.Action != "filter" || limit > 1000 {
				t.Errorf("asked for %+v", filter)
			}
			page := wire.InstancesResponse{TotalCount: n}
			for i := offset; i < min(n, offset+limit); i++ {
				page.Resources = append(page.Resources, wire.Instance{ResourceName: paddedName(i)})
			}
			writeJSON(t, w, page)
		})
		streams, err := dial(t, testConfig(server.URL)).StreamsByTags(t.Context(), wire.InstancesRequest{Limit: "1", Offset: "7"})
		complete(t, n, streams, err, func(i int, s wire.Instance) bool { return s.ResourceName == paddedName(i) })
	}
}

func TestStreamsByTagsThatDoNotAdvance(t *testing.T) {
	client, _ := play(t, nil, step{status: 200, body: `{"resources":[],"total_count":3}`})
	if streams, err := client.StreamsByTags(t.Context(), wire.InstancesRequest{}); err == nil {
		t.Errorf("got %v", streams)
	}
}

func TestMetricsAnswers(t *testing.T) {
	one := `{"dataPoints":[{"timestamp":1700000000,"value":5}],"label":"total_put_bytes_per_stream"}`
	series := wire.Metric{Label: wire.MetricPutBytes, DataPoints: []wire.DataPoint{{Timestamp: 1700000000, Value: 5}}}
	for _, test := range []struct {
		body string
		want []wire.Metric
	}{
		{`{"metrics":` + one + `}`, []wire.Metric{series}},
		{`{"metrics_list":[` + one + `,` + one + `]}`, []wire.Metric{series, series}},
		{`{"metrics":` + one + `,"metrics_list":[` + one + `,` + one + `]}`, []wire.Metric{series, series}},
		{`{"metrics":null,"metrics_list":null}`, nil},
		{`{}`, nil},
	} {
		client, _ := play(t, nil, step{status: 200, body: test.body})
		got, err := client.StreamMetrics(t.Context(), "s", MetricsQuery{Labels: []string{wire.MetricPutBytes}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s:\n%s", test.body, diff)
		}
	}
}

// The answer of the SDK guide, with an OBS destination.
func TestTransferTaskAnswer(t *testing.T) {
	client, _ := play(t, nil, step{status: 200, body: `{"stream_name":"s","task_name":"t","task_id":"gGGu2WN88XbmRTm64nJ","destination_type":"OBS",` +
		`"state":"RUNNING","create_time":1552457808502,"last_transfer_timestamp":1552458085454,` +
		`"partitions":[{"partitionId":"shardId-0000000000","discard":0,"state":"RUNNING","last_transfer_timestamp":1552458085454,"last_transfer_offset":56}],` +
		`"obs_destination_description":{"agency_name":"a","file_prefix":"f","obs_bucket_path":"b","deliver_time_interval":300,"consumer_strategy":"LATEST","retry_duration":0}}`})
	got, err := client.DescribeTransferTask(t.Context(), "s", "t")
	if err != nil {
		t.Fatal(err)
	}
	want := &wire.TransferTask{
		StreamName: "s",
		TransferTaskSummary: wire.TransferTaskSummary{
			TaskID: "gGGu2WN88XbmRTm64nJ", TaskName: "t", State: wire.TransferRunning, DestinationType: wire.DestinationOBS,
			CreateTime: 1552457808502, LastTransferTimestamp: 1552458085454,
		},
		Partitions: []wire.TransferPartition{{
			PartitionID: "shardId-0000000000", State: wire.TransferRunning, LastTransferTimestamp: 1552458085454, LastTransferOffset: 56,
		}},
		OBSDestinationDescription: &wire.OBSDestination{
			AgencyName: "a", FilePrefix: "f", OBSBucketPath: "b", DeliverTimeInterval: 300, ConsumerStrategy: wire.CursorLatest,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateStreamV2WithoutAnAnswer(t *testing.T) {
	client, _ := play(t, nil, step{status: 200})
	got, err := client.UpdateStreamV2(t.Context(), wire.UpdateStreamV2Request{StreamName: "s", UpdateType: wire.UpdateAutoScale})
	if err != nil || got.StreamName != "s" {
		t.Errorf("got %+v, %v", got, err)
	}
}
