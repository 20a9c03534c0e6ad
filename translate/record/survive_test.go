package record_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// arrival is when the batches of these tests come.
const arrival = 1_750_000_000_000

// TestAnyBatchSurvives: what a producer of any format writes in any codec, and a
// consumer of any format reads in any codec from what DIS stored of it, is the
// same, as far as both formats can hold it. The Kafka side of the test is
// franz-go's. CI runs it with -rapid.checks=100000.
func TestAnyBatchSurvives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sent, want := drawProduced(t, rt)
		policy := record.Policy{
			Format:             record.Format(rapid.IntRange(0, 2).Draw(rt, "format")),
			EnvelopeTimestamps: rapid.Bool().Draw(rt, "timestamps in envelopes"),
			LogAppendTime:      rapid.Bool().Draw(rt, "log append time"),
		}
		var stored []record.Positioned
		offset := rapid.Int64Range(0, 1<<40).Draw(rt, "first offset")
		for i := range sent.Records {
			settled := settle(want[i], policy)
			r := sent.Records[i]
			policy.Settle(&r, arrival)
			if refused := policy.Refusal(&r) != ""; refused {
				if policy.Format != record.FormatReject {
					rt.Fatal("refused without a reason")
				}
				continue
			}
			back := throughDIS(rt, policy, &r)
			if diff := cmp.Diff(settled, back, byBytes); diff != "" {
				rt.Fatalf("record %d through DIS: %s", i, diff)
			}
			stored = append(stored, record.Positioned{Offset: offset, Record: back})
			offset += rapid.Int64Range(1, 3).Draw(rt, "step")
		}
		if len(stored) > 0 {
			checkConsumed(t, rt, stored, policy.LogAppendTime)
		}
	})
}

// drawProduced is what a producer sends, decoded, and what it means.
func drawProduced(t *testing.T, rt *rapid.T) (sent record.Batch, want []record.Record) {
	var raw []byte
	version := int16(11)
	if magic := rapid.Int8Range(0, 2).Draw(rt, "magic"); magic == 2 {
		want = rapid.SliceOfN(records(), 1, 8).Draw(rt, "records")
		raw = produced(t, rapid.SampledFrom(allCodecs).Draw(rt, "codec"), want, nil)
	} else {
		version = int16(magic) + 1
		for range rapid.IntRange(1, 3).Draw(rt, "parts of the set") { // of any format, as brokers take them
			part := heldBy(rapid.Int8Range(0, 1).Draw(rt, "magic of the part"), rapid.SliceOfN(records(), 1, 4).Draw(rt, "records"))
			number := rapid.SampledFrom([]func(int) int64{oneByOne, allZero}).Draw(rt, "offsets")
			raw = append(raw, producedSet(t, magicOf(part), rapid.SampledFrom(oldCodecs).Draw(rt, "codec"), part, number)...)
			want = append(want, part...)
		}
	}
	sent, err := record.DecodeBatch(raw, version, limits)
	if err != nil {
		rt.Fatal(err)
	}
	if diff := cmp.Diff(want, sent.Records, byBytes); diff != "" {
		rt.Fatalf("decoded: %s", diff)
	}
	return sent, want
}

// magicOf is the oldest format that holds the times of the records.
func magicOf(part []record.Record) int8 {
	for i := range part {
		if part[i].Timestamp != record.NoTimestamp {
			return 1
		}
	}
	return 0
}

// settle says what a policy keeps of a record, in the words of its
// documentation.
func settle(r record.Record, p record.Policy) record.Record {
	if r.Timestamp == record.NoTimestamp || p.LogAppendTime {
		r.Timestamp = arrival
	}
	if p.Format == record.FormatDropHeaders {
		r.Headers = nil
	}
	return r
}

// throughDIS stores a record and reads it again. A DIS of its own mind about
// times does no harm where the policy says so.
func throughDIS(rt *rapid.T, policy record.Policy, r *record.Record) record.Record {
	var s record.Stored
	policy.Encode(r, arrival, &s)
	if size := policy.Size(r); size != len(s.Data) || size == 0 {
		rt.Fatalf("Size says %d, the data has %d bytes", size, len(s.Data))
	}
	if s.Timestamp < 0 || s.Timestamp != r.Timestamp && r.Timestamp >= 0 {
		rt.Fatalf("DIS is given the time %d for %d", s.Timestamp, r.Timestamp)
	}
	if policy.Format == record.FormatReject && s.Enveloped && !policy.EnvelopeTimestamps {
		rt.Fatal("an envelope where the policy has none")
	}
	if policy.EnvelopeTimestamps {
		s.Timestamp = arrival + 5
	}
	var key *string
	if s.HasKey {
		key = &s.PartitionKey
	}
	return record.DecodeDIS(s.Data, key, s.Timestamp)
}

func checkConsumed(t *testing.T, rt *rapid.T, stored []record.Positioned, logAppendTime bool) {
	e := record.Encoding{LogAppendTime: logAppendTime}
	magic := rapid.Int8Range(0, 2).Draw(rt, "magic of the consumer")
	var got []record.Positioned
	if magic == 2 {
		e.Codec = rapid.SampledFrom(allCodecs).Draw(rt, "codec of the consumer")
		out, err := e.AppendBatch(nil, stored)
		if err != nil {
			rt.Fatal(err)
		}
		got, _ = consumed(t, out)
		again, rest, err := record.ReadBatch(out)
		if err != nil || len(rest) != 0 {
			rt.Fatalf("ReadBatch leaves %d bytes, error %v", len(rest), err)
		}
		if diff := cmp.Diff(stored, again, byBytes); diff != "" {
			rt.Fatalf("ReadBatch: %s", diff)
		}
	} else {
		e.Codec = rapid.SampledFrom(allCodecs).Draw(rt, "codec of the consumer")
		out, err := e.AppendMessageSet(nil, magic, stored)
		if err != nil {
			rt.Fatal(err)
		}
		got = consumedSet(t, out)
	}
	want := make([]record.Positioned, len(stored))
	for i := range stored {
		want[i] = record.Positioned{Offset: stored[i].Offset, Record: heldBy(magic, []record.Record{stored[i].Record})[0]}
	}
	if diff := cmp.Diff(want, got, byBytes); diff != "" {
		rt.Fatalf("consumed: %s", diff)
	}
}

// timestamps are of all kinds that the wire can carry, also those that no clock
// shows.
func timestamps() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(1_600_000_000_000, 1_800_000_000_000),
		rapid.SampledFrom([]int64{record.NoTimestamp, 0, 1, -2, math.MaxInt64, math.MinInt64}),
		rapid.Int64(),
	)
}
