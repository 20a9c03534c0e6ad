package record

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
)

// The checksum in the header of an lz4 frame covers the frame descriptor. Some
// clients of message format 0 take it over the magic number too (KAFKA-3160),
// others do not. What they send is read with either one, as brokers do.
const (
	lz4MagicBytes     = 4
	lz4FlagsAt        = lz4MagicBytes
	lz4MinHeaderBytes = lz4MagicBytes + 2 + 1 // flags, block size, checksum

	lz4FlagContentSize = 0x08 // 8 bytes more
	lz4FlagDictionary  = 0x01 // 4 bytes more
)

// lz4HeaderBytes is the length of the header of a frame with its checksum, which
// is its last byte; 0 when the frame is shorter.
func lz4HeaderBytes(frame []byte) int {
	if len(frame) < lz4MinHeaderBytes {
		return 0
	}
	n := lz4MinHeaderBytes
	if frame[lz4FlagsAt]&lz4FlagContentSize != 0 {
		n += 8
	}
	if frame[lz4FlagsAt]&lz4FlagDictionary != 0 {
		n += 4
	}
	if n > len(frame) {
		return 0
	}
	return n
}

// withRightLZ4Header reads a frame with the checksum of its header put right. It
// leaves the frame itself as it is.
func withRightLZ4Header(frame []byte) io.Reader {
	n := lz4HeaderBytes(frame)
	if n == 0 {
		return bytes.NewReader(frame)
	}
	header := bytes.Clone(frame[:n])
	header[n-1] = lz4HeaderChecksum(header[lz4FlagsAt : n-1])
	return io.MultiReader(bytes.NewReader(header), bytes.NewReader(frame[n:]))
}

// lz4HeaderChecksum is the second byte of the xxHash-32 of fewer than 16 bytes,
// which is all that a header has. The lz4 library does not export its own.
func lz4HeaderChecksum(header []byte) byte {
	const (
		prime1 = 2654435761
		prime2 = 2246822519
		prime3 = 3266489917
		prime4 = 668265263
		prime5 = 374761393
	)
	hash := prime5 + uint32(len(header))
	for ; len(header) >= 4; header = header[4:] {
		hash = bits.RotateLeft32(hash+binary.LittleEndian.Uint32(header)*prime3, 17) * prime4
	}
	for _, b := range header {
		hash = bits.RotateLeft32(hash+uint32(b)*prime5, 11) * prime1
	}
	hash = (hash ^ hash>>15) * prime2
	hash = (hash ^ hash>>13) * prime3
	return byte((hash ^ hash>>16) >> 8)
}
