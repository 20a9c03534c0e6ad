package embedded

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// apiError is an answer of the service that refuses a request, or a record of
// a put. Message carries its arguments in square brackets, as DIS writes them.
type apiError struct {
	status  int
	code    string
	message string
}

func (e *apiError) Error() string { return e.code + " " + e.message }

// refuse is an error with HTTP status 400, the status of nearly all of them.
func refuse(code, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, code: code, message: fmt.Sprintf(format, args...)}
}

// invalidRequest names the field and the value that are wrong.
func invalidRequest(field string, value any) *apiError {
	return refuse(wire.CodeInvalidRequest, "Invalid request. [%s][%v]", field, value)
}

func tooLarge(what string, limit int) *apiError {
	return &apiError{
		status:  http.StatusRequestEntityTooLarge,
		code:    wire.CodeInvalidRequest,
		message: fmt.Sprintf("Request entity too large. [%s][%d]", what, limit),
	}
}

func streamNotFound(stream, project string) *apiError {
	return refuse(wire.CodeStreamNotFound, "Stream does not exist. [%s][%s]", stream, project)
}

func invalidPartitionID(partition string) *apiError {
	return refuse(wire.CodeInvalidPartitionID, "Invalid partition_id. [%s]", partition)
}

func partitionNotFound(stream, partition string) *apiError {
	return refuse(wire.CodePartitionNotFound, "Partition does not exist. [%s][%s]", stream, partition)
}

func partitionExpired(stream, partition string) *apiError {
	return refuse(wire.CodePartitionExpired, "Partition is expired. [%s][%s]", stream, partition)
}

func appNotFound(app, project string) *apiError {
	return refuse(wire.CodeAppNotFound, "App does not exist. [%s][%s]", app, project)
}

func cursorExpired(cursor string) *apiError {
	return refuse(wire.CodeCursorExpired, "Partition cursor is expired. [%s]", cursor)
}

// sequenceOutOfRange has the layout that the Java SDK takes the three numbers from.
func sequenceOutOfRange(number, low, high int64) *apiError {
	return refuse(wire.CodeSequenceOutOfRange,
		"Sequence_number out of range. [%d][ should be within ][%d][ ][%d]", number, low, high)
}

// recordExpired has the layout of sequenceOutOfRange.
func recordExpired(number, low, high int64) *apiError {
	return refuse(wire.CodeRecordExpired,
		"Record is expired. [%d][ should be within ][%d][ ][%d]", number, low, high)
}

// timestampExpired names the time of the oldest record, with which the Kafka
// adapter asks again at once.
func timestampExpired(timestamp, oldest int64) *apiError {
	return refuse(wire.CodeRequestError,
		"Request error. [timestamp is expired, timestamp should be larger than %d][%d]", oldest, timestamp)
}

func internalError() *apiError {
	return &apiError{status: http.StatusInternalServerError, code: wire.CodeInternal, message: "System error."}
}

// body is the JSON of the error in both notations, the one of DIS and the Java
// SDK and the one of the Go SDK v3.
func (e *apiError) body() ([]byte, error) {
	return json.Marshal(wire.ErrorBody{
		ErrorCode: e.code, Message: e.message, ErrorCodeV3: e.code, ErrorMsgV3: e.message,
	})
}
