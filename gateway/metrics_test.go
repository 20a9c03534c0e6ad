package gateway

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	b := newBench(t, func(c *Config) { c.Metrics = registry })
	c := dial(t, b.listen())
	c.ask(metadataFor(9, "t"))
	c.ask(metadataFor(9, "missing"))
	c.ask(metadataFor(9, "missing"))
	bad := dial(t, b.server.Addrs()[0].String())
	bad.nc.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	bad.patience(5 * time.Second)
	bad.closed()
	c.ask(apiVersions(3))

	got := gathered(t, registry)
	for name, want := range map[string]float64{
		"kdg_requests_total api=Metadata code=0 error=NONE":                       1,
		"kdg_requests_total api=Metadata code=3 error=UNKNOWN_TOPIC_OR_PARTITION": 2,
		"kdg_request_seconds api=Metadata":                                        3,
		"kdg_connections_closed_total reason=malformed":                           1,
		"kdg_connections_closed_total reason=panic":                               0,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if received, sent := got["kdg_received_bytes_total"], got["kdg_sent_bytes_total"]; received < 100 || sent < 100 || got["kdg_connections"] < 1 {
		t.Errorf("%v bytes received, %v sent, %v connections", received, sent, got["kdg_connections"])
	}
	if _, err := New(b.server.cfg, b.server.parts); err == nil {
		t.Error("the same metrics were registered twice")
	}
}

func TestErrorNames(t *testing.T) {
	for code, want := range map[int16]string{0: "NONE", 6: "NOT_LEADER_OR_FOLLOWER", 27: "REBALANCE_IN_PROGRESS", 9999: "UNKNOWN_SERVER_ERROR"} {
		if got := errorName(code); got != want {
			t.Errorf("error %d is called %s, want %s", code, got, want)
		}
	}
}

// gathered are the values of a registry by name and labels; of a histogram the number
// of its observations.
func gathered(t *testing.T, registry *prometheus.Registry) map[string]float64 {
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
				name += " " + label.GetName() + "=" + label.GetValue()
			}
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

// Every reply type of the table must be known to the counter, or its errors
// would be counted as successes.
func TestFirstErrorKnowsEveryReply(t *testing.T) {
	for _, a := range apiTable(Config{}, Parts{}) {
		if code := firstError(failing(a.key)); code == 0 {
			t.Errorf("%s: the error of the reply is not seen", a.name)
		}
	}
}

// failing is a reply whose deepest error code is set, and no other.
func failing(key kmsg.Key) kmsg.Response {
	const code = 7
	switch r := key.Response().(type) {
	case *kmsg.ProduceResponse:
		r.Topics = []kmsg.ProduceResponseTopic{{}, {Partitions: []kmsg.ProduceResponseTopicPartition{{}, {ErrorCode: code}}}}
		return r
	case *kmsg.FetchResponse:
		r.Topics = []kmsg.FetchResponseTopic{{Partitions: []kmsg.FetchResponseTopicPartition{{ErrorCode: code}}}}
		return r
	case *kmsg.ListOffsetsResponse:
		r.Topics = []kmsg.ListOffsetsResponseTopic{{Partitions: []kmsg.ListOffsetsResponseTopicPartition{{ErrorCode: code}}}}
		return r
	case *kmsg.MetadataResponse:
		r.Topics = []kmsg.MetadataResponseTopic{{ErrorCode: code}}
		return r
	case *kmsg.OffsetCommitResponse:
		r.Topics = []kmsg.OffsetCommitResponseTopic{{Partitions: []kmsg.OffsetCommitResponseTopicPartition{{ErrorCode: code}}}}
		return r
	case *kmsg.OffsetFetchResponse:
		r.Groups = []kmsg.OffsetFetchResponseGroup{{Topics: []kmsg.OffsetFetchResponseGroupTopic{
			{Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{{ErrorCode: code}}},
		}}}
		return r
	case *kmsg.FindCoordinatorResponse:
		r.Coordinators = []kmsg.FindCoordinatorResponseCoordinator{{ErrorCode: code}}
		return r
	case *kmsg.JoinGroupResponse:
		r.ErrorCode = code
		return r
	case *kmsg.SyncGroupResponse:
		r.ErrorCode = code
		return r
	case *kmsg.HeartbeatResponse:
		r.ErrorCode = code
		return r
	case *kmsg.LeaveGroupResponse:
		r.Members = []kmsg.LeaveGroupResponseMember{{ErrorCode: code}}
		return r
	case *kmsg.DescribeGroupsResponse:
		r.Groups = []kmsg.DescribeGroupsResponseGroup{{ErrorCode: code}}
		return r
	case *kmsg.ListGroupsResponse:
		r.ErrorCode = code
		return r
	case *kmsg.ConsumerGroupHeartbeatResponse:
		r.ErrorCode = code
		return r
	case *kmsg.ConsumerGroupDescribeResponse:
		r.Groups = []kmsg.ConsumerGroupDescribeResponseGroup{{ErrorCode: code}}
		return r
	case *kmsg.DeleteGroupsResponse:
		r.Groups = []kmsg.DeleteGroupsResponseGroup{{ErrorCode: code}}
		return r
	case *kmsg.OffsetDeleteResponse:
		r.Topics = []kmsg.OffsetDeleteResponseTopic{{Partitions: []kmsg.OffsetDeleteResponseTopicPartition{{ErrorCode: code}}}}
		return r
	case *kmsg.CreateTopicsResponse:
		r.Topics = []kmsg.CreateTopicsResponseTopic{{ErrorCode: code}}
		return r
	case *kmsg.DeleteTopicsResponse:
		r.Topics = []kmsg.DeleteTopicsResponseTopic{{ErrorCode: code}}
		return r
	case *kmsg.CreatePartitionsResponse:
		r.Topics = []kmsg.CreatePartitionsResponseTopic{{ErrorCode: code}}
		return r
	case *kmsg.AlterConfigsResponse:
		r.Resources = []kmsg.AlterConfigsResponseResource{{ErrorCode: code}}
		return r
	case *kmsg.IncrementalAlterConfigsResponse:
		r.Resources = []kmsg.IncrementalAlterConfigsResponseResource{{ErrorCode: code}}
		return r
	case *kmsg.DescribeLogDirsResponse:
		r.Dirs = []kmsg.DescribeLogDirsResponseDir{{ErrorCode: code}}
		return r
	case *kmsg.DescribeACLsResponse:
		r.ErrorCode = code
		return r
	case *kmsg.CreateACLsResponse:
		r.Results = []kmsg.CreateACLsResponseResult{{ErrorCode: code}}
		return r
	case *kmsg.DeleteACLsResponse:
		r.Results = []kmsg.DeleteACLsResponseResult{{ErrorCode: code}}
		return r
	case *kmsg.ListPartitionReassignmentsResponse:
		r.ErrorCode = code
		return r
	case *kmsg.DescribeClientQuotasResponse:
		r.ErrorCode = code
		return r
	case *kmsg.DescribeUserSCRAMCredentialsResponse:
		r.Results = []kmsg.DescribeUserSCRAMCredentialsResponseResult{{ErrorCode: code}}
		return r
	case *kmsg.ListConfigResourcesResponse:
		r.ErrorCode = code
		return r
	case *kmsg.InitProducerIDResponse:
		r.ErrorCode = code
		return r
	case *kmsg.DescribeConfigsResponse:
		r.Resources = []kmsg.DescribeConfigsResponseResource{{ErrorCode: code}}
		return r
	case *kmsg.DescribeClusterResponse:
		r.ErrorCode = code
		return r
	case *kmsg.DescribeTopicPartitionsResponse:
		r.Topics = []kmsg.DescribeTopicPartitionsResponseTopic{{ErrorCode: code}}
		return r
	case *kmsg.ApiVersionsResponse:
		r.ErrorCode = code
		return r
	default:
		return r
	}
}
