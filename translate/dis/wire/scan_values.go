package wire

import (
	"bytes"
	"encoding/base64"
)

// textInto reads a string into a field; null leaves the field as it is. before
// is a likely value, which is not allocated again.
func (s *scanner) textInto(field *string, before string) {
	if s.null() {
		return
	}
	if text := s.str(); string(text) == before {
		*field = before
	} else {
		*field = string(text)
	}
}

func (s *scanner) integerInto(field *int64) {
	if !s.null() {
		*field = s.integer()
	}
}

// texts collects strings that are cut out of one allocation at the end.
type texts struct {
	content []byte
	ends    []int
}

// read adds the string that is next, or an empty one for null.
func (t *texts) read(s *scanner) {
	if s.null() {
		t.add(nil)
		return
	}
	t.add(s.str())
}

func (t *texts) add(text []byte) {
	t.content = append(t.content, text...)
	t.ends = append(t.ends, len(t.content))
}

// drop takes back the text that was added last.
func (t *texts) drop() {
	t.ends = t.ends[:len(t.ends)-1]
	end := 0
	if len(t.ends) > 0 {
		end = t.ends[len(t.ends)-1]
	}
	t.content = t.content[:end]
}

func (t *texts) all() []string {
	content, list, start := string(t.content), make([]string, len(t.ends)), 0
	for i, end := range t.ends {
		list[i], start = content[start:end], end
	}
	return list
}

// arena hands out pieces of larger blocks: one allocation for many records,
// while a record that is kept does not keep a whole body.
type arena struct{ free []byte }

const arenaBlock = 64 << 10

// read decodes a base64 string: nil for null, otherwise not nil.
func (a *arena) read(s *scanner) []byte {
	if s.null() {
		return nil
	}
	length := -1
	if s.peek() == '"' {
		length = bytes.IndexByte(s.text[s.at+1:], '"')
	}
	if length < 0 {
		s.fail()
		return nil
	}
	if data, ok := a.decode(s.text[s.at+1 : s.at+1+length]); ok {
		s.at += length + 2
		return data
	}
	data, ok := a.decode(s.str()) // some encoders escape "=" or "/"
	if !ok {
		s.fail()
	}
	return data
}

// decode refuses what is not whole groups of four with nothing in between: the
// decoder passes over line breaks, which JSON forbids in a string.
func (a *arena) decode(text []byte) ([]byte, bool) {
	if len(text)%4 != 0 {
		return nil, false
	}
	if len(text) == 0 {
		return []byte{}, true
	}
	want := base64.StdEncoding.DecodedLen(len(text))
	if len(a.free) < want {
		a.free = make([]byte, max(want, arenaBlock))
	}
	n, err := base64.StdEncoding.Decode(a.free, text)
	padding := len(text) - len(bytes.TrimRight(text, "="))
	if err != nil || n != want-padding {
		return nil, false
	}
	data := a.free[:n:n]
	a.free = a.free[n:]
	return data, true
}
