package oracle

import (
	"regexp"
	"slices"
)

// Differences are all that the scenarios show, in the order of
// docs/compatibility.md. A difference that is not here, and one that is here and
// no longer there, fails the tests.
var Differences = slices.Concat(produceDifferences, batchDifferences, fetchDifferences, topicDifferences, topicAdminDifferences, groupDifferences, otherDifferences)

// in is the same replacement in several steps of a scenario.
func in(scenario, kafka, gateway string, steps ...string) (changes []Change) {
	for _, step := range steps {
		changes = append(changes, Change{scenario, step, Replacement{kafka, gateway}})
	}
	return changes
}

// instead is another answer to a step of a scenario.
func instead(scenario, step, gateway string) []Change { return in(scenario, "", gateway, step) }

var otherDifferences = []Difference{
	{
		What:    "Leader epochs",
		Kafka:   "counts the leaders of a partition, and refuses requests that name a later one (75)",
		Gateway: "-1 everywhere; what requests name is not looked at",
		Reason: "A gateway serves every partition at any time, so that no leader ever follows another. With -1 clients neither compare epochs nor look for " +
			"truncated logs (KIP-320).",
		Everywhere: []Rule{{regexp.MustCompile(` LeaderEpoch=0`), ""}},
		Steps: slices.Concat(
			instead("list-offsets", "with a leader epoch to come", `c: ListOffsets v6
 Topics Topic=t
  Partitions Partition=0 ErrorCode=0 Offset=5`),
			instead("fetch-offsets", "with a leader epoch to come", `c: Fetch v12 ErrorCode=0 SessionID=0
 Topics Topic=t
  Partitions Partition=0 ErrorCode=0 HighWatermark=5 LastStableOffset=5 LogStartOffset=0
   record 3 time=1600000000000 key=null value="d"
   record 4 time=1600000000001 key=null value="e"`),
		),
	},
	{
		What:    "Transactions",
		Kafka:   "has them",
		Gateway: "CLUSTER_AUTHORIZATION_FAILED (31) with a message to who looks for a coordinator, TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53) to all else",
		Reason:  "DIS has no transactions. These are the codes that end the attempt at once in every client, instead of after a minute of retries.",
		Steps: slices.Concat(
			in("find-coordinator", "NodeID=1 Host=127.0.0.1 Port=port1 ErrorCode=0", "NodeID=-1 Port=-1 ErrorCode=31:CLUSTER_AUTHORIZATION_FAILED", "of a transaction"),
			in("find-coordinator", "ErrorCode=0 NodeID=1 Host=127.0.0.1 Port=port1", "ErrorCode=31:CLUSTER_AUTHORIZATION_FAILED NodeID=-1 Port=-1",
				"of a transaction, version 2"),
			instead("init-producer-id", "for transactions", "c: InitProducerID v4 ErrorCode=53:TRANSACTIONAL_ID_AUTHORIZATION_FAILED ProducerEpoch=-1"),
			in("produce-transactional", "49:INVALID_PRODUCER_ID_MAPPING", "53:TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "transactional records"),
			in("produce-transactional", "ErrorCode=0 BaseOffset=0", "ErrorCode=53:TRANSACTIONAL_ID_AUTHORIZATION_FAILED BaseOffset=-1",
				"a transactional id without transactional records"),
		),
	},
	{
		What:       "Operations on groups",
		Kafka:      "READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS",
		Gateway:    "READ, DELETE, DESCRIBE",
		Reason:     "Groups have no settings of their own at the gateway, so that nobody can see or change them.",
		Everywhere: []Rule{{regexp.MustCompile(`( Groups .*) AuthorizedOperations=3400`), "$1 AuthorizedOperations=328"}},
	},
	{
		What:    "Client id and host of a static member that came back",
		Kafka:   "those of the process that joined first",
		Gateway: "those of the process that runs now",
		Reason:  "Who describes a group looks for the process that holds a partition.",
		Steps:   in("group-static", "ClientID=old", "ClientID=young", "the same instance"),
	},
	{
		What:    "Names of client software",
		Kafka:   "refuses ApiVersions with INVALID_REQUEST (42) when the name or version of the client has other characters than letters, digits, `.` and `-`",
		Gateway: "does not look at them",
		Reason:  "Kafka makes names of metrics of them. Nothing is made of them here, and a client that sends a space in its name can be served.",
		Steps: in("api-versions", "version 3 of the answer: 42:INVALID_REQUEST, the range of ApiVersions: false",
			"version 3 of the answer: none, the range of ApiVersions: true",
			"software without a name", "software with a strange name", "software with a strange version"),
	},
}
