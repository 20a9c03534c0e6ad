package record

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/s2"
)

// Snappy comes in two shapes. librdkafka, sarama and franz-go send one raw
// block; the Java client and most others send the framing of the xerial
// library: a header of 16 bytes, then blocks with their length before them.
// Every consumer reads both.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const (
	xerialHeaderBytes = 16 // magic, int32 version, int32 oldest compatible version
	xerialVersion     = 1
	xerialBlockBytes  = 32 << 10 // what the xerial library puts into one block

	// snappyMaxRatio is the most that a byte of input can become: 64 bytes from
	// a copy of 3. A block that declares more is a lie.
	snappyMaxRatio = 22
)

var errSnappyLength = errors.New("declared length does not fit the input")

func (o *output) snappy(body []byte) error {
	if !bytes.HasPrefix(body, xerialMagic) {
		size, err := snappySize(body)
		if err != nil {
			return err
		}
		return o.snappyBlock(body, size)
	}
	// Two walks: the first adds up what the blocks declare, so that the buffer
	// is made once.
	total := 0
	if err := xerialBlocks(body, func(block []byte) error {
		size, err := snappySize(block)
		total += size
		if total > o.limits.MaxDecompressedBytes {
			return o.tooLarge()
		}
		return err
	}); err != nil {
		return err
	}
	if err := o.room(total); err != nil {
		return err
	}
	return xerialBlocks(body, func(block []byte) error {
		size, err := snappySize(block)
		if err != nil {
			return err
		}
		return o.snappyBlock(block, size)
	})
}

func (o *output) snappyBlock(block []byte, size int) error {
	if err := o.room(size); err != nil {
		return err
	}
	start := len(o.buf)
	if _, err := s2.Decode(o.buf[start:start+size:start+size], block); err != nil {
		return err
	}
	o.buf = o.buf[:start+size]
	return nil
}

// snappySize gives the length that a block declares, if input of that length
// can have it.
func snappySize(block []byte) (int, error) {
	size, err := s2.DecodedLen(block)
	if err != nil {
		return 0, err
	}
	if size > len(block)*snappyMaxRatio {
		return 0, errSnappyLength
	}
	return size, nil
}

// xerialBlocks calls do for each block in order. The library that writes this
// framing may put its header again in front of later blocks, when streams were
// joined.
func xerialBlocks(body []byte, do func(block []byte) error) error {
	for rest := body; len(rest) > 0; {
		if bytes.HasPrefix(rest, xerialMagic) {
			if len(rest) < xerialHeaderBytes {
				return errSnappyLength
			}
			rest = rest[xerialHeaderBytes:]
			continue
		}
		if len(rest) < 4 {
			return errSnappyLength
		}
		size := int64(int32(binary.BigEndian.Uint32(rest)))
		rest = rest[4:]
		if size < 0 || size > int64(len(rest)) {
			return errSnappyLength
		}
		if err := do(rest[:size]); err != nil {
			return err
		}
		rest = rest[size:]
	}
	return nil
}
