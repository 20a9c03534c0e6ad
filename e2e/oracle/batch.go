package oracle

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// FirstTime is the time of the first record of a batch where none is given; each
// further one is a millisecond later.
const FirstTime = int64(1_600_000_000_000)

// Record is a record to write. Time is in ms; 0 stands for the time of its place
// in the batch.
type Record struct {
	Key, Value []byte
	Headers    []kmsg.Header
	Time       int64
}

// Value is a record of a value alone.
func Value(text string) Record { return Record{Value: []byte(text)} }

// Batch is what one partition gets. The zero value of all but Records gives a
// batch as an ordinary producer sends it.
type Batch struct {
	Records []Record
	Codec   kgo.CompressionCodecType
	// ID, Epoch and Sequence are those of an idempotent producer; nil: none.
	ID       *int64
	Epoch    int16
	Sequence int32
	// Deltas are the offset deltas of the records in place of 0, 1, 2...
	Deltas []int32
	// Edit changes the header, before its length and checksum are made; what is
	// set to its own value there is not made.
	Edit func(*kmsg.RecordBatch)
	// Spoil changes the bytes of the whole batch, checksum and all.
	Spoil func([]byte) []byte
}

// Values is a batch of plain values.
func Values(texts ...string) (b Batch) {
	for _, text := range texts {
		b.Records = append(b.Records, Value(text))
	}
	return b
}

// Bytes is the batch on the wire.
func (b Batch) Bytes() []byte {
	var payload []byte
	times := b.times()
	for i, rec := range b.Records {
		delta := int32(i)
		if b.Deltas != nil {
			delta = b.Deltas[i]
		}
		payload = appendRecord(payload, rec, times[i]-times[0], delta)
	}
	batch := b.header(times)
	batch.Records = compress(payload, b.Codec)
	if b.Edit != nil {
		b.Edit(&batch)
	}
	raw := seal(batch)
	if b.Spoil != nil {
		raw = b.Spoil(raw)
	}
	return raw
}

func (b Batch) times() []int64 {
	times := make([]int64, max(1, len(b.Records)))
	times[0] = FirstTime
	for i, rec := range b.Records {
		if times[i] = rec.Time; rec.Time == 0 {
			times[i] = FirstTime + int64(i)
		}
	}
	return times
}

func (b Batch) header(times []int64) kmsg.RecordBatch {
	batch := kmsg.NewRecordBatch()
	batch.PartitionLeaderEpoch = -1
	batch.Magic = 2
	batch.Attributes = int16(b.Codec)
	batch.LastOffsetDelta = int32(len(b.Records)) - 1
	batch.FirstTimestamp, batch.MaxTimestamp = times[0], times[0]
	for _, t := range times {
		batch.MaxTimestamp = max(batch.MaxTimestamp, t)
	}
	batch.ProducerID, batch.ProducerEpoch, batch.FirstSequence = -1, -1, -1
	if b.ID != nil {
		batch.ProducerID, batch.ProducerEpoch, batch.FirstSequence = *b.ID, b.Epoch, b.Sequence
	}
	batch.NumRecords = int32(len(b.Records))
	return batch
}

func appendRecord(to []byte, rec Record, timeDelta int64, offsetDelta int32) []byte {
	r := kmsg.Record{TimestampDelta64: timeDelta, OffsetDelta: offsetDelta, Key: rec.Key, Value: rec.Value, Headers: rec.Headers}
	body := r.AppendTo(nil)[1:] // without the length, 0 so far
	return append(binary.AppendVarint(to, int64(len(body))), body...)
}

func compress(payload []byte, codec kgo.CompressionCodecType) []byte {
	var choice kgo.CompressionCodec
	switch codec {
	case kgo.CodecGzip:
		choice = kgo.GzipCompression()
	case kgo.CodecSnappy:
		choice = kgo.SnappyCompression()
	case kgo.CodecLz4:
		choice = kgo.Lz4Compression()
	case kgo.CodecZstd:
		choice = kgo.ZstdCompression()
	default: // none, and numbers that stand for no codec
		return payload
	}
	compressor, err := kgo.DefaultCompressor(choice)
	if err != nil {
		panic(err) // one of the codecs above
	}
	compressed, _ := compressor.Compress(new(bytes.Buffer), payload)
	return bytes.Clone(compressed)
}

// seal sets the length and the checksum unless the header has its own.
func seal(batch kmsg.RecordBatch) []byte {
	const lengthAt, lengthFrom, crcAt, crcFrom = 8, 12, 17, 21
	raw := batch.AppendTo(nil)
	if batch.Length == 0 {
		binary.BigEndian.PutUint32(raw[lengthAt:], uint32(len(raw)-lengthFrom))
	}
	if batch.CRC == 0 {
		binary.BigEndian.PutUint32(raw[crcAt:], crc32.Checksum(raw[crcFrom:], crc32.MakeTable(crc32.Castagnoli)))
	}
	return raw
}
