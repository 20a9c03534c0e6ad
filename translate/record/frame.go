package record

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Layout of the v2 record batch (KIP-98). The length field counts what follows
// it; the CRC covers everything from the attributes on.
const (
	lengthAt         = 8
	leaderEpochAt    = 12
	magicAt          = 16
	crcAt            = 17
	attributesAt     = 21
	lastDeltaAt      = 23
	baseTimestampAt  = 27
	maxTimestampAt   = 35
	producerIDAt     = 43
	producerEpochAt  = 51
	baseSequenceAt   = 53
	countAt          = 57
	batchHeaderBytes = 61

	lengthCountsFrom = leaderEpochAt
	batchMagic       = 2

	attributeCodecMask     = 0x07
	attributeLogAppendTime = 0x08
	attributeTransactional = 0x10
	attributeControl       = 0x20

	// minRecordBytes is the shortest record: one byte each for length,
	// attributes, two deltas, null key, null value and no headers.
	minRecordBytes = 7

	// batchesSinceProduce is the first Produce version that carries a v2 batch
	// (KIP-98), the ones before it carry message sets.
	batchesSinceProduce = 3
	// zstdSinceProduce is the first Produce version whose clients may send
	// zstd (KIP-110).
	zstdSinceProduce = 7
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Frame is a batch whose header and checksum were checked and whose records
// are still as the producer compressed them; or a message set of the formats
// before, whose outer messages were checked.
type Frame struct {
	// ProducerID is -1 for a producer that is not idempotent; ProducerEpoch and
	// BaseSequence then mean nothing.
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32
	// Codec is the compression of the records; of a message set, where every
	// message may have another, that of the first.
	Codec Codec
	// Count is the number of records of a v2 batch, at least 1. The records were
	// not looked at yet: Scanner checks that there are as many. It is 0 for a
	// message set: how many records it has shows when they are walked.
	Count int
	// Checksum is that of a v2 batch's header: a batch that is sent again has the same.
	// It is 0 for a message set.
	Checksum uint32

	baseTimestamp int64
	body          []byte
	set           bool // body is a message set
	wrapped       bool // a message of the set holds compressed ones
}

// Parse checks the frame of what one partition got in a Produce request of the
// version: exactly one v2 record batch or, before version 3, a message set. It
// reads no compressed records and allocates nothing. The error is an *Error.
func Parse(raw []byte, version int16) (Frame, error) {
	if len(raw) == 0 {
		return Frame{}, invalid("the partition comes without records")
	}
	if version < batchesSinceProduce {
		return parseMessageSet(raw, version)
	}
	return parseBatch(raw, version)
}

func parseBatch(raw []byte, version int16) (Frame, error) {
	if err := checkFraming(raw); err != nil {
		return Frame{}, err
	}
	frame := batchFrame(raw)
	if err := checkAttributes(binary.BigEndian.Uint16(raw[attributesAt:]), frame.Codec, version); err != nil {
		return Frame{}, err
	}
	lastDelta := int32(binary.BigEndian.Uint32(raw[lastDeltaAt:]))
	if frame.Count <= 0 || int(lastDelta) != frame.Count-1 {
		return Frame{}, invalid("the batch says %d records and a last offset delta of %d", frame.Count, lastDelta)
	}
	if base := int64(binary.BigEndian.Uint64(raw)); base != 0 {
		return Frame{}, invalid("the batch says that it begins at offset %d; a producer's begins at 0", base)
	}
	if frame.ProducerID >= 0 && frame.BaseSequence < 0 {
		return Frame{}, invalid("producer id %d comes with base sequence %d", frame.ProducerID, frame.BaseSequence)
	}
	return frame, nil
}

// batchFrame reads the header of a whole batch as it is.
func batchFrame(raw []byte) Frame {
	return Frame{
		ProducerID:    int64(binary.BigEndian.Uint64(raw[producerIDAt:])),
		ProducerEpoch: int16(binary.BigEndian.Uint16(raw[producerEpochAt:])),
		BaseSequence:  int32(binary.BigEndian.Uint32(raw[baseSequenceAt:])),
		Codec:         Codec(binary.BigEndian.Uint16(raw[attributesAt:]) & attributeCodecMask),
		Count:         int(int32(binary.BigEndian.Uint32(raw[countAt:]))),
		Checksum:      binary.BigEndian.Uint32(raw[crcAt:]),
		baseTimestamp: int64(binary.BigEndian.Uint64(raw[baseTimestampAt:])),
		body:          raw[batchHeaderBytes:],
	}
}

// checkFraming makes sure that raw is one whole v2 batch with a right checksum.
// The checksum of the first batch comes before what follows it: a wrong length
// is a corrupt batch.
func checkFraming(raw []byte) error {
	if len(raw) <= magicAt {
		return invalid("%d bytes are too few for a record batch", len(raw))
	}
	if err := checkMagic(int8(raw[magicAt])); err != nil {
		return err
	}
	if len(raw) < batchHeaderBytes {
		return invalid("%d bytes are too few for a record batch", len(raw))
	}
	size := int64(int32(binary.BigEndian.Uint32(raw[lengthAt:]))) + lengthCountsFrom
	switch {
	case size > int64(len(raw)):
		return invalid("the batch says %d bytes, %d came", size, len(raw))
	case size < batchHeaderBytes:
		return refuse(kerr.CorruptMessage, "the batch says %d bytes, its header has %d", size, batchHeaderBytes)
	}
	want := binary.BigEndian.Uint32(raw[crcAt:])
	if got := crc32.Checksum(raw[attributesAt:size], castagnoli); got != want {
		return refuse(kerr.CorruptMessage, "CRC-32C of the batch is %08x, its header says %08x", got, want)
	}
	if after := int64(len(raw)) - size; after > 0 {
		return invalid("%d bytes follow the one batch that a partition may carry", after)
	}
	return nil
}

func checkMagic(magic int8) error {
	switch {
	case magic == batchMagic:
		return nil
	case magic >= 0 && magic < batchMagic:
		return invalid("record format %d in a Produce request of a version that allows format %d only", magic, batchMagic)
	}
	return refuse(kerr.CorruptMessage, "record format %d does not exist", magic)
}

func checkAttributes(attributes uint16, codec Codec, version int16) error {
	if err := checkCodec(codec, version); err != nil {
		return err
	}
	switch {
	case attributes&attributeTransactional != 0:
		return refuse(kerr.TransactionalIDAuthorizationFailed, "transactions are not supported")
	case attributes&attributeControl != 0:
		return invalid("a producer may not write control batches")
	case attributes&attributeLogAppendTime != 0:
		return refuse(kerr.InvalidTimestamp, "a producer may not write batches with log append time")
	}
	return nil
}

func checkCodec(codec Codec, version int16) error {
	switch {
	case codec > CodecZstd:
		return refuse(kerr.UnsupportedCompressionType, "unknown compression codec %d", int8(codec))
	case codec == CodecZstd && version < zstdSinceProduce:
		return refuse(kerr.UnsupportedCompressionType, "zstd needs Produce version %d, the request has %d", zstdSinceProduce, version)
	}
	return nil
}
