package gateway

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
)

// wantedVersions is written down a second time on purpose: a change of the
// table must be meant.
var wantedVersions = map[string][2]int16{
	"ApiVersions": {0, 4}, "Metadata": {0, 13}, "Produce": {0, 13}, "Fetch": {0, 17}, "ListOffsets": {0, 6},
	"FindCoordinator": {0, 4}, "InitProducerId": {0, 4}, "JoinGroup": {0, 9}, "SyncGroup": {0, 5}, "Heartbeat": {0, 4},
	"LeaveGroup": {0, 5}, "OffsetCommit": {0, 9}, "OffsetFetch": {0, 9}, "DescribeGroups": {0, 6}, "ListGroups": {0, 5},
	"DeleteGroups": {0, 2}, "OffsetDelete": {0, 0}, "ConsumerGroupHeartbeat": {0, 1}, "ConsumerGroupDescribe": {0, 1},
	"CreateTopics": {0, 7}, "DeleteTopics": {0, 6}, "DescribeConfigs": {0, 4}, "DescribeCluster": {0, 1},
	"DescribeTopicPartitions": {0, 0}, "CreatePartitions": {0, 3}, "AlterConfigs": {0, 2}, "IncrementalAlterConfigs": {0, 1},
	"DescribeLogDirs": {0, 5}, "DescribeAcls": {0, 3}, "CreateAcls": {0, 3}, "DeleteAcls": {0, 3}, "ListPartitionReassignments": {0, 0},
	"DescribeClientQuotas": {0, 1}, "DescribeUserScramCredentials": {0, 0}, "ListConfigResources": {0, 1},
}

// kafkaName is what Kafka calls an API that the codec spells in its own way.
func kafkaName(key int16) string {
	name := kmsg.NameForKey(key)
	for _, word := range []string{"ACLs", "SCRAM", "ProducerID"} {
		name = strings.ReplaceAll(name, word, strings.ToUpper(word[:1])+strings.ToLower(word[1:]))
	}
	return strings.ReplaceAll(name, "Producerid", "ProducerId")
}

func TestTableHasTheWantedVersions(t *testing.T) {
	got := map[string][2]int16{}
	for _, a := range apiTable(Config{}, Parts{}) {
		got[a.name] = [2]int16{a.min, a.max}
		if kafkaName(a.key.Int16()) != a.name || a.start == nil {
			t.Errorf("%s is key %d, %s", a.name, a.key, a.key.Name())
		}
	}
	if diff := cmp.Diff(wantedVersions, got); diff != "" {
		t.Error(diff)
	}
}

func TestApiVersionsOfEveryVersion(t *testing.T) {
	b := newBench(t)
	address := b.listen()
	for version := int16(0); version <= 6; version++ {
		c := dial(t, address)
		req := apiVersions(version)
		id := c.send(req)
		wantCode := int16(0)
		if version > 4 {
			wantCode = unsupportedVersion
			req.Version = 0 // the layout of the answer
		}
		resp := c.receive(id, req).(*kmsg.ApiVersionsResponse)
		if resp.ErrorCode != wantCode {
			t.Errorf("version %d: error %d, want %d", version, resp.ErrorCode, wantCode)
		}
		if len(resp.ApiKeys) != len(wantedVersions) {
			t.Errorf("version %d: %d keys", version, len(resp.ApiKeys))
		}
		for _, k := range resp.ApiKeys {
			name := kafkaName(k.ApiKey)
			if want := wantedVersions[name]; k.MinVersion != want[0] || k.MaxVersion != want[1] {
				t.Errorf("version %d: %s %d to %d", version, name, k.MinVersion, k.MaxVersion)
			}
		}
		if resp.FinalizedFeaturesEpoch != -1 {
			t.Errorf("version %d: features epoch %d", version, resp.FinalizedFeaturesEpoch)
		}
		c.ask(metadataFor(9, "t")) // the connection goes on
	}
}

// TestEveryAPIAtEveryVersion sends a small request at each version of the table
// and reads the reply with the same codec: wrong layouts, missing defaults and
// bytes left over show.
func TestEveryAPIAtEveryVersion(t *testing.T) {
	b := newBench(t, func(c *Config) { c.TopicAdmin = TopicAdminFull })
	b.catalog.topics["grows"] = topicOf("grows", 3)
	address := b.listen()
	for _, a := range apiTable(Config{}, Parts{}) {
		for version := a.min; version <= a.max; version++ {
			t.Run(fmt.Sprintf("%s v%d", a.name, version), func(t *testing.T) {
				req := smallRequest(a.key, version)
				resp := dial(t, address).ask(req)
				checkReply(t, resp, version)
			})
		}
	}
	if lines := b.lines.all(); len(lines) != 0 {
		t.Errorf("log %q, want none", lines)
	}
}

// smallRequest asks for something real wherever the fakes have it.
func smallRequest(key kmsg.Key, version int16) kmsg.Request {
	switch key {
	case kmsg.Metadata:
		return metadataFor(version, "t", "missing")
	case kmsg.Produce:
		req := produceTo("t", 1, -1, make([]byte, 100))
		req.Version = version
		return req
	case kmsg.Fetch:
		return fetchFrom(version, "t", 1, 0)
	case kmsg.ListOffsets:
		req := kmsg.NewPtrListOffsetsRequest()
		req.Version, req.ReplicaID = version, -1
		topic := kmsg.NewListOffsetsRequestTopic()
		topic.Topic = "t"
		partition := kmsg.NewListOffsetsRequestTopicPartition()
		partition.Partition, partition.Timestamp, partition.MaxNumOffsets = 1, fetch.Latest, 1
		topic.Partitions = append(topic.Partitions, partition)
		req.Topics = append(req.Topics, topic)
		return req
	case kmsg.FindCoordinator:
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.Version, req.CoordinatorKey, req.CoordinatorKeys = version, "g", []string{"g", "h"}
		return req
	case kmsg.CreateTopics:
		req := kmsg.NewPtrCreateTopicsRequest()
		req.Version = version
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = fmt.Sprintf("new-%d", version), 2, 3
		req.Topics = append(req.Topics, topic)
		return req
	case kmsg.DeleteTopics:
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.Version, req.TopicNames = version, []string{fmt.Sprintf("new-%d", version)}
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = &req.TopicNames[0]
		req.Topics = append(req.Topics, topic) // each version has one of the two
		return req
	case kmsg.DescribeConfigs:
		req := kmsg.NewPtrDescribeConfigsRequest()
		req.Version = version
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, "t"
		req.Resources = append(req.Resources, resource)
		return req
	case kmsg.CreatePartitions:
		req := addPartitions("grows", 4+int32(version))
		req.Version = version
		return req
	case kmsg.AlterConfigs:
		req := alterConfigs(kmsg.ConfigResourceTypeTopic, "t", "retention.ms", "86400000")
		req.Version = version
		return req
	case kmsg.IncrementalAlterConfigs:
		req := alterTopic("t", set("retention.ms", "86400000"))
		req.Version = version
		return req
	case kmsg.DescribeLogDirs:
		req := logDirs("t", 1)
		req.Version = version
		return req
	case kmsg.CreateACLs:
		req := kmsg.NewPtrCreateACLsRequest()
		req.Version, req.Creations = version, []kmsg.CreateACLsRequestCreation{kmsg.NewCreateACLsRequestCreation()}
		return req
	case kmsg.DeleteACLs:
		req := kmsg.NewPtrDeleteACLsRequest()
		req.Version, req.Filters = version, []kmsg.DeleteACLsRequestFilter{kmsg.NewDeleteACLsRequestFilter()}
		return req
	case kmsg.DescribeTopicPartitions:
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.Version, req.Topics = version, []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "t"}}
		return req
	case kmsg.ApiVersions:
		return apiVersions(version)
	}
	req := key.Request()
	req.SetVersion(version)
	return req
}

func checkReply(t *testing.T, resp kmsg.Response, version int16) {
	t.Helper()
	if code := firstError(resp); code != wantedError(resp) {
		t.Errorf("error %d, want %d", code, wantedError(resp))
	}
	switch r := resp.(type) {
	case *kmsg.MetadataResponse:
		checkMetadata(t, r, version)
	case *kmsg.ProduceResponse:
		p := r.Topics[0].Partitions[0]
		checkTopicID(t, r.Topics[0].TopicID, version >= firstIDProduce)
		if len(r.Brokers) != 0 || p.Partition != 1 || p.LogAppendTime != -1 || p.CurrentLeader.LeaderID != -1 || p.CurrentLeader.LeaderEpoch != -1 {
			t.Errorf("partition %+v", p)
		}
	case *kmsg.FetchResponse:
		p := r.Topics[0].Partitions[0]
		checkTopicID(t, r.Topics[0].TopicID, version >= firstIDFetch)
		if r.SessionID != 0 || len(r.Brokers) != 0 || p.Partition != 1 || p.RecordBatches == nil || p.PreferredReadReplica != -1 ||
			p.CurrentLeader.LeaderID != -1 || p.CurrentLeader.LeaderEpoch != -1 || p.DivergingEpoch.EndOffset != -1 || p.SnapshotID.EndOffset != -1 {
			t.Errorf("session %d, partition %+v", r.SessionID, p)
		}
		if version >= 4 && p.LastStableOffset != p.HighWatermark {
			t.Errorf("last stable offset %d, high watermark %d", p.LastStableOffset, p.HighWatermark)
		}
	case *kmsg.ListOffsetsResponse:
		p := r.Topics[0].Partitions[0]
		if version == 0 && len(p.OldStyleOffsets) != 1 || version > 0 && p.Timestamp != -1 || p.LeaderEpoch != -1 {
			t.Errorf("partition %+v", p)
		}
	case *kmsg.FindCoordinatorResponse:
		checkCoordinator(t, r, version)
	case *kmsg.InitProducerIDResponse:
		if r.ProducerID <= 0 || r.ProducerEpoch != 0 {
			t.Errorf("producer %d, epoch %d", r.ProducerID, r.ProducerEpoch)
		}
	case *kmsg.DescribeTopicPartitionsResponse:
		topic := r.Topics[0]
		checkTopicID(t, topic.TopicID, true)
		if *topic.Topic != "t" || len(topic.Partitions) != 3 || topic.Partitions[2].LeaderID != nodeID || topic.Partitions[2].LeaderEpoch != -1 || r.NextCursor != nil {
			t.Errorf("topic %+v, cursor %+v", topic, r.NextCursor)
		}
	case *kmsg.DeleteTopicsResponse:
		if topic := r.Topics[0]; version >= 6 && topic.TopicID != testID(*topic.Topic) {
			t.Errorf("topic %+v", topic)
		}
	case *kmsg.CreateTopicsResponse:
		if topic := r.Topics[0]; version >= 7 && topic.TopicID != testID(topic.Topic) {
			t.Errorf("topic %+v", topic)
		}
		if topic := r.Topics[0]; version >= 5 && (topic.NumPartitions != 2 || topic.ReplicationFactor != 1 || len(topic.Configs) == 0) {
			t.Errorf("topic %+v", topic)
		}
	case *kmsg.DescribeLogDirsResponse:
		if len(r.Dirs) != 1 || len(r.Dirs[0].Topics) != 1 || len(r.Dirs[0].Topics[0].Partitions) != 1 || r.Dirs[0].TotalBytes != -1 || r.Dirs[0].UsableBytes != -1 {
			t.Errorf("dirs %+v", r.Dirs)
		}
	case *kmsg.CreatePartitionsResponse:
		if len(r.Topics) != 1 || r.Topics[0].Topic != "grows" || r.Topics[0].ErrorMessage != nil {
			t.Errorf("topics %+v", r.Topics)
		}
	case *kmsg.AlterConfigsResponse:
		if len(r.Resources) != 1 || r.Resources[0].ResourceType != kmsg.ConfigResourceTypeTopic || r.Resources[0].ResourceName != "t" || r.Resources[0].ErrorMessage != nil {
			t.Errorf("resources %+v", r.Resources)
		}
	case *kmsg.IncrementalAlterConfigsResponse:
		if len(r.Resources) != 1 || r.Resources[0].ResourceType != kmsg.ConfigResourceTypeTopic || r.Resources[0].ResourceName != "t" || r.Resources[0].ErrorMessage != nil {
			t.Errorf("resources %+v", r.Resources)
		}
	case *kmsg.DescribeConfigsResponse:
		for _, c := range r.Resources[0].Configs {
			if version >= 3 && c.ConfigType == 0 || version >= 1 && c.Source <= 0 || c.Value == nil {
				t.Errorf("config %+v", c)
			}
		}
	case *kmsg.DescribeClusterResponse:
		if r.ClusterID != "cluster-1" || r.ControllerID != nodeID || len(r.Brokers) != 1 || r.ClusterAuthorizedOperations != math.MinInt32 {
			t.Errorf("cluster %+v", r)
		}
	}
}

// checkTopicID wants the id of the topic "t" from the first version with ids on.
func checkTopicID(t *testing.T, got [16]byte, carried bool) {
	t.Helper()
	want := noTopicID
	if carried {
		want = testID("t")
	}
	if got != want {
		t.Errorf("topic id %x, want %x", got, want)
	}
}

// wantedError is the code of the first failure that smallRequest provokes.
func wantedError(resp kmsg.Response) int16 {
	switch resp.(type) {
	case *kmsg.MetadataResponse:
		return unknownTopicOrPartition
	case *kmsg.DescribeACLsResponse, *kmsg.CreateACLsResponse, *kmsg.DeleteACLsResponse:
		return securityDisabled
	}
	return 0
}

func checkMetadata(t *testing.T, r *kmsg.MetadataResponse, version int16) {
	t.Helper()
	if len(r.Brokers) != 1 || r.Brokers[0].NodeID != nodeID || r.Brokers[0].Host != "127.0.0.1" || r.Brokers[0].Port == 0 {
		t.Errorf("brokers %+v", r.Brokers)
	}
	if version >= 1 && r.ControllerID != nodeID || version >= 2 && *r.ClusterID != "cluster-1" || r.AuthorizedOperations != math.MinInt32 {
		t.Errorf("controller %d, cluster %v, operations %d", r.ControllerID, r.ClusterID, r.AuthorizedOperations)
	}
	known, missing := r.Topics[0], r.Topics[1]
	checkTopicID(t, known.TopicID, version >= 10)
	if missing.TopicID != noTopicID || r.ErrorCode != 0 {
		t.Errorf("id of a missing topic %x, error %d", missing.TopicID, r.ErrorCode)
	}
	if *missing.Topic != "missing" || len(missing.Partitions) != 0 || missing.AuthorizedOperations != math.MinInt32 {
		t.Errorf("missing topic %+v", missing)
	}
	if known.ErrorCode != 0 || len(known.Partitions) != 3 {
		t.Fatalf("topic %+v", known)
	}
	for i, p := range known.Partitions {
		if p.Partition != int32(i) || p.Leader != nodeID || p.LeaderEpoch != -1 ||
			!cmp.Equal(p.Replicas, []int32{nodeID}) || !cmp.Equal(p.ISR, []int32{nodeID}) || len(p.OfflineReplicas) != 0 {
			t.Errorf("partition %+v", p)
		}
	}
}

func checkCoordinator(t *testing.T, r *kmsg.FindCoordinatorResponse, version int16) {
	t.Helper()
	if version < 4 {
		if r.NodeID != nodeID || r.Host != "127.0.0.1" || r.Port == 0 {
			t.Errorf("coordinator %+v", r)
		}
		return
	}
	for i, c := range r.Coordinators {
		if c.Key != []string{"g", "h"}[i] || c.NodeID != nodeID || c.Host != "127.0.0.1" || c.Port == 0 {
			t.Errorf("coordinator %+v", c)
		}
	}
}
