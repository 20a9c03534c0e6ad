package wire

import "fmt"

// DecodeProtoPutRecordsRequest decodes the protobuf body of a put. The data of
// the records are parts of body, which must not change afterwards. No field is
// required, as in the Java SDK's schema.
func DecodeProtoPutRecordsRequest(body []byte) (*PutRecordsRequest, error) {
	count, err := countFields(body, fieldPutRecords)
	if err != nil {
		return nil, err
	}
	put := &PutRecordsRequest{Records: make([]PutRecord, 0, count)}
	d := putDecoder{put: put}
	if err := eachField(body, d.request); err != nil {
		return nil, err
	}
	d.keys.each(func(place int, text *string) { put.Records[place].PartitionKey = text })
	return put, nil
}

// putDecoder collects what all records of a put share memory for.
type putDecoder struct {
	put        *PutRecordsRequest
	keys       scattered
	timestamps []int64
}

func (d *putDecoder) request(f field) error {
	switch {
	case f.isBytes(fieldStreamName):
		d.put.StreamName = string(f.bytes)
	case f.isBytes(fieldStreamID):
		d.put.StreamID = string(f.bytes)
	case f.isBytes(fieldPutRecords):
		d.put.Records = append(d.put.Records, PutRecord{})
		return eachField(f.bytes, d.record)
	}
	return nil
}

func (d *putDecoder) record(f field) error {
	index := len(d.put.Records) - 1
	record := &d.put.Records[index]
	switch {
	case f.isBytes(fieldPutData):
		record.Data = f.data()
	case f.isBytes(fieldPutKey):
		d.keys.set(index, f.bytes)
	case f.isBytes(fieldPutPartitionID):
		before := Text("")
		if index > 0 {
			before = d.put.Records[index-1].PartitionID
		}
		record.PartitionID = Text(f.text(string(before)))
	case f.isBytes(fieldExplicitHashKey):
		record.ExplicitHashKey = Text(f.bytes)
	case f.isInteger(fieldPutTimestamp):
		// Growing leaves the earlier records with the memory they point to.
		d.timestamps = append(d.timestamps, int64(f.integer))
		record.Timestamp = &d.timestamps[len(d.timestamps)-1]
	}
	return nil
}

// DecodeProtoPutRecordsResponse decodes the protobuf body of a put's results.
// The body is not kept.
func DecodeProtoPutRecordsResponse(body []byte) (*PutRecordsResponse, error) {
	count, err := countFields(body, fieldPutResults)
	if err != nil {
		return nil, err
	}
	results := &PutRecordsResponse{Records: make([]PutResult, 0, count)}
	d := resultsDecoder{results: results}
	if err := eachField(body, d.response); err != nil {
		return nil, err
	}
	if !d.counted {
		return nil, missing("failedRecordCount")
	}
	d.sequences.each(func(place int, text *string) { results.Records[place].SequenceNumber = *text })
	return results, nil
}

type resultsDecoder struct {
	results   *PutRecordsResponse
	counted   bool
	sequences scattered
}

func (d *resultsDecoder) response(f field) error {
	switch {
	case f.isInteger(fieldFailedCount):
		d.results.FailedRecordCount, d.counted = int(int32(f.integer)), true
	case f.isBytes(fieldPutResults):
		d.results.Records = append(d.results.Records, PutResult{})
		return eachField(f.bytes, d.result)
	}
	return nil
}

func (d *resultsDecoder) result(f field) error {
	index := len(d.results.Records) - 1
	result := &d.results.Records[index]
	var before PutResult
	if index > 0 {
		before = d.results.Records[index-1]
	}
	switch {
	case f.isBytes(fieldResultPartition):
		result.PartitionID = f.text(before.PartitionID)
	case f.isBytes(fieldResultSequence):
		d.sequences.set(index, f.bytes)
	case f.isBytes(fieldErrorCode):
		result.ErrorCode = f.text(before.ErrorCode)
	case f.isBytes(fieldErrorMessage):
		result.ErrorMessage = f.text(before.ErrorMessage)
	}
	return nil
}

// DecodeProtoGetRecordsResponse decodes the protobuf body of records read. The
// data of the records are parts of body, which must not change afterwards.
func DecodeProtoGetRecordsResponse(body []byte) (*GetRecordsResponse, error) {
	count, err := countFields(body, fieldRecords)
	if err != nil {
		return nil, err
	}
	get := &GetRecordsResponse{Records: make([]Record, 0, count)}
	d := getDecoder{get: get}
	if err := eachField(body, d.response); err != nil {
		return nil, err
	}
	if !d.hasCursor {
		return nil, missing("nextShardIterator")
	}
	d.sequences.each(func(place int, text *string) { get.Records[place].SequenceNumber = *text })
	d.keys.each(func(place int, text *string) { get.Records[place].PartitionKey = text })
	return get, nil
}

type getDecoder struct {
	get             *GetRecordsResponse
	hasCursor       bool
	keys, sequences scattered
}

func (d *getDecoder) response(f field) error {
	switch {
	case f.isBytes(fieldNextCursor):
		d.get.NextPartitionCursor, d.hasCursor = string(f.bytes), true
	case f.isBytes(fieldRecords):
		d.get.Records = append(d.get.Records, Record{})
		if err := eachField(f.bytes, d.record); err != nil {
			return err
		}
		if len(d.sequences.places) < len(d.get.Records) {
			return missing("sequenceNumber")
		}
	}
	return nil
}

func (d *getDecoder) record(f field) error {
	index := len(d.get.Records) - 1
	record := &d.get.Records[index]
	switch {
	case f.isBytes(fieldRecordData):
		record.Data = f.data()
	case f.isBytes(fieldRecordSequence):
		d.sequences.set(index, f.bytes)
	case f.isBytes(fieldRecordKey):
		d.keys.set(index, f.bytes)
	case f.isInteger(fieldTimestamp):
		record.Timestamp = int64(f.integer)
	case f.isBytes(fieldTimestampType):
		record.TimestampType = f.text(TimestampTypeCreate)
	}
	return nil
}

func missing(name string) error { return fmt.Errorf("protobuf: required field %s is missing", name) }
