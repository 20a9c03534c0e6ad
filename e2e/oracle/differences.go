package oracle

// Differences are all that the scenarios show. A difference that is not here, and
// one that is here and no longer there, fails the tests.
var Differences = []Difference{
	{
		What:    "Leader epochs",
		Kafka:   "counts the leaders of a partition",
		Gateway: "-1 everywhere",
		Reason: "A gateway serves every partition at any time, so that no leader ever follows another. With -1 clients neither compare epochs nor look for " +
			"truncated logs (KIP-320).",
		Everywhere: []Replacement{{" LeaderEpoch=0", ""}},
	},
}
