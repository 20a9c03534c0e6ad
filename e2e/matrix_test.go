package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

const (
	matrixRecords    = 75
	matrixPartitions = 3
	matrixTimeout    = 90 * time.Second
)

// matrix is one gateway that every client writes to and reads from.
type matrix struct {
	owner    *testing.T
	gateway  *dev
	mu       sync.Mutex
	programs map[string]*clientProgram
	written  map[string][]line // by topic, as the producers tell it
}

// TestMatrix: what any client has written with any codec, any client reads:
// partition, offset, key, value, headers and their order, timestamp. Every client
// writes one topic for each of its codecs, then every client reads them all, from
// a gateway for each codec of fetches.
func TestMatrix(t *testing.T) {
	t.Parallel()
	m := &matrix{owner: t, gateway: startDev(t, "--auto-create-topics=false"),
		programs: map[string]*clientProgram{}, written: map[string][]line{}}
	t.Run("produce", func(t *testing.T) {
		for i, client := range matrixClients {
			t.Run(client.name, func(t *testing.T) {
				t.Parallel()
				m.produce(t, client, i)
			})
		}
	})
	if len(m.written) == 0 {
		t.Fatal("nothing was written")
	}
	m.checkEnds(t)
	// The records as one client read them, compared with what the producers told,
	// are what the other clients must read.
	stored := m.consume(t, matrixClients[0], m.gateway.kafka)
	m.compareWithWritten(t, stored)
	for _, codec := range allCodecs {
		gateway := startServeAt(t, m.gateway.dis, nil, "--fetch-compression", codec)
		m.everyClient(t, "consume in "+codec, func(t *testing.T, client matrixClient) {
			compareWithStored(t, client, stored, m.consume(t, client, gateway.kafka))
		})
	}
	m.everyClient(t, "largest", m.largest)
}

// everyClient runs a subtest with every client that is there.
func (m *matrix) everyClient(t *testing.T, name string, test func(*testing.T, matrixClient)) {
	t.Run(name, func(t *testing.T) {
		for _, client := range matrixClients {
			t.Run(client.name, func(t *testing.T) {
				t.Parallel()
				if m.programs[client.name] == nil {
					t.Skip("it is missing, or did not write")
				}
				test(t, client)
			})
		}
	})
}

// produce starts a client, which runs until the test ends, and lets it write.
func (m *matrix) produce(t *testing.T, client matrixClient, number int) {
	path, args := client.program(t, client.name)
	program, err := startClientProgram(m.owner, client.name, path, args...)
	if err != nil {
		t.Fatal(err)
	}
	for i, codec := range client.codecs {
		topic, seed := client.topic(codec), int64(100*number+i)
		createTopic(t, m.gateway.kafka, topic, matrixPartitions)
		printed := program.do(t, matrixTimeout, "produce", "--bootstrap", m.gateway.kafka, "--topic", topic, "--codec", codec,
			"--seed", fmt.Sprint(seed), "--count", fmt.Sprint(matrixRecords), "--partitions", fmt.Sprint(matrixPartitions))
		written := parseLines(t, printed)
		checkSeed(t, client, topic, seed, matrixRecords, matrixPartitions, written)
		m.mu.Lock()
		m.written[topic] = byTopic(written)[topic]
		m.mu.Unlock()
	}
	m.mu.Lock()
	m.programs[client.name] = program
	m.mu.Unlock()
}

// checkSeed: a producer wrote the records of its seed, but for those it cannot.
// Some write them in an order of their own.
func checkSeed(t *testing.T, client matrixClient, topic string, seed int64, count, partitions int, written []line) {
	t.Helper()
	var want, got []line
	for _, r := range records.Generate(seed, count, partitions) {
		if client.writes != nil && !client.writes(r) {
			continue
		}
		r.Topic = topic
		l, err := parseLine(r.Line())
		if err != nil {
			t.Fatal(err)
		}
		if len(written) > 0 {
			l = l.asToldBy(written[0])
		}
		if client.shows != nil {
			l = client.shows(l)
		}
		l.offset = untold
		want = append(want, l)
	}
	for _, l := range written {
		if client.shows != nil {
			l = client.shows(l)
		}
		l.offset = untold
		got = append(got, l)
	}
	compare := func(a, b line) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(want, compare)
	slices.SortFunc(got, compare)
	sameLines(t, "written to "+topic, want, got)
}

// checkEnds: the partitions hold what was written, and no more.
func (m *matrix) checkEnds(t *testing.T) {
	t.Helper()
	offsets, err := kadm.NewClient(newFranz(t, m.gateway.kafka)).ListEndOffsets(t.Context(), slices.Collect(maps.Keys(m.written))...)
	if err != nil {
		t.Fatal(err)
	}
	for topic, written := range m.written {
		var stored int64
		for _, partition := range offsets[topic] {
			stored += partition.Offset
		}
		if stored != int64(len(written)) {
			t.Errorf("%s holds %d records, %d were written", topic, stored, len(written))
		}
	}
}

// consume lets a client read all topics from a gateway.
func (m *matrix) consume(t *testing.T, client matrixClient, gateway string) map[string][]line {
	t.Helper()
	count := 0
	for _, written := range m.written {
		count += len(written)
	}
	begin := time.Now()
	printed := m.programs[client.name].do(t, matrixTimeout, "consume", "--bootstrap", gateway,
		"--topic", strings.Join(slices.Sorted(maps.Keys(m.written)), ","), "--count", strconv.Itoa(count))
	read := parseLines(t, printed)
	t.Logf("%d records in %s", len(read), time.Since(begin).Round(time.Millisecond))
	return byTopic(read)
}

// compareWithWritten: the records are those that the producers wrote, in their
// order, at the offsets that they were told.
func (m *matrix) compareWithWritten(t *testing.T, stored map[string][]line) {
	t.Helper()
	for topic, written := range m.written {
		got := slices.Clone(stored[topic])
		for i := range min(len(got), len(written)) {
			got[i] = got[i].asToldBy(written[i])
		}
		sameLines(t, "read from "+topic, written, got)
		t.Logf("%s: %d records, SHA-256 %s", topic, len(got), digest(got))
	}
}

// compareWithStored: a client read what the first one did, as far as it shows it.
func compareWithStored(t *testing.T, client matrixClient, stored, read map[string][]line) {
	t.Helper()
	for topic, want := range stored {
		if client.shows != nil {
			want = slices.Clone(want)
			for i := range want {
				want[i] = client.shows(want[i])
			}
		}
		sameLines(t, "read from "+topic, want, read[topic])
	}
}

// largest: a record of exactly the largest size passes with every codec of the
// client. One byte more is refused, which the client reports soon, and what it
// writes next passes.
func (m *matrix) largest(t *testing.T, client matrixClient) {
	const largest = 1 << 20
	topic := client.topic("largest")
	createTopic(t, m.gateway.kafka, topic, 1)
	for _, codec := range client.codecs {
		for _, size := range []int{largest, largest + 1, 1} {
			printed := m.programs[client.name].do(t, 20*time.Second, "produce", "--bootstrap", m.gateway.kafka,
				"--topic", topic, "--codec", codec, "--size", strconv.Itoa(size))
			if len(printed) != 1 {
				t.Fatalf("%d bytes in %s: printed %q", size, codec, printed)
			}
			if size > largest {
				if !tooLarge.MatchString(printed[0]) {
					t.Errorf("%d bytes in %s: %s", size, codec, printed[0])
				}
			} else if !strings.HasPrefix(printed[0], "record ") {
				t.Errorf("%d bytes in %s: %s", size, codec, printed[0])
			}
		}
	}
	offsets, err := kadm.NewClient(newFranz(t, m.gateway.kafka)).ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if end, _ := offsets.Lookup(topic, 0); end.Offset != int64(2*len(client.codecs)) {
		t.Errorf("%d records are stored, want %d", end.Offset, 2*len(client.codecs))
	}
}

// tooLarge is how the clients report that a record is too large.
var tooLarge = regexp.MustCompile(`(?i)^refused .*(too.?large|larger than)`)
