package oracle

import (
	"regexp"
	"slices"
	"strings"
)

var topicDifferences = []Difference{
	{
		What:    "Names of topics",
		Kafka:   "letters, digits, `.`, `_` and `-`, up to 249",
		Gateway: "letters, digits, `_` and `-`, up to 64; else INVALID_TOPIC_EXCEPTION (17)",
		Reason:  "These are the names that DIS allows for streams.",
		Steps: slices.Concat(
			instead("create-topics", "a name with a dot", "c: CreateTopics v7\n Topics Topic=with.dot ErrorCode=17:INVALID_TOPIC_EXCEPTION ConfigErrorCode=0"),
			instead("create-topics", "a name of 100 letters", "c: CreateTopics v7\n Topics Topic="+strings.Repeat("x", 100-len("create-topics-"))+
				" ErrorCode=17:INVALID_TOPIC_EXCEPTION ConfigErrorCode=0"),
		),
	},
	{
		What:    "Replicas",
		Kafka:   "INVALID_REPLICATION_FACTOR (38) for more copies than brokers, INVALID_REPLICA_ASSIGNMENT (39) for brokers that do not exist",
		Gateway: "takes any number from 1 on and any assignment, and answers 1",
		Reason:  "DIS keeps its copies itself. Programs and tools that create topics with three copies would not start otherwise.",
		Steps: slices.Concat(
			in("create-topics", "ErrorCode=38:INVALID_REPLICATION_FACTOR ConfigErrorCode=0", "TopicID=T3 ErrorCode=0 ConfigErrorCode=0 NumPartitions=1 ReplicationFactor=1",
				"more copies than brokers"),
			in("create-topics", "ErrorCode=39:INVALID_REPLICA_ASSIGNMENT ConfigErrorCode=0", "TopicID=T5 ErrorCode=0 ConfigErrorCode=0 NumPartitions=1 ReplicationFactor=1",
				"assigned to a broker that is not there"),
			in("create-partitions", "ErrorCode=39:INVALID_REPLICA_ASSIGNMENT", "ErrorCode=0", "assigned to a broker that is not there"),
			in("create-topics", "TopicID=T5", "TopicID=T4", "assigned copies", "what there is"),
		),
	},
	{
		What:    "Topics that are only tried",
		Kafka:   "answers `validate_only` with an id that nothing has",
		Gateway: "answers without an id",
		Reason:  "The id of a topic is made of the id of its stream, and there is no stream.",
		Steps:   in("create-topics", " TopicID=T6", "", "only tried"),
	},
	{
		What:    "Configurations of new topics",
		Kafka:   "takes `retention.ms=-1`, `cleanup.policy=compact` and `message.timestamp.type`, and refuses what it does not know",
		Gateway: "INVALID_CONFIG (40) for these; what it does not know has no effect",
		Reason: "DIS keeps records for 1 to 7 days and does not compact (`--accept-compact` takes compaction without effect, and `retention.ms=-1` as 7 days); the kind of time is a setting of the gateway, which a topic cannot " +
			"deviate from. Everything else that tools send is about files on brokers.",
		Steps: slices.Concat(
			instead("create-topics-configs", "retention.ms=-1", "40:INVALID_CONFIG"),
			instead("create-topics-configs", "cleanup.policy=compact", "40:INVALID_CONFIG"),
			instead("create-topics-configs", "message.timestamp.type=LogAppendTime", "40:INVALID_CONFIG"),
			instead("create-topics-configs", "no.such.config=1", "none"),
		),
	},
	{
		What:    "Described configurations",
		Kafka:   "most can be altered",
		Gateway: "all but `retention.ms` and those of DIS are read-only, and those that the broker of the comparison has from its file are defaults",
		Reason:  "The other settings of a topic have no counterpart in DIS.",
		Everywhere: []Rule{
			{regexp.MustCompile(`(?m)^(  Configs Name=(?:[^r\s]|retention\.b)\S+ Value=\S+) Source=`), "$1 ReadOnly=true Source="},
		},
		Steps: slices.Concat(
			in("describe-configs", "Source=4", "Source=5", "max.message.bytes"),
			in("describe-configs", "Source=3", "Source=5", "min.insync.replicas"),
			in("describe-configs", "Value=1048576 Source=4", "Value=1048576 Source=5", "the broker"),
		),
	},
}
