package translate

import "errors"

// Failure is a Kafka error code with the text for clients whose protocol
// version has room for one. Code 0 means success; its Message, when there is
// one, is for the log.
//
// A Failure is an error too: a translator that refuses a request on its own
// account returns one, and KafkaError passes it on unchanged.
type Failure struct {
	Code    int16
	Message string
}

// Error is the message alone: the code travels beside it.
func (f Failure) Error() string { return f.Message }

// Conditions that the gateway finds out itself and that mean a different Kafka
// error for each kind of call. KafkaError has a row for each.
var (
	// ErrNotReady is a topic that exists but cannot be used yet: DIS is still
	// creating its stream.
	ErrNotReady = errors.New("DIS is still creating the stream")
	// ErrNoStreamID is a topic whose id cannot be made yet: DIS shows its stream
	// without the id of it.
	ErrNoStreamID = errors.New("DIS does not show the id of the stream")
	// ErrUnknownID is a topic id that no stream has, or no longer has.
	ErrUnknownID = errors.New("no topic has this id")
	// ErrHidden is a topic that the settings keep from Kafka clients.
	ErrHidden = errors.New("this gateway does not show the topic")
	// ErrScalingLimit is a change of the number of partitions that DIS puts off
	// because the stream was scaled too often or too recently.
	ErrScalingLimit = errors.New("DIS limits how often a stream is scaled")
	// ErrInvalidName is a topic name that no stream can have.
	ErrInvalidName = errors.New("invalid topic name")
	// ErrInvalidGroup is a group id that no DIS app can stand for.
	ErrInvalidGroup = errors.New("invalid group id")
)
