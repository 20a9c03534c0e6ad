package record_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// The message sets of these tests are made and read with franz-go's message
// types and compressors.

// oldMessage is a message or, with a codec, a wrapper around messages.
type oldMessage struct {
	magic     int8
	codec     record.Codec
	offset    int64
	timestamp int64
	key       []byte
	value     []byte
}

// append writes the message. change, if not nil, may spoil it before the
// checksum is made.
func (m oldMessage) append(dst []byte, change func(*kmsg.MessageV1)) []byte {
	v1 := kmsg.MessageV1{Offset: m.offset, Magic: m.magic, Attributes: int8(m.codec), Timestamp: m.timestamp, Key: m.key, Value: m.value}
	if change != nil {
		change(&v1)
	}
	var raw []byte
	if v1.Magic == 0 {
		v0 := kmsg.MessageV0{Offset: v1.Offset, Attributes: v1.Attributes, Key: v1.Key, Value: v1.Value}
		raw = v0.AppendTo(nil)
	} else {
		raw = v1.AppendTo(nil)
	}
	return append(dst, sealedMessage(raw)...)
}

// sealedMessage fills in size and checksum.
func sealedMessage(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[12:], crc32.ChecksumIEEE(raw[16:]))
	return raw
}

// producedSet encodes records as an old producer does: one message each, or all
// of them in a wrapper. Clients number inner messages in different ways, which
// number says: the offset of record i.
func producedSet(t testing.TB, magic int8, codec record.Codec, records []record.Record, number func(i int) int64) []byte {
	t.Helper()
	var plain []byte
	for i, r := range records {
		plain = oldMessage{magic: magic, offset: number(i), timestamp: r.Timestamp, key: r.Key, value: r.Value}.append(plain, nil)
	}
	if codec == record.CodecNone {
		return plain
	}
	return oldMessage{magic: magic, codec: codec, timestamp: records[0].Timestamp, value: oldCompress(t, magic, codec, plain)}.append(nil, nil)
}

func oneByOne(i int) int64 { return int64(i) }
func allZero(int) int64    { return 0 }

// oldCompress compresses; in lz4 of magic 0 the header's checksum is wrong, as
// that of its clients was.
func oldCompress(t testing.TB, magic int8, codec record.Codec, plain []byte) []byte {
	t.Helper()
	body := franzCompress(t, codec, plain)
	if magic == 0 && codec == record.CodecLZ4 {
		body = bytes.Clone(body)
		body[lz4ChecksumAt(body)] ^= 0x55
	}
	return body
}

func lz4ChecksumAt(frame []byte) int {
	if frame[4]&0x08 != 0 { // content size
		return 14
	}
	return 6
}

// consumedSet decodes a message set as an old consumer does, and gives the
// records with their absolute offsets.
func consumedSet(t testing.TB, raw []byte) (all []record.Positioned) {
	t.Helper()
	for len(raw) > 0 {
		m, rest := consumedMessage(t, raw)
		raw = rest
		if m.codec == record.CodecNone {
			all = append(all, record.Positioned{Offset: m.offset, Record: record.Record{Key: m.key, Value: m.value, Timestamp: m.timestamp}})
			continue
		}
		plain, err := franzDecompressor.Decompress(m.value, kgo.CompressionCodecType(m.codec))
		if err != nil {
			t.Fatalf("franz-go cannot decompress: %v", err)
		}
		inner := consumedSet(t, plain)
		last := inner[len(inner)-1].Offset
		for i := range inner {
			switch m.magic {
			case 0: // absolute inside
				if last != m.offset {
					t.Fatalf("wrapper has offset %d, its last message %d", m.offset, last)
				}
			default: // relative inside
				if i == 0 && inner[0].Offset != 0 {
					t.Fatalf("offsets inside a wrapper begin with %d", inner[0].Offset)
				}
				inner[i].Offset += m.offset - last
			}
		}
		all = append(all, inner...)
	}
	return all
}

func consumedMessage(t testing.TB, raw []byte) (m oldMessage, rest []byte) {
	t.Helper()
	size := 12 + int(binary.BigEndian.Uint32(raw[8:]))
	whole := raw[:size]
	if got, want := crc32.ChecksumIEEE(whole[16:]), binary.BigEndian.Uint32(whole[12:]); got != want {
		t.Fatalf("CRC is %08x, want %08x", want, got)
	}
	switch whole[16] {
	case 0:
		var v kmsg.MessageV0
		if err := v.ReadFrom(whole); err != nil {
			t.Fatal(err)
		}
		m = oldMessage{0, record.Codec(v.Attributes & 7), v.Offset, record.NoTimestamp, v.Key, v.Value}
	case 1:
		var v kmsg.MessageV1
		if err := v.ReadFrom(whole); err != nil {
			t.Fatal(err)
		}
		m = oldMessage{1, record.Codec(v.Attributes & 7), v.Offset, v.Timestamp, v.Key, v.Value}
	default:
		t.Fatalf("message of magic %d", whole[16])
	}
	return m, raw[size:]
}
