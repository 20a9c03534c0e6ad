package oracle

import "slices"

// groupDifferences: consumer groups and their offsets.
var groupDifferences = []Difference{
	{
		What:    "A JoinGroup that waits while the same member joins again",
		Kafka:   "is never answered",
		Gateway: "REBALANCE_IN_PROGRESS",
		Reason:  "Answers of a connection come in the order of its requests: one that never comes would hold up all that follow.",
		Steps:   []Change{{"join-twice-waiting", "the first has an answer", Replacement{"false", "true"}}},
	},
	{
		What:    "A commit beyond the end of a partition",
		Kafka:   "any number is kept",
		Gateway: "acknowledged, and the end of the partition is kept",
		Reason: "DIS takes no checkpoint outside of what a partition holds. The end repeats nothing and loses nothing; the gateway logs and counts it " +
			"(below the first record that is still there it is that one).",
		Steps: []Change{{"commit-beyond", "beyond is committed", Replacement{"Offset=1000", "Offset=10"}}},
	},
	{
		What:    "A heartbeat with an epoch in a group that is not there",
		Kafka:   "GROUP_ID_NOT_FOUND (69)",
		Gateway: "UNKNOWN_MEMBER_ID (25)",
		Reason: "Kafka keeps groups over a restart. Here a group that is not there is that of a gateway that was started again: 25 makes every client join anew, " +
			"69 makes some give up.",
		Steps: in("consumer-refused", "69:GROUP_ID_NOT_FOUND", "25:UNKNOWN_MEMBER_ID", "an epoch of a group that is not there"),
	},
	{
		What:    "A classic member that joins a group of the consumer protocol with an id that the group does not know",
		Kafka:   "is let in",
		Gateway: "UNKNOWN_MEMBER_ID (25), as in a classic group",
		Reason:  "It may be a member that was removed, and still use partitions that others have by now. 25 makes it give them up first.",
		Steps: slices.Concat(
			instead("classic-in-consumer-refused", "an id that is not there", "stranger: JoinGroup v9 ErrorCode=25:UNKNOWN_MEMBER_ID MemberID=M1"),
			in("classic-in-consumer-refused", "MemberEpoch=3", "MemberEpoch=2", "a was not disturbed"),
		),
	},
	{
		What:    "OffsetFetch of a member that is fenced",
		Kafka:   "the error of the group, without partitions",
		Gateway: "the error of the group and of every partition that was asked for",
		Reason:  "Several clients take a partition that is not in the answer for one without an offset, and begin at the wrong place or wait for ever.",
		Steps: slices.Concat(
			in("consumer-fetches", "113:STALE_MEMBER_EPOCH", "113:STALE_MEMBER_EPOCH\n  Topics Topic=t\n   Partitions Partition=0 Offset=-1 Metadata=\"\" ErrorCode=113:STALE_MEMBER_EPOCH",
				"an epoch to come", "a past epoch"),
			in("consumer-fetches", "25:UNKNOWN_MEMBER_ID", "25:UNKNOWN_MEMBER_ID\n  Topics Topic=t\n   Partitions Partition=0 Offset=-1 Metadata=\"\" ErrorCode=25:UNKNOWN_MEMBER_ID",
				"an id that is not there"),
		),
	},
}
