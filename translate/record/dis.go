package record

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"unicode/utf8"
)

// The envelope, field by field; docs/record-format.md is its specification.
const (
	envelopeVersion     = 1
	envelopeVersionAt   = 4
	envelopeCRCAt       = 5
	envelopeTimestampAt = 9
	envelopeHeaderBytes = 17
)

// envelopeMagic opens every envelope. The first byte, 0x00, begins no text, no
// JSON and no CSV, so that values which look like an envelope are rare.
var envelopeMagic = []byte{0x00, 'K', 'D', 'G'}

// maxPartitionKeyRunes is the longest Kafka key that is also put as partition
// key. DIS documents no limit; 256 characters are what similar services take.
const maxPartitionKeyRunes = 256

// Stored is a record as DIS stores it.
type Stored struct {
	// Data is the value itself, sharing its memory, or an envelope.
	Data []byte
	// PartitionKey is the key of the record, where it can be one; HasKey tells
	// whether there is any.
	PartitionKey string
	HasKey       bool
	// Timestamp is in ms, never negative.
	Timestamp int64
	// Enveloped tells envelopes from values.
	Enveloped bool
}

// EncodeDIS gives the data and the partition key under which DIS stores the
// record, and whether the data is an envelope: raw data is the value itself and
// shares its memory. The key is put as partition key where it can be one, in
// either format, and is otherwise nil. A program that writes records for Kafka
// consumers through the DIS API needs no more than this.
func EncodeDIS(r Record) (data []byte, partitionKey *string, enveloped bool) {
	var s Stored
	Policy{}.Encode(&r, 0, &s)
	if s.HasKey {
		partitionKey = &s.PartitionKey
	}
	return s.Data, partitionKey, s.Enveloped
}

// MaxEnvelopeOverhead is how much longer the data of a record in DIS can be
// than the record was in its batch.
const MaxEnvelopeOverhead = envelopeHeaderBytes

// MaxKeyOverhead is how much longer a record can be in its batch than its data in
// DIS: a key that is put as partition key, and the lengths and deltas.
const MaxKeyOverhead = maxPartitionKeyRunes*utf8.UTFMax + 64

// whyNotRaw says what value and partition key alone cannot hold of a record; it
// is empty when they are the whole of it. A time before 1970 is nothing to ask a
// service of, which may look records up by it.
func whyNotRaw(r *Record, hasKey bool) string {
	switch {
	case len(r.Headers) > 0:
		return "it has headers"
	case r.Value == nil:
		return "its value is null"
	case len(r.Value) == 0:
		return "its value is empty"
	case r.Key != nil && len(r.Key) == 0:
		return "its key is empty, not null"
	case r.Key != nil && !hasKey:
		return "its key is not text of 1 to 256 characters"
	case r.Value[0] == envelopeMagic[0] && bytes.HasPrefix(r.Value, envelopeMagic):
		return "its value begins like an envelope"
	case r.Timestamp < NoTimestamp:
		return "its time is before 1970"
	}
	return ""
}

func isPartitionKey(key []byte) bool {
	return len(key) > 0 && len(key) <= maxPartitionKeyRunes*utf8.UTFMax && utf8.Valid(key) &&
		(len(key) <= maxPartitionKeyRunes || utf8.RuneCount(key) <= maxPartitionKeyRunes)
}

func envelopeBytes(r *Record) int { return envelopeHeaderBytes + recordBytes(r, 0, 0) }

func appendEnvelope(dst []byte, r *Record) []byte {
	start := len(dst)
	dst = append(dst, envelopeMagic...)
	dst = append(dst, envelopeVersion)
	dst = binary.BigEndian.AppendUint32(dst, 0) // CRC
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Timestamp))
	dst = appendRecord(dst, r, 0, 0)
	crc := crc32.Checksum(dst[start+envelopeTimestampAt:], castagnoli)
	binary.BigEndian.PutUint32(dst[start+envelopeCRCAt:], crc)
	return dst
}

// DecodeDIS gives the record that DIS stored as data with the partition key
// (nil for none) and the timestamp in ms. Data that is no intact envelope of a
// known version came from a DIS client and is the value itself, with the
// partition key as key; there is no error. The record shares memory with data.
func DecodeDIS(data []byte, partitionKey *string, timestamp int64) Record {
	if r, ok := openEnvelope(data); ok {
		return r
	}
	r := Record{Value: data, Timestamp: timestamp}
	if r.Value == nil {
		r.Value = []byte{}
	}
	if partitionKey != nil {
		r.Key = []byte(*partitionKey)
	}
	return r
}

// Envelope reports whether data begins as an envelope does, and whether it is an
// intact one of a known version. What begins so and is not intact came from
// elsewhere, or was damaged, and DecodeDIS takes it for a value.
func Envelope(data []byte) (begins, intact bool) {
	_, intact = openEnvelope(data)
	return bytes.HasPrefix(data, envelopeMagic), intact
}

func openEnvelope(data []byte) (Record, bool) {
	if len(data) < envelopeHeaderBytes || !bytes.HasPrefix(data, envelopeMagic) || data[envelopeVersionAt] != envelopeVersion {
		return Record{}, false
	}
	sealed := data[envelopeTimestampAt:]
	if crc32.Checksum(sealed, castagnoli) != binary.BigEndian.Uint32(data[envelopeCRCAt:]) {
		return Record{}, false
	}
	var r Record
	in := input{data: data[envelopeHeaderBytes:]}
	in.record(&r, in.length("record"), 0)
	if in.broken != "" || in.left() != 0 {
		return Record{}, false
	}
	r.Timestamp = int64(binary.BigEndian.Uint64(sealed)) // the delta in the record is 0 and means nothing
	return r, true
}
