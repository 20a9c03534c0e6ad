package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// restartGrace leaves 2 s in which a gateway that was told to stop serves on.
const restartGrace = 7 * time.Second

// restartable is a gateway that others take the place of, at the same address.
type restartable struct {
	t        *testing.T
	endpoint string // of DIS
	kafka    string
	args     []string
	now      *serving
}

func startRestartable(t *testing.T, args ...string) *restartable {
	t.Helper()
	dis := startEmbeddedDIS(t, "--latency", "5ms")
	r := &restartable{t: t, endpoint: dis, kafka: freeAddress(t), args: append([]string{"--grace-period", restartGrace.String()}, args...)}
	r.start()
	return r
}

func (r *restartable) start() {
	r.t.Helper()
	args := append([]string{"serve", "--listen", r.kafka, "--admin-listen", "127.0.0.1:0", "--dis-endpoint", r.endpoint}, r.args...)
	r.now = &serving{process: start(r.t, credentials, gatewayBinary, args...), kafka: r.kafka, endpoint: r.endpoint}
	r.now.admin = waitForPrefix(r.t, r.now.stdout, "Admin ", startTimeout)
	r.now.waitReady(r.t)
}

// stop waits for the end of a drain in which nobody is cut off.
func (r *restartable) stop() {
	r.t.Helper()
	began := time.Now()
	r.now.signal(syscall.SIGTERM)
	if code := r.now.exitCode(restartGrace + startTimeout); code != 0 {
		r.t.Errorf("the gateway ended with %d:\n%s", code, r.now.stderr)
	}
	if took := time.Since(began); took > restartGrace+time.Second {
		r.t.Errorf("the drain took %s of %s", took, restartGrace)
	}
}

// TestGatewayRestartsUnderLoad restarts the gateway again and again while clients
// write, with idempotence, and read in a group. Nothing is lost, nothing is there
// twice, no client sees an error that it does not try again after, and the group
// reads again only what it had not committed.
func TestGatewayRestartsUnderLoad(t *testing.T) {
	t.Parallel()
	for protocol, joins := range map[string][]joinsGroup{
		"classic": {cooperativeJava, cooperativeConfluent, cooperativeFranz},
		"consumer": {
			func(t *testing.T, broker string) protocolMember { return joinJava(t, broker, "topic", "t") },
			func(t *testing.T, broker string) protocolMember { return joinConfluent(t, broker, "topic", "t") },
			func(t *testing.T, broker string) protocolMember {
				return joinFranz(t, broker, "t", kgo.ServerSideBalancer())
			},
		},
	} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			restartUnderLoad(t, joins)
		})
	}
}

func restartUnderLoad(t *testing.T, joins []joinsGroup) {
	const partitions, restarts, rate, count = 12, 3, 60, 2000
	gateway := startRestartable(t)
	createTopic(t, gateway.kafka, "t", partitions)
	runs := retriedRuns(t, gateway.kafka)
	load := startLoad(t, gateway.kafka, "t", partitions)
	var members []protocolMember
	for _, join := range joins {
		members = append(members, join(t, gateway.kafka))
	}
	waitForHeld(t, partitions, members...)
	beginRetried(t, gateway.kafka, runs, count, rate)
	for range restarts {
		waitForCommits(t, members)
		gateway.stop()
		gateway.start()
	}
	waitForCommits(t, members)
	finishRetried(t, runs, count)
	waitForSettledOrTried(t, load.stop(), members...)
	for _, run := range runs {
		if again := run.check(t, gateway.kafka); again != (repeats{}) {
			t.Errorf("%s: stored more than once: %+v", run.client.name, again)
		}
	}
	for _, m := range members {
		m.leave()
		checkDiary(t, m)
	}
	checkNoLag(t, gateway.kafka)
}

// waitForCommits waits until every member has committed something new.
func waitForCommits(t *testing.T, members []protocolMember) {
	t.Helper()
	before := make([]int, len(members))
	for i, m := range members {
		before[i] = commits(m)
	}
	eventually(t, rebalancePatience, "every member to commit", func() string {
		for i, m := range members {
			if commits(m) == before[i] {
				return fmt.Sprintf("member %d has committed %d times, it has %v", i, before[i], m.held())
			}
		}
		return ""
	})
}

func commits(m protocolMember) (count int) {
	for _, entry := range m.entries() {
		if strings.HasPrefix(entry, "committed ") {
			count++
		}
	}
	return count
}

// checkDiary: a member wrote of no error that a client does not try again after.
func checkDiary(t *testing.T, m protocolMember) {
	t.Helper()
	for _, entry := range m.entries() {
		switch word, _, _ := strings.Cut(entry, " "); word {
		case "assigned", "record", "committed", "uncommitted":
		default:
			t.Errorf("a member wrote: %s", entry)
		}
	}
}

// TestDrainTakesFinalCommits: a group that leaves while the gateway drains reads what
// is still written, commits it and leaves, and the gateway ends with the last client,
// long before it has to. Its successor knows the commits.
func TestDrainTakesFinalCommits(t *testing.T) {
	t.Parallel()
	const partitions = 6
	gateway := startRestartable(t, "--grace-period", "2m")
	createTopic(t, gateway.kafka, "t", partitions)
	producer := newFranz(t, gateway.kafka, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	write := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			record := &kgo.Record{Topic: "t", Partition: int32(i % partitions), Value: []byte(fmt.Sprint(i))}
			if err := producer.ProduceSync(t.Context(), record).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	members := []protocolMember{
		cooperativeJava(t, gateway.kafka), cooperativeConfluent(t, gateway.kafka), cooperativeFranz(t, gateway.kafka),
	}
	waitForHeld(t, partitions, members...)
	write(0, 60)
	waitForSettled(t, 60, members...)

	gateway.now.signal(syscall.SIGTERM)
	eventually(t, startTimeout, "/readyz to turn", func() string {
		_, reason := gateway.now.ask(t, "/readyz")
		if !strings.Contains(reason, "draining") {
			return reason
		}
		return ""
	})
	write(60, 120)
	waitForSettled(t, 120, members...)
	members = append(members, cooperativeFranz(t, gateway.kafka)) // everything is served on, rebalances too
	waitForHeld(t, partitions, members...)
	write(120, 180)
	waitForSettled(t, 180, members...)
	for _, m := range members {
		m.leave()
		checkDiary(t, m)
	}
	producer.Close()
	if code := gateway.now.exitCode(startTimeout); code != 0 {
		t.Errorf("the gateway ended with %d:\n%s", code, gateway.now.stderr)
	}
	gateway.start()
	checkNoLag(t, gateway.kafka)
}

// TestDrainOfPacedWrites: more is waiting to be written, at the speed that DIS allows,
// than the grace period has time for. What is not begun is left to the next gateway,
// and all is there once.
func TestDrainOfPacedWrites(t *testing.T) {
	t.Parallel()
	const partitions, producers, count = 2, 12, 2000
	gateway := startRestartable(t, "--pacing", "documented")
	createTopic(t, gateway.kafka, "t", partitions)
	var all []*sending
	for i := range producers {
		all = append(all, newSending(t, gateway.kafka, fmt.Sprint("producer-", i), partitions,
			kgo.ProduceRequestTimeout(30*time.Second))) // as in Java: so long may a batch wait
		all[i].start(count)
	}
	all[0].waitForAcks(1)
	gateway.stop()
	gateway.start()
	for _, producer := range all {
		producer.waitForAcks(count)
	}
	found := readAll(t, gateway.kafka, partitions)
	for _, producer := range all {
		producer.check(found)
	}
}
