package oracle

import "regexp"

// Differences are all that the scenarios show. A difference that is not here, and
// one that is here and no longer there, fails the tests.
var Differences = []Difference{
	{
		What:    "Leader epochs",
		Kafka:   "counts the leaders of a partition",
		Gateway: "-1 everywhere",
		Reason: "A gateway serves every partition at any time, so that no leader ever follows another. With -1 clients neither compare epochs nor look for " +
			"truncated logs (KIP-320).",
		Everywhere: []Rule{{regexp.MustCompile(` LeaderEpoch=0`), ""}},
	},
	{
		What:    "Log start offset in the answer to Produce",
		Kafka:   "the first offset of the partition",
		Gateway: "-1, not told",
		Reason: "DIS does not say it when it stores records, and another call for it would make every write slower. Clients look at it only to tell why a broker has " +
			"forgotten a producer, which this gateway never says. Fetch and ListOffsets have the true one.",
		Everywhere: []Rule{{regexp.MustCompile(`( BaseOffset=\d+.*) LogStartOffset=\d+`), "$1"}},
	},
}
