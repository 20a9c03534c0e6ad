package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

var cutSeed = flag.Uint64("cut-seed", 1, "where TestConnectionsCut cuts connections")

// retriedPartitions lets librdkafka have five requests in flight, too: it has one
// for each partition.
const retriedPartitions = 6

// TestConnectionsCut: idempotent producers with five requests in flight, whose
// connections are cut in the middle of requests and replies again and again.
// Everything is acknowledged in the end, and the topic holds it once and in
// order.
func TestConnectionsCut(t *testing.T) {
	t.Parallel()
	proxy := newCutter(t, *cutSeed)
	d := startDevOn(t, "127.0.0.1:0,advertise="+proxy.address(), t.TempDir(), "--dis-latency", "60ms")
	proxy.forwardTo(d.kafka)
	runs := retriedRuns(t, d.kafka)
	proxy.cut(true)
	produceRetried(t, proxy.address(), runs, 6000, 400)
	proxy.cut(false)
	for _, run := range runs {
		seen := proxy.of(run.clientID)
		t.Logf("%s, seed %d: %+v", run.client.name, *cutSeed, seen)
		if seen.mostInFlight < 5 || seen.inRequest == 0 || seen.inReply == 0 || seen.unanswered < 10 {
			t.Errorf("too little happened to %s: %+v", run.client.name, seen)
		}
		if again := run.check(t, d.kafka); again != (repeats{}) {
			t.Errorf("%s: stored more than once: %+v", run.client.name, again)
		}
	}
}

// TestRepliesOfDISLost: DIS stores records and its reply is lost. Those requests
// are made again, since DIS may not have stored them: their records are there
// twice, each request's as a whole and behind itself, and counted.
func TestRepliesOfDISLost(t *testing.T) {
	t.Parallel()
	dis := startEmbeddedDIS(t, "--latency", "20ms", "--fault-seed", "1", "--fault", "lost-reply,operations=PutRecords,probability=0.1")
	s := startServeAt(t, dis, nil, "--topic-admin", "create")
	s.waitReady(t)
	runs := retriedRuns(t, s.kafka)
	produceRetried(t, s.kafka, runs, 3000, 400)
	var all repeats
	for _, run := range runs {
		again := run.check(t, s.kafka)
		t.Logf("%s: %+v", run.client.name, again)
		if again.runs == 0 {
			t.Errorf("no reply to the records of %s was lost", run.client.name)
		}
		all.records += again.records
		all.runs += again.runs
	}
	if counted := s.metric(t, "kdg_ambiguous_resent_records_total"); counted != all.records {
		t.Errorf("%d records are there again, %d are counted", all.records, counted)
	}
	if lost := faultHits(t, dis); all.runs < lost || all.runs > lost*retriedPartitions {
		t.Errorf("%d pieces of partitions are there again, %d replies were lost, each to a request for 1 to %d partitions", all.runs, lost, retriedPartitions)
	}
}

// retriedClients are the clients that number their batches, and the client ids
// that they have by default.
var retriedClients = map[string]string{"java-4.4": "producer-1", "confluent-kafka": "rdkafka", "franz-go": "kgo"}

// retriedRun is what a producer wrote into a topic of its own.
type retriedRun struct {
	client   matrixClient
	clientID string
	program  *clientProgram
	seed     int
	topic    string
	told     []line // what was acknowledged, by partition
}

// retriedRuns are the runs of the clients that are there. Their topics are made
// at an address of the gateway.
func retriedRuns(t *testing.T, broker string) (runs []*retriedRun) {
	t.Helper()
	for seed, client := range matrixClients {
		id, wanted := retriedClients[client.name]
		if !wanted {
			continue
		}
		t.Run(client.name, func(sub *testing.T) { // a missing client skips, by name
			path, args := client.program(sub, client.name)
			program, err := startClientProgram(t, client.name, path, args...)
			if err != nil {
				sub.Fatal(err)
			}
			run := &retriedRun{client: client, clientID: id, program: program, seed: seed, topic: client.topic("retried")}
			createTopic(sub, broker, run.topic, retriedPartitions)
			runs = append(runs, run)
		})
	}
	return runs
}

// produceRetried lets the clients write at the same time, each at a rate in
// records a second.
func produceRetried(t *testing.T, broker string, runs []*retriedRun, count, rate int) {
	t.Helper()
	beginRetried(t, broker, runs, count, rate)
	finishRetried(t, runs, count)
}

func beginRetried(t *testing.T, broker string, runs []*retriedRun, count, rate int) {
	t.Helper()
	for _, run := range runs {
		run.program.begin(t, "produce", "--bootstrap", broker, "--topic", run.topic, "--idempotence", "on",
			"--seed", strconv.Itoa(run.seed), "--count", strconv.Itoa(count), "--partitions", strconv.Itoa(retriedPartitions),
			"--rate", strconv.Itoa(rate))
	}
}

// finishRetried waits until everything is acknowledged.
func finishRetried(t *testing.T, runs []*retriedRun, count int) {
	t.Helper()
	begin := time.Now()
	for _, run := range runs {
		told := parseLines(t, run.program.finish(t, matrixTimeout))
		t.Logf("%s: %d records acknowledged, the last after a wait of %s", run.client.name, len(told), time.Since(begin).Round(time.Millisecond))
		checkSeed(t, run.client, run.topic, int64(run.seed), count, retriedPartitions, told)
		run.told = byTopic(told)[run.topic]
	}
}

// repeats is what a topic holds more than once.
type repeats struct {
	records int
	runs    int // pieces of a partition that stand there again
}

// check reads the topic and compares it with what was acknowledged: nothing is
// missing, nothing out of order but for pieces that are there again right behind
// themselves, and every record is where its producer was told.
func (r *retriedRun) check(t *testing.T, broker string) (all repeats) {
	t.Helper()
	stored := r.read(t, broker)
	for p := range retriedPartitions {
		number := strconv.Itoa(p)
		ofPartition := func(l line) bool { return l.partition != number }
		told := slices.DeleteFunc(slices.Clone(r.told), ofPartition)
		there := slices.DeleteFunc(slices.Clone(stored), ofPartition)
		again, err := comparePartition(told, there, r.client.name == "confluent-kafka")
		if err != nil {
			t.Errorf("%s, partition %d: %v", r.topic, p, err)
		}
		all.records += again.records
		all.runs += again.runs
	}
	return all
}

// read gives all that the topic holds.
func (r *retriedRun) read(t *testing.T, broker string) []line {
	t.Helper()
	offsets, err := kadm.NewClient(newFranz(t, broker)).ListEndOffsets(t.Context(), r.topic)
	if err != nil {
		t.Fatal(err)
	}
	var count int64
	for _, partition := range offsets[r.topic] {
		count += partition.Offset
	}
	path, args := goProgram(t, "franz-go")
	printed := runClient(t, "", path, append(args, "consume", "--bootstrap", broker, "--topic", r.topic, "--count", strconv.FormatInt(count, 10))...)
	return byTopic(parseLines(t, splitLines(printed)))[r.topic]
}

// comparePartition compares what a partition holds with what was acknowledged.
// librdkafka counts on from the -1 that stands for an offset which is not known:
// it tells -1, 0, 1, 2 and so on for the records of such a batch.
func comparePartition(told, there []line, countsOn bool) (repeats, error) {
	numbers := map[line]int{}
	for i, l := range told {
		l.offset = untold
		numbers[l] = i
	}
	if len(numbers) != len(told) {
		return repeats{}, fmt.Errorf("%d records of %d differ", len(numbers), len(told))
	}
	order := make([]int, len(there))
	for at, l := range there {
		if l.offset != strconv.Itoa(at) {
			return repeats{}, fmt.Errorf("offset %s where %d was due", l.offset, at)
		}
		l.offset = untold
		number, ok := numbers[l]
		if !ok {
			return repeats{}, fmt.Errorf("offset %d has a record that was not acknowledged: %s", at, l)
		}
		order[at] = number
	}
	for number, l := range told {
		at, err := strconv.Atoi(l.offset)
		right := err == nil && (at == -1 || at >= 0 && at < len(order) && order[at] == number)
		if !right && !(countsOn && countedFromUnknown(told[:number+1], at)) {
			return repeats{}, fmt.Errorf("offset %s was told for a record that is not there: %s", l.offset, l)
		}
	}
	return findRepeats(order, len(told))
}

// countedFromUnknown reports whether the last record was told the offset at because
// the one that many and one before it, in its batch, was told -1, and all between
// them what follows.
func countedFromUnknown(told []line, at int) bool {
	for ; at >= -1 && len(told) > 0; at-- {
		if told[len(told)-1].offset != strconv.Itoa(at) {
			return false
		}
		if at == -1 {
			return true
		}
		told = told[:len(told)-1]
	}
	return false
}

func TestCountedFromUnknown(t *testing.T) {
	for _, c := range []struct {
		told string
		want bool
	}{
		{"7 8 -1 0 1", true}, {"-1", true}, {"-1 0 0", false}, {"0 1", false}, {"5 6", false}, {"-1 0 2", false},
	} {
		var told []line
		for _, offset := range strings.Fields(c.told) {
			told = append(told, line{offset: offset})
		}
		at, err := strconv.Atoi(told[len(told)-1].offset)
		if err != nil {
			t.Fatal(err)
		}
		if got := countedFromUnknown(told, at); got != c.want {
			t.Errorf("%s: %t, want %t", c.told, got, c.want)
		}
	}
}

// findRepeats looks for pieces that come again in the numbers from 0 to count-1:
// such a piece goes up to the number in front of it.
func findRepeats(order []int, count int) (found repeats, err error) {
	next, end := 0, 0 // the number that is due, the first that was not there yet
	for at, number := range order {
		switch {
		case next == end && number < end:
			found.runs++
		case number != next:
			return found, fmt.Errorf("at offset %d is record %d; due is record %d, the first new one is %d", at, number, next, end)
		}
		if number < end {
			found.records++
		}
		next = number + 1
		end = max(end, next)
	}
	if next != count {
		return found, fmt.Errorf("it ends with record %d, acknowledged are %d", next-1, count)
	}
	return found, nil
}

func TestFindRepeats(t *testing.T) {
	for _, c := range []struct {
		order string
		want  repeats
		ok    bool
	}{
		{"0 1 2 3 4", repeats{}, true},
		{"0 1 2 1 2 3 4", repeats{2, 1}, true},
		{"0 1 1 1 2 3 4 3 4", repeats{4, 3}, true},
		{"0 1 2 3 4 0 1 2 3 4", repeats{5, 1}, true},
		{order: "0 1 2 4"},         // one is missing
		{order: "0 1 2 3"},         // the last is missing
		{order: "0 2 1 3 4"},       // out of order
		{order: "0 1 2 3 1 2 4"},   // a piece that does not stand right behind itself
		{order: "0 1 2 1 3 4"},     // a piece that is not whole
		{order: "0 1 2 3 4 3"},     // nor is this
		{order: "0 1 2 3 2 2 3 4"}, // nor this
	} {
		var order []int
		for _, word := range strings.Fields(c.order) {
			order = append(order, int(word[0]-'0'))
		}
		got, err := findRepeats(order, 5)
		if c.ok != (err == nil) || c.ok && got != c.want {
			t.Errorf("%s: %+v, error %v; want %+v", c.order, got, err, c.want)
		}
	}
}

// metric is the value of a counter of the gateway without labels.
func (s *serving) metric(t *testing.T, name string) int {
	t.Helper()
	_, page := s.ask(t, "/metrics")
	value := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindStringSubmatch(page)
	if value == nil {
		t.Fatalf("no %s in\n%s", name, page)
	}
	count, err := strconv.Atoi(value[1])
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// faultHits is how often the only fault of an embedded DIS has hit.
func faultHits(t *testing.T, dis string) int {
	t.Helper()
	answer, err := http.Get(strings.TrimSuffix(dis, "/") + "/faults")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var plan struct {
		Faults []struct{ Hits int }
	}
	if err := json.NewDecoder(answer.Body).Decode(&plan); err != nil || len(plan.Faults) != 1 {
		t.Fatalf("faults %+v: %v", plan, err)
	}
	return plan.Faults[0].Hits
}
