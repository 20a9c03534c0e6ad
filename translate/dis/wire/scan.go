package wire

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// scanner reads the JSON of record bodies, several times faster than
// encoding/json, which looks at every byte of the base64 twice. It knows only
// what such bodies contain in practice. Whenever it meets anything else it
// fails, and the caller decodes the whole body with encoding/json instead: so
// the result is the same for every input, and the scanner may be strict.
type scanner struct {
	text   []byte
	at     int
	failed bool
}

func (s *scanner) fail() { s.failed = true }

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// elements yields the index of each element of an array, before the element is
// read.
func (s *scanner) elements() iter.Seq[int] {
	return func(yield func(int) bool) {
		index := 0
		for more := s.enter('[', ']'); more && yield(index); more = s.more(']') {
			index++
		}
	}
}

// members yields each member of an object whose name is known, as its index in
// known and before its value is read. Other members are passed over.
func (s *scanner) members(known []string) iter.Seq[int] {
	return func(yield func(int) bool) {
		var seen uint
		for more := s.enter('{', '}'); more; more = s.more('}') {
			name := s.name()
			index := indexOf(known, name)
			if index < 0 {
				s.skip(name, known)
				continue
			}
			// encoding/json lets a repeated member overwrite or merge the first one;
			// such a body is left to it.
			if seen&(1<<index) != 0 {
				s.fail()
				return
			}
			seen |= 1 << index
			if !yield(index) {
				return
			}
		}
	}
}

func indexOf(known []string, name []byte) int {
	for i, k := range known {
		if string(name) == k { // does not allocate
			return i
		}
	}
	return -1
}

// enter consumes the opening bracket of an object or array and reports whether
// it has a first member.
func (s *scanner) enter(open, end byte) bool {
	if s.failed || s.peek() != open {
		s.fail()
		return false
	}
	s.at++
	if s.peek() == end {
		s.at++
		return false
	}
	return true
}

// more consumes what follows a member and reports whether another one comes.
func (s *scanner) more(end byte) bool {
	if s.failed {
		return false
	}
	switch c := s.peek(); c {
	case ',':
		s.at++
		return true
	case end:
		s.at++
	default:
		s.fail()
	}
	return false
}

// name reads the name of an object's member and the colon.
func (s *scanner) name() []byte {
	name := s.str()
	if s.failed || s.peek() != ':' {
		s.fail()
		return nil
	}
	s.at++
	return name
}

// end reports whether the whole text was read without failure.
func (s *scanner) end() bool { return !s.failed && s.peek() == 0 && s.at == len(s.text) }

// null consumes a null if one is next.
func (s *scanner) null() bool {
	if s.failed || s.peek() != 'n' {
		return false
	}
	return s.literal("null")
}

func (s *scanner) literal(word string) bool {
	if !bytes.HasPrefix(s.text[s.at:], []byte(word)) {
		s.fail()
		return false
	}
	s.at += len(word)
	return true
}

// str reads a string. The bytes may be part of the text.
func (s *scanner) str() []byte {
	if s.failed || s.peek() != '"' {
		s.fail()
		return nil
	}
	start := s.at + 1
	ascii := true
	for i := start; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			content := s.text[start:i]
			if !ascii && !utf8.Valid(content) {
				s.fail()
			}
			return content
		case c == '\\':
			return s.escapedStr(i)
		case c < ' ':
			s.fail()
			return nil
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	s.fail()
	return nil
}

// escapedStr reads the string at s.at whose first escape is at the given place.
func (s *scanner) escapedStr(escape int) []byte {
	for i := escape; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '"':
			var content string
			if err := json.Unmarshal(s.text[s.at:i+1], &content); err != nil {
				s.fail()
				return nil
			}
			s.at = i + 1
			return []byte(content)
		}
	}
	s.fail()
	return nil
}

// integer reads a number without fraction or exponent that fits 64 bits.
func (s *scanner) integer() int64 {
	s.peek()
	start := s.at
	negative := s.at < len(s.text) && s.text[s.at] == '-'
	if negative {
		s.at++
	}
	first := s.at
	var value uint64
	for ; s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9'; s.at++ {
		value = value*10 + uint64(s.text[s.at]-'0')
	}
	digits := s.at - first
	// 18 digits always fit; longer ones are left to encoding/json.
	if s.failed || digits == 0 || digits > 18 || (digits > 1 && s.text[first] == '0') || s.fractionFollows() {
		s.at = start
		s.fail()
		return 0
	}
	if negative {
		return -int64(value)
	}
	return int64(value)
}

func (s *scanner) fractionFollows() bool {
	return s.at < len(s.text) && bytes.IndexByte([]byte(".eE"), s.text[s.at]) >= 0
}

// skip passes over the value of an unknown member unless its name is one of the
// known names in other letters, which encoding/json would accept.
func (s *scanner) skip(name []byte, known []string) {
	for _, k := range known {
		if bytes.EqualFold(name, []byte(k)) {
			s.fail()
			return
		}
	}
	if s.failed {
		return
	}
	switch s.peek() {
	case '"':
		s.str()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default: // integers only: objects, arrays and fractions are not worth the code
		s.integer()
	}
}
