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

// EncodeDIS gives the data and the partition key under which DIS stores the
// record, and whether the data is an envelope: raw data is the value itself and
// shares its memory. The key is put as partition key where it can be one, in
// either format, and is otherwise nil.
func EncodeDIS(r Record) (data []byte, partitionKey *string, enveloped bool) {
	data, key, hasKey, enveloped := EncodeDISKey(&r)
	if hasKey {
		partitionKey = &key
	}
	return data, partitionKey, enveloped
}

// EncodeDISKey is EncodeDIS for callers that keep partition keys in a place of
// their own: the key is a value, and hasKey says whether there is one.
func EncodeDISKey(r *Record) (data []byte, partitionKey string, hasKey, enveloped bool) {
	hasKey = isPartitionKey(r.Key)
	if hasKey {
		partitionKey = string(r.Key)
	}
	if isRaw(r, hasKey) {
		return r.Value, partitionKey, hasKey, false
	}
	return appendEnvelope(make([]byte, 0, envelopeBytes(r)), r), partitionKey, hasKey, true
}

// SizeDIS is the length of the data that EncodeDIS would give.
func SizeDIS(r *Record) int {
	if isRaw(r, isPartitionKey(r.Key)) {
		return len(r.Value)
	}
	return envelopeBytes(r)
}

// MaxEnvelopeOverhead is how much longer the data of a record in DIS can be
// than the record was in its batch.
const MaxEnvelopeOverhead = envelopeHeaderBytes

// MaxKeyOverhead is how much longer a record can be in its batch than its data in
// DIS: a key that is put as partition key, and the lengths and deltas.
const MaxKeyOverhead = maxPartitionKeyRunes*utf8.UTFMax + 64

// isRaw reports whether value and partition key alone are the whole record.
func isRaw(r *Record, hasKey bool) bool {
	return len(r.Value) > 0 && len(r.Headers) == 0 && (r.Key == nil || hasKey) &&
		!bytes.HasPrefix(r.Value, envelopeMagic)
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

func openEnvelope(data []byte) (Record, bool) {
	if len(data) < envelopeHeaderBytes || !bytes.HasPrefix(data, envelopeMagic) || data[envelopeVersionAt] != envelopeVersion {
		return Record{}, false
	}
	sealed := data[envelopeTimestampAt:]
	if crc32.Checksum(sealed, castagnoli) != binary.BigEndian.Uint32(data[envelopeCRCAt:]) {
		return Record{}, false
	}
	var r Record
	in := input{rest: data[envelopeHeaderBytes:]}
	in.record(&r, 0)
	if in.broken != "" || len(in.rest) != 0 {
		return Record{}, false
	}
	r.Timestamp = int64(binary.BigEndian.Uint64(sealed)) // the delta in the record is 0 and means nothing
	return r, true
}
