package translate

import (
	"errors"
	"fmt"
	"strings"
)

// maxStreamName is the limit of a stream name in characters, and maxTopicName that
// of Kafka for topics.
const (
	maxStreamName = 64
	maxTopicName  = 249
)

// maxStreamID bounds the id of a stream; those of DIS have 20 characters or so.
const maxStreamID = 64

// ValidateStreamName refuses a name that no stream can have. DIS allows 1 to 64 of
// A-Z a-z 0-9 _ and -, where Kafka also allows dots and 249 characters. The error
// is an ErrInvalidName whose text is fit for the client.
func ValidateStreamName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: it is empty", ErrInvalidName)
	}
	if len(name) > maxStreamName {
		return fmt.Errorf("%w: %.80q has %d characters, a DIS stream name has at most %d", ErrInvalidName, name, len(name), maxStreamName)
	}
	if strings.ContainsFunc(name, notInStreamName) {
		return fmt.Errorf("%w: %q has characters that a DIS stream name cannot have, allowed are A-Z a-z 0-9 _ and -", ErrInvalidName, name)
	}
	return nil
}

func notInStreamName(char rune) bool {
	return (char < 'a' || char > 'z') && (char < 'A' || char > 'Z') && (char < '0' || char > '9') && char != '_' && char != '-'
}

// validateTopicName applies Kafka's own rule.
func validateTopicName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a topic is needed")
	case name == "." || name == "..":
		return fmt.Errorf("%q is no name of a topic", name)
	case len(name) > maxTopicName:
		return fmt.Errorf("topic %.80q has %d characters, Kafka allows %d", name, len(name), maxTopicName)
	case strings.ContainsFunc(name, func(char rune) bool { return char != '.' && notInStreamName(char) }):
		return fmt.Errorf("topic %q has characters that Kafka does not allow; it allows A-Z a-z 0-9 . _ and -", name)
	}
	return nil
}

func (r StreamRef) validate() error {
	switch {
	case r.Name == "" && r.ID == "":
		return errors.New("the name or the id of a stream is needed")
	case r.Name != "" && r.ID != "":
		return errors.New("the name and the id of a stream exclude each other")
	case r.Name != "":
		return ValidateStreamName(r.Name)
	case len(r.ID) > maxStreamID || strings.ContainsFunc(r.ID, notInStreamName):
		return fmt.Errorf("%.80q is no id of a stream: at most %d of A-Z a-z 0-9 _ and -", r.ID, maxStreamID)
	}
	return nil
}
