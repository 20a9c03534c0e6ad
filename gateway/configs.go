package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// DescribeConfigs
//
//	v0 (KIP-133) a configuration value is the default or not
//	v1 (KIP-226) where it comes from instead, synonyms
//	v2 throttling after the reply (KIP-219), same layout
//	v3 (KIP-569) types and documentation
//	v4 flexible
//
// The answer holds the few keys that clients and tools look at: Connect
// reads cleanup.policy, user interfaces show the rest.
func handleDescribeConfigs(cfg Config, catalog Catalog) handler {
	return waiting(func(ctx context.Context, _ *call, req *kmsg.DescribeConfigsRequest) (kmsg.Response, error) {
		resp := kmsg.NewPtrDescribeConfigsResponse()
		for _, wanted := range eachOnce(req.Resources) {
			resource := kmsg.NewDescribeConfigsResponseResource()
			resource.ResourceType, resource.ResourceName = wanted.ResourceType, wanted.ResourceName
			configs, err := resourceConfigs(ctx, cfg, catalog, wanted)
			if err != nil {
				failure := translate.KafkaError(translate.CallDescribeConfigs, err)
				resource.ErrorCode, resource.ErrorMessage = failure.Code, &failure.Message
			}
			for _, config := range configs {
				if wanted.ConfigNames == nil || slices.Contains(wanted.ConfigNames, config.name) {
					resource.Configs = append(resource.Configs, config.described(req))
				}
			}
			resp.Resources = append(resp.Resources, resource)
		}
		return resp, nil
	})
}

// eachOnce joins what a request asks of one resource, so that the answer has it once:
// an answer is many times as long as the name of a resource in a request.
func eachOnce(asked []kmsg.DescribeConfigsRequestResource) (resources []kmsg.DescribeConfigsRequestResource) {
	at := make(map[resource]int, len(asked))
	for _, r := range asked {
		i, before := at[resource{r.ResourceType, r.ResourceName}]
		switch {
		case !before:
			at[resource{r.ResourceType, r.ResourceName}] = len(resources)
			resources = append(resources, r)
		case r.ConfigNames == nil || resources[i].ConfigNames == nil:
			resources[i].ConfigNames = nil // all
		default:
			resources[i].ConfigNames = append(resources[i].ConfigNames, r.ConfigNames...)
		}
	}
	return resources
}

func resourceConfigs(ctx context.Context, cfg Config, catalog Catalog, wanted kmsg.DescribeConfigsRequestResource) ([]config, error) {
	switch wanted.ResourceType {
	case kmsg.ConfigResourceTypeTopic:
		topic, err := catalog.Topic(ctx, wanted.ResourceName)
		if err != nil {
			return nil, err
		}
		return topicConfigs(cfg, topic), nil
	case kmsg.ConfigResourceTypeBroker:
		switch wanted.ResourceName {
		case strconv.Itoa(nodeID):
			return brokerConfigs(cfg), nil
		case "": // what is set for all brokers at run time: nothing
			return nil, nil
		}
		return nil, translate.Failure{Code: invalidRequest, Message: fmt.Sprintf("unknown broker %q; the only one is %d", wanted.ResourceName, nodeID)}
	case kmsg.ConfigResourceTypeGroupConfig, kmsg.ConfigResourceTypeClientMetrics: // none has a configuration of its own
		return nil, nil
	}
	return nil, translate.Failure{Code: invalidRequest, Message: fmt.Sprintf("configuration of resource type %d is not supported; topics and brokers are", wanted.ResourceType)}
}

// config is one configuration value of a topic or broker.
type config struct {
	setting
	alterable bool
}

type setting struct {
	name, value string
	kind        kmsg.ConfigType
	source      kmsg.ConfigSource
	about       string
}

const (
	setOnTopic  = kmsg.ConfigSourceDynamicTopicConfig
	setOnBroker = kmsg.ConfigSourceStaticBrokerConfig
	byDefault   = kmsg.ConfigSourceDefaultConfig
)

// topicConfigs are those of a topic. What DIS can change is shown so to who may.
func topicConfigs(cfg Config, topic *translate.Topic) []config {
	settings := topicSettings(cfg, topic)
	configs := make([]config, len(settings))
	for i, s := range settings {
		_, changeable := topicKeys[s.name]
		configs[i] = config{s, changeable && cfg.TopicAdmin.mayAlter() && !topic.Shared()}
	}
	return configs
}

// brokerConfigs are those of the gateway, which change with its settings alone.
func brokerConfigs(cfg Config) []config {
	settings := brokerSettings(cfg)
	configs := make([]config, len(settings))
	for i, s := range settings {
		configs[i] = config{setting: s}
	}
	return configs
}

func topicSettings(cfg Config, topic *translate.Topic) []setting {
	retention := cmp.Or(topic.RetentionHours, topics.DefaultRetention) * millisPerHour
	settings := []setting{
		{"compression.type", "producer", kmsg.ConfigTypeString, byDefault, "Records are stored one by one; the producer's compression ends at the gateway."},
		{"max.message.bytes", strconv.Itoa(wire.MaxRecordBytes), kmsg.ConfigTypeInt, byDefault, "The DIS limit of one record."},
		timestampSetting(topic),
		{"min.insync.replicas", "1", kmsg.ConfigTypeInt, byDefault, "Acknowledged means that DIS stored the record, which replicates by itself."},
		{"retention.bytes", "-1", kmsg.ConfigTypeLong, byDefault, "DIS has no limit by size."},
		{configRetention, strconv.Itoa(retention), kmsg.ConfigTypeLong, setOnTopic, "The retention of the stream: whole days, up to a week."},
		{configStreamType, string(cmp.Or(topic.StreamType, wire.StreamCommon)), kmsg.ConfigTypeString, setOnTopic, "COMMON or ADVANCED: throughput of a partition. Cannot be altered."},
		{configDataType, cmp.Or(topic.DataType, topics.DefaultDataType), kmsg.ConfigTypeString, setOnTopic, "BLOB, JSON or CSV: what DIS itself takes the records for when it delivers them elsewhere."},
		autoScaleSetting(topic),
	}
	if cfg.AcceptCompact {
		// Connect refuses to start on a topic that says "delete" and goes on
		// with one that says nothing; "compact" would be a lie.
		return settings
	}
	return append(settings, setting{configCleanup, "delete", kmsg.ConfigTypeList, byDefault, "DIS deletes records by age and never compacts."})
}

func timestampSetting(topic *translate.Topic) setting {
	s := setting{configTimestamps, topic.Records.TimestampType(), kmsg.ConfigTypeString, byDefault, "The producer's timestamp is kept."}
	if topic.Records.LogAppendTime {
		s.source, s.about = setOnBroker, "Records take the time of their arrival, by the gateway's settings."
	}
	return s
}

func autoScaleSetting(topic *translate.Topic) setting {
	s := setting{configAutoScale, autoScaleText(topic.AutoScale), kmsg.ConfigTypeString, byDefault,
		"off, or from how many to how many partitions DIS scales the stream by itself, such as 2-10."}
	if s.value != noAutoScale {
		s.source = setOnTopic
	}
	return s
}

func brokerSettings(cfg Config) []setting {
	return []setting{
		{"auto.create.topics.enable", strconv.FormatBool(cfg.AutoCreateTopics), kmsg.ConfigTypeBoolean, setOnBroker, "A metadata request creates the topics that it names."},
		{"num.partitions", strconv.Itoa(cfg.DefaultPartitions), kmsg.ConfigTypeInt, setOnBroker, "Partitions of a topic created without a number of them."},
		{"delete.topic.enable", strconv.FormatBool(cfg.TopicAdmin.mayDelete()), kmsg.ConfigTypeBoolean, setOnBroker, "Clients may delete topics."},
		{"node.id", strconv.Itoa(nodeID), kmsg.ConfigTypeInt, setOnBroker, "Every gateway is the one broker of a cluster."},
		{"default.replication.factor", "1", kmsg.ConfigTypeInt, byDefault, "DIS replicates by itself."},
		{"min.insync.replicas", "1", kmsg.ConfigTypeInt, byDefault, "Acknowledged means that DIS stored the record, which replicates by itself."},
		{"compression.type", "producer", kmsg.ConfigTypeString, byDefault, "Records are stored one by one; the producer's compression ends at the gateway."},
		{"log.cleanup.policy", "delete", kmsg.ConfigTypeList, byDefault, "DIS deletes records by age and never compacts."},
		{"log.retention.bytes", "-1", kmsg.ConfigTypeLong, byDefault, "DIS has no limit by size."},
		{"log.retention.hours", strconv.Itoa(topics.DefaultRetention), kmsg.ConfigTypeInt, byDefault, "Retention of a topic created without retention.ms."},
		{"message.max.bytes", strconv.Itoa(wire.MaxRecordBytes), kmsg.ConfigTypeInt, byDefault, "The DIS limit of one record."},
	}
}

// described is the form of DescribeConfigs.
func (c config) described(req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	described := kmsg.NewDescribeConfigsResponseResourceConfig()
	described.Name, described.Value = c.name, &c.value
	described.ReadOnly = !c.alterable
	described.Source, described.IsDefault = c.source, c.source == byDefault
	described.ConfigType = c.kind
	if req.IncludeDocumentation {
		described.Documentation = &c.about
	}
	if req.IncludeSynonyms {
		described.ConfigSynonyms = append(described.ConfigSynonyms, synonym(c.name, c.value, c.source))
		if key, changeable := topicKeys[c.name]; changeable && c.source != byDefault {
			described.ConfigSynonyms = append(described.ConfigSynonyms, synonym(c.name, key.standard, byDefault))
		}
	}
	return described
}

// synonym is one of the places where a value could come from, the first being the
// one where it does.
func synonym(name, value string, source kmsg.ConfigSource) kmsg.DescribeConfigsResponseResourceConfigConfigSynonym {
	s := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
	s.Name, s.Value, s.Source = name, &value, source
	return s
}

// created is the form of CreateTopics.
func (c config) created() kmsg.CreateTopicsResponseTopicConfig {
	created := kmsg.NewCreateTopicsResponseTopicConfig()
	created.Name, created.Value = c.name, &c.value
	created.ReadOnly = !c.alterable
	created.Source = int8(c.source)
	return created
}
