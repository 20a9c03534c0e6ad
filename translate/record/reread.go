package record

import (
	"encoding/binary"
	"errors"
	"math"
)

var errNotOurs = errors.New("not a record batch as AppendBatch writes it")

// ReadBatch reads the first of the v2 batches that AppendBatch wrote one after
// another, and gives what follows it. It trusts them: use DecodeBatch for what
// clients send. The records point into the batch, or into a buffer of their own
// where it is compressed.
func ReadBatch(batches []byte) (records []Positioned, rest []byte, err error) {
	if len(batches) < batchHeaderBytes {
		return nil, nil, errNotOurs
	}
	size := int64(binary.BigEndian.Uint32(batches[lengthAt:])) + lengthCountsFrom
	if size < batchHeaderBytes || size > int64(len(batches)) {
		return nil, nil, errNotOurs
	}
	batch, rest := batches[:size], batches[size:]
	frame := batchFrame(batch)
	payload, err := frame.Payload(Limits{MaxDecompressedBytes: math.MaxInt})
	if err != nil {
		return nil, nil, err
	}
	if frame.Count <= 0 || frame.Count > len(payload)/minRecordBytes {
		return nil, nil, errNotOurs
	}
	base := int64(binary.BigEndian.Uint64(batch))
	records = make([]Positioned, frame.Count)
	scanner := frame.Scan(payload)
	for i := range records {
		if _, err := scanner.Next(&records[i].Record); err != nil {
			return nil, nil, err
		}
		records[i].Offset = base + scanner.offsetDelta
	}
	return records, rest, nil
}

// CountBatches is the number of records in v2 batches that AppendBatch wrote one
// after another. It reads their headers alone; bytes that are no batch end it.
func CountBatches(batches []byte) (records int) {
	for len(batches) >= batchHeaderBytes {
		size := int64(binary.BigEndian.Uint32(batches[lengthAt:])) + lengthCountsFrom
		if size < batchHeaderBytes || size > int64(len(batches)) {
			break
		}
		records += int(binary.BigEndian.Uint32(batches[countAt:]))
		batches = batches[size:]
	}
	return records
}
