package produce

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"pgregory.net/rapid"
)

// retiredInTheMiddle is a rig in which DIS stores all of partition 3 but the records at
// some places, which it throttles, and then retires the partition.
func retiredInTheMiddle(t *testing.T, throttledOnes ...int) (r *rig, before, after *translate.Topic) {
	r = newRig(t, nil)
	old := wire.Text(wire.PartitionID(3))
	calls := 0
	r.dis.script = func(_ int, put *wire.PutRecordsRequest) fate {
		if put.Records[0].PartitionID != old {
			return fate{}
		}
		if calls++; calls == 1 {
			return throttled(throttledOnes...)
		}
		return refusing(wire.CodePartitionNotFound, from(0, len(put.Records)-1)...)
	}
	after = newTopic("orders", 4)
	after.Partitions[3].Status = wire.PartitionDeleted
	return r, r.topic, after
}

// A partition is retired when a part of a batch is stored. Its producer is told to try
// again, as it must be to learn of it, and an idempotent one gets the rest stored alone.
func TestTheRestOfABatchIsStoredAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, before, after := retiredInTheMiddle(t, 1, 3)
		send := func(topic *translate.Topic, sequence int32, values ...string) *answered {
			return r.submit(Batch{Topic: topic, Partition: 3, Records: sequencedBatch(t, 77, 0, sequence, values...)})
		}
		send(before, 5, "a", "b", "c", "d").want(3, -1)
		r.wantContents(3, "a", "c")
		for range 2 { // and a repeat of that
			send(after, 5, "a", "b", "c", "d").want(0, -1)
		}
		send(after, 9, "e").want(0, -1)
		r.wantContents(3, "a", "c")
		r.wantContents(0, "b", "d", "e")
		if m := r.engine.Metrics(); m.AmbiguousResentRecords != 0 || m.MovedRecords != 3 {
			t.Errorf("%d records counted as doubled, %d as moved", m.AmbiguousResentRecords, m.MovedRecords)
		}
	})
}

// What cannot be told from a new batch is stored as a whole, and counted: of a producer
// that is not idempotent, of a new epoch, and another batch in the place of the first.
func TestAWholeBatchBehindAPartIsCounted(t *testing.T) {
	for name, again := range map[string]func(t *testing.T) []byte{
		"plain":       func(t *testing.T) []byte { return plain(t, "a", "b", "c") },
		"a new epoch": func(t *testing.T) []byte { return sequencedBatch(t, 77, 1, 0, "a", "b", "c") },
		"another":     func(t *testing.T) []byte { return sequencedBatch(t, 77, 0, 5, "a", "b", "c", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, before, after := retiredInTheMiddle(t, 1)
				first := sequencedBatch(t, 77, 0, 5, "a", "b", "c")
				if name == "plain" {
					first = again(t)
				}
				r.submit(Batch{Topic: before, Partition: 3, Records: first}).want(3, -1)
				r.wantContents(3, "a", "c")
				r.submit(Batch{Topic: after, Partition: 3, Records: again(t)}).want(0, -1)
				if got := r.dis.contents(r.topic, 0); !slices.Equal(got[:3], []string{"a", "b", "c"}) {
					t.Errorf("partition 0 holds %q", got)
				}
				if m := r.engine.Metrics(); m.AmbiguousResentRecords != 2 {
					t.Errorf("%d records counted as doubled, want 2", m.AmbiguousResentRecords)
				}
			})
		})
	}
}

// A part is kept while tries fail without DIS, for as many batches as may be in flight.
func TestPartsAreKeptAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, before, after := retiredInTheMiddle(t, 1)
		send := func(topic *translate.Topic, timeout time.Duration) *answered {
			return r.submit(Batch{Topic: topic, Partition: 3, Timeout: timeout, Records: sequencedBatch(t, 77, 0, 5, "a", "b")})
		}
		send(before, time.Minute).want(3, -1)
		blocked := r.dis.script
		r.dis.script = func(call int, put *wire.PutRecordsRequest) fate { return fate{wait: 5 * time.Second} }
		blocker := r.submit(Batch{Topic: after, Partition: 0, Records: plain(t, "blocker")})
		synctest.Wait()
		send(after, time.Second).want(7, -1) // 19 would say that nothing is in DIS
		blocker.want(0, 0)
		r.dis.script = blocked
		send(after, time.Minute).want(0, -1)
		r.wantContents(0, "blocker", "b")

		p := &producer{}
		r.engine.window.producers[p.key] = p
		for i := range 2 * windowBatches {
			b := &pending{id: batchID{base: int32(i)}, owner: p, partition: &partition{stream: &stream{engine: r.engine}}, stored: 1, refusal: &Result{Code: 3}}
			b.leavePart()
		}
		if len(p.parts) != windowBatches || r.engine.Metrics().AmbiguousResentRecords != windowBatches {
			t.Errorf("%d parts are kept, %d records counted", len(p.parts), r.engine.Metrics().AmbiguousResentRecords)
		}
	})
}

func TestIndexes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set indexes
		want := map[int]bool{}
		for _, i := range rapid.Permutation(from(0, 9)).Draw(t, "order")[:rapid.IntRange(0, 10).Draw(t, "count")] {
			set.add(i)
			want[i] = true
		}
		for i := range 11 {
			if set.have(i) != want[i] {
				t.Fatalf("%d: %v in %+v", i, set.have(i), set)
			}
		}
		if len(want) == set.before && len(set.beyond) > 0 {
			t.Fatalf("%+v keeps more than it needs", set)
		}
	})
}
