package wire

import "encoding/json"

// DecodeGetRecordsResponse decodes as encoding/json does, only faster. The text
// is not kept. The data of the records share blocks of memory.
func DecodeGetRecordsResponse(text []byte) (*GetRecordsResponse, error) {
	return decode(text, scanGetRecordsResponse)
}

// DecodePutRecordsRequest decodes as encoding/json does, only faster. The text
// is not kept. The data of the records share blocks of memory.
func DecodePutRecordsRequest(text []byte) (*PutRecordsRequest, error) {
	return decode(text, scanPutRecordsRequest)
}

// DecodePutRecordsResponse decodes as encoding/json does, only faster. The text
// is not kept.
func DecodePutRecordsResponse(text []byte) (*PutRecordsResponse, error) {
	return decode(text, scanPutRecordsResponse)
}

// decode leaves what the scanner cannot read, wrong bodies included, to
// encoding/json.
func decode[T any](text []byte, scan func(*scanner, *T)) (*T, error) {
	s := &scanner{text: text}
	result := new(T)
	if scan(s, result); s.end() {
		return result, nil
	}
	result = new(T)
	if err := json.Unmarshal(text, result); err != nil {
		return nil, err
	}
	return result, nil
}

// The members of the bodies, in the order of the switches below.
var (
	getResponseNames = []string{"records", "next_partition_cursor"}
	recordNames      = []string{"data", "sequence_number", "partition_key", "timestamp", "timestamp_type"}
	putRequestNames  = []string{"records", "stream_name", "stream_id"}
	putRecordNames   = []string{"data", "partition_id", "partition_key", "timestamp", "explicit_hash_key"}
	putResponseNames = []string{"records", "failed_record_count"}
	putResultNames   = []string{"partition_id", "sequence_number", "error_code", "error_message"}
)

func scanGetRecordsResponse(s *scanner, result *GetRecordsResponse) {
	for name := range s.members(getResponseNames) {
		switch name {
		case 0:
			result.Records = scanRecords(s)
		case 1:
			s.textInto(&result.NextPartitionCursor, "")
		}
	}
}

func scanRecords(s *scanner) []Record {
	if s.null() {
		return nil
	}
	var data arena
	var sequences, keys texts
	var sequenced, keyed []int // the records that have the member
	records := []Record{}
	for i := range s.elements() {
		records = append(records, Record{})
		record := &records[i]
		for name := range s.members(recordNames) {
			switch name {
			case 0:
				record.Data = data.read(s)
			case 1:
				sequences.read(s)
				sequenced = append(sequenced, i)
			case 2:
				if !s.null() {
					keys.read(s)
					keyed = append(keyed, i)
				}
			case 3:
				s.integerInto(&record.Timestamp)
			case 4:
				s.textInto(&record.TimestampType, TimestampTypeCreate)
			}
		}
	}
	for i, text := range sequences.all() {
		records[sequenced[i]].SequenceNumber = text
	}
	all := keys.all()
	for i := range all {
		records[keyed[i]].PartitionKey = &all[i]
	}
	return records
}

func scanPutRecordsRequest(s *scanner, result *PutRecordsRequest) {
	for name := range s.members(putRequestNames) {
		switch name {
		case 0:
			result.Records = scanPutRecords(s)
		case 1:
			s.textInto(&result.StreamName, "")
		case 2:
			s.textInto(&result.StreamID, "")
		}
	}
}

func scanPutRecords(s *scanner) []PutRecord {
	if s.null() {
		return nil
	}
	var data arena
	var keys texts
	var keyed []int
	partition := ""
	records := []PutRecord{}
	for i := range s.elements() {
		records = append(records, PutRecord{})
		record := &records[i]
		for name := range s.members(putRecordNames) {
			switch name {
			case 0:
				record.Data = data.read(s)
			case 1:
				s.textInto((*string)(&record.PartitionID), partition)
				partition = string(record.PartitionID)
			case 2:
				if !s.null() {
					keys.read(s)
					keyed = append(keyed, i)
				}
			case 3:
				if !s.null() {
					timestamp := s.integer()
					record.Timestamp = &timestamp
				}
			case 4:
				s.textInto((*string)(&record.ExplicitHashKey), "")
			}
		}
	}
	all := keys.all()
	for i := range all {
		records[keyed[i]].PartitionKey = &all[i]
	}
	return records
}

func scanPutRecordsResponse(s *scanner, result *PutRecordsResponse) {
	for name := range s.members(putResponseNames) {
		switch name {
		case 0:
			result.Records = scanPutResults(s)
		case 1:
			var count int64
			s.integerInto(&count)
			result.FailedRecordCount = int(count)
		}
	}
}

func scanPutResults(s *scanner) []PutResult {
	if s.null() {
		return nil
	}
	var sequences texts
	var sequenced []int
	var before PutResult
	results := []PutResult{}
	for i := range s.elements() {
		results = append(results, PutResult{})
		result := &results[i]
		for name := range s.members(putResultNames) {
			switch name {
			case 0:
				s.textInto(&result.PartitionID, before.PartitionID)
			case 1:
				sequences.read(s)
				sequenced = append(sequenced, i)
			case 2:
				s.textInto(&result.ErrorCode, before.ErrorCode)
			case 3:
				s.textInto(&result.ErrorMessage, before.ErrorMessage)
			}
		}
		before = *result
	}
	for i, text := range sequences.all() {
		results[sequenced[i]].SequenceNumber = text
	}
	return results
}
