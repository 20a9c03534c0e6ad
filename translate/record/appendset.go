package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// MessageBytes is the length of a record as an uncompressed message of magic 0
// or 1, in which headers have no place.
func MessageBytes(magic int8, r *Record) int {
	size := minMessageBytes + len(r.Key) + len(r.Value)
	if magic > 0 {
		size += messageTimestampBytes
	}
	return size
}

// AppendMessageSet appends the records as messages of magic 0 or 1 for consumers
// that do not know the v2 batch. Like a broker that converts down, it leaves out
// the headers, and for magic 0 the times. Offsets rise from record to record.
//
// With a codec there is one wrapper with the offset of the last record, around
// offsets that count from the first (KIP-31), or for magic 0 around the offsets
// themselves. Where that would be longer, the messages stand uncompressed: the
// set is never longer than the sum of MessageBytes. So they do in codecs that
// not every client of the format reads.
func (e Encoding) AppendMessageSet(dst []byte, magic int8, records []Positioned) ([]byte, error) {
	if err := e.check(records); err != nil {
		return dst, err
	}
	if magic < 0 || magic > 1 || e.Codec > CodecZstd {
		return dst, fmt.Errorf("messages of magic %d with codec %v cannot be written", magic, e.Codec)
	}
	start := len(dst)
	if wrappable(magic, e.Codec) {
		wrapped, err := e.appendWrapper(dst, magic, records)
		if err != nil {
			return dst, err
		}
		if len(wrapped)-start <= setBytes(magic, records) {
			return wrapped, nil
		}
		dst = wrapped[:start]
	}
	attributes := Encoding{LogAppendTime: e.LogAppendTime}.messageAttributes(magic)
	return appendMessages(dst, magic, attributes, records, 0), nil
}

// wrappable leaves out zstd, which came after these formats, and lz4 for magic 0,
// whose clients expect different checksums in its header.
func wrappable(magic int8, codec Codec) bool {
	return codec == CodecGzip || codec == CodecSnappy || codec == CodecLZ4 && magic > 0
}

func setBytes(magic int8, records []Positioned) (bytes int) {
	for i := range records {
		bytes += MessageBytes(magic, &records[i].Record)
	}
	return bytes
}

// messageAttributes leaves the time's bit out of magic 0, which has no time.
func (e Encoding) messageAttributes(magic int8) byte {
	if magic == 0 {
		return byte(e.Codec)
	}
	return byte(e.attributes())
}

func appendMessages(dst []byte, magic int8, attributes byte, records []Positioned, base int64) []byte {
	for i := range records {
		r := &records[i]
		start := len(dst)
		dst = openMessage(dst, magic, attributes, r.Offset-base, r.Timestamp)
		dst = appendFixed(appendFixed(dst, r.Key), r.Value)
		closeMessage(dst[start:])
	}
	return dst
}

// appendWrapper writes the outer message, and lets the codec write its value.
func (e Encoding) appendWrapper(dst []byte, magic int8, records []Positioned) ([]byte, error) {
	last, base := records[len(records)-1], int64(0)
	if magic > 0 {
		base = records[0].Offset
	}
	start := len(dst)
	dst = openMessage(dst, magic, e.messageAttributes(magic), last.Offset, newest(records))
	dst = appendFixed(dst, nil) // key
	dst = binary.BigEndian.AppendUint32(dst, 0)
	valueAt := len(dst)
	dst, err := appendCompressed(dst, e.Codec, func(plain []byte) []byte {
		return appendMessages(plain, magic, 0, records, base)
	})
	if err != nil {
		return dst, err
	}
	binary.BigEndian.PutUint32(dst[valueAt-4:], uint32(len(dst)-valueAt))
	closeMessage(dst[start:])
	return dst, nil
}

// openMessage appends a message up to its key. Size and CRC are left to
// closeMessage.
func openMessage(dst []byte, magic int8, attributes byte, offset, timestamp int64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(offset))
	dst = binary.BigEndian.AppendUint64(dst, 0) // size and CRC
	dst = append(dst, byte(magic), attributes)
	if magic > 0 {
		dst = binary.BigEndian.AppendUint64(dst, uint64(timestamp))
	}
	return dst
}

func closeMessage(m []byte) {
	binary.BigEndian.PutUint32(m[messageSizeAt:], uint32(len(m)-messageSizeCountsFrom))
	binary.BigEndian.PutUint32(m[messageCRCAt:], crc32.ChecksumIEEE(m[messageCRCCovers:]))
}

// appendFixed appends key or value with a length of 4 bytes, -1 for null.
func appendFixed(dst, value []byte) []byte {
	if value == nil {
		return append(dst, 0xff, 0xff, 0xff, 0xff)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}
