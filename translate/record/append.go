package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"
)

// Encoding is how records are written for consumers.
type Encoding struct {
	Codec Codec
	// LogAppendTime marks the times of the records as those of their arrival. A
	// consumer then takes the one time of a batch for all its records, so they
	// must have the same.
	LogAppendTime bool
}

// AppendBatch appends one v2 batch with the codec and the producers' times.
func AppendBatch(dst []byte, codec Codec, records []Positioned) ([]byte, error) {
	return Encoding{Codec: codec}.AppendBatch(dst, records)
}

// AppendBatch appends one v2 record batch with the records to dst. Offsets rise
// from record to record; gaps are allowed, as in a compacted topic, up to the
// int32 that a delta may be from the first. The base offset is the first
// record's, the last offset delta the last record's, and partition leader epoch
// and producer id are -1. Snappy is written in the xerial framing.
func (e Encoding) AppendBatch(dst []byte, records []Positioned) ([]byte, error) {
	if err := e.check(records); err != nil {
		return dst, err
	}
	start := len(dst)
	dst = e.appendHeader(dst, records)
	if e.Codec == CodecNone {
		dst = appendRecords(dst, records)
	} else {
		var err error
		dst, err = appendCompressed(dst, e.Codec, func(plain []byte) []byte { return appendRecords(plain, records) })
		if err != nil {
			return dst[:start], err
		}
	}
	batch := dst[start:]
	if len(batch) > math.MaxInt32 {
		return dst[:start], fmt.Errorf("record batch of %d bytes is too long", len(batch))
	}
	binary.BigEndian.PutUint32(batch[lengthAt:], uint32(len(batch)-lengthCountsFrom))
	binary.BigEndian.PutUint32(batch[crcAt:], crc32.Checksum(batch[attributesAt:], castagnoli))
	return dst, nil
}

// check refuses what consumers could not read, or would read differently.
func (e Encoding) check(records []Positioned) error {
	if len(records) == 0 {
		return errors.New("a record batch without records would stop consumers")
	}
	for i := 1; i < len(records); i++ {
		if records[i].Offset <= records[i-1].Offset {
			return fmt.Errorf("offset %d follows offset %d in a record batch", records[i].Offset, records[i-1].Offset)
		}
		if e.LogAppendTime && records[i].Timestamp != records[0].Timestamp {
			return fmt.Errorf("times %d and %d in a record batch with log append time", records[0].Timestamp, records[i].Timestamp)
		}
	}
	if span := records[len(records)-1].Offset - records[0].Offset; span > math.MaxInt32 {
		return fmt.Errorf("offsets %d apart do not fit one record batch", span)
	}
	return nil
}

func (e Encoding) attributes() uint16 {
	attributes := uint16(e.Codec)
	if e.LogAppendTime {
		attributes |= attributeLogAppendTime
	}
	return attributes
}

func newest(records []Positioned) int64 {
	newest := records[0].Timestamp
	for i := range records {
		newest = max(newest, records[i].Timestamp)
	}
	return newest
}

// appendHeader leaves length and CRC to be filled in when the rest is known.
func (e Encoding) appendHeader(dst []byte, records []Positioned) []byte {
	first, last := records[0], records[len(records)-1]
	be := binary.BigEndian
	dst = be.AppendUint64(dst, uint64(first.Offset))
	dst = be.AppendUint32(dst, 0)              // length
	dst = be.AppendUint32(dst, math.MaxUint32) // partition leader epoch -1
	dst = append(dst, batchMagic)
	dst = be.AppendUint32(dst, 0) // CRC
	dst = be.AppendUint16(dst, e.attributes())
	dst = be.AppendUint32(dst, uint32(last.Offset-first.Offset))
	dst = be.AppendUint64(dst, uint64(first.Timestamp))
	dst = be.AppendUint64(dst, uint64(newest(records)))
	dst = be.AppendUint64(dst, math.MaxUint64) // producer id -1
	dst = be.AppendUint16(dst, math.MaxUint16) // producer epoch -1
	dst = be.AppendUint32(dst, math.MaxUint32) // base sequence -1
	return be.AppendUint32(dst, uint32(len(records)))
}

// plainBuffers hold records on their way into a compressor. Buffers that grew
// large are left to the garbage collector.
var plainBuffers = sync.Pool{New: func() any { return new([]byte) }}

const maxPooledBytes = 1 << 20

// appendCompressed appends in the codec what write appends to an empty buffer.
func appendCompressed(dst []byte, codec Codec, write func(plain []byte) []byte) ([]byte, error) {
	plain := plainBuffers.Get().(*[]byte)
	*plain = write((*plain)[:0])
	dst, err := compress(dst, *plain, codec)
	if cap(*plain) <= maxPooledBytes {
		plainBuffers.Put(plain)
	}
	return dst, err
}

func appendRecords(dst []byte, records []Positioned) []byte {
	for i := range records {
		r := &records[i]
		dst = appendRecord(dst, &r.Record, r.Timestamp-records[0].Timestamp, r.Offset-records[0].Offset)
	}
	return dst
}

// appendRecord writes one v2 record, its length first.
func appendRecord(dst []byte, r *Record, timestampDelta, offsetDelta int64) []byte {
	dst = binary.AppendVarint(dst, int64(bodyBytes(r, timestampDelta, offsetDelta)))
	dst = append(dst, 0) // attributes, unused
	dst = binary.AppendVarint(dst, timestampDelta)
	dst = binary.AppendVarint(dst, offsetDelta)
	dst = appendNullable(dst, r.Key)
	dst = appendNullable(dst, r.Value)
	dst = binary.AppendVarint(dst, int64(len(r.Headers)))
	for i := range r.Headers {
		dst = binary.AppendVarint(dst, int64(len(r.Headers[i].Key)))
		dst = append(dst, r.Headers[i].Key...)
		dst = appendNullable(dst, r.Headers[i].Value)
	}
	return dst
}

func appendNullable(dst, value []byte) []byte {
	if value == nil {
		return binary.AppendVarint(dst, -1)
	}
	dst = binary.AppendVarint(dst, int64(len(value)))
	return append(dst, value...)
}

// recordBytes is the length of what appendRecord writes.
func recordBytes(r *Record, timestampDelta, offsetDelta int64) int {
	body := bodyBytes(r, timestampDelta, offsetDelta)
	return varintBytes(int64(body)) + body
}

func bodyBytes(r *Record, timestampDelta, offsetDelta int64) int {
	size := 1 + varintBytes(timestampDelta) + varintBytes(offsetDelta) +
		nullableBytes(r.Key) + nullableBytes(r.Value) + varintBytes(int64(len(r.Headers)))
	for i := range r.Headers {
		size += varintBytes(int64(len(r.Headers[i].Key))) + len(r.Headers[i].Key) + nullableBytes(r.Headers[i].Value)
	}
	return size
}

func nullableBytes(value []byte) int {
	if value == nil {
		return 1
	}
	return varintBytes(int64(len(value))) + len(value)
}

// varintBytes is the length of a zigzag varint: 7 bits to a byte.
func varintBytes(value int64) int {
	zigzag := uint64(value<<1) ^ uint64(value>>63)
	n := 1
	for ; zigzag >= 0x80; zigzag >>= 7 {
		n++
	}
	return n
}
