package oracle

import (
	"encoding/binary"
	"hash/crc32"
)

// messageSet is one value in a message of before Kafka 0.11, magic 0 or 1.
func messageSet(magic int8, value string) []byte {
	body := []byte{byte(magic), 0}
	if magic == 1 {
		body = binary.BigEndian.AppendUint64(body, uint64(FirstTime))
	}
	body = binary.BigEndian.AppendUint32(body, 0xffffffff) // key: null
	body = binary.BigEndian.AppendUint32(body, uint32(len(value)))
	body = append(body, value...)
	set := binary.BigEndian.AppendUint64(nil, 0) // offset
	set = binary.BigEndian.AppendUint32(set, uint32(4+len(body)))
	set = binary.BigEndian.AppendUint32(set, crc32.ChecksumIEEE(body))
	return append(set, body...)
}
