package wire

import "google.golang.org/protobuf/encoding/protowire"

// The record bodies may also travel as protobuf (proto2), with the data as raw
// bytes instead of base64. The schema is that of the Java, Python and legacy Go
// SDKs; its field numbers are unique over all messages. 15 and 20 are reserved,
// 7 to 11 belong to the withdrawn upload of small files and are skipped.
const (
	// PutRecordsRequest
	fieldStreamName protowire.Number = 1
	fieldPutRecords protowire.Number = 2
	fieldStreamID   protowire.Number = 30

	// PutRecordsRequestEntry
	fieldPutData         protowire.Number = 3
	fieldExplicitHashKey protowire.Number = 4
	fieldPutKey          protowire.Number = 5
	fieldPutPartitionID  protowire.Number = 6
	fieldPutTimestamp    protowire.Number = 29

	// PutRecordsResult
	fieldFailedCount protowire.Number = 21
	fieldPutResults  protowire.Number = 22

	// PutRecordsResultEntry
	fieldResultPartition protowire.Number = 23
	fieldResultSequence  protowire.Number = 24
	fieldErrorCode       protowire.Number = 25
	fieldErrorMessage    protowire.Number = 26

	// GetRecordsResult
	fieldNextCursor protowire.Number = 14
	fieldRecords    protowire.Number = 16

	// Record
	fieldRecordKey      protowire.Number = 17
	fieldRecordSequence protowire.Number = 18
	fieldRecordData     protowire.Number = 19
	fieldTimestamp      protowire.Number = 27
	fieldTimestampType  protowire.Number = 28
)
