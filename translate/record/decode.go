package record

// Limits bounds what a batch may cost.
type Limits struct {
	// MaxDecompressedBytes is the largest size of the records of one batch,
	// decompressed. A batch above it is refused with MESSAGE_TOO_LARGE.
	MaxDecompressedBytes int
	// Reserve is called before a buffer for decompressed records is made or
	// grows, with the size in bytes it will then have; an error stops the
	// decompression and is returned as it is. Nil reserves nothing. Uncompressed
	// batches need no buffer and never call it.
	Reserve func(bytes int) error
}

// DecodeBatch reads what one partition got in a Produce request of the version,
// a v2 record batch or a message set: Parse, Payload and Scan in one. The records
// point into raw, or into the decompressed buffer. The error is an *Error, or
// what Limits.Reserve returned.
func DecodeBatch(raw []byte, version int16, limits Limits) (Batch, error) {
	frame, err := Parse(raw, version)
	if err != nil {
		return Batch{}, err
	}
	payload, err := frame.Payload(limits)
	if err != nil {
		return Batch{}, err
	}
	records, err := frame.records(payload)
	if err != nil {
		return Batch{}, err
	}
	return Batch{
		ProducerID:    frame.ProducerID,
		ProducerEpoch: frame.ProducerEpoch,
		BaseSequence:  frame.BaseSequence,
		Codec:         frame.Codec,
		Records:       records,
	}, nil
}

func (f Frame) records(payload []byte) ([]Record, error) {
	if f.Count > len(payload)/minRecordBytes {
		return nil, invalid("%d bytes cannot hold %d records", len(payload), f.Count)
	}
	records := make([]Record, 0, f.Count)
	scanner := f.Scan(payload)
	for {
		var r Record
		more, err := scanner.Next(&r)
		if err != nil {
			return nil, err
		}
		if !more {
			return records, nil
		}
		records = append(records, r)
	}
}
