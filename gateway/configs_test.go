package gateway

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
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
		"dis.auto.scale": "off",
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
			"node.id": "1", "min.insync.replicas": "1", "compression.type": "producer", "log.retention.bytes": "-1", "log.retention.hours": "24",
		}},
		{"group", describeConfigs(kmsg.ConfigResourceTypeGroupConfig, "g"), map[string]string{}},
		{"client metrics", describeConfigs(kmsg.ConfigResourceTypeClientMetrics, "m"), map[string]string{}},
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
	if policy, ok := found["cleanup.policy"]; ok || len(found) != 9 {
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
	b.catalog.topics["t"].AutoScale = translate.AutoScale{Min: 2, Max: 10}
	c := dial(t, b.listen())
	req := describeConfigs(kmsg.ConfigResourceTypeTopic, "t")
	for _, plain := range c.ask(req).(*kmsg.DescribeConfigsResponse).Resources[0].Configs {
		if plain.Documentation != nil || plain.ConfigSynonyms != nil {
			t.Errorf("explained without being asked: %+v", plain)
		}
	}
	req.IncludeDocumentation, req.IncludeSynonyms = true, true
	explained := map[string][]string{} // where a value comes from, and where else it could
	for _, full := range c.ask(req).(*kmsg.DescribeConfigsResponse).Resources[0].Configs {
		if full.Documentation == nil || len(full.ConfigSynonyms) == 0 || full.ConfigSynonyms[0].Source != full.Source || *full.ConfigSynonyms[0].Value != *full.Value {
			t.Errorf("config %+v", full)
		}
		for _, s := range full.ConfigSynonyms {
			explained[full.Name] = append(explained[full.Name], fmt.Sprintf("%s=%s (%d)", s.Name, *s.Value, s.Source))
		}
	}
	for name, want := range map[string][]string{
		"retention.ms":      {"retention.ms=172800000 (1)", "retention.ms=86400000 (5)"},
		"dis.auto.scale":    {"dis.auto.scale=2-10 (1)", "dis.auto.scale=off (5)"},
		"dis.stream.type":   {"dis.stream.type=COMMON (1)"},
		"max.message.bytes": {"max.message.bytes=1048576 (5)"},
	} {
		if diff := cmp.Diff(want, explained[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Tools offer to change what is not read-only.
func TestDescribeConfigsTellsWhatCanBeAltered(t *testing.T) {
	for admin, want := range map[TopicAdmin][]string{
		TopicAdminCreate: nil, TopicAdminFull: {"dis.auto.scale", "dis.data.type", "retention.ms"},
	} {
		b := newBench(t, func(c *Config) { c.TopicAdmin = admin })
		shared := topicOf("shared", 1) // of another account
		shared.StreamName = ""
		b.catalog.topics["shared"] = shared
		c := dial(t, b.listen())
		for _, config := range c.ask(describeConfigs(kmsg.ConfigResourceTypeTopic, "shared")).(*kmsg.DescribeConfigsResponse).Resources[0].Configs {
			if !config.ReadOnly {
				t.Errorf("stream of another account: %s can be altered", config.Name)
			}
		}
		var described, created []string
		for _, config := range c.ask(describeConfigs(kmsg.ConfigResourceTypeTopic, "t")).(*kmsg.DescribeConfigsResponse).Resources[0].Configs {
			if !config.ReadOnly {
				described = append(described, config.Name)
			}
		}
		for _, config := range c.ask(createTopic("new")).(*kmsg.CreateTopicsResponse).Topics[0].Configs {
			if !config.ReadOnly {
				created = append(created, config.Name)
			}
		}
		for _, config := range c.ask(describeConfigs(kmsg.ConfigResourceTypeBroker, "1")).(*kmsg.DescribeConfigsResponse).Resources[0].Configs {
			if !config.ReadOnly {
				t.Errorf("broker: %s can be altered", config.Name)
			}
		}
		slices.Sort(described)
		slices.Sort(created)
		if !slices.Equal(described, want) || !slices.Equal(created, want) {
			t.Errorf("%s: described %v, created %v, want %v", admin, described, created, want)
		}
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
