package embedded

import (
	"net/url"
	"strconv"
	"strings"
)

// query holds the parameters of a request in the order of arrival. It is
// parsed loosely: the Java SDK sends values without escaping and ends the
// query with an ampersand.
type query []parameter

type parameter struct{ key, value string }

func parseQuery(raw string) query {
	var parsed query
	for piece := range strings.SplitSeq(raw, "&") {
		if piece == "" {
			continue
		}
		key, value, _ := strings.Cut(piece, "=")
		parsed = append(parsed, parameter{unescape(key), unescape(value)})
	}
	return parsed
}

// unescape undoes percent encoding and keeps a text that is not valid percent
// encoding as it is. A plus sign stays: no SDK sends a value that needs a space.
func unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	plain, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return plain
}

// get is the value of the first parameter of that name, "" when there is none.
func (q query) get(key string) string {
	for _, p := range q {
		if p.key == key {
			return p.value
		}
	}
	return ""
}

// number reads an integer parameter between low and high; an absent or empty
// one is fallback.
func (q query) number(key string, low, high, fallback int) (int, error) {
	text := q.get(key)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, invalidRequest(key, text)
	}
	return n, nil
}
