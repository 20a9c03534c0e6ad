package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// settled counts for every value in how many reads of the member an acknowledged
// commit of its own followed before it lost the partition. Over all members of a
// group that is one for every record: none means that it was lost, two that a
// record was repeated although it was committed. What a member reads after its
// last commit may be read again.
func settled(entries []string) map[string]int {
	type read struct {
		offset int64
		value  string
	}
	counts := map[string]int{}
	open := map[string][]read{}
	for _, entry := range entries {
		words := strings.Fields(entry)
		switch words[0] {
		case "assigned":
			kept := map[string][]read{}
			for _, p := range words[1:] {
				kept[p] = open[p]
			}
			open = kept
		case "record":
			p := words[1] + "/" + words[2]
			open[p] = append(open[p], read{number(words[3]), words[4]})
		case "committed":
			p := words[1] + "/" + words[2]
			var later []read
			for _, r := range open[p] {
				if r.offset < number(words[3]) {
					counts[r.value]++
				} else {
					later = append(later, r)
				}
			}
			open[p] = later
		}
	}
	return counts
}

// tried tells which values a member has read and then tried to commit, without an
// answer that says whether it is stored: a client that gives up its connection does
// not wait for one.
func tried(entries []string) map[string]bool {
	values := map[string]bool{}
	read := map[string]map[int64]string{}
	for _, entry := range entries {
		words := strings.Fields(entry)
		if len(words) < 4 || words[0] == "assigned" {
			continue
		}
		p, offset := words[1]+"/"+words[2], number(words[3])
		switch words[0] {
		case "record":
			if read[p] == nil {
				read[p] = map[int64]string{}
			}
			read[p][offset] = words[4]
		case "uncommitted":
			if value, ok := read[p][offset-1]; ok {
				values[value] = true
			}
		}
	}
	return values
}

func TestTried(t *testing.T) {
	got := tried([]string{"assigned t/0 t/1", "record t 0 7 a", "committed t 0 8", "record t 0 8 b", "uncommitted t 0 9 REASON", "record t 1 8 c", "uncommitted t 1 8 REASON"})
	if len(got) != 1 || !got["b"] {
		t.Errorf("tried %v, want b alone", got)
	}
}

// number is an offset in a diary; one that is none comes before all others.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// waitForSettled waits until the group has read and committed every value from 0
// on; a record that was repeated after its commit fails the test.
func waitForSettled(t *testing.T, count int, members ...protocolMember) {
	t.Helper()
	waitForLedger(t, count, nil, members...)
}

// waitForSettledOrTried is waitForSettled for gateways that end: where a commit had no
// answer, the group may or may not read the record again.
func waitForSettledOrTried(t *testing.T, count int, members ...protocolMember) {
	t.Helper()
	waitForLedger(t, count, tried, members...)
}

func waitForLedger(t *testing.T, count int, tried func(entries []string) map[string]bool, members ...protocolMember) {
	t.Helper()
	eventually(t, rebalancePatience, "every record to be read and committed", func() string {
		all, reads := map[string]int{}, 0
		for _, m := range members {
			reads += len(m.values())
			for value, n := range settled(m.entries()) {
				all[value] += n
			}
		}
		for value, n := range all {
			if n > 1 {
				t.Fatalf("value %s was read and committed %d times:\n%s", value, n, mentions(value, members))
			}
		}
		unanswered := 0
		for _, m := range members {
			if tried == nil {
				break
			}
			for value := range tried(m.entries()) {
				if _, known := all[value]; !known {
					all[value] = 1
					unanswered++
				}
			}
		}
		if len(all) < count {
			for _, value := range numbers(0, count) {
				if all[value] == 0 {
					return fmt.Sprintf("%d of %d; not value %s:\n%s", len(all), count, value, mentions(value, members))
				}
			}
		}
		t.Logf("%d records, %d reads, %d commits without an answer", count, reads, unanswered)
		return ""
	})
}

// mentions are the reads of a value, with what the members wrote around them.
func mentions(value string, members []protocolMember) string {
	var found strings.Builder
	for i, m := range members {
		entries := m.entries()
		for at, entry := range entries {
			if strings.HasPrefix(entry, "record ") && strings.HasSuffix(entry, " "+value) {
				fmt.Fprintf(&found, "member %d:\n  %s\n", i, strings.Join(entries[max(0, at-5):min(len(entries), at+10)], "\n  "))
			}
		}
	}
	return found.String()
}

// checkNoLag: the group "g" has committed the end of every partition of topic "t".
func checkNoLag(t *testing.T, broker string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	admin := kadm.NewClient(newFranz(t, broker))
	committed, err := admin.FetchOffsets(ctx, "g")
	if err != nil {
		t.Fatal(err)
	}
	ends, err := admin.ListEndOffsets(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	ends.Each(func(end kadm.ListedOffset) {
		if at, ok := committed.Lookup(end.Topic, end.Partition); end.Err != nil || !ok || at.Err != nil || at.At != end.Offset {
			t.Errorf("partition %d ends at %d (%v), committed is %d (%v)", end.Partition, end.Offset, end.Err, at.At, at.Err)
		}
	})
}

// steadyLoad writes the values 0, 1, 2, ... over the partitions of a topic until
// it is stopped.
type steadyLoad struct {
	count int
	ended sync.WaitGroup
	quit  chan struct{}
}

// loadStep is the time between two records of a steadyLoad.
const loadStep = 10 * time.Millisecond

func startLoad(t *testing.T, broker, topic string, partitions int) *steadyLoad {
	t.Helper()
	client := newFranz(t, broker, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	load := &steadyLoad{quit: make(chan struct{})}
	load.ended.Go(func() {
		next := time.NewTicker(loadStep)
		defer next.Stop()
		for {
			select {
			case <-next.C:
				client.Produce(t.Context(), &kgo.Record{Topic: topic, Partition: int32(load.count % partitions), Value: []byte(strconv.Itoa(load.count))},
					func(_ *kgo.Record, err error) {
						if err != nil && t.Context().Err() == nil {
							t.Errorf("producing: %v", err)
						}
					})
				load.count++
			case <-t.Context().Done(): // the test has failed
				return
			case <-load.quit:
				if err := client.Flush(t.Context()); err != nil {
					t.Errorf("producing: %v", err)
				}
				return
			}
		}
	})
	t.Cleanup(func() { load.ended.Wait() })
	return load
}

// stop ends the load and returns how many records it wrote.
func (l *steadyLoad) stop() int {
	close(l.quit)
	l.ended.Wait()
	return l.count
}
