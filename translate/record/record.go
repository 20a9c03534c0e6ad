// Package record turns Kafka record batches into records and back, and records
// into the bytes that DIS stores and back. It knows no topics, no sockets and
// no REST: bytes in, records out.
//
// # From a producer
//
// Parse checks everything that can be checked without decompressing: the frame
// of the batch, its checksum, its attributes. Frame.Payload decompresses inside
// a limit, Scanner walks the records without copying them, and DecodeBatch is
// the three in one. Producers of before Kafka 0.11 send message sets, whose
// wrappers Payload opens, so that Scanner sees one flat list in either case.
// Every refusal is an *Error with the Kafka code that makes the producer do the
// right thing: try again only where that can help.
//
// # To a consumer
//
// An Encoding writes records that carry their offsets: AppendBatch one v2 batch,
// AppendMessageSet messages for consumers of before Kafka 0.11. ReadBatch reads
// back what AppendBatch wrote, to write it again for another consumer.
//
// # To and from DIS
//
// EncodeDIS and DecodeDIS implement the two formats of docs/record-format.md:
// raw where that loses nothing, the envelope otherwise. A Policy is what the
// settings of a topic change in that.
//
// Records share memory with the buffer they were read from. Whoever keeps a
// record keeps that buffer alive, and nobody may change it.
package record

import "fmt"

// NoTimestamp is the Timestamp of a record whose producer set none.
const NoTimestamp = -1

// Record is one Kafka record.
type Record struct {
	// Key and Value are nil where Kafka has null; empty and null differ.
	Key   []byte
	Value []byte
	// Headers keep their order; keys may repeat.
	Headers []Header
	// Timestamp is in ms since the epoch, or NoTimestamp.
	Timestamp int64
}

// Header is one record header.
type Header struct {
	// Key holds the bytes of the key as they came, valid UTF-8 or not.
	Key string
	// Value is nil where Kafka has null.
	Value []byte
}

// Positioned is a record with its offset in the partition.
type Positioned struct {
	Offset int64
	Record
}

// Batch is what one v2 record batch or message set of a producer holds.
type Batch struct {
	// ProducerID is -1 for a producer that is not idempotent; ProducerEpoch and
	// BaseSequence then mean nothing.
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32
	// Codec is that of the first message for a message set.
	Codec   Codec
	Records []Record
}

// Codec is the compression of a batch or a message: bits 0 to 2 of its
// attributes.
type Codec int8

// The codecs; zstd came with KIP-110 and is for v2 batches alone.
const (
	CodecNone Codec = iota
	CodecGzip
	CodecSnappy
	CodecLZ4
	CodecZstd
)

// String gives the name that Kafka uses in compression.type.
func (c Codec) String() string {
	names := [...]string{"none", "gzip", "snappy", "lz4", "zstd"}
	if c < 0 || int(c) >= len(names) {
		return fmt.Sprintf("codec %d", int8(c))
	}
	return names[c]
}
