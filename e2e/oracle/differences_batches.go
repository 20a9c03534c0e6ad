package oracle

import (
	"fmt"
	"slices"
	"strings"
)

var batchDifferences = []Difference{
	{
		What:    "Offset deltas of records",
		Kafka:   "stores those of uncompressed batches as they are, also twice the same, and fails with UNKNOWN_SERVER_ERROR (-1) on compressed ones",
		Gateway: "numbers the records in the order in which they stand",
		Reason:  "DIS gives a number to every record that it stores. Some producers leave all deltas 0, and mean that order.",
		Steps: slices.Concat(
			renumbered("batch-offsets", "record 0 time=1600000000000 key=null value=\"a\"\nrecord 0 time=1600000000001 key=null value=\"b\"\nrecord 0 time=1600000000002", "all deltas 0"),
			in("batch-offsets", "record 3 ", "record 2 ", "deltas with a gap"),
			renumbered("batch-offsets", "record 1 time=1600000000000 key=null value=\"a\"\nrecord 2 time=1600000000001 key=null value=\"b\"\nrecord 3 time=1600000000002", "deltas from 1"),
			renumbered("batch-offsets", "record 2 time=1600000000000 key=null value=\"a\"\nrecord 1 time=1600000000001 key=null value=\"b\"\nrecord 0 time=1600000000002", "deltas backwards"),
			renumbered("batch-offsets", "record 0 time=1600000000001 key=null value=\"b\"\nrecord 1 time=1600000000002", "negative deltas"),
			falseDeltas("gzip", 6), falseDeltas("snappy", 11), falseDeltas("lz4", 16), falseDeltas("zstd", 21),
		),
	},
	{
		What:    "Batches that Kafka fails on",
		Kafka:   "UNKNOWN_SERVER_ERROR (-1) for compressed bytes that do not decompress, codecs that do not exist and numbers without an end; no answer at all to null in place of records",
		Gateway: "INVALID_RECORD (87), UNSUPPORTED_COMPRESSION_TYPE (76) for the codecs",
		Reason:  "The codes say what is wrong; Kafka's answer is that of an exception which nobody expected.",
		Steps: slices.Concat(
			in("batch-codecs", "-1:UNKNOWN_SERVER_ERROR", "76:UNSUPPORTED_COMPRESSION_TYPE", "codec 5", "codec 6", "codec 7"),
			in("batch-codecs", "-1:UNKNOWN_SERVER_ERROR", "87:INVALID_RECORD",
				"plain records that say gzip", "gzip that is cut off", "gzip of no bytes",
				"plain records that say snappy", "snappy that is cut off", "snappy of no bytes",
				"plain records that say lz4", "lz4 that is cut off", "plain records that say zstd", "zstd that is cut off"),
			refused("batch-codecs", "lz4 of no bytes", 15, "87:INVALID_RECORD", 0),
			refused("batch-records", "a varint without end", 15, "87:INVALID_RECORD", 0),
			in("batch-framing", "answered: false", "answered: true", "null in place of records"),
		),
	},
	{
		What:    "Bytes after a batch",
		Kafka:   "stores the batch and drops what is cut off after it",
		Gateway: "INVALID_RECORD (87) for all of it",
		Reason:  "What follows may be half of another batch: its records would be lost, and acknowledged.",
		Steps: slices.Concat(
			refusedBatch("batch-framing", "a batch and half of another", 10, "87:INVALID_RECORD"),
			refusedBatch("batch-framing", "a batch and three bytes", 11, "87:INVALID_RECORD"),
		),
	},
	{
		What:    "Keys and values of length -2",
		Kafka:   "takes any negative length as null",
		Gateway: "INVALID_RECORD (87)",
		Reason:  "The format has -1 for null and nothing else. The same reader tells envelopes in DIS from bytes that only look like one.",
		Steps: slices.Concat(
			refused("batch-records", "a key of length -2", 9, "87:INVALID_RECORD", 0),
			refused("batch-records", "a value of length -2", 10, "87:INVALID_RECORD", 0),
		),
	},
	{
		What:    "A producer's batch with log append time",
		Kafka:   "4.x overlooks the attribute",
		Gateway: "INVALID_TIMESTAMP (32), as Kafka up to 3",
		Reason:  "The time of arrival is the server's to give. No producer sends the attribute, and one that did would expect a time that it does not get.",
		Steps:   refusedBatch("batch-headers", "log append time", 6, "32:INVALID_TIMESTAMP"),
	},
}

// answered are the lines of a Produce answer for a partition of topic t.
func answered(response string, partition int, fields string) []string {
	return []string{"c: " + response, " Topics Topic=t", fmt.Sprintf("  Partitions Partition=%d %s", partition, fields)}
}

func join(lines []string, more ...string) string {
	return strings.Join(slices.Concat(lines, more), "\n")
}

// stored is a batch that the gateway stores: the lines tell its records.
func stored(scenario, step string, partition int, lines ...string) []Change {
	return instead(scenario, step, join(answered("Produce v12", partition, "ErrorCode=0 BaseOffset=0"), lines...))
}

// refusedBatch is a batch that the gateway refuses.
func refusedBatch(scenario, step string, partition int, code string) []Change {
	return instead(scenario, step, join(answered("Produce v12", partition, "ErrorCode="+code+" BaseOffset=-1"), "end 0"))
}

// refused is a batch that the gateway refuses, naming the record.
func refused(scenario, step string, partition int, code string, index int) []Change {
	return instead(scenario, step, join(answered("Produce v12", partition, "ErrorCode="+code+" BaseOffset=-1"),
		fmt.Sprintf("   ErrorRecords RelativeOffset=%d", index), "end 0"))
}

// renumbered are the records a, b and c of a batch in the order of their places.
func renumbered(scenario, kafka, step string) []Change {
	return in(scenario, kafka, "record 0 time=1600000000000 key=null value=\"a\"\nrecord 1 time=1600000000001 key=null value=\"b\"\nrecord 2 time=1600000000002", step)
}

func falseDeltas(codec string, partition int) []Change {
	records := []string{
		`record 0 time=1600000000000 key=null value="some"`,
		`record 1 time=1600000000001 key=null value="records"`,
		`record 2 time=1600000000002 key=null value="to cut off"`,
		`record 3 time=1600000000003 key=null value="in the middle of the compressed bytes"`,
		`end 4`,
	}
	return slices.Concat(
		stored("batch-codecs", codec+" with gaps in the offset deltas", partition, records...),
		stored("batch-codecs", codec+" with offset deltas in no order", partition+1, records...),
	)
}
