package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func describeConfigs(kind kmsg.ConfigResourceType, name string, keys ...string) *kmsg.DescribeConfigsRequest {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Version = 4
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName, resource.ConfigNames = kind, name, keys
	req.Resources = append(req.Resources, resource)
	return req
}

func values(resp kmsg.Response) map[string]string {
	found := map[string]string{}
	for _, c := range resp.(*kmsg.DescribeConfigsResponse).Resources[0].Configs {
		found[c.Name] = *c.Value
	}
	return found
}

func TestDescribeConfigs(t *testing.T) {
	topicDefaults := map[string]string{
		"cleanup.policy": "delete", "compression.type": "producer", "max.message.bytes": "1048576",
		"message.timestamp.type": "CreateTime", "min.insync.replicas": "1", "retention.bytes": "-1",
		"retention.ms": "172800000", "dis.stream.type": "COMMON", "dis.data.type": "BLOB",
	}
	for _, tc := range []struct {
		name string
		req  *kmsg.DescribeConfigsRequest
		want map[string]string
	}{
		{"topic", describeConfigs(kmsg.ConfigResourceTypeTopic, "t"), topicDefaults},
		{"filter", describeConfigs(kmsg.ConfigResourceTypeTopic, "t", "retention.ms", "unknown.key"), map[string]string{"retention.ms": "172800000"}},
		{"broker", describeConfigs(kmsg.ConfigResourceTypeBroker, "1"), map[string]string{
			"auto.create.topics.enable": "true", "num.partitions": "1", "default.replication.factor": "1",
			"delete.topic.enable": "false", "log.cleanup.policy": "delete", "message.max.bytes": "1048576",
		}},
		{"all brokers", describeConfigs(kmsg.ConfigResourceTypeBroker, ""), map[string]string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.AutoCreateTopics = true })
			resp := dial(t, b.listen()).ask(tc.req)
			if code := firstError(resp); code != 0 {
				t.Fatalf("error %d", code)
			}
			if diff := cmp.Diff(tc.want, values(resp)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDescribeConfigsOfLogAppendTime(t *testing.T) {
	b := newBench(t)
	b.catalog.topics["t"].Records.LogAppendTime = true
	config := dial(t, b.listen()).ask(describeConfigs(kmsg.ConfigResourceTypeTopic, "t", "message.timestamp.type")).(*kmsg.DescribeConfigsResponse).Resources[0].Configs[0]
	if *config.Value != "LogAppendTime" || config.Source != setOnBroker || config.IsDefault {
		t.Errorf("config %+v", config)
	}
}

// Connect takes "delete" for a reason not to start, and silence for an old
// broker.
func TestAcceptedCompactionHidesTheCleanupPolicy(t *testing.T) {
	b := newBench(t, func(c *Config) { c.AcceptCompact = true })
	found := values(dial(t, b.listen()).ask(describeConfigs(kmsg.ConfigResourceTypeTopic, "t")))
	if policy, ok := found["cleanup.policy"]; ok || len(found) != 8 {
		t.Errorf("cleanup.policy=%s among %d keys", policy, len(found))
	}
}

func TestDescribeConfigsRefuses(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	for _, tc := range []struct {
		req  *kmsg.DescribeConfigsRequest
		want int16
	}{
		{describeConfigs(kmsg.ConfigResourceTypeTopic, "missing"), 3},
		{describeConfigs(kmsg.ConfigResourceTypeBroker, "2"), 42},
		{describeConfigs(kmsg.ConfigResourceTypeBrokerLogger, "1"), 42},
	} {
		resource := c.ask(tc.req).(*kmsg.DescribeConfigsResponse).Resources[0]
		if resource.ErrorCode != tc.want || resource.ErrorMessage == nil || len(resource.Configs) != 0 {
			t.Errorf("%+v, want error %d", resource, tc.want)
		}
	}
}

func TestDescribeConfigsExplains(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	req := describeConfigs(kmsg.ConfigResourceTypeTopic, "t", "retention.ms")
	plain := c.ask(req).(*kmsg.DescribeConfigsResponse).Resources[0].Configs[0]
	if plain.Documentation != nil || plain.ConfigSynonyms != nil {
		t.Errorf("explained without being asked: %+v", plain)
	}
	req.IncludeDocumentation, req.IncludeSynonyms = true, true
	full := c.ask(req).(*kmsg.DescribeConfigsResponse).Resources[0].Configs[0]
	if full.Documentation == nil || len(full.ConfigSynonyms) != 1 || full.Source != setOnTopic || full.ConfigType != kmsg.ConfigTypeLong || !full.ReadOnly {
		t.Errorf("config %+v", full)
	}
}

func TestDescribeClusterOfControllers(t *testing.T) {
	b := newBench(t)
	req := kmsg.NewPtrDescribeClusterRequest()
	req.Version, req.EndpointType = 1, 2
	resp := dial(t, b.listen()).ask(req).(*kmsg.DescribeClusterResponse)
	if resp.ErrorCode != unsupportedEndpointType || resp.ErrorMessage == nil || len(resp.Brokers) != 0 {
		t.Errorf("%+v", resp)
	}
}
