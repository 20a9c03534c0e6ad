package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// DecodeProtoPutRecordsRequest decodes the protobuf body of a put. The data of
// the records are parts of body, which must not change afterwards. No field is
// required, as in the Java SDK's schema.
func DecodeProtoPutRecordsRequest(body []byte) (*PutRecordsRequest, error) {
	put := new(PutRecordsRequest)
	count, err := countFields(body, fieldPutRecords)
	if err != nil {
		return nil, err
	}
	put.Records = make([]PutRecord, 0, count)
	var keys scattered
	err = eachField(body, func(f field) error {
		switch {
		case f.isBytes(fieldStreamName):
			put.StreamName = string(f.bytes)
		case f.isBytes(fieldStreamID):
			put.StreamID = string(f.bytes)
		case f.isBytes(fieldPutRecords):
			put.Records = append(put.Records, PutRecord{})
			return decodePutRecord(f.bytes, put.Records, &keys)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := keys.all()
	for i := range all {
		put.Records[keys.places[i]].PartitionKey = &all[i]
	}
	return put, nil
}

// decodePutRecord decodes into the last of the records.
func decodePutRecord(message []byte, records []PutRecord, keys *scattered) error {
	index := len(records) - 1
	record := &records[index]
	before := ""
	if index > 0 {
		before = string(records[index-1].PartitionID)
	}
	return eachField(message, func(f field) error {
		switch {
		case f.isBytes(fieldPutData):
			record.Data = f.data()
		case f.isBytes(fieldPutKey):
			keys.set(index, f.bytes)
		case f.isBytes(fieldPutPartitionID):
			record.PartitionID = Text(f.text(before))
		case f.isBytes(fieldExplicitHashKey):
			record.ExplicitHashKey = Text(f.bytes)
		case f.isInteger(fieldPutTimestamp):
			timestamp := int64(f.integer)
			record.Timestamp = &timestamp
		}
		return nil
	})
}

// DecodeProtoPutRecordsResponse decodes the protobuf body of a put's results.
// The body is not kept.
func DecodeProtoPutRecordsResponse(body []byte) (*PutRecordsResponse, error) {
	results := new(PutRecordsResponse)
	count, err := countFields(body, fieldPutResults)
	if err != nil {
		return nil, err
	}
	results.Records = make([]PutResult, 0, count)
	var sequences scattered
	counted := false
	err = eachField(body, func(f field) error {
		switch {
		case f.isInteger(fieldFailedCount):
			results.FailedRecordCount, counted = int(int32(f.integer)), true
		case f.isBytes(fieldPutResults):
			results.Records = append(results.Records, PutResult{})
			return decodePutResult(f.bytes, results.Records, &sequences)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !counted {
		return nil, missing("failedRecordCount")
	}
	for i, text := range sequences.all() {
		results.Records[sequences.places[i]].SequenceNumber = text
	}
	return results, nil
}

// decodePutResult decodes into the last of the results.
func decodePutResult(message []byte, results []PutResult, sequences *scattered) error {
	index := len(results) - 1
	result := &results[index]
	var before PutResult
	if index > 0 {
		before = results[index-1]
	}
	return eachField(message, func(f field) error {
		switch {
		case f.isBytes(fieldResultPartition):
			result.PartitionID = f.text(before.PartitionID)
		case f.isBytes(fieldResultSequence):
			sequences.set(index, f.bytes)
		case f.isBytes(fieldErrorCode):
			result.ErrorCode = f.text(before.ErrorCode)
		case f.isBytes(fieldErrorMessage):
			result.ErrorMessage = f.text(before.ErrorMessage)
		}
		return nil
	})
}

// DecodeProtoGetRecordsResponse decodes the protobuf body of records read. The
// data of the records are parts of body, which must not change afterwards.
func DecodeProtoGetRecordsResponse(body []byte) (*GetRecordsResponse, error) {
	get := new(GetRecordsResponse)
	count, err := countFields(body, fieldRecords)
	if err != nil {
		return nil, err
	}
	get.Records = make([]Record, 0, count)
	var keys, sequences scattered
	hasCursor := false
	err = eachField(body, func(f field) error {
		switch {
		case f.isBytes(fieldNextCursor):
			get.NextPartitionCursor, hasCursor = string(f.bytes), true
		case f.isBytes(fieldRecords):
			get.Records = append(get.Records, Record{})
			return decodeRecord(f.bytes, get.Records, &keys, &sequences)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !hasCursor {
		return nil, missing("nextShardIterator")
	}
	if len(sequences.places) < len(get.Records) {
		return nil, missing("sequenceNumber")
	}
	for i, text := range sequences.all() {
		get.Records[sequences.places[i]].SequenceNumber = text
	}
	all := keys.all()
	for i := range all {
		get.Records[keys.places[i]].PartitionKey = &all[i]
	}
	return get, nil
}

// decodeRecord decodes into the last of the records.
func decodeRecord(message []byte, records []Record, keys, sequences *scattered) error {
	index := len(records) - 1
	record := &records[index]
	return eachField(message, func(f field) error {
		switch {
		case f.isBytes(fieldRecordData):
			record.Data = f.data()
		case f.isBytes(fieldRecordSequence):
			sequences.set(index, f.bytes)
		case f.isBytes(fieldRecordKey):
			keys.set(index, f.bytes)
		case f.isInteger(fieldTimestamp):
			record.Timestamp = int64(f.integer)
		case f.isBytes(fieldTimestampType):
			record.TimestampType = f.text(TimestampTypeCreate)
		}
		return nil
	})
}

func missing(name string) error { return fmt.Errorf("protobuf: required field %s is missing", name) }

// field is one field of a message: bytes for a text, data or an embedded
// message, integer for a number.
type field struct {
	number  protowire.Number
	kind    protowire.Type
	bytes   []byte
	integer uint64
}

// isBytes and isInteger also check the wire type: a field of another type than
// the schema's is an unknown one, as in every protobuf library.
func (f field) isBytes(number protowire.Number) bool {
	return f.number == number && f.kind == protowire.BytesType
}

func (f field) isInteger(number protowire.Number) bool {
	return f.number == number && f.kind == protowire.VarintType
}

// text makes a string, unless it is the likely one.
func (f field) text(likely string) string {
	if string(f.bytes) == likely {
		return likely
	}
	return string(f.bytes)
}

// data is never nil and cannot grow into what follows in the body.
func (f field) data() []byte { return f.bytes[:len(f.bytes):len(f.bytes)] }

// eachField yields the fields of a message in the order of the wire.
func eachField(message []byte, yield func(field) error) error {
	for len(message) > 0 {
		f, length := nextField(message)
		if length < 0 {
			return malformed(length)
		}
		message = message[length:]
		if err := yield(f); err != nil {
			return err
		}
	}
	return nil
}

// nextField returns a negative length for what is no field.
func nextField(message []byte) (f field, length int) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return field{}, tag
	}
	f.number, f.kind = number, kind
	switch rest := message[tag:]; kind {
	case protowire.BytesType:
		f.bytes, length = protowire.ConsumeBytes(rest)
	case protowire.VarintType:
		f.integer, length = protowire.ConsumeVarint(rest)
	default:
		length = protowire.ConsumeFieldValue(number, kind, rest)
	}
	if length < 0 {
		return field{}, length
	}
	return f, tag + length
}

// maxExpected bounds the memory that is reserved before a record was decoded: an
// element takes two bytes of a body and a hundred of memory.
const maxExpected = 16 << 10

// countFields counts the elements of a repeated field, so that they get their
// memory at once.
func countFields(message []byte, number protowire.Number) (count int, err error) {
	err = eachField(message, func(f field) error {
		if f.isBytes(number) {
			count++
		}
		return nil
	})
	return min(count, maxExpected), err
}

func malformed(code int) error {
	return fmt.Errorf("protobuf: %w", protowire.ParseError(code))
}

// scattered collects the texts that some elements of a list have, to cut all of
// them out of one allocation.
type scattered struct {
	texts
	places []int // the elements
}

// set adds the text of an element; a second one replaces the first.
func (s *scattered) set(place int, text []byte) {
	if last := len(s.places) - 1; last >= 0 && s.places[last] == place {
		s.drop()
		s.places = s.places[:last]
	}
	s.add(text)
	s.places = append(s.places, place)
}
