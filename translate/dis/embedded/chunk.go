package embedded

import (
	"encoding/binary"
	"errors"
	"math"
	"sync"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// chunkBytes is the size at which a chunk is closed. Only a single record
// bigger than that makes a bigger chunk.
const chunkBytes = 64 << 10

const (
	chunkArrivalBytes = 8
	minTimestamp      = math.MinInt64
)

var errCorruptChunk = errors.New("store: a chunk of records is cut or damaged")

// storedRecord is a record inside a chunk; its bytes belong to the chunk.
type storedRecord struct {
	timestamp int64 // ms
	key       []byte
	hasKey    bool
	data      []byte
}

// chunk is a run of records of one put for one partition on its way into the
// store. It is built before its place is known; arrival is set under the
// partition's lock.
type chunk struct {
	partition *partition
	value     []byte
	count     int
	greatest  int64 // timestamp
	gap       bool  // of numbers that are left out; there are no records
}

// chunkBuilder cuts the records of one partition after another into chunks.
type chunkBuilder struct {
	chunks []chunk
	open   chunk
	reused []*[]byte
}

// chunkCountBytes is the room for the number of records in a chunk that is being
// built. The uvarint is as long as the room, whatever the number: a record takes
// three bytes at least, so that 64 KiB have fewer than 2^21.
const chunkCountBytes = 3

// chunkBuffers hold chunks of the usual size.
var chunkBuffers = sync.Pool{New: func() any {
	buffer := make([]byte, 0, chunkBytes+chunkBytes/8)
	return &buffer
}}

// release gives the memory of the chunks to other puts.
func (b *chunkBuilder) release() {
	for _, buffer := range b.reused {
		chunkBuffers.Put(buffer)
	}
	b.chunks, b.reused = nil, nil
}

// add appends a record; its time is that of arrival when it has none.
func (b *chunkBuilder) add(p *partition, r *wire.PutRecord, now int64) {
	if b.open.count > 0 && (b.open.partition != p || len(b.open.value)+recordBound(r) > chunkBytes) {
		b.cut()
	}
	if b.open.count == 0 {
		b.open = chunk{partition: p, greatest: minTimestamp, value: b.buffer(r)}
	}
	timestamp := now
	if r.Timestamp != nil {
		timestamp = *r.Timestamp
	}
	b.open.value = appendRecord(b.open.value, timestamp, r.PartitionKey, r.Data)
	b.open.count++
	b.open.greatest = max(b.open.greatest, timestamp)
}

// buffer has room for a header, and for more records when the first one is small.
func (b *chunkBuilder) buffer(first *wire.PutRecord) []byte {
	const header = chunkArrivalBytes + chunkCountBytes
	if size := header + recordBound(first); size > chunkBytes {
		return make([]byte, header, size)
	}
	buffer := chunkBuffers.Get().(*[]byte)
	b.reused = append(b.reused, buffer)
	return (*buffer)[:header]
}

// skip leaves out sequence numbers. What is added next must be for the same
// partition, so that no partition ends in a gap.
func (b *chunkBuilder) skip(p *partition, numbers int64) {
	b.cut()
	value := make([]byte, chunkArrivalBytes, chunkArrivalBytes+1+binary.MaxVarintLen64)
	value = binary.AppendUvarint(append(value, 0), uint64(numbers))
	b.chunks = append(b.chunks, chunk{partition: p, value: value, count: int(numbers), greatest: minTimestamp, gap: true})
}

// cut closes the open chunk.
func (b *chunkBuilder) cut() {
	if b.open.count == 0 {
		return
	}
	putCount(b.open.value[chunkArrivalBytes:], b.open.count)
	b.chunks = append(b.chunks, b.open)
	b.open = chunk{}
}

// putCount writes a uvarint of a fixed length.
func putCount(room []byte, count int) {
	for i := range chunkCountBytes - 1 {
		room[i] = byte(count) | 0x80
		count >>= 7
	}
	room[chunkCountBytes-1] = byte(count)
}

// recordBound is at least the encoded size of a record.
func recordBound(r *wire.PutRecord) int {
	size := 3*binary.MaxVarintLen64 + len(r.Data)
	if r.PartitionKey != nil {
		size += len(*r.PartitionKey)
	}
	return size
}

func appendRecord(dst []byte, timestamp int64, key *string, data []byte) []byte {
	dst = binary.AppendVarint(dst, timestamp)
	if key != nil {
		dst = binary.AppendUvarint(dst, uint64(len(*key))+1)
		dst = append(dst, *key...)
	} else {
		dst = append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(len(data)))
	return append(dst, data...)
}

func (c *chunk) setArrival(arrival int64) {
	binary.BigEndian.PutUint64(c.value, uint64(arrival))
}

// chunkHeader reads when a stored chunk arrived and how many sequence numbers it
// covers. A gap has nil records.
func chunkHeader(value []byte) (arrival int64, count int, records []byte, err error) {
	if len(value) < chunkArrivalBytes {
		return 0, 0, nil, errCorruptChunk
	}
	arrival = int64(binary.BigEndian.Uint64(value))
	n, size := binary.Uvarint(value[chunkArrivalBytes:])
	if size <= 0 {
		return 0, 0, nil, errCorruptChunk
	}
	records = value[chunkArrivalBytes+size:]
	if n > 0 {
		if n > uint64(len(records)) {
			return 0, 0, nil, errCorruptChunk
		}
		return arrival, int(n), records, nil
	}
	n, size = binary.Uvarint(records)
	if size != len(records) || n == 0 || n > maxFaultBy {
		return 0, 0, nil, errCorruptChunk
	}
	return arrival, int(n), nil, nil
}

// nextRecord reads the first record of what is left of a chunk.
func nextRecord(records []byte, r *storedRecord) (rest []byte, err error) {
	timestamp, size := binary.Varint(records)
	if size <= 0 {
		return nil, errCorruptChunk
	}
	keyLength, rest, ok := cutUvarint(records[size:])
	if !ok {
		return nil, errCorruptChunk
	}
	*r = storedRecord{timestamp: timestamp, hasKey: keyLength > 0}
	if r.hasKey {
		if r.key, rest, ok = cutBytes(rest, keyLength-1); !ok {
			return nil, errCorruptChunk
		}
	}
	dataLength, rest, ok := cutUvarint(rest)
	if ok {
		r.data, rest, ok = cutBytes(rest, dataLength)
	}
	if !ok {
		return nil, errCorruptChunk
	}
	return rest, nil
}

func cutUvarint(from []byte) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(from)
	if size <= 0 {
		return 0, nil, false
	}
	return n, from[size:], true
}

func cutBytes(from []byte, length uint64) (cut, rest []byte, ok bool) {
	if length > uint64(len(from)) {
		return nil, nil, false
	}
	return from[:length], from[length:], true
}
