package wire

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

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

// invalidField is a length that protowire.ParseError reports as a parsing error.
const invalidField = math.MinInt

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
	if number > protowire.MaxValidNumber {
		return field{}, invalidField
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

// each gives every text to its element.
func (s *scattered) each(assign func(place int, text *string)) {
	all := s.all()
	for i := range all {
		assign(s.places[i], &all[i])
	}
}
