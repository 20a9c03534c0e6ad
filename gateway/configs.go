package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// The configuration keys that mean something to DIS.
const (
	configCleanup    = "cleanup.policy"
	configRetention  = "retention.ms"
	configTimestamps = "message.timestamp.type"
	configStreamType = "dis.stream.type"
	configDataType   = "dis.data.type"
)

// unlimited is the retention.ms of topics whose records stay until their readers,
// such as Kafka Streams, delete them.
const unlimited = -1

// What DIS chooses for a stream that was created without a retention.
const (
	disRetentionHours = 24
	millisPerHour     = 3_600_000
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
		for _, wanted := range req.Resources {
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
	}
	return nil, translate.Failure{Code: invalidRequest, Message: fmt.Sprintf("configuration of resource type %d is not supported; topics and brokers are", wanted.ResourceType)}
}

// config is one configuration value of a topic or broker.
type config struct {
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

func topicConfigs(cfg Config, topic *translate.Topic) []config {
	configs := []config{
		{"compression.type", "producer", kmsg.ConfigTypeString, byDefault, "Records are stored one by one; the producer's compression ends at the gateway."},
		{"max.message.bytes", strconv.Itoa(wire.MaxRecordBytes), kmsg.ConfigTypeInt, byDefault, "The DIS limit of one record."},
		timestampConfig(topic),
		{"min.insync.replicas", "1", kmsg.ConfigTypeInt, byDefault, "Acknowledged means that DIS stored the record, which replicates by itself."},
		{"retention.bytes", "-1", kmsg.ConfigTypeLong, byDefault, "DIS has no limit by size."},
		{configRetention, strconv.Itoa(cmp.Or(topic.RetentionHours, disRetentionHours) * millisPerHour), kmsg.ConfigTypeLong, setOnTopic, "The retention of the stream."},
		{configStreamType, string(cmp.Or(topic.StreamType, wire.StreamCommon)), kmsg.ConfigTypeString, setOnTopic, "COMMON or ADVANCED: throughput of a partition."},
		{configDataType, cmp.Or(topic.DataType, "BLOB"), kmsg.ConfigTypeString, setOnTopic, "BLOB, JSON or CSV."},
	}
	if cfg.AcceptCompact {
		// Connect refuses to start on a topic that says "delete" and goes on
		// with one that says nothing; "compact" would be a lie.
		return configs
	}
	return append(configs, config{configCleanup, "delete", kmsg.ConfigTypeList, byDefault, "DIS deletes records by age and never compacts."})
}

func timestampConfig(topic *translate.Topic) config {
	c := config{configTimestamps, topic.Records.TimestampType(), kmsg.ConfigTypeString, byDefault, "The producer's timestamp is kept."}
	if topic.Records.LogAppendTime {
		c.source, c.about = setOnBroker, "Records take the time of their arrival, by the gateway's settings."
	}
	return c
}

func brokerConfigs(cfg Config) []config {
	return []config{
		{"auto.create.topics.enable", strconv.FormatBool(cfg.AutoCreateTopics), kmsg.ConfigTypeBoolean, setOnBroker, "A metadata request creates the topics that it names."},
		{"num.partitions", strconv.Itoa(cfg.DefaultPartitions), kmsg.ConfigTypeInt, setOnBroker, "Partitions of a topic created without a number of them."},
		{"default.replication.factor", "1", kmsg.ConfigTypeInt, byDefault, "DIS replicates by itself."},
		{"delete.topic.enable", strconv.FormatBool(cfg.TopicAdmin.mayDelete()), kmsg.ConfigTypeBoolean, setOnBroker, "Clients may delete topics."},
		{"log.cleanup.policy", "delete", kmsg.ConfigTypeList, byDefault, "DIS deletes records by age and never compacts."},
		{"message.max.bytes", strconv.Itoa(wire.MaxRecordBytes), kmsg.ConfigTypeInt, byDefault, "The DIS limit of one record."},
	}
}

// described is the form of DescribeConfigs.
func (c config) described(req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	described := kmsg.NewDescribeConfigsResponseResourceConfig()
	described.Name, described.Value = c.name, &c.value
	described.ReadOnly = true
	described.Source, described.IsDefault = c.source, c.source == byDefault
	described.ConfigType = c.kind
	if req.IncludeDocumentation {
		described.Documentation = &c.about
	}
	if req.IncludeSynonyms {
		synonym := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
		synonym.Name, synonym.Value, synonym.Source = c.name, &c.value, c.source
		described.ConfigSynonyms = append(described.ConfigSynonyms, synonym)
	}
	return described
}

// created is the form of CreateTopics.
func (c config) created() kmsg.CreateTopicsResponseTopicConfig {
	created := kmsg.NewCreateTopicsResponseTopicConfig()
	created.Name, created.Value = c.name, &c.value
	created.ReadOnly = true
	created.Source = int8(c.source)
	return created
}

// applyConfig carries one key of a CreateTopics request over to the stream. A
// key that DIS knows nothing of is ignored, as tools send many, unless ignoring
// it would store something else than was asked for. Who accepts that compacted
// topics are not, also accepts that topics without end are those of a week.
func applyConfig(request *topics.CreateRequest, name, value string, acceptCompact bool) error {
	switch name {
	case configRetention:
		milliseconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return refusedConfig(name, value, "a number of milliseconds")
		}
		if milliseconds == unlimited && acceptCompact {
			request.RetentionHours = topics.LongestRetention
			return nil
		}
		request.RetentionHours, err = topics.RetentionHours(milliseconds)
		return err
	case configCleanup:
		return checkCleanup(value, acceptCompact)
	case configTimestamps:
		if value != "CreateTime" && value != "LogAppendTime" {
			return refusedConfig(name, value, "CreateTime, LogAppendTime")
		}
		request.TimestampType = value
	case configStreamType:
		request.StreamType = wire.StreamType(strings.ToUpper(value))
	case configDataType:
		request.DataType = strings.ToUpper(value)
	}
	return nil
}

func checkCleanup(value string, acceptCompact bool) error {
	for policy := range strings.SplitSeq(value, ",") {
		switch strings.TrimSpace(policy) {
		case "delete":
		case "compact":
			if !acceptCompact {
				return translate.Failure{Code: invalidConfig, Message: "cleanup.policy=compact: DIS does not compact, records are deleted by age; " +
					"allowed: delete, or compact without effect when the gateway runs with --accept-compact"}
			}
		default:
			return refusedConfig(configCleanup, value, "delete")
		}
	}
	return nil
}

func refusedConfig(name, value, allowed string) error {
	return translate.Failure{Code: invalidConfig, Message: fmt.Sprintf("%s=%s; allowed: %s", name, value, allowed)}
}
