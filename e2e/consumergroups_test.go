package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// consumerGroups is kafka-consumer-groups.sh: the class that the script runs.
type consumerGroups struct {
	t    *testing.T
	java string
	args []string
}

func newConsumerGroups(t *testing.T, broker string) consumerGroups {
	t.Helper()
	java := requireProgram(t, "java", "-version")
	requireProgram(t, "mvn", "-v")
	dir, err := kafkaTools.build()
	if err != nil {
		t.Fatal(err)
	}
	return consumerGroups{t, java, []string{
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
		"-cp", filepath.Join(dir, "kafka-tools", "lib", "*"),
		"org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "--bootstrap-server", broker,
	}}
}

// run gives what the tool prints, whatever it thinks of the outcome: it tells of
// many failures with exit code 0.
func (c consumerGroups) run(args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	output, err := exec.CommandContext(ctx, c.java, append(slices.Clone(c.args), args...)...).CombinedOutput()
	if ctx.Err() != nil {
		c.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

// rows are the lines that begin with the word, without it.
func (c consumerGroups) rows(word string, args ...string) (rows []string) {
	c.t.Helper()
	output := c.run(args...)
	for _, line := range splitLines(output) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == word {
			rows = append(rows, strings.Join(fields[1:], " "))
		}
	}
	slices.Sort(rows)
	if len(rows) == 0 {
		c.t.Logf("%s printed:\n%s", strings.Join(args, " "), output)
	}
	return rows
}

func (c consumerGroups) want(what string, got []string, want ...string) {
	c.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// refuses runs the tool and wants a text in what it prints.
func (c consumerGroups) refuses(reason string, args ...string) {
	c.t.Helper()
	if output := c.run(args...); !strings.Contains(output, reason) {
		c.t.Errorf("%s: %q is not in\n%s", strings.Join(args, " "), reason, output)
	}
}

// groupBehind gives a topic of three partitions with ten records each from two
// hours ago and two of now, and a member of the group g that has read all and
// committed the first ten.
func groupBehind(t *testing.T, d *dev) *kgo.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	writer := newFranz(t, d.kafka, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	write := func(count int, at time.Time) {
		var records []*kgo.Record
		for i := range count {
			records = append(records, &kgo.Record{Topic: "t", Partition: int32(i % 3), Value: []byte("v"), Timestamp: at})
		}
		if err := writer.ProduceSync(ctx, records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	write(30, time.Now().Add(-2*time.Hour))
	member := newFranz(t, d.kafka, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("t"), kgo.ClientID("reader"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
	franz{d.kafka}.poll(t, member, 30)
	if err := member.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	write(6, time.Now())
	franz{d.kafka}.poll(t, member, 6)
	return member
}

// TestKafkaConsumerGroups runs Kafka's own kafka-consumer-groups.sh through all that
// it can do with a group.
func TestKafkaConsumerGroups(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:3", "--admin-listen", "127.0.0.1:0")
	metrics := waitForPrefix(t, d.stdout, "Admin ", startTimeout)
	tool := newConsumerGroups(t, d.kafka)
	member := groupBehind(t, d)

	tool.want("list", tool.rows("g", "--list", "--state"), "Stable")
	tool.want("list by type", tool.rows("g", "--list", "--type", "classic"), "Classic")
	tool.want("list of the empty", tool.rows("g", "--list", "--state", "Empty"))
	shown := tool.rows("g", "--describe", "--group", "g")
	for i := range shown {
		shown[i] = strings.Join(strings.Fields(shown[i])[:5], " ")
	}
	tool.want("describe", shown, "t 0 10 12 2", "t 1 10 12 2", "t 2 10 12 2")
	checkLag(t, d.kafka, metrics, map[int32]int64{0: 2, 1: 2, 2: 2})
	members := tool.rows("g", "--describe", "--group", "g", "--members", "--verbose")
	if len(members) != 1 || !strings.Contains(members[0], " /127.0.0.1 reader 3 ") || !strings.Contains(members[0], " t:0,1,2 ") {
		t.Errorf("members: %q", members)
	}
	state := tool.rows("g", "--describe", "--group", "g", "--state")
	if len(state) != 1 || !strings.HasSuffix(state[0], "cooperative-sticky Stable 1") || !strings.HasPrefix(state[0], d.kafka) {
		t.Errorf("state: %q", state)
	}
	tool.refuses("inactive", "--reset-offsets", "--group", "g", "--topic", "t", "--to-earliest", "--execute")
	tool.refuses("GroupNotEmptyException", "--delete", "--group", "g")
	tool.refuses("GroupSubscribedToTopicException", "--delete-offsets", "--group", "g", "--topic", "t")

	member.Close()
	checkResets(t, d, tool)
	checkLag(t, d.kafka, metrics, map[int32]int64{0: 8, 1: 2, 2: 12})

	tool.refuses("Successful", "--delete-offsets", "--group", "g", "--topic", "t:0")
	tool.want("without one offset", tool.offsets(), "t 1 10 12 2", "t 2 0 12 12")
	tool.refuses("was successful", "--delete", "--group", "g")
	tool.refuses("does not exist", "--delete", "--group", "g")
	tool.want("nothing left", tool.rows("g", "--list", "--state"))
}

// offsets describes the group g, which has no members: topic, partition, committed
// offset, end and lag.
func (c consumerGroups) offsets() []string {
	c.t.Helper()
	shown := c.rows("g", "--describe", "--group", "g")
	for i := range shown {
		shown[i] = strings.TrimSuffix(shown[i], " - - -")
	}
	return shown
}

// checkResets moves the offsets of the group g in every way there is. It ends with
// 4, 10 and 0 committed in partitions 0 to 2.
func checkResets(t *testing.T, d *dev, tool consumerGroups) {
	t.Helper()
	reset := func(args ...string) []string {
		t.Helper()
		return tool.rows("g", append([]string{"--reset-offsets", "--group", "g"}, args...)...)
	}
	hourAgo := time.Now().Add(-time.Hour)
	tool.want("to-earliest, dry run", reset("--topic", "t", "--to-earliest", "--dry-run"), "t 0 0", "t 1 0", "t 2 0")
	tool.want("nothing was done", tool.offsets(), "t 0 10 12 2", "t 1 10 12 2", "t 2 10 12 2")
	tool.want("to-earliest", reset("--all-topics", "--to-earliest", "--execute"), "t 0 0", "t 1 0", "t 2 0")
	tool.want("to-offset", reset("--topic", "t:0", "--to-offset", "6", "--execute"), "t 0 6")
	tool.want("shift-by", reset("--topic", "t:0", "--shift-by", "-2", "--execute"), "t 0 4")
	tool.want("beyond the end", reset("--topic", "t:1", "--to-offset", "99", "--execute"), "t 1 12")
	tool.want("done", tool.offsets(), "t 0 4 12 8", "t 1 12 12 0", "t 2 0 12 12")
	tool.want("to-latest", reset("--topic", "t:2", "--to-latest", "--execute"), "t 2 12")
	tool.want("to-datetime", reset("--topic", "t:1", "--to-datetime", hourAgo.UTC().Format("2006-01-02T15:04:05.000Z"), "--execute"), "t 1 10")
	tool.want("by-duration", reset("--topic", "t:0", "--by-duration", "PT1H", "--dry-run"), "t 0 10")
	tool.want("to-current", reset("--topic", "t", "--to-current", "--dry-run"), "t 0 4", "t 1 10", "t 2 12")

	plan := filepath.Join(t.TempDir(), "plan.csv")
	if err := os.WriteFile(plan, []byte("t,2,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tool.want("from-file", reset("--from-file", plan, "--execute"), "t 2 0")
	tool.want("in the end", tool.offsets(), "t 0 4 12 8", "t 1 10 12 2", "t 2 0 12 12")
}

// checkLag compares the lag of the group g in topic t as kadm and the gateway's own
// metrics have it.
func checkLag(t *testing.T, broker, metrics string, want map[int32]int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	lags, err := kadm.NewClient(newFranz(t, broker)).Lag(ctx, "g")
	if err != nil || lags.Error() != nil {
		t.Fatal(err, lags.Error())
	}
	told := map[int32]int64{}
	for partition, lag := range lags["g"].Lag["t"] {
		told[partition] = lag.Lag
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("lag of kadm (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, lagMetrics(t, metrics)); diff != "" {
		t.Errorf("lag of the metrics (-want +got):\n%s", diff)
	}
}

// lagMetrics are the lags of the group g in topic t by partition.
func lagMetrics(t *testing.T, address string) map[int32]int64 {
	t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	found := map[int32]int64{}
	for scanner := bufio.NewScanner(answer.Body); scanner.Scan(); {
		var partition int32
		var lag int64
		if n, _ := fmt.Sscanf(scanner.Text(), `kdg_group_lag_records{group="g",partition="%d",topic="t"} %d`, &partition, &lag); n == 2 {
			found[partition] = lag
		}
	}
	return found
}
