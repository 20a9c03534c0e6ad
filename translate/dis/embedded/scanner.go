package embedded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// scanner reads a JSON text front to back. Texts without escapes are returned
// as parts of the input.
type scanner struct {
	text []byte
	at   int
}

// maxDepth bounds the nesting of values that are skipped.
const maxDepth = 100

func (s *scanner) fail(want string) error {
	return fmt.Errorf("want %s at byte %d", want, s.at)
}

// peek is the next byte that is not white space, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take consumes the next byte if it is c.
func (s *scanner) take(c byte) bool {
	if s.peek() != c || s.at == len(s.text) {
		return false
	}
	s.at++
	return true
}

func (s *scanner) end() error {
	if s.peek(); s.at != len(s.text) {
		return s.fail("the end of the text")
	}
	return nil
}

// null consumes a null.
func (s *scanner) null() bool {
	if s.peek() == 'n' && bytes.HasPrefix(s.text[s.at:], []byte("null")) {
		s.at += len("null")
		return true
	}
	return false
}

// object calls value for each field of an object; value must consume it.
func (s *scanner) object(value func(field []byte) error) error {
	return s.list('{', '}', func() error {
		field, err := s.string()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return s.fail("':'")
		}
		return value(field)
	})
}

// array calls element for each element of an array or nothing for null.
func (s *scanner) array(element func() error) error {
	if s.null() {
		return nil
	}
	return s.list('[', ']', element)
}

func (s *scanner) list(first, last byte, item func() error) error {
	if !s.take(first) {
		return s.fail(strconv.QuoteRune(rune(first)))
	}
	if s.take(last) {
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		if s.take(last) {
			return nil
		}
		if !s.take(',') {
			return s.fail("',' or " + strconv.QuoteRune(rune(last)))
		}
	}
}

// string reads a string.
func (s *scanner) string() ([]byte, error) {
	if !s.take('"') {
		return nil, s.fail("a string")
	}
	start := s.at
	length := bytes.IndexByte(s.text[start:], '"')
	if length < 0 {
		return nil, s.fail("the end of a string")
	}
	plain := s.text[start : start+length]
	if bytes.IndexByte(plain, '\\') >= 0 {
		return s.escapedString()
	}
	s.at += length + 1
	return checkedText(plain)
}

// escapedString reads a string that has escapes; its quote is consumed.
func (s *scanner) escapedString() ([]byte, error) {
	start := s.at - 1
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			var text string
			err := json.Unmarshal(s.text[start:s.at], &text)
			return []byte(text), err
		}
	}
	return nil, s.fail("the end of a string")
}

// checkedText refuses control characters and repairs invalid UTF-8 as package
// json does.
func checkedText(text []byte) ([]byte, error) {
	ascii := true
	for _, c := range text {
		if c < ' ' {
			return nil, fmt.Errorf("control character %#x in a string", c)
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii || utf8.Valid(text) {
		return text, nil
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD")), nil
}

// stringOrNull reads a string; false for null.
func (s *scanner) stringOrNull() (text []byte, present bool, err error) {
	if s.null() {
		return nil, false, nil
	}
	text, err = s.string()
	return text, err == nil, err
}

// stringOrNumber reads a string, or a number as its text; false for null.
func (s *scanner) stringOrNumber() (text []byte, present bool, err error) {
	if c := s.peek(); c == '-' || '0' <= c && c <= '9' {
		text, err = s.number()
		return text, err == nil, err
	}
	return s.stringOrNull()
}

// integer reads a 64-bit number, in quotes or not; false for null.
func (s *scanner) integer() (n int64, present bool, err error) {
	text, present, err := s.stringOrNumber()
	if err != nil || !present {
		return 0, false, err
	}
	n, err = strconv.ParseInt(string(text), 10, 64)
	return n, err == nil, err
}

func (s *scanner) number() ([]byte, error) {
	start := s.at
	for s.at < len(s.text) && isNumberByte(s.text[s.at]) {
		s.at++
	}
	text := s.text[start:s.at]
	if !json.Valid(text) {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	return text, nil
}

func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// skip consumes a value of any kind.
func (s *scanner) skip() error { return s.skipNested(maxDepth) }

func (s *scanner) skipNested(depth int) error {
	if depth == 0 {
		return s.fail("less nesting")
	}
	switch s.peek() {
	case '{':
		return s.object(func([]byte) error { return s.skipNested(depth - 1) })
	case '[':
		return s.array(func() error { return s.skipNested(depth - 1) })
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	}
	_, _, err := s.stringOrNumber()
	return err
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.text[s.at:], []byte(word)) {
		return s.fail(word)
	}
	s.at += len(word)
	return nil
}
