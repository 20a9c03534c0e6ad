package gateway

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// logDirs asks for some partitions of a topic.
func logDirs(topic string, partitions ...int32) *kmsg.DescribeLogDirsRequest {
	req := kmsg.NewPtrDescribeLogDirsRequest()
	req.Version = 4
	req.Topics = []kmsg.DescribeLogDirsRequestTopic{{Topic: topic, Partitions: partitions}}
	return req
}

func TestDescribeLogDirs(t *testing.T) {
	b := newBench(t)
	retired := topicOf("u", 3)
	retired.Partitions[1] = translate.Partition{Status: wire.PartitionDeleted, Range: wire.SequenceRange{Next: 5}}
	retired.Partitions[2] = translate.Partition{Status: wire.PartitionExpired}
	b.catalog.topics["u"] = retired
	c := dial(t, b.listen())
	all := logDirs("")
	all.Topics = nil
	several := logDirs("t", 2, 0, 7, 2)
	several.Topics = append(several.Topics, logDirs("missing", 0).Topics[0], logDirs("u").Topics[0])
	none := logDirs("")
	none.Topics = []kmsg.DescribeLogDirsRequestTopic{}
	for _, tc := range []struct {
		name string
		req  *kmsg.DescribeLogDirsRequest
		want map[string][]int32
	}{
		{"all", all, map[string][]int32{"t": {0, 1, 2}, "u": {0, 1}}},
		{"some", several, map[string][]int32{"t": {0, 2}}},
		{"none", none, map[string][]int32{}},
	} {
		resp := c.ask(tc.req).(*kmsg.DescribeLogDirsResponse)
		if resp.ErrorCode != 0 || len(resp.Dirs) != 1 || resp.Dirs[0].ErrorCode != 0 || resp.Dirs[0].Dir == "" {
			t.Fatalf("%s: %+v", tc.name, resp)
		}
		got := map[string][]int32{}
		for _, topic := range resp.Dirs[0].Topics {
			got[topic.Topic] = nil
			for _, p := range topic.Partitions {
				got[topic.Topic] = append(got[topic.Topic], p.Partition)
				if p.Size != 0 || p.OffsetLag != 0 || p.IsFuture {
					t.Errorf("%s: %s %+v", tc.name, topic.Topic, p)
				}
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestDescribeLogDirsWithoutDIS(t *testing.T) {
	b := newBench(t)
	b.catalog.topics, b.catalog.list = nil, errors.New("no list")
	c := dial(t, b.listen())
	for version := int16(0); version <= 5; version++ {
		req := logDirs("")
		req.Version, req.Topics = version, nil
		if code := firstError(c.ask(req)); code != requestTimedOut {
			t.Errorf("version %d: error %d", version, code)
		}
	}
}
