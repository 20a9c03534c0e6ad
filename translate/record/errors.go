package record

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Error says why a batch was refused. Code is a Kafka error code:
// CORRUPT_MESSAGE (2) for a wrong checksum, which sending again can mend, and
// MESSAGE_TOO_LARGE (10), INVALID_TIMESTAMP (32),
// TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53), UNSUPPORTED_COMPRESSION_TYPE (76)
// or INVALID_RECORD (87), which it cannot.
type Error struct {
	Code    int16
	Message string
	// Records names the records to blame; none when it is the batch as a whole.
	Records []RecordError
}

// RecordError is what is wrong with one record of a batch (KIP-467).
type RecordError struct {
	// Index counts the records of the batch from 0.
	Index   int
	Message string
}

// Error names the Kafka error and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("%v: %s", kerr.ErrorForCode(e.Code), e.Message)
}

func refuse(kafka *kerr.Error, format string, args ...any) *Error {
	return &Error{Code: kafka.Code, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Error {
	return refuse(kerr.InvalidRecord, format, args...)
}

// invalidRecord blames one record for the refusal of its batch.
func invalidRecord(index int, why string) *Error { return refuseRecord(kerr.InvalidRecord, index, why) }

func refuseRecord(kafka *kerr.Error, index int, why string) *Error {
	refused := refuse(kafka, "record %d: %s", index, why)
	refused.Records = []RecordError{{Index: index, Message: why}}
	return refused
}
