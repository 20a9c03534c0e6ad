package oracle

import (
	"regexp"
	"slices"
)

var produceDifferences = []Difference{
	{
		What:    "Versions of clients",
		Kafka:   "4.x closes the connection on Produce 0 to 2, Fetch 0 to 3 and ListOffsets 0 (KIP-896)",
		Gateway: "serves them, in the message formats that they have",
		Reason:  "Clients from before Kafka 0.11 keep working, which is why people use a gateway instead of changing their programs.",
		Steps: slices.Concat(
			old("Produce 0", "Produce v0", 0, "now"), old("Produce 1", "Produce v1", 1, "now"), old("Produce 2", "Produce v2", 2, "1600000000000"),
			in("fetch-versions", "answered: false", "answered: true", "Fetch 0, from before Kafka 0.11", "Fetch 1, from before Kafka 0.11",
				"Fetch 2, from before Kafka 0.11", "Fetch 3, from before Kafka 0.11"),
			instead("list-offsets-versions", "ListOffsets 0", `c: ListOffsets v0
 Topics Topic=t
  Partitions Partition=0 ErrorCode=0
   OldStyleOffsets=[3]`),
		),
	},
	{
		What:    "Largest size",
		Kafka:   "`max.message.bytes` limits a batch, compressed and with its header",
		Gateway: "`max.message.bytes` is what one record may take in DIS, 1 MiB; a batch may have many such, up to `--max-batch-bytes`",
		Reason:  "DIS stores records, not batches. The value that clients are told is the one that decides whether a record can be stored.",
		Steps: slices.Concat(
			stored("sizes", "a batch of one byte more", 1, `record 0 time=1600000000000 key=null value=1048505 bytes sha256:9d6b85b08e1d0ded`, "end 1"),
			stored("sizes", "a value of max.message.bytes", 2, `record 0 time=1600000000000 key=null value=1048576 bytes sha256:8f990ba0b577b51c`, "end 1"),
			stored("sizes", "small records in a batch beyond it", 4, `record 0 time=1600000000000 key=null value=524288 bytes sha256:ec8bb338811bbf80`,
				`record 1 time=1600000000001 key=null value=524288 bytes sha256:ec8bb338811bbf80`, "end 2"),
			refused("sizes", "a value of one byte more, compressed below it", 5, "10:MESSAGE_TOO_LARGE", 0),
		),
	},
	{
		What:    "Records named in refusals",
		Kafka:   "names the records to blame when their times or keys are refused",
		Gateway: "also those that are too large or broken (KIP-467)",
		Reason:  "The client's error then says which record it was.",
		Steps: slices.Concat(
			refused("sizes", "a value of one byte more", 3, "10:MESSAGE_TOO_LARGE", 0),
			in("sizes", "ErrorCode=10:MESSAGE_TOO_LARGE BaseOffset=-1", "ErrorCode=10:MESSAGE_TOO_LARGE BaseOffset=-1\n   ErrorRecords RelativeOffset=0",
				"too large in one partition of two"),
			in("batch-offsets", "BaseOffset=-1 LogStartOffset=0", "BaseOffset=-1\n   ErrorRecords RelativeOffset=2",
				"a count and last delta that are too large", "a count and last delta of millions"),
			in("batch-records", "BaseOffset=-1 LogStartOffset=0", "BaseOffset=-1\n   ErrorRecords RelativeOffset=0",
				"a record that is cut off", "a record that says it is longer", "a record that says it is shorter", "a record of a negative length",
				"bytes after the headers of a record", "a key of a length beyond the record", "a negative number of headers",
				"more headers than there are", "a header without a name"),
			in("batch-codecs", "BaseOffset=-1 LogStartOffset=0", "BaseOffset=-1\n   ErrorRecords RelativeOffset=0", "zstd of no bytes"),
		),
	},
	{
		What:    "Records without a time",
		Kafka:   "keeps -1",
		Gateway: "gives them the time of their arrival",
		Reason:  "DIS has a time for every record, and lookups by time would not find one without.",
		Steps:   in("create-time", "time=-1 ", "time=now ", "no time", "no time among others"),
	},
	{
		What:    "Times to come",
		Kafka:   "refuses records of more than an hour from now with INVALID_TIMESTAMP (32), since 4.0 (`message.timestamp.after.max.ms`, KIP-937 and KIP-1030)",
		Gateway: "keeps every time",
		Reason:  "Kafka deletes and finds segments by these times, and a wrong one keeps them for ever. DIS goes by the time of arrival, so that a wrong clock does no harm.",
		Steps: slices.Concat(
			stored("create-time", "in two hours", 7, `record 0 time=now+2h key=null value="v"`, "end 1"),
			stored("create-time", "in 100 years, among others", 8, `record 0 time=1600000000000 key=null value="v"`, `record 1 time=4755760000000 key=null value="v"`, "end 2"),
		),
	},
	{
		What:    "Sequences of idempotent producers",
		Kafka:   "OUT_OF_ORDER_SEQUENCE_NUMBER (45) for a gap, INVALID_PRODUCER_EPOCH (47) for an earlier epoch; 45 for what was written before its last five batches",
		Gateway: "NOT_ENOUGH_REPLICAS (19), surely not written; success with offset -1 for what was written before the last five batches",
		Reason: "The gateway remembers producers in memory. Clients take 45 and 47 as a loss of data, some for good; after 19 they send all again, in order, " +
			"which is right whether a batch was lost or the gateway was restarted.",
		Steps: slices.Concat(
			in("idempotence", "45:OUT_OF_ORDER_SEQUENCE_NUMBER", "19:NOT_ENOUGH_REPLICAS", "a gap", "over the end of what is known", "another count of the last five"),
			in("idempotence", "ErrorCode=45:OUT_OF_ORDER_SEQUENCE_NUMBER", "ErrorCode=0", "one before the last five", "the first one"),
			in("idempotence-epochs", "47:INVALID_PRODUCER_EPOCH", "19:NOT_ENOUGH_REPLICAS", "an earlier epoch"),
			in("idempotence-epochs", "45:OUT_OF_ORDER_SEQUENCE_NUMBER", "19:NOT_ENOUGH_REPLICAS", "a later epoch that does not begin at 0"),
		),
	},
	{
		What:    "First sequence of a producer id",
		Kafka:   "takes any",
		Gateway: "0 for an id that it gave out itself, else NOT_ENOUGH_REPLICAS (19)",
		Reason: "The producer's first batch is then still on its way, or failed and comes again. Kafka lets the later one in and refuses the first from then on, which a client " +
			"that writes to a topic just created meets as an endless row of retries. Ids of other gateways may begin anywhere.",
		Steps: in("idempotence-epochs", "ErrorCode=0 BaseOffset=0 LogStartOffset=0", "ErrorCode=19:NOT_ENOUGH_REPLICAS BaseOffset=-1", "begin at 5"),
	},
	{
		What:    "Time in the answer to a repeated batch",
		Kafka:   "`log_append_time` is the highest time of the batch, also when the topic has times of producers",
		Gateway: "-1 where the times are the producers'",
		Reason:  "The answer to a repeat is that to the first time; clients would take another value as the time of their records.",
		Steps: slices.Concat(
			in("idempotence", " LogAppendTime=1600000000001", "", "the same again", "from 0 again"),
			in("idempotence", " LogAppendTime=1600000000000", "", "the oldest of the last five again"),
		),
	},
	{
		What:    "Log start offset in the answer to Produce",
		Kafka:   "the first offset of the partition",
		Gateway: "-1, not told",
		Reason: "DIS does not say it when it stores records, and another call for it would make every write slower. Clients look at it only to tell why a broker has " +
			"forgotten a producer, which this gateway never says. Fetch and ListOffsets have the true one.",
		Everywhere: []Rule{{regexp.MustCompile(`( BaseOffset=-?\d+.*) LogStartOffset=\d+`), "$1"}},
	},
	{
		What:    "Produce to a name that no topic can have",
		Kafka:   "UNKNOWN_TOPIC_OR_PARTITION (3), which clients retry until their time is over",
		Gateway: "INVALID_TOPIC_EXCEPTION (17)",
		Reason:  "There will never be a stream of that name; 17 ends the attempt and says why.",
		Steps:   in("produce-targets", "3:UNKNOWN_TOPIC_OR_PARTITION", "17:INVALID_TOPIC_EXCEPTION", "a name that no topic can have"),
	},
	{
		What:    "A partition named twice in one Produce request",
		Kafka:   "writes one of the batches and answers once",
		Gateway: "writes both, in their order, and answers both",
		Reason:  "No record is left out without a word. No known client sends such requests.",
		Steps: slices.Concat(
			in("batch-neighbours", "BaseOffset=1 LogStartOffset=0", "BaseOffset=1\n  Partitions Partition=0 ErrorCode=0 BaseOffset=2", "the same partition twice"),
			in("batch-neighbours", "end 2", "record 2 time=1600000000000 key=null value=\"good\"\nend 3", "stored in partition 0"),
		),
	},
}

// old is an attempt of a version that Kafka no longer has.
func old(step, response string, partition int, time string) []Change {
	lines := answered(response, partition, "ErrorCode=0 BaseOffset=0")
	version := response[len("Produce v"):]
	return instead("produce-versions", step, join(lines, "record 0 time="+time+` key=null value="version `+version+`"`, "end 1"))
}
