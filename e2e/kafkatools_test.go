package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// toolStep is what a step of testdata/clients/kafka-tools/run must print. Lines are
// compared with one space for several, without the traces of exceptions.
type toolStep struct {
	name string
	exit int
	// prints are all lines, as regular expressions.
	prints []string
	// has are some of the lines, instead; lacks is none of them.
	has   []string
	lacks string
}

var toolSteps = []toolStep{
	{name: "create", prints: []string{`Created topic tools-a\.`}},
	{name: "create, again", exit: 1, prints: []string{`Error while executing topic command : topic tools-a exists`}},
	{name: "create, compacted", exit: 1, prints: []string{
		`Error while executing topic command : cleanup\.policy=compact: DIS does not compact, records are deleted by age; allowed: .*`}},
	{name: "create, with a name that no stream has", exit: 1, has: []string{
		`Error while executing topic command : .*"tools\.b" has characters that a DIS stream name cannot have, .* --alias tools\.b,stream=NAME gives .*`}},
	{name: "list", prints: []string{`tools-a`}},
	{name: "describe", prints: []string{
		`Topic: tools-a TopicId: [\w-]{22} PartitionCount: 3 ReplicationFactor: 1 Configs: dis\.data\.type=BLOB,retention\.ms=172800000,dis\.stream\.type=COMMON`,
		`Topic: tools-a Partition: 0 Leader: 1 Replicas: 1 Isr: 1 Elr: LastKnownElr:`,
		`Topic: tools-a Partition: 1 Leader: 1 Replicas: 1 Isr: 1 Elr: LastKnownElr:`,
		`Topic: tools-a Partition: 2 Leader: 1 Replicas: 1 Isr: 1 Elr: LastKnownElr:`}},
	{name: "configs of a topic", has: []string{
		`cleanup\.policy=delete .*`, `max\.message\.bytes=1048576 .*`, `retention\.ms=172800000 .*`, `min\.insync\.replicas=1 .*`}},
	{name: "configs that are set", prints: []string{
		`Dynamic configs for topic tools-a are:`, `dis\.data\.type=BLOB .*`, `dis\.stream\.type=COMMON .*`, `retention\.ms=172800000 .*`}},
	{name: "more partitions"},
	{name: "fewer partitions", exit: 1, prints: []string{
		`Error while executing topic command : topic "tools-a": 2 partitions are wanted: it has 4, and the number of a topic never falls`}},
	{name: "change configs", prints: []string{`Completed updating config for topic tools-a\.`}},
	{name: "change what streams do not have", exit: 1, has: []string{
		`.*InvalidConfigurationException: segment\.bytes=1000: streams have no such setting; what can be altered: .*\bretention\.ms\b.*`}},
	{name: "describe, changed", has: []string{
		`Topic: tools-a TopicId: .* PartitionCount: 4 ReplicationFactor: 1 Configs: dis\.data\.type=JSON,retention\.ms=259200000,dis\.stream\.type=COMMON`,
		`Topic: tools-a Partition: 3 Leader: 1 Replicas: 1 Isr: 1 Elr: LastKnownElr:`}},
	{name: "back to the default", prints: []string{`Completed updating config for topic tools-a\.`}},
	{name: "configs that are set, changed", prints: []string{
		`Dynamic configs for topic tools-a are:`, `dis\.data\.type=BLOB .*`, `dis\.stream\.type=COMMON .*`, `retention\.ms=259200000 .*`}},
	{name: "change the broker", exit: 1, has: []string{
		`.*InvalidRequestException: the settings of this gateway are those that it was started with .*; only topics can be altered`}},
	{name: "configs of the broker", has: []string{
		`All configs for broker 1 are:`, `auto\.create\.topics\.enable=true .*`, `num\.partitions=1 .*`, `delete\.topic\.enable=true .*`}},

	{name: "a topic to write", prints: []string{`Created topic tools-records\.`}},
	{name: "write"},
	{name: "read in a group", prints: []string{
		`Partition:0 Offset:0 n:1,m:2 k1 one`, `Partition:0 Offset:1 n:3 k2 two`, `Processed a total of 2 messages`}},
	{name: "read on in the group", prints: []string{`three`, `Processed a total of 1 messages`}},
	{name: "read from an offset", prints: []string{`two`, `Processed a total of 1 messages`}},
	{name: "last offsets", prints: []string{`tools-records:0:3`}},
	{name: "first offsets", prints: []string{`tools-records:0:0`}},
	{name: "offsets by time", prints: []string{`tools-records:0:0`}},
	{name: "offset of the highest time", prints: []string{
		`Skip getting offsets for topic-partition tools-records-0 due to error: .* The node does not support LIST_OFFSETS with version in range .*`}},
	{name: "list the groups", has: []string{`tools-group`}},
	{name: "list the groups by kind", has: []string{`tools-group Classic consumer`}},
	{name: "describe the group", prints: []string{
		`Consumer group 'tools-group' has no active members\.`,
		`GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID`,
		`tools-group tools-records 0 3 3 0 - - -`}},
	{name: "reset offsets", prints: []string{`GROUP TOPIC PARTITION NEW-OFFSET`, `tools-group tools-records 0 1`}},
	{name: "describe the group, reset", has: []string{`tools-group tools-records 0 1 3 2 - - -`}},
	{name: "delete offsets", prints: []string{
		`Request succeeded for deleting offsets from group tools-group\.`, `TOPIC PARTITION STATUS`, `tools-records 0 Successful`}},
	{name: "delete the group", prints: []string{`Deletion of requested consumer groups \('tools-group'\) was successful\.`}},
	{name: "list the groups, deleted", lacks: `tools-group`},

	{name: "a topic to load", prints: []string{`Created topic tools-load\.`}},
	{name: "write load", prints: []string{`2000 records sent, .* ms 99\.9th\.`}},
	{name: "read load", prints: []string{`start\.time, end\.time, data\.consumed\.in\.MB, .*`, `.*, 0\.1907, [\d.]+, 2000, .*`}},
	{name: "delete the group that read load", prints: []string{`Deletion of requested consumer groups \('tools-load'\) was successful\.`}},
	{name: "write in transactions", exit: 1, has: []string{
		`.* transactions are not supported by the Kafka gateway for DIS: unset transactional\.id .*`}},
	{name: "versions of APIs", has: []string{
		`127\.0\.0\.1:\d+ \(id: 1 rack: null isFenced: false\) -> \(`, `Produce\(0\): 0 to 13 \[usable: 13\],`, `Fetch\(1\): 0 to 17 \[usable: 17\],`,
		`ListOffsets\(2\): 0 to 6 \[usable: 6\],`, `CreateTopics\(19\): 0 to 7 \[usable: 7\],`, `EndTxn\(26\): UNSUPPORTED,`}},
	{name: "cluster id", prints: []string{`Cluster ID: [\w-]{22}`}},
	{name: "nodes", prints: []string{`ID HOST PORT RACK STATE ENDPOINT_TYPE`, `1 127\.0\.0\.1 \d+ null unfenced broker`}},
	{name: "log directories", prints: []string{
		`Querying brokers for log directories information`, `Received log directory information from brokers 1`,
		`\{"brokers":\[\{"broker":1,"logDirs":\[\{"partitions":\[\{"partition":"tools-load-0",.*\{"partition":"tools-load-1",.*"error":null,"logDir":"dis"\}\]\}\].*`}},
	{name: "delete records", prints: []string{`Executing records delete operation`, `Records delete operation completed:`,
		`partition: tools-load-0 error: .* The node does not support DELETE_RECORDS`}},
	{name: "list ACLs", exit: 1, has: []string{noAccessLists}},
	{name: "add an ACL", exit: 1, has: []string{noAccessLists}},
	{name: "elect leaders", exit: 1, has: []string{`.* The node does not support ELECT_LEADERS`}},
	{name: "move partitions", exit: 1, has: []string{`tools-load-0: The node does not support ALTER_PARTITION_REASSIGNMENTS`}},
	{name: "list moves", prints: []string{`No partition reassignments found\.`}},
	{name: "list transactions", exit: 1, has: []string{`.* The node does not support LIST_TRANSACTIONS.*`}},

	{name: "delete"},
	{name: "list, deleted"},
}

const noAccessLists = `Error while executing ACL command: .*SecurityDisabledException: the Kafka gateway for DIS keeps no access lists: .*`

// TestKafkaTools runs Kafka's own command line tools: each does its normal job, or
// says what cannot be done here.
func TestKafkaTools(t *testing.T) {
	t.Parallel()
	requireProgram(t, "java", "-version")
	requireProgram(t, "mvn", "-v")
	lib, err := kafkaTools.build()
	if err != nil {
		t.Fatal(err)
	}
	d := startDev(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	output, err := exec.CommandContext(ctx, "../testdata/clients/kafka-tools/run", d.kafka, filepath.Join(lib, "kafka-tools", "lib")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v, after printing:\n%s", err, output)
	}
	steps := strings.Split(string(output), "\n== ")[1:]
	if len(steps) != len(toolSteps) {
		t.Fatalf("%d steps, want %d:\n%s", len(steps), len(toolSteps), output)
	}
	for i, want := range toolSteps {
		name, printed, _ := strings.Cut(steps[i], "\n")
		if name != want.name {
			t.Fatalf("step %q where %q was due", name, want.name)
		}
		if problem := want.problem(printedByTool(printed)); problem != "" {
			t.Errorf("%s: %s\n%s", name, problem, printed)
		}
	}
	client := newDISClient(t, d)
	streams, err := client.ListStreams(t.Context())
	if err != nil || len(streams) != 0 {
		t.Errorf("streams after all were deleted: %+v, %v", streams, err)
	}
	apps, err := client.ListApps(t.Context(), "")
	if err != nil || len(apps) != 0 {
		t.Errorf("apps, which are groups, after all were deleted: %+v, %v", apps, err)
	}
}

// noise are lines of a tool that are not its answer: traces, and what it says to
// everyone.
var noise = regexp.MustCompile(`^$|^at |^\.\.\. \d+ more$|^Caused by: |^\[main\] ERROR |^The consumer rebalance protocol `)

func printedByTool(output string) (lines []string) {
	for line := range strings.SplitSeq(output, "\n") {
		if line = strings.Join(strings.Fields(line), " "); !noise.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// problem is "" for lines as they should be.
func (s toolStep) problem(lines []string) string {
	exit := fmt.Sprintf("exit %d", s.exit)
	if len(lines) == 0 || lines[len(lines)-1] != exit {
		return "want " + exit
	}
	lines = lines[:len(lines)-1]
	if s.lacks != "" && matchesAny(s.lacks, lines) {
		return "there is a line " + s.lacks
	}
	for _, pattern := range s.has {
		if !matchesAny(pattern, lines) {
			return "no line " + pattern
		}
	}
	if s.has != nil || s.lacks != "" {
		return ""
	}
	if len(lines) != len(s.prints) {
		return fmt.Sprintf("%d lines, want %q", len(lines), s.prints)
	}
	for i, pattern := range s.prints {
		if !matchesAny(pattern, lines[i:i+1]) {
			return fmt.Sprintf("line %q, want %s", lines[i], pattern)
		}
	}
	return ""
}

// matchesAny says whether one of the lines is all of what the pattern describes.
func matchesAny(pattern string, lines []string) bool {
	return slices.ContainsFunc(lines, regexp.MustCompile("^("+pattern+")$").MatchString)
}
