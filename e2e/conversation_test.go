package e2e

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// conversation is a file of testdata/captures/wire, whose README describes them.
type conversation []*exchange

// exchange is a request or a reply on one connection.
type exchange struct {
	connection string
	title      string // of a request
	reply      bool
	fields     []wireField
}

// wireField is a line of a file.
type wireField struct {
	line  int
	about string
	parts []wirePart
}

// wirePart is bytes, or a name for bytes.
type wirePart struct {
	bytes []byte
	name  string
	given bool // the name: its bytes are those that the reply has here, a string
}

var wireToken = regexp.MustCompile(`^(?:"([^"]*)"|((?:[0-9a-f]{2})+)|\{(\w+)(:string)?\})(?:\s+|$)`)

func readConversation(t *testing.T, path string) conversation {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all conversation
	connection := ""
	for i, line := range strings.Split(string(raw), "\n") {
		text, about, _ := strings.Cut(line, "#")
		text, about = strings.TrimSpace(text), strings.TrimSpace(about)
		switch {
		case text == "":
		case text[0] == '@':
			connection = strings.TrimSpace(text[1:])
		case text[0] == '>':
			all = append(all, &exchange{connection: connection, title: strings.TrimSpace(text[1:])})
		case text == "<":
			all = append(all, &exchange{connection: connection, reply: true})
		default:
			field := wireField{line: i + 1, about: about}
			if field.parts, err = parseWireParts(text); err != nil || len(all) == 0 {
				t.Fatalf("%s, line %d: %v", path, i+1, err)
			}
			last := all[len(all)-1]
			last.fields = append(last.fields, field)
		}
	}
	return all
}

func parseWireParts(text string) ([]wirePart, error) {
	var parts []wirePart
	for text != "" {
		found := wireToken.FindStringSubmatch(text)
		if found == nil {
			return nil, fmt.Errorf("neither bytes nor text nor a name: %q", text)
		}
		part := wirePart{bytes: []byte(found[1]), name: found[3], given: found[4] != ""}
		if found[2] != "" {
			var err error
			if part.bytes, err = hex.DecodeString(found[2]); err != nil {
				return nil, err
			}
		}
		parts = append(parts, part)
		text = text[len(found[0]):]
	}
	return parts, nil
}

// names are the bytes that the names of a conversation stand for.
type names map[string][]byte

// frame gives the bytes of a request, with its length in front.
func (n names) frame(e *exchange) ([]byte, error) {
	body := make([]byte, 4)
	for _, field := range e.fields {
		for _, part := range field.parts {
			switch known := n[part.name]; {
			case part.name == "":
				body = append(body, part.bytes...)
			case known == nil:
				return nil, fmt.Errorf("line %d: {%s} has no bytes yet", field.line, part.name)
			default:
				body = append(body, known...)
			}
		}
	}
	binary.BigEndian.PutUint32(body, uint32(len(body)-4))
	return body, nil
}

// compare finds the first field in which a reply differs from what is due, and
// takes down the bytes of names.
func (n names) compare(e *exchange, reply []byte) error {
	rest := reply
	for _, field := range e.fields {
		for _, part := range field.parts {
			want := part.bytes
			if part.given {
				n[part.name] = leadingString(rest)
			}
			if part.name != "" {
				want = n[part.name]
			}
			if want == nil || !bytes.HasPrefix(rest, want) {
				return fmt.Errorf("line %d, %s, at byte %d of the reply: got %x, want %x", field.line, field.about,
					len(reply)-len(rest), rest[:min(len(rest), max(len(want), 8))], want)
			}
			rest = rest[len(want):]
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d bytes too many at the end of the reply: %x", len(rest), rest)
	}
	return nil
}

// leadingString is the string at the start of rest, with its length of 2 bytes;
// nil when there is none.
func leadingString(rest []byte) []byte {
	if len(rest) < 2 {
		return nil
	}
	size := 2 + int(binary.BigEndian.Uint16(rest))
	if size > len(rest) {
		return nil
	}
	return bytes.Clone(rest[:size])
}
