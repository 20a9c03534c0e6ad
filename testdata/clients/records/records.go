// Package records is what the client programs in Go share, and what the tests
// know of all client programs: the records that a seed stands for, the line that
// a record is printed as, and the command line. README.md in the folder above
// is its description for every language.
package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// Record is a Kafka record as a client sees it. A nil key or value is null.
type Record struct {
	Topic      string
	Partition  int32
	Offset     int64
	Timestamp  int64 // milliseconds since 1970
	Key, Value []byte
	Headers    []Header
}

// Header is a header of a record. A nil value is null.
type Header struct {
	Key   string
	Value []byte
}

// firstTimestamp is that of the earliest record.
const firstTimestamp = 1_600_000_000_000

// Generate returns the records of a seed, in the order in which they are to be
// written.
func Generate(seed int64, count, partitions int) []Record {
	generated := make([]Record, count)
	for i := range generated {
		digest := sha256.Sum256(fmt.Appendf(nil, "%d/%d", seed, i))
		generated[i] = Record{
			Partition: int32(i % partitions),
			Timestamp: firstTimestamp + int64(binary.BigEndian.Uint32(digest[:4])),
			Key:       key(i, digest[:]),
			Value:     value(i, seed, digest[:]),
			Headers:   headers(i),
		}
	}
	return generated
}

// OfSize returns one record with a value of a size, which does not compress, and
// nothing else.
func OfSize(seed int64, size int) []Record {
	var value []byte
	for i := 0; len(value) < size; i++ {
		digest := sha256.Sum256(fmt.Appendf(nil, "%d/%d", seed, i))
		value = append(value, digest[:]...)
	}
	return []Record{{Timestamp: firstTimestamp, Value: value[:size]}}
}

func key(i int, digest []byte) []byte {
	switch i % 5 {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2:
		return append([]byte{0x00, 0xff}, digest[:6]...)
	case 3:
		return fmt.Appendf(nil, "ключ-%d-🔑", i)
	default:
		return fmt.Appendf(nil, "key-%d", i)
	}
}

func value(i int, seed int64, digest []byte) []byte {
	switch i / 5 % 5 {
	case 0:
		return fmt.Appendf(nil, "value %d of seed %d", i, seed)
	case 1:
		return nil
	case 2:
		return []byte{}
	case 3:
		return digest
	default:
		if i%50 == 24 {
			return bytes.Repeat(digest, 3125)
		}
		return bytes.Repeat(digest, 300)
	}
}

func headers(i int) []Header {
	switch i % 7 {
	case 1:
		return []Header{{"trace-id", fmt.Appendf(nil, "trace %d", i)}}
	case 2:
		return []Header{{"a", []byte("1")}, {"b", []byte("2")}, {"a", []byte("3")}}
	case 3:
		return []Header{{"empty", []byte{}}}
	case 4:
		return []Header{{"null", nil}, {"after", []byte("x")}}
	case 5:
		return []Header{{"binary", []byte{0xff, 0xfe, 0x80, 0x01, 0x7f}}}
	case 6:
		return []Header{{"", []byte("no name")}, {"имя", []byte("значение")}}
	default:
		return nil
	}
}

// Line is the record as the programs print it.
func (r Record) Line() string {
	pairs := make([]string, len(r.Headers))
	for i, h := range r.Headers {
		pairs[i] = Text([]byte(h.Key)) + "=" + Text(h.Value)
	}
	return fmt.Sprintf("record %s %d %d %d %s %s [%s]", r.Topic, r.Partition, r.Offset, r.Timestamp,
		Text(r.Key), Text(r.Value), strings.Join(pairs, ","))
}

// longest is the number of bytes up to which they are printed themselves.
const longest = 64

// Text is how bytes are printed: null, in hexadecimal, or as a digest when they
// are many.
func Text(b []byte) string {
	switch {
	case b == nil:
		return "null"
	case len(b) > longest:
		digest := sha256.Sum256(b)
		return "sha256:" + hex.EncodeToString(digest[:])
	default:
		return "0x" + hex.EncodeToString(b)
	}
}
