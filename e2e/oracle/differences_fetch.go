package oracle

import "slices"

const emptySuccess = `c: Fetch v12 ErrorCode=0 SessionID=0
 Topics Topic=t
  Partitions Partition=0 ErrorCode=0 `

var fetchDifferences = []Difference{
	{
		What:    "Offsets beyond the end",
		Kafka:   "OFFSET_OUT_OF_RANGE (1) at once",
		Gateway: "an empty answer at first; OFFSET_OUT_OF_RANGE once DIS has said twice, 3 seconds apart, that the offset does not exist",
		Reason:  "The end that DIS tells may be late. A consumer that is told 1 jumps to the start or the end of the partition without a word.",
		Steps: slices.Concat(
			instead("fetch-offsets", "beyond an empty partition", emptySuccess+"HighWatermark=0 LastStableOffset=0 LogStartOffset=0"),
			instead("fetch-offsets", "beyond the end", emptySuccess+"HighWatermark=5 LastStableOffset=5 LogStartOffset=0"),
			instead("fetch-offsets", "far beyond the end", emptySuccess+"HighWatermark=5 LastStableOffset=5 LogStartOffset=0"),
		),
	},
	{
		What:    "Fetch sessions",
		Kafka:   "opens a session when a consumer asks for one",
		Gateway: "declines: session id 0, every answer is a full one",
		Reason:  "Sessions save bytes between brokers and consumers of thousands of partitions, and are state that dies with the gateway. Clients do without (KIP-227).",
		Steps:   in("fetch-sessions", "SessionID=session1", "SessionID=0", "asking for a session"),
	},
	{
		What:    "zstd for consumers that cannot read it",
		Kafka:   "UNSUPPORTED_COMPRESSION_TYPE (76) before Fetch 10",
		Gateway: "the records, in a form that they can read",
		Reason:  "Records are stored one by one, without the compression of their producer. Consumers get them uncompressed, or as `--fetch-compression` says.",
		Steps: instead("fetch-versions", "Fetch 9 of what came in zstd", `c: Fetch v9 ErrorCode=0 SessionID=0
 Topics Topic=t
  Partitions Partition=1 ErrorCode=0 HighWatermark=1 LastStableOffset=1 LogStartOffset=0
   record 0 time=1600000000000 key=null value="zstd"`),
	},
	{
		What:    "A Fetch of which one partition has an error",
		Kafka:   "waits for records of the others as long as it may, when the topic or partition does not exist",
		Gateway: "answers at once",
		Reason:  "The consumer learns of the error sooner; what it misses it asks for again.",
		Steps:   in("fetch-waits", "waited: true", "waited: false", "one of two partitions has an error, time"),
	},
	{
		What:    "ListOffsets from version 7 on",
		Kafka:   "the record with the highest time (KIP-734), and offsets of tiered storage",
		Gateway: "versions 0 to 6; the connection is closed on others, as Kafka does on versions that it does not have",
		Reason:  "DIS cannot look up the record with the highest time; the answer is exact only after reading everything. DIS has no tiers.",
		Steps: slices.Concat(
			instead("list-offsets-versions", "ListOffsets 7", "c: connection closed"),
			instead("list-offsets-versions", "the highest time", "c: connection closed"),
			instead("list-offsets-versions", "the first local offset", "c: connection closed"),
			instead("list-offsets-versions", "the last tiered offset", "c: connection closed"),
		),
	},
}
