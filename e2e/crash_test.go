package e2e

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestCrash kills dev with -9 in the middle of producing, starts it again on
// the same data and checks what was promised: every acknowledged record is
// there, once, in order, and so are the committed offsets.
func TestCrash(t *testing.T) {
	t.Parallel()
	const count, partitions, killAfter = 100_000, 4, 30_000
	dataDir := t.TempDir()
	d := startDevOn(t, "127.0.0.1:0", dataDir, "--topic", fmt.Sprintf("t:%d", partitions))

	before := newSending(t, d.kafka, "before", partitions)
	before.start(count)
	before.waitForAcks(killAfter)
	committed := commitSome(t, d.kafka, partitions)
	before.waitForAcks(killAfter + 5000)
	d.kill()
	before.stop()
	if acked := before.acked(); acked == count {
		t.Fatal("everything was acknowledged before the crash: nothing was tested")
	}

	d = startDevOn(t, d.kafka, dataDir)
	after := newSending(t, d.kafka, "after", partitions)
	rest := count - before.acked()
	after.start(rest)
	after.waitForAcks(rest)

	found := readAll(t, d.kafka, partitions)
	before.check(found)
	after.check(found)
	if got := committedOffsets(t, d.kafka); !maps.Equal(got, committed) {
		t.Errorf("committed offsets after the crash: %v, want %v", got, committed)
	}
}

// sending is one producer that numbers its records per partition and notes
// which were acknowledged, and at which offset.
type sending struct {
	t          *testing.T
	name       string
	partitions int
	client     *kgo.Client

	mu      sync.Mutex
	offsets map[string]int64 // acknowledged value -> offset
	changed chan struct{}
}

func newSending(t *testing.T, broker, name string, partitions int, options ...kgo.Opt) *sending {
	options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MaxBufferedRecords(20_000))
	return &sending{
		t: t, name: name, partitions: partitions,
		client:  newFranz(t, broker, options...),
		offsets: map[string]int64{}, changed: make(chan struct{}, 1),
	}
}

// start produces count records in the background.
func (s *sending) start(count int) {
	go func() {
		for i := range count {
			partition := i % s.partitions
			value := fmt.Sprintf("%s %d %d", s.name, partition, i/s.partitions)
			record := &kgo.Record{Topic: "t", Partition: int32(partition), Value: []byte(value)}
			s.client.Produce(context.Background(), record, s.note)
		}
	}()
}

func (s *sending) note(record *kgo.Record, err error) {
	if err != nil {
		return
	}
	s.mu.Lock()
	s.offsets[string(record.Value)] = record.Offset
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *sending) acked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.offsets)
}

func (s *sending) waitForAcks(count int) {
	s.t.Helper()
	deadline := time.After(90 * time.Second)
	for s.acked() < count {
		select {
		case <-s.changed:
		case <-deadline:
			s.t.Fatalf("producer %s: only %d of %d records were acknowledged", s.name, s.acked(), count)
		}
	}
}

// stop ends the producer with what it has: nothing is sent after it.
func (s *sending) stop() { s.client.Close() }

// check compares what was acknowledged with what is stored.
func (s *sending) check(found map[string][]place) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for value, offset := range s.offsets {
		places := found[value]
		if len(places) != 1 {
			s.t.Fatalf("acknowledged record %q is there %d times: %v", value, len(places), places)
		}
		if offset >= 0 && places[0].offset != offset {
			s.t.Fatalf("record %q was acknowledged at offset %d and is at %d", value, offset, places[0].offset)
		}
	}
	s.checkOrder(found)
}

// checkOrder: the records of a partition stand in the order of their numbers,
// the unacknowledged ones among them included.
func (s *sending) checkOrder(found map[string][]place) {
	s.t.Helper()
	last := make([]int64, s.partitions)
	missing := make([]bool, s.partitions)
	for i := range len(found) + s.partitions {
		partition := i % s.partitions
		value := fmt.Sprintf("%s %d %d", s.name, partition, i/s.partitions)
		places := found[value]
		switch {
		case len(places) == 0:
			missing[partition] = true
		case missing[partition]:
			s.t.Fatalf("record %q is there, one before it is not", value)
		case i >= s.partitions && places[0].offset <= last[partition]:
			s.t.Fatalf("record %q stands before its predecessor", value)
		default:
			last[partition] = places[0].offset
		}
	}
}

type place struct {
	partition int32
	offset    int64
}

// readAll reads the topic from start to end: where each value stands.
func readAll(t *testing.T, broker string, partitions int) map[string][]place {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	ends, err := kadm.NewClient(newFranz(t, broker)).ListEndOffsets(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	left := int64(0)
	ends.Each(func(o kadm.ListedOffset) { left += o.Offset })
	client := newFranz(t, broker, kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	found := map[string][]place{}
	next := make([]int64, partitions)
	for left > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d records before the end: %v", left, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset != next[r.Partition] {
				t.Fatalf("partition %d: offset %d where %d was due", r.Partition, r.Offset, next[r.Partition])
			}
			next[r.Partition]++
			left--
			found[string(r.Value)] = append(found[string(r.Value)], place{r.Partition, r.Offset})
		})
	}
	return found
}

// commitSome commits an offset for every partition, as a group would.
func commitSome(t *testing.T, broker string, partitions int) map[int32]int64 {
	t.Helper()
	committed := map[int32]int64{}
	offsets := make(kadm.Offsets)
	for p := range int32(partitions) {
		committed[p] = int64(100 + p)
		offsets.AddOffset("t", p, committed[p], -1)
	}
	if err := kadm.NewClient(newFranz(t, broker)).CommitAllOffsets(t.Context(), "group", offsets); err != nil {
		t.Fatalf("committing: %v", err)
	}
	return committed
}

func committedOffsets(t *testing.T, broker string) map[int32]int64 {
	t.Helper()
	answer, err := kadm.NewClient(newFranz(t, broker)).FetchOffsets(t.Context(), "group")
	if err != nil {
		t.Fatal(err)
	}
	committed := map[int32]int64{}
	for partition, offset := range answer["t"] {
		committed[partition] = offset.At
	}
	return committed
}
