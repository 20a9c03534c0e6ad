package oracle

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// badBatchScenarios: what is no proper batch is refused, with the code that
// Kafka has for it, and nothing of it is stored.
var badBatchScenarios = []Scenario{
	{"batch-headers", "headers of batches that do not tell the truth", batchHeaders},
	{"batch-offsets", "offset deltas and counts that do not fit", batchOffsets},
	{"batch-framing", "batches that are cut off, too long, several or none", batchFraming},
	{"batch-records", "records that are broken inside a batch with a right checksum", batchRecords},
	{"batch-codecs", "codecs that do not exist, do not fit the version or the data", batchCodecs},
	{"batch-neighbours", "a bad batch does not disturb the other partitions of its request", batchNeighbours},
}

// attempts produces one batch after another, each in a partition of its own, and
// shows what came of each: the answer, and what is stored.
func attempts(r *Run, batches []attempt, edit ...func(*kmsg.ProduceRequest)) {
	r.Topic("t", len(batches))
	c := r.Conn("c")
	for i, a := range batches {
		c.Attempt(a.label, "t", int32(i), a.batch, edit...)
	}
}

type attempt struct {
	label string
	batch Batch
}

func edited(edit func(*kmsg.RecordBatch)) Batch {
	b := Values("a", "b")
	b.Edit = edit
	return b
}

func spoiled(spoil func([]byte) []byte) Batch {
	b := Values("a", "b")
	b.Spoil = spoil
	return b
}

func batchHeaders(r *Run) {
	const logAppend, transactional, control, deleteHorizon = 0x08, 0x10, 0x20, 0x40
	attribute := func(bits int16) Batch { return edited(func(b *kmsg.RecordBatch) { b.Attributes |= bits }) }
	id := int64(4711)
	attempts(r, []attempt{
		{"a wrong checksum", edited(func(b *kmsg.RecordBatch) { b.CRC = 0x01020304 })},
		{"a changed byte", spoiled(func(raw []byte) []byte { raw[len(raw)-2] ^= 1; return raw })},
		{"magic 0", edited(func(b *kmsg.RecordBatch) { b.Magic = 0 })},
		{"magic 1", edited(func(b *kmsg.RecordBatch) { b.Magic = 1 })},
		{"magic 3", edited(func(b *kmsg.RecordBatch) { b.Magic = 3 })},
		{"magic -1", edited(func(b *kmsg.RecordBatch) { b.Magic = -1 })},
		{"log append time", attribute(logAppend)},
		{"a control batch", attribute(control)},
		{"a transactional batch without a producer", attribute(transactional)},
		{"a delete horizon", attribute(deleteHorizon)},
		{"an unknown attribute", attribute(0x100)},
		{"a base offset that is not 0", edited(func(b *kmsg.RecordBatch) { b.FirstOffset = 77 })},
		{"a leader epoch", edited(func(b *kmsg.RecordBatch) { b.PartitionLeaderEpoch = 5 })},
		{"a largest time that is none of its records", edited(func(b *kmsg.RecordBatch) { b.MaxTimestamp += 1000 })},
		{"a producer id without an epoch", edited(func(b *kmsg.RecordBatch) { b.ProducerID = id; b.FirstSequence = 0 })},
		{"a producer id without a sequence", edited(func(b *kmsg.RecordBatch) { b.ProducerID = id; b.ProducerEpoch = 0 })},
		{"a sequence without a producer id", edited(func(b *kmsg.RecordBatch) { b.FirstSequence = 3 })},
	})
}

func batchOffsets(r *Run) {
	deltas := func(deltas ...int32) Batch {
		b := Values("a", "b", "c")
		b.Deltas = deltas
		return b
	}
	last := func(delta int32) Batch { return edited(func(b *kmsg.RecordBatch) { b.LastOffsetDelta = delta }) }
	count := func(n int32) Batch { return edited(func(b *kmsg.RecordBatch) { b.NumRecords = n }) }
	both := func(n int32) Batch {
		return edited(func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = n, n-1 })
	}
	attempts(r, []attempt{
		{"all deltas 0", deltas(0, 0, 0)},
		{"deltas with a gap", deltas(0, 1, 3)},
		{"deltas from 1", deltas(1, 2, 3)},
		{"deltas backwards", deltas(2, 1, 0)},
		{"negative deltas", deltas(-1, 0, 1)},
		{"a last delta that is too small", last(0)},
		{"a last delta that is too large", last(2)},
		{"a negative last delta", last(-1)},
		{"a count that is too small", count(1)},
		{"a count that is too large", count(3)},
		{"a count of 0", count(0)},
		{"a negative count", count(-1)},
		{"a count and last delta that are too small", both(1)},
		{"a count and last delta that are too large", both(3)},
		{"a count and last delta of millions", both(5_000_000)},
		{"no records", Batch{}},
	})
}

func batchFraming(r *Run) {
	length := func(by int) Batch {
		return spoiled(func(raw []byte) []byte {
			binary.BigEndian.PutUint32(raw[8:], uint32(int(binary.BigEndian.Uint32(raw[8:]))+by))
			return raw
		})
	}
	cut := func(left int) Batch { return spoiled(func(raw []byte) []byte { return raw[:left] }) }
	attempts(r, []attempt{
		{"a length beyond the end", length(1)},
		{"a length before the end", length(-1)},
		{"a negative length", spoiled(func(raw []byte) []byte { binary.BigEndian.PutUint32(raw[8:], 0xffffffff); return raw })},
		{"the last byte missing", spoiled(func(raw []byte) []byte { return raw[:len(raw)-1] })},
		{"half a header", cut(30)},
		{"up to the magic", cut(17)},
		{"offset and length alone", cut(12)},
		{"a single byte", cut(1)},
		{"no bytes", cut(0)},
		{"two batches", spoiled(func(raw []byte) []byte { return append(raw, Values("c").Bytes()...) })},
		{"a batch and half of another", spoiled(func(raw []byte) []byte { return append(raw, Values("c").Bytes()[:40]...) })},
		{"a batch and three bytes", spoiled(func(raw []byte) []byte { return append(raw, 1, 2, 3) })},
	})
	c := r.Conn("null")
	null := c.Begin("", r.ProduceRequest("t", 0, nil))
	r.Note("null in place of records", "answered: %t", !null.Waits(2*time.Second))
}

func batchRecords(r *Run) {
	records := func(count int32, payload ...byte) Batch {
		return Batch{Edit: func(b *kmsg.RecordBatch) { b.Records, b.NumRecords, b.LastOffsetDelta = payload, count, count-1 }}
	}
	// length, attributes, time delta, offset delta, key null, value null, no headers
	attempts(r, []attempt{
		{"a whole record", records(1, 12, 0, 0, 0, 1, 1, 0)},
		{"record attributes", records(1, 12, 0xff, 0, 0, 1, 1, 0)},
		{"a record that is cut off", records(1, 12, 0, 0, 0, 1, 1)},
		{"a record that says it is longer", records(1, 14, 0, 0, 0, 1, 1, 0)},
		{"a record that says it is shorter", records(1, 10, 0, 0, 0, 1, 1, 0)},
		{"a record of a negative length", records(1, 1, 0, 0, 0, 1, 1, 0)},
		{"bytes after the last record", records(1, 12, 0, 0, 0, 1, 1, 0, 9, 9)},
		{"bytes after the headers of a record", records(1, 14, 0, 0, 0, 1, 1, 0, 0)},
		{"a key of a length beyond the record", records(1, 12, 0, 0, 0, 100, 1, 0)},
		{"a key of length -2", records(1, 12, 0, 0, 0, 3, 1, 0)},
		{"a value of length -2", records(1, 12, 0, 0, 0, 1, 3, 0)},
		{"a negative number of headers", records(1, 12, 0, 0, 0, 1, 1, 1)},
		{"more headers than there are", records(1, 12, 0, 0, 0, 1, 1, 100)},
		{"a header without a name", records(1, 16, 0, 0, 0, 1, 1, 2, 1, 1)},
		{"a header name that is no UTF-8", records(1, 18, 0, 0, 0, 1, 1, 2, 2, 0xff, 1)},
		{"a varint without end", records(1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)},
	})
}

func batchCodecs(r *Run) {
	const zstdPartitions = 3
	var batches []attempt
	for _, codec := range []int16{5, 6, 7} {
		batches = append(batches, attempt{fmt.Sprintf("codec %d", codec), edited(func(b *kmsg.RecordBatch) { b.Attributes |= codec })})
	}
	for _, codec := range compressions[1:] {
		batches = append(batches, attempt{"plain records that say " + codec.name, edited(func(b *kmsg.RecordBatch) { b.Attributes |= int16(codec.codec) })})
		cut := Values("some", "records", "to cut off", "in the middle of the compressed bytes")
		cut.Codec = codec.codec
		cut.Edit = func(b *kmsg.RecordBatch) { b.Records = b.Records[:len(b.Records)/2] }
		batches = append(batches, attempt{codec.name + " that is cut off", cut})
		cut.Edit = func(b *kmsg.RecordBatch) { b.Records = nil }
		batches = append(batches, attempt{codec.name + " of no bytes", cut})
		cut.Edit = nil
		cut.Deltas = []int32{1, 2, 4, 5}
		batches = append(batches, attempt{codec.name + " with gaps in the offset deltas", cut})
		cut.Deltas = []int32{0, 0, 7, 3}
		batches = append(batches, attempt{codec.name + " with offset deltas in no order", cut})
	}
	attempts(r, batches)

	r.Topic("zstd", zstdPartitions)
	c := r.Conn("old")
	zstd := Values("zstd")
	zstd.Codec = kgo.CodecZstd
	for i, v := range [zstdPartitions]int16{3, 6, 7} {
		c.Attempt(fmt.Sprintf("zstd in Produce %d", v), "zstd", int32(i), zstd, func(req *kmsg.ProduceRequest) { req.Version = v })
	}
}

func batchNeighbours(r *Run) {
	r.Topic("t", 3)
	c := r.Conn("c")
	good := Values("good").Bytes()
	bad := edited(func(b *kmsg.RecordBatch) { b.CRC = 1 }).Bytes()
	req := r.ProduceRequest("t", 0, good)
	AddPartition(req, r.Name("t"), 1, bad)
	AddPartition(req, r.Name("t"), 2, good)
	AddPartition(req, r.Name("t"), 3, good)
	AddPartition(req, r.Name("nowhere"), 0, good)
	c.Ask("good, bad, good, no such partition, no such topic", req)

	twice := r.ProduceRequest("t", 0, slices.Clone(good))
	AddPartition(twice, r.Name("t"), 0, good)
	c.Ask("the same partition twice", twice)
	for p := range int32(3) {
		c.FetchAll(fmt.Sprintf("stored in partition %d", p), "t", p)
	}
}
