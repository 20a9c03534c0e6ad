package oracle

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
}
