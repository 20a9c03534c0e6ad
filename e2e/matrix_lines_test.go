package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// line is a record as a client program prints it. What the client does not tell
// is untold.
type line struct {
	topic, partition, offset, timestamp, key, value, headers string
}

const untold = "-"

func parseLine(text string) (line, error) {
	words := strings.Split(text, " ")
	if len(words) != 8 || words[0] != "record" {
		return line{}, fmt.Errorf("not a record: %q", text)
	}
	return line{words[1], words[2], words[3], words[4], words[5], words[6], words[7]}, nil
}

func parseLines(t testing.TB, printed []string) []line {
	t.Helper()
	parsed := make([]line, len(printed))
	for i, text := range printed {
		var err error
		if parsed[i], err = parseLine(text); err != nil {
			t.Fatal(err)
		}
	}
	return parsed
}

func (l line) String() string {
	return strings.Join([]string{l.topic, l.partition, l.offset, l.timestamp, l.key, l.value, l.headers}, " ")
}

// pairs are the headers, each a name and a value.
func (l line) pairs() []string {
	inside := strings.TrimSuffix(strings.TrimPrefix(l.headers, "["), "]")
	if inside == "" {
		return nil
	}
	return strings.Split(inside, ",")
}

func (l line) withPairs(pairs []string) line {
	if l.headers != untold {
		l.headers = "[" + strings.Join(pairs, ",") + "]"
	}
	return l
}

// asToldBy is the line with only what another line tells.
func (l line) asToldBy(other line) line {
	for _, field := range []struct {
		here  *string
		there string
	}{
		{&l.offset, other.offset}, {&l.timestamp, other.timestamp}, {&l.headers, other.headers},
	} {
		if field.there == untold {
			*field.here = untold
		}
	}
	return l
}

// byTopic are lines by topic, those of a partition in their order.
func byTopic(all []line) map[string][]line {
	topics := map[string][]line{}
	for _, l := range all {
		topics[l.topic] = append(topics[l.topic], l)
	}
	for _, ofTopic := range topics {
		slices.SortStableFunc(ofTopic, func(a, b line) int { return strings.Compare(a.partition, b.partition) })
	}
	return topics
}

// digest is the SHA-256 over lines.
func digest(all []line) string {
	hash := sha256.New()
	for _, l := range all {
		fmt.Fprintln(hash, l)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// sameLines compares lines by their digests, and tells the first that differ.
func sameLines(t testing.TB, what string, want, got []line) {
	t.Helper()
	if digest(want) == digest(got) {
		return
	}
	t.Errorf("%s: %d records, SHA-256 %s; want %d, SHA-256 %s", what, len(got), digest(got), len(want), digest(want))
	told := 0
	for i := range max(len(want), len(got)) {
		var w, g line
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g && told < 3 {
			told++
			t.Logf("record %d:\n got %s\nwant %s", i, g, w)
		}
	}
}
