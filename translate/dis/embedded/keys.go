package embedded

import (
	"encoding/binary"
	"math"
)

// The kinds of keys; doc.go describes the layout.
const (
	kindCounter    = 'N'
	kindStream     = 'S'
	kindApp        = 'A'
	kindCheckpoint = 'C'
	kindOldest     = 'L'
	kindChunk      = 'R'
	kindTime       = 'T'
	kindTransfer   = 'D'
	kindProgress   = 'P'
	kindMetric     = 'M'
)

const signBit = 1 << 63

var (
	formatKey  = []byte("\x00format")
	counterKey = []byte{kindCounter}
)

func streamKey(stream uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kindStream}, stream)
}

func appKey(app uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kindApp}, app)
}

// checkpointPrefix holds all checkpoints of an app in a stream.
func checkpointPrefix(app, stream uint64) []byte {
	key := binary.BigEndian.AppendUint64([]byte{kindCheckpoint}, app)
	return binary.BigEndian.AppendUint64(key, stream)
}

func checkpointKey(app, stream uint64, partition int) []byte {
	return binary.BigEndian.AppendUint32(checkpointPrefix(app, stream), uint32(partition))
}

// streamPrefix holds everything of one kind that belongs to a stream.
func streamPrefix(kind byte, stream uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, stream)
}

// partitionPrefix holds everything of one kind that belongs to a partition.
func partitionPrefix(kind byte, stream uint64, partition int) []byte {
	return binary.BigEndian.AppendUint32(streamPrefix(kind, stream), uint32(partition))
}

func chunkKey(stream uint64, partition int, first int64) []byte {
	return binary.BigEndian.AppendUint64(partitionPrefix(kindChunk, stream, partition), uint64(first))
}

func timeKey(stream uint64, partition int, segment, greatest int64) []byte {
	key := binary.BigEndian.AppendUint64(partitionPrefix(kindTime, stream, partition), uint64(segment))
	return binary.BigEndian.AppendUint64(key, uint64(greatest)^signBit)
}

// chunkFirst reads the first sequence number out of a chunk's key.
func chunkFirst(key []byte) int64 {
	return int64(binary.BigEndian.Uint64(key[len(key)-8:]))
}

// timeEntry reads segment and timestamp out of a time index key.
func timeEntry(key []byte) (segment, greatest int64) {
	tail := key[len(key)-16:]
	return int64(binary.BigEndian.Uint64(tail)), int64(binary.BigEndian.Uint64(tail[8:]) ^ signBit)
}

// prefixEnd is the smallest key behind every key that starts with prefix. The
// kinds are ASCII, so there always is one.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i > 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	end[0]++
	return end[:1]
}

func number64(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// endOfNumbers is behind every sequence number.
const endOfNumbers = math.MaxInt64
