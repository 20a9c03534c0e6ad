package produce

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

func (r *rig) wantContents(partition int, want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.dis.contents(r.topic, partition)); diff != "" {
		r.t.Errorf("partition %d: %s", partition, diff)
	}
}

func TestBatchesAreWrittenInOrderAndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = 10 * time.Millisecond
		first := r.send(0, "a", "b")
		synctest.Wait()
		second, third := r.send(0, "c"), r.send(0, "d", "e")
		first.want(0, 0)
		second.want(0, 2)
		third.want(0, 3)
		r.wantContents(0, "a", "b", "c", "d", "e")
		if len(r.dis.requests) != 2 {
			t.Errorf("%d requests; want the first alone, the others together", len(r.dis.requests))
		}
	})
}

func TestRecordsAreEncodedForDIS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		raw := batchOf(t, record.CodecGzip, []record.Positioned{
			{Offset: 0, Record: record.Record{Key: []byte("k"), Value: []byte("v"), Timestamp: 5000}},
			{Offset: 1, Record: record.Record{Key: []byte("k"), Value: nil, Timestamp: record.NoTimestamp}},
		})
		arrival := time.Now().UnixMilli()
		r.submit(Batch{Partition: 2, Records: raw}).want(0, 0)
		stored := r.dis.stored["orders/shardId-0000000002"]
		if stored[0].data != "v" || *stored[0].key != "k" || stored[0].timestamp != 5000 {
			t.Errorf("first record %+v", stored[0])
		}
		back := record.DecodeDIS([]byte(stored[1].data), stored[1].key, stored[1].timestamp)
		want := record.Record{Key: []byte("k"), Timestamp: arrival}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("tombstone without a time: %s", diff)
		}
	})
}

func TestManyPartitionsShareARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.MaxInFlight = 1 })
		r.topic = newTopic("orders", 50)
		r.dis.latency = time.Millisecond
		blocker := r.send(49, "first")
		synctest.Wait()
		var all []*answered
		for p := range int32(40) {
			all = append(all, r.send(p, "x", "y"))
		}
		blocker.want(0, 0)
		for _, a := range all {
			a.want(0, 0)
		}
		if len(r.dis.requests) != 2 || len(r.dis.requests[1].partitions) != 40 {
			t.Errorf("%d requests, want all 40 partitions in the second", len(r.dis.requests))
		}
	})
}

func TestRequestsOfAStreamRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.MaxInFlight = 3 })
		r.topic = newTopic("orders", 10)
		r.dis.latency = time.Millisecond
		var all []*answered
		for p := range int32(10) {
			all = append(all, r.send(p, "x"))
			synctest.Wait()
		}
		for _, a := range all {
			a.want(0, 0)
		}
		if r.dis.highest != 3 {
			t.Errorf("%d requests at the same time, want 3", r.dis.highest)
		}
	})
}

func TestASlowStreamBlocksNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.script = func(_ int, put *wire.PutRecordsRequest) fate {
			if put.StreamName == "orders" {
				return fate{wait: 10 * time.Second}
			}
			return fate{}
		}
		slow := r.send(0, "x")
		synctest.Wait()
		quick := r.submit(Batch{Topic: newTopic("quick", 1), Records: plain(t, "y")})
		synctest.Wait()
		if quick.pending() || !slow.pending() {
			t.Error("the quick stream waited for the slow one")
		}
		slow.want(0, 0)
	})
}

func TestRequestLimits(t *testing.T) {
	big := strings.Repeat("x", 300<<10)
	for _, test := range []struct {
		name     string
		kind     wire.StreamType
		values   []string
		requests []int // records in each
	}{
		{"records", wire.StreamCommon, numbered("n", 2500), []int{1000, 1000, 500}},
		{"bytes of a common stream", wire.StreamCommon, slices.Repeat([]string{big}, 7), []int{3, 3, 1}},
		{"bytes of an advanced stream", wire.StreamAdvanced, slices.Repeat([]string{big}, 20), []int{17, 3}},
		{"the largest record", wire.StreamCommon, []string{"a", strings.Repeat("x", wire.MaxRecordBytes), "b"}, []int{1, 1, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.topic.StreamType = test.kind
				r.send(0, test.values...).want(0, 0)
				var got []int
				for _, request := range r.dis.requests {
					got = append(got, len(request.data))
				}
				if diff := cmp.Diff(test.requests, got); diff != "" {
					t.Error(diff)
				}
				r.wantContents(0, test.values...)
			})
		})
	}
}

func TestARecordTooLargeStopsItsBatchAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = time.Millisecond
		first := r.send(0, "first")
		synctest.Wait()
		large := r.send(0, "small", strings.Repeat("x", wire.MaxRecordBytes+1))
		last := r.send(0, "last")
		first.want(0, 0)
		large.want(10, -1)
		last.want(0, 1)
		r.wantContents(0, "first", "last")
	})
}

func TestBadBatchesAreAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		raw := plain(t, "x")
		raw[len(raw)-1] ^= 1
		r.submit(Batch{Records: raw}).want(2, -1)
		r.submit(Batch{Records: []byte{}}).want(87, -1)
		r.submit(Batch{Records: plain(t, "x"), Partition: 4}).want(3, -1)
		r.submit(Batch{Records: plain(t, "x"), Partition: -1}).want(3, -1)
		if len(r.dis.requests) != 0 {
			t.Errorf("%d requests", len(r.dis.requests))
		}
	})
}

func TestOnStoredComesBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(map[int32]int64)
		r := newRig(t, func(c *Config) {
			c.OnStored = func(_ *translate.Topic, partition int32, next int64) { told[partition] = next }
		})
		done := make(chan int64, 1)
		r.engine.Submit([]Batch{{Topic: r.topic, Partition: 3, Records: plain(t, "a", "b"), Version: 9}}, func(int, Result) { done <- told[3] })
		if next := <-done; next != 2 {
			t.Errorf("next is %d when the batch is acknowledged, want 2", next)
		}
	})
}

func TestRetiredPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.topic.Partitions[1].Status = wire.PartitionDeleted
		r.topic.Partitions[3].Status = wire.PartitionExpired
		r.send(1, "a").want(0, -1) // active are 0 and 2
		r.send(3, "b").want(0, -1)
		r.send(2, "c").want(0, 2)
		r.wantContents(2, "a", "b", "c")
		if m := r.engine.Metrics(); m.MovedBatches != 2 || m.MovedRecords != 2 {
			t.Errorf("%d batches with %d records counted as moved", m.MovedBatches, m.MovedRecords)
		}
		for i := range r.topic.Partitions {
			r.topic.Partitions[i].Status = wire.PartitionDeleted
		}
		r.send(0, "d").want(5, -1)
	})
}

// TestEachRetirementIsLogged once, however many batches it concerns.
func TestEachRetirementIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRig(t, func(c *Config) { c.Logger = zerolog.New(&log) })
		for retired := range 2 {
			r.topic.Partitions[1].Status = wire.PartitionDeleted
			r.send(1, "a").want(0, -1)
			r.send(1, "b").want(0, -1)
			if lines := strings.Count(log.String(), "partition was retired"); lines != retired+1 {
				t.Errorf("%d lines after %d retirements:\n%s", lines, retired+1, log.String())
			}
			r.topic.Partitions[1].Status = wire.PartitionActive
			r.send(1, "c").want(0, int64(retired))
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = time.Second
		started := r.send(0, "started")
		synctest.Wait()
		queued := r.send(0, "queued")
		if err := r.engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
		started.want(0, 0)
		queued.want(6, -1)
		r.send(1, "late").want(6, -1)
		r.wantContents(0, "started")
	})
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.script = func(int, *wire.PutRecordsRequest) fate { return fate{lose: errLost} }
		endless := r.send(0, "endless")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := r.engine.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		endless.want(7, -1)
	})
}

func TestUnknownErrorIsAnUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.script = func(call int, _ *wire.PutRecordsRequest) fate {
			if call == 1 {
				return fate{lose: &dis.Error{Operation: "PutRecords", HTTPStatus: 502}}
			}
			return fate{}
		}
		r.send(0, "a", "b").want(0, 2)
		r.wantContents(0, "a", "b", "a", "b")
		if n := r.engine.Metrics().AmbiguousResentRecords; n != 2 {
			t.Errorf("%d records counted, want 2", n)
		}
	})
}

// What DIS takes is decided by the data it gets, not by the record in its batch:
// the longest key is stored beside a value of the full size.
func TestLargestRecords(t *testing.T) {
	longest := strings.Repeat("𝄞", 256)
	for _, c := range []struct {
		name  string
		value int
		key   string
		code  int16
	}{
		{"value of the full size", wire.MaxRecordBytes, "", 0},
		{"with the longest key", wire.MaxRecordBytes, longest, 0},
		{"one byte more", wire.MaxRecordBytes + 1, "", 10},
		{"a key that needs the envelope", wire.MaxRecordBytes - 1024, longest + "x", 10},
		{"far too large", 5 << 20, "", 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			one := record.Record{Value: []byte(strings.Repeat("v", c.value)), Timestamp: 1}
			if c.key != "" {
				one.Key = []byte(c.key)
			}
			raw := batchOf(t, record.CodecLZ4, []record.Positioned{{Record: one}})
			if got := r.submit(Batch{Records: raw}).wait().Code; got != c.code {
				t.Errorf("%s: code %d, want %d", c.name, got, c.code)
			}
		})
	}
}

// What DIS acknowledged is counted for its topic, once, whatever became of the rest.
func TestStoredRecordsAreCountedByTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records, bytes int
		r := newRig(t, func(c *Config) {
			c.OnCounted = func(topic string, n, size int) {
				if topic != "orders" {
					t.Errorf("topic %q", topic)
				}
				records, bytes = records+n, bytes+size
			}
		})
		r.dis.script = func(call int, _ *wire.PutRecordsRequest) fate {
			if call == 1 {
				return fate{refuse: map[int]string{1: wire.CodeThrottled}}
			}
			return fate{}
		}
		r.send(0, "aa", "bbb").want(0, 0)
		if records != 2 || bytes != 5 {
			t.Errorf("%d records and %d bytes are counted, want 2 and 5", records, bytes)
		}
	})
}

// TestARepeatAfterClose gets what became of the batch, stored or on its way: to be told
// that it is not written would have its producer write it again elsewhere.
func TestARepeatAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.latency = time.Second
		id, epoch := r.engine.NewProducerID()
		send := func(sequence int32, value string) *answered {
			return r.submit(Batch{Records: sequencedBatch(t, id, epoch, sequence, value)})
		}
		send(0, "stored").want(0, 0)
		first := send(1, "on its way")
		synctest.Wait()
		closed := make(chan error)
		go func() { closed <- r.engine.Close(context.Background()) }()
		synctest.Wait()
		send(0, "stored").want(0, 0)
		repeat := send(1, "on its way")
		send(2, "new").want(kerr.NotLeaderForPartition.Code, -1)
		send(9, "out of order").want(kerr.NotLeaderForPartition.Code, -1)
		first.want(0, 1)
		repeat.want(0, 1)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		send(1, "on its way").want(0, 1)
		if got := r.dis.contents(r.topic, 0); len(got) != 2 {
			t.Errorf("stored %q", got)
		}
	})
}
