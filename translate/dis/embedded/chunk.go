package embedded

import (
	"encoding/binary"
	"errors"
	"math"
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
}

// chunkBuilder cuts the records of one partition into chunks.
type chunkBuilder struct {
	chunks  []chunk
	records []byte // encoded records of the open chunk
	open    chunk
}

func (b *chunkBuilder) add(p *partition, r *storedRecord) {
	size := recordBound(r)
	if b.open.count > 0 && (b.open.partition != p || len(b.records)+size > chunkBytes) {
		b.cut()
	}
	if b.open.count == 0 {
		b.open = chunk{partition: p, greatest: minTimestamp}
	}
	b.records = appendRecord(b.records, r)
	b.open.count++
	b.open.greatest = max(b.open.greatest, r.timestamp)
}

// cut closes the open chunk.
func (b *chunkBuilder) cut() {
	if b.open.count == 0 {
		return
	}
	value := make([]byte, chunkArrivalBytes, chunkArrivalBytes+binary.MaxVarintLen32+len(b.records))
	value = binary.AppendUvarint(value, uint64(b.open.count))
	b.open.value = append(value, b.records...)
	b.chunks = append(b.chunks, b.open)
	b.records = b.records[:0]
	b.open = chunk{}
}

func recordBound(r *storedRecord) int {
	return 3*binary.MaxVarintLen64 + len(r.key) + len(r.data)
}

func appendRecord(dst []byte, r *storedRecord) []byte {
	dst = binary.AppendVarint(dst, r.timestamp)
	if r.hasKey {
		dst = binary.AppendUvarint(dst, uint64(len(r.key))+1)
		dst = append(dst, r.key...)
	} else {
		dst = append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.data)))
	return append(dst, r.data...)
}

func (c *chunk) setArrival(arrival int64) {
	binary.BigEndian.PutUint64(c.value, uint64(arrival))
}

// chunkHeader reads when a stored chunk arrived and how many records it has.
func chunkHeader(value []byte) (arrival int64, count int, records []byte, err error) {
	if len(value) < chunkArrivalBytes {
		return 0, 0, nil, errCorruptChunk
	}
	arrival = int64(binary.BigEndian.Uint64(value))
	n, size := binary.Uvarint(value[chunkArrivalBytes:])
	if size <= 0 || n == 0 || n > uint64(len(value)) {
		return 0, 0, nil, errCorruptChunk
	}
	return arrival, int(n), value[chunkArrivalBytes+size:], nil
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
