package oracle

import "slices"

var topicAdminDifferences = []Difference{
	{
		What:    "Altered configurations",
		Kafka:   "takes every key that it knows",
		Gateway: "takes `retention.ms` up to 7 days and what the keys of DIS, `dis.data.type` and `dis.auto.scale`, may be; INVALID_CONFIG (40) for another value of any other key",
		Reason: "DIS can change nothing else of a stream. Who alters a topic wants just that, so that it is refused here, while a new topic is created with what there is. " +
			"Setting a key to the value that it has, and to its default, succeeds.",
		Steps: slices.Concat(
			in("alter-configs", "ErrorCode=0", "ErrorCode=40:INVALID_CONFIG", "another key", "compaction"),
			in("incremental-alter-configs", "ErrorCode=0", "ErrorCode=40:INVALID_CONFIG", "another key", "endless retention", "compaction", "compaction appended"),
		),
	},
	{
		What:    "Retention of a topic that has none of its own",
		Kafka:   "that of the broker, which a change of the broker changes too",
		Gateway: "24 hours, as a setting of the topic",
		Reason:  "Every stream has a retention, and 24 hours is what DIS gives to one that is created without. AlterConfigs, which takes back what it does not name, takes back `retention.ms` alone and leaves the keys of DIS.",
		Steps: slices.Concat(
			instead("alter-configs", "the default", "retention.ms=86400000, set on the topic: true"),
			instead("incremental-alter-configs", "the default", "retention.ms=86400000, set on the topic: true"),
		),
	},
	{
		What:    "Size of partitions and volumes",
		Kafka:   "bytes of the files of a partition, size and free space of the volume",
		Gateway: "0 bytes for every partition, -1 (not known) for the volume",
		Reason:  "The gateway keeps no records, and DIS does not tell how much it keeps. Tools add sizes up, so that -1 would be taken for a number there.",
		Steps: slices.Concat(
			in("log-dirs", " TotalBytes=100 UsableBytes=10", "", "DescribeLogDirs 4", "DescribeLogDirs 5", "a partition and a topic that are not there", "no partitions"),
			instead("log-dirs", "with records", `c: DescribeLogDirs v4 ErrorCode=0
 Dirs ErrorCode=0
  Topics Topic=t
   Partitions Partition=0 Size=0 OffsetLag=0`),
		),
	},
	{
		What:    "Records deleted up to an offset",
		Kafka:   "DeleteRecords moves the first offset of a partition",
		Gateway: "does not have the API: clients say so, and the connection is closed on who asks all the same",
		Reason: "DIS deletes records by their age alone. Kafka Streams, which deletes what it has read of its repartition topics, goes on when that fails; the records " +
			"stay until the retention of the topic is over.",
		Steps: slices.Concat(
			instead("delete-records", "two of three", "c: connection closed"),
			in("delete-records", "Offset=2", "Offset=0", "the first"),
		),
	},
}
