package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// loadLength is LIMITS_SECONDS, for how long TestDocumentedLimits loads the streams
// of a round. It needs a machine that has nothing else to do, so it is no part of
// an ordinary run.
func loadLength(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("LIMITS_SECONDS")
	if text == "" || raceEnabled {
		t.Skip("LIMITS_SECONDS=60, without the race detector, runs every client against the documented limits")
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 10 {
		t.Fatalf("LIMITS_SECONDS=%s: 10 or more are needed", text)
	}
	return time.Duration(seconds) * time.Second
}

const (
	// offered is what the clients write, in terms of what DIS takes.
	offered = 1.1
	// leastShare is how much of what DIS takes has to get there.
	leastShare = 0.95
	// settling is how long clients and streams take to get going.
	settling = 5 * time.Second
	// slowestGroupAnswer is for heartbeats and commits on other connections.
	slowestGroupAnswer = 200 * time.Millisecond
)

// loaded is a stream that a client loads.
type loaded struct {
	client           string
	partitions, size int
}

func (l loaded) stream() string {
	return fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(l.client, ".", "-"), l.partitions, l.size)
}

// documented is how many records a second DIS takes of the stream.
func (l loaded) documented() float64 {
	limits := wire.LimitsOf(wire.StreamCommon)
	return float64(l.partitions) * min(float64(limits.WriteRecords), float64(limits.WriteBytes)/float64(l.size))
}

// goal tells of a figure that depends on the machine as well: it fails the test,
// or with LIMITS_GOALS=shown, on a machine that may be busy, it is shown. Errors
// of clients and records that are lost, doubled or refused fail either way.
func goal(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("LIMITS_GOALS") == "shown" {
		t.Logf("goal MISSED: "+format, args...)
		return
	}
	t.Errorf(format, args...)
}

// The streams that are loaded at the same time, each by one client; those of one
// gateway and one DIS together, whose quota is 50 partitions. The gateways of a
// round take turns.
var loadRounds = []struct {
	name     string
	gateways [][]loaded
}{
	{"1 partition", [][]loaded{append(loadsOf(1, 100, loadClients...), loadsOf(1, 1024, loadClients...)...)}},
	{"16 partitions, 100 B", [][]loaded{loadsOf(16, 100, loadClients[:2]...), loadsOf(16, 100, loadClients[2:]...)}},
	{"16 partitions, 1 KB", [][]loaded{loadsOf(16, 1024, loadClients[:2]...), loadsOf(16, 1024, loadClients[2:]...)}},
}

var loadClients = []string{"franz-go", "java-4.4", "kcat", "sarama"}

func loadsOf(partitions, size int, clients ...string) (all []loaded) {
	for _, client := range clients {
		all = append(all, loaded{client, partitions, size})
	}
	return all
}

// TestDocumentedLimits: clients with their default settings write a little more
// than DIS takes by its documents. It gets at least 95 % of that, of which it need
// refuse nothing; the clients see no error; every record is there once; and a
// consumer group of the same gateway notices nothing.
func TestDocumentedLimits(t *testing.T) {
	length := loadLength(t)
	for _, round := range loadRounds {
		t.Run(round.name, func(t *testing.T) {
			for i, loads := range round.gateways {
				t.Run("gateway "+strconv.Itoa(i+1), func(t *testing.T) { loadGateway(t, loads, length) })
			}
		})
	}
}

// loadGateway loads the streams of one gateway.
func loadGateway(t *testing.T, loads []loaded, length time.Duration) {
	endpoint := startEmbeddedDIS(t, "--limits", "documented")
	gateway := startServeAt(t, endpoint, nil, "--topic-admin", "create")
	gateway.waitReady(t)
	store := disClientAt(t, endpoint)
	programs := make([]*clientProgram, len(loads))
	for i, l := range loads {
		createTopic(t, gateway.kafka, l.stream(), int32(l.partitions))
		programs[i] = startLoader(t, l.client)
	}
	watch := watchGroup(t, gateway.kafka)
	var clients sync.WaitGroup
	for i, l := range loads {
		clients.Go(func() { l.run(t, gateway.kafka, store, programs[i], length) })
	}
	clients.Wait()
	watch.check(slowestGroupAnswer)
	if refused := gateway.metric(t, "kdg_throttled_records_total"); refused != 0 {
		t.Errorf("DIS throttled %d records", refused)
	}
	t.Logf("%d batches were paced", gateway.metric(t, "kdg_paced_batches_total"))
}

func startLoader(t *testing.T, client string) *clientProgram {
	t.Helper()
	for _, c := range matrixClients {
		if c.name != client {
			continue
		}
		program, args := c.program(t, client)
		running, err := startClientProgram(t, client, program, args...)
		if err != nil {
			t.Fatal(err)
		}
		return running
	}
	t.Fatalf("no client %s", client)
	return nil
}

// run loads the stream and checks what came of it.
func (l loaded) run(t *testing.T, kafka string, store *dis.Client, program *clientProgram, length time.Duration) {
	share := make(chan float64, 1)
	go func() { share <- l.share(t, store, length) }()
	printed := program.do(t, length+2*time.Minute, "load", "--bootstrap", kafka, "--topic", l.stream(),
		"--size", strconv.Itoa(l.size), "--rate", strconv.Itoa(int(offered*l.documented())), "--seconds", strconv.Itoa(int(length.Seconds())))
	reached := <-share
	var acknowledged int64
	for _, line := range printed {
		if _, err := fmt.Sscanf(line, "acknowledged %d", &acknowledged); err != nil {
			t.Errorf("%s: %.300s", l.stream(), line)
		}
	}
	stored, _ := l.stored(t, store)
	if stored != acknowledged {
		t.Errorf("%s: %d records stored, %d acknowledged", l.stream(), stored, acknowledged)
	}
	if reached < leastShare {
		goal(t, "%s: %.4f of the documented throughput, want %.2f", l.stream(), reached, leastShare)
	}
	t.Logf("%-20s %.4f of the documented throughput, %d records", l.stream(), reached, acknowledged)
}

// share is how much of what DIS takes it got while the load was on.
func (l loaded) share(t *testing.T, store *dis.Client, length time.Duration) float64 {
	time.Sleep(settling)
	first, from := l.stored(t, store)
	time.Sleep(length - settling - time.Second)
	last, until := l.stored(t, store)
	return float64(last-first) / until.Sub(from).Seconds() / l.documented()
}

// stored is how many records the stream has.
func (l loaded) stored(t *testing.T, store *dis.Client) (records int64, at time.Time) {
	described, err := store.DescribeStream(t.Context(), l.stream())
	if err != nil {
		t.Errorf("%s: %v", l.stream(), err)
		return 0, time.Now()
	}
	for _, p := range described.Partitions {
		if p.SequenceNumberRange == nil {
			t.Errorf("%s: partition %s is gone", l.stream(), p.PartitionID)
			continue
		}
		bounds, err := wire.ParseSequenceRange(*p.SequenceNumberRange)
		if err != nil {
			t.Errorf("%s: %v", l.stream(), err)
		}
		records += bounds.Next
	}
	return records, time.Now()
}
