package dis

import (
	"net/url"
	"slices"
	"strings"
)

const upperHex = "0123456789ABCDEF"

// appendEscaped percent-encodes everything but the unreserved characters of
// RFC 3986 and, when asked, keeps slashes. net/url is no substitute: its path
// form leaves sub-delimiters alone and its query form turns a space into "+",
// while the signature of DIS is computed over this form.
func appendEscaped(dst []byte, text string, keepSlash bool) []byte {
	for i := range len(text) {
		if c := text[i]; unreserved(c) || keepSlash && c == '/' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~'
}

// escapeSegment encodes one segment of a path. Most have nothing to encode, and are
// not copied.
func escapeSegment(text string) string {
	for i := range len(text) {
		if !unreserved(text[i]) {
			return string(appendEscaped(nil, text, false))
		}
	}
	return text
}

// canonicalQuery sorts and encodes a query as the signature wants it. The
// client sends the same text, so that no proxy finds anything to normalise.
func canonicalQuery(query url.Values) string {
	type pair struct{ key, value string }
	pairs := make([]pair, 0, len(query))
	for key, values := range query {
		for _, value := range values {
			pairs = append(pairs, pair{escapeSegment(key), escapeSegment(value)})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if byKey := strings.Compare(a.key, b.key); byKey != 0 {
			return byKey
		}
		return strings.Compare(a.value, b.value)
	})
	var dst []byte
	for i, p := range pairs {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(dst, p.key...)
		dst = append(dst, '=')
		dst = append(dst, p.value...)
	}
	return string(dst)
}
