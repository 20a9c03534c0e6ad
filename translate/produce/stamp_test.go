package produce

import (
	"encoding/binary"
	"hash/crc32"
)

// stamp puts a producer id, epoch and base sequence into a batch.
func stamp(raw []byte, producerID int64, epoch int16, sequence int32) []byte {
	binary.BigEndian.PutUint64(raw[43:], uint64(producerID))
	binary.BigEndian.PutUint16(raw[51:], uint16(epoch))
	binary.BigEndian.PutUint32(raw[53:], uint32(sequence))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// stampAttributes puts attributes into a batch.
func stampAttributes(raw []byte, attributes uint16) []byte {
	binary.BigEndian.PutUint16(raw[21:], attributes)
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}
