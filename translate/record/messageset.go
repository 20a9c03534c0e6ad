package record

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Layout of a message, the format of before KIP-98. A message set is messages
// one after another; the size field counts what follows it, the CRC-32 covers
// everything from the magic on. Magic 1 has a timestamp (KIP-32) where the key
// of magic 0 begins.
//
// A message whose attributes name a codec is a wrapper: its value is a whole
// message set, compressed. A producer's set may hold several messages, several
// wrappers, and both formats. Offsets in it mean nothing, neither absolute ones
// nor those relative to the wrapper (KIP-31): some clients number the inner
// messages, some leave 0 everywhere, and records stand in their order.
const (
	messageSizeAt       = 8
	messageCRCAt        = 12
	messageMagicAt      = 16
	messageAttributesAt = 17
	messageTimestampAt  = 18 // magic 1 alone

	messageSizeCountsFrom = messageCRCAt
	messageCRCCovers      = messageMagicAt

	// minMessageBytes is the shortest message: null key, null value, magic 0.
	minMessageBytes = messageAttributesAt + 1 + 4 + 4
	// messageTimestampBytes is what magic 1 has on top.
	messageTimestampBytes = 8
)

// message is one entry of a message set.
type message struct {
	whole      []byte // with offset and size
	magic      int8
	attributes byte
	timestamp  int64
	key, value []byte // nil where the wire has null
}

func (m *message) codec() Codec { return Codec(m.attributes & attributeCodecMask) }

// logAppendTime reports whether the time is a broker's; magic 0 has no time and
// no such bit.
func (m *message) logAppendTime() bool {
	return m.magic == 1 && m.attributes&attributeLogAppendTime != 0
}

// readMessage takes the first message off a set. It checks its structure but
// not its checksum; why is empty when it is well formed. A size that is beyond
// the set is refused: brokers drop such a message without a word, which loses
// records.
func readMessage(set []byte, m *message) (rest []byte, why string) {
	if len(set) <= messageMagicAt {
		return nil, "the set ends in the middle of it"
	}
	size := int64(int32(binary.BigEndian.Uint32(set[messageSizeAt:]))) + messageSizeCountsFrom
	if size < minMessageBytes || size > int64(len(set)) {
		return nil, "its size does not fit the set"
	}
	*m = message{whole: set[:size:size], magic: int8(set[messageMagicAt]), attributes: set[messageAttributesAt], timestamp: NoTimestamp}
	fields := fixedInput{rest: m.whole[messageAttributesAt+1:]}
	switch m.magic {
	case 0:
	case 1:
		m.timestamp = fields.int64()
	default:
		return nil, "not of format 0 or 1, which are those of the request's version"
	}
	m.key, m.value = fields.nullable(), fields.nullable()
	switch {
	case fields.broken:
		return nil, "its key or value ends beyond it"
	case len(fields.rest) != 0:
		return nil, "bytes follow its value"
	}
	return set[size:], ""
}

// checkCRC compares the checksum of a message, which is not the CRC-32C of
// batches.
func (m *message) checkCRC() error {
	want := binary.BigEndian.Uint32(m.whole[messageCRCAt:])
	if got := crc32.ChecksumIEEE(m.whole[messageCRCCovers:]); got != want {
		return refuse(kerr.CorruptMessage, "CRC-32 of a message is %08x, its header says %08x", got, want)
	}
	return nil
}

// fixedInput reads the fields of a message, which have lengths of 4 bytes.
type fixedInput struct {
	rest   []byte
	broken bool
}

func (in *fixedInput) take(n int) []byte {
	if in.broken || n > len(in.rest) {
		in.broken = true
		return nil
	}
	taken := in.rest[:n:n]
	in.rest = in.rest[n:]
	return taken
}

func (in *fixedInput) int64() int64 {
	if b := in.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (in *fixedInput) nullable() []byte {
	b := in.take(4)
	if b == nil {
		return nil
	}
	n := int32(binary.BigEndian.Uint32(b))
	if n < 0 {
		in.broken = in.broken || n != -1
		return nil
	}
	return in.take(int(n))
}

// parseMessageSet checks the outer messages of a set: structure, checksums,
// codecs. What wrappers hold is checked when it is decompressed.
func parseMessageSet(raw []byte, version int16) (Frame, error) {
	frame := Frame{ProducerID: -1, body: raw, set: true}
	var m message
	for i, rest := 0, raw; len(rest) > 0; i++ {
		var why string
		if rest, why = readMessage(rest, &m); why != "" {
			return Frame{}, invalid("message %d: %s", i, why)
		}
		if err := checkOuter(&m, version); err != nil {
			return Frame{}, err
		}
		if i == 0 {
			frame.Codec = m.codec()
		}
		frame.wrapped = frame.wrapped || m.codec() != CodecNone
	}
	return frame, nil
}

func checkOuter(m *message, version int16) error {
	if err := m.checkCRC(); err != nil {
		return err
	}
	if err := checkCodec(m.codec(), version); err != nil {
		return err
	}
	switch {
	case m.logAppendTime():
		return refuse(kerr.InvalidTimestamp, "a producer may not write messages with log append time")
	case m.codec() != CodecNone && m.value == nil:
		return invalid("a compressed message without a value")
	}
	return nil
}

// messageSet gives the set as one without wrappers: what they hold stands in
// their place, decompressed and checked.
func (o *output) messageSet(set []byte) error {
	var m message
	records := 0
	for len(set) > 0 {
		set, _ = readMessage(set, &m) // was checked when the set was parsed
		if m.codec() == CodecNone {
			if err := o.append(m.whole); err != nil {
				return err
			}
			records++
			continue
		}
		start := len(o.buf)
		if err := o.decompress(m.codec(), m.value, m.magic); err != nil {
			return o.explain(m.codec(), err)
		}
		n, err := checkInner(o.buf[start:], m.magic, records)
		if err != nil {
			return err
		}
		records += n
	}
	return nil
}

// checkInner checks the messages of a wrapper and counts them. The first is
// record number first of the whole set.
func checkInner(set []byte, magic int8, first int) (count int, err error) {
	if len(set) == 0 {
		return 0, invalid("a compressed message that holds none")
	}
	var m message
	for ; len(set) > 0; count++ {
		var why string
		set, why = readMessage(set, &m)
		switch {
		case why != "":
			return 0, invalidRecord(first+count, "inside a compressed message: "+why)
		case m.magic != magic:
			return 0, invalidRecord(first+count, "it has another format than the compressed message around it")
		case m.codec() != CodecNone:
			return 0, invalidRecord(first+count, "it is compressed inside a compressed message")
		case m.logAppendTime():
			return 0, refuseRecord(kerr.InvalidTimestamp, first+count, "a producer may not write messages with log append time")
		}
		if err := m.checkCRC(); err != nil {
			return 0, err
		}
	}
	return count, nil
}

// nextMessage is Scanner.Next for message sets, whose structure and checksums
// were checked.
func (s *Scanner) nextMessage(r *Record) (bool, error) {
	if len(s.rest) == 0 {
		return false, nil
	}
	var m message
	rest, why := readMessage(s.rest, &m)
	if why != "" {
		return false, invalidRecord(s.index, why)
	}
	r.Key, r.Value, r.Headers, r.Timestamp = m.key, m.value, r.Headers[:0], m.timestamp
	s.rest = rest
	s.index++
	return true, nil
}
