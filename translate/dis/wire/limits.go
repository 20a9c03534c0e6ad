package wire

import "iter"

// Limits are what a stream type allows. Throughput is per partition. A put
// may be refused above them; the service decides, per record, with DIS.4303.
type Limits struct {
	// RecordBytes bounds one record's data before base64.
	RecordBytes int
	// RequestBytes bounds the data of all records of one put; partition keys do
	// not count. The older documents allow 5 MiB for every stream.
	RequestBytes int
	// RequestRecords bounds the records of one put. No document of the API sets
	// it; this is the number above which no official SDK goes in one request.
	RequestRecords int
	// WriteBytes and WriteRecords bound a second of puts, whichever comes first.
	WriteBytes   int
	WriteRecords int
	// ReadBytes bounds a second of gets, shared by all apps.
	ReadBytes int
	// ProjectPartitions is the default quota of partitions of a project.
	ProjectPartitions int
}

// LimitsOf gives the documented limits of a stream type; an empty or unknown
// type has those of COMMON, the lower ones.
func LimitsOf(t StreamType) Limits {
	const mib = 1 << 20
	if t == StreamAdvanced {
		return Limits{
			RecordBytes: MaxRecordBytes, RequestBytes: 5 * mib, RequestRecords: 1000,
			WriteBytes: 5 * mib, WriteRecords: 2000, ReadBytes: 10 * mib, ProjectPartitions: 10,
		}
	}
	return Limits{
		RecordBytes: MaxRecordBytes, RequestBytes: mib, RequestRecords: 1000,
		WriteBytes: mib, WriteRecords: 1000, ReadBytes: 2 * mib, ProjectPartitions: 50,
	}
}

// Split cuts records into the longest pieces that RequestBytes and
// RequestRecords allow, in their order. A record that is too large by itself is
// a piece of its own.
func (l Limits) Split(records []PutRecord) iter.Seq[[]PutRecord] {
	return func(yield func([]PutRecord) bool) {
		start, bytes := 0, 0
		for i := range records {
			size := len(records[i].Data)
			if i > start && (bytes+size > l.RequestBytes || i-start >= l.RequestRecords) {
				if !yield(records[start:i:i]) {
					return
				}
				start, bytes = i, 0
			}
			bytes += size
		}
		if start < len(records) {
			yield(records[start:])
		}
	}
}
