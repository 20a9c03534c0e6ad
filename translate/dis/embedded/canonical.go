package embedded

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The SDKs disagree in details of the canonical request, and some sign another
// form than they send. This file lists, per part, the forms a request may have
// been signed in; the first one is that of the official Java SDK.

// percentEncode keeps letters, digits and -._~ and encodes all other bytes.
func percentEncode(text string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if isUnreserved(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

// canonicalPaths are the forms of the path. Signatures with a chained key cover
// the path encoded twice (Java) or once (Go, Python), as sent or with a slash
// appended (the legacy Go SDK and the Python SDK). The others, all of the v3
// SDKs, cover the path encoded once, always with a slash at its end.
func canonicalPaths(escapedPath string, chained bool) []string {
	segments := strings.Split(escapedPath, "/")
	once := make([]string, len(segments))
	twice := make([]string, len(segments))
	for i, segment := range segments {
		once[i] = percentEncode(unescape(segment))
		twice[i] = percentEncode(once[i])
	}
	single, double := strings.Join(once, "/"), strings.Join(twice, "/")
	if !chained {
		return []string{withSlash(single)}
	}
	return distinct(double, withSlash(double), single, withSlash(single))
}

func withSlash(path string) string { return strings.TrimSuffix(path, "/") + "/" }

// canonicalQueries are the forms of the query: sorted by key with "k=" for an
// empty value (Java, Go), or sorted as whole entries with a bare key for an
// empty value (Python). The values are those after undoing percent encoding,
// form encoding with "+" for a space (legacy Go), or no encoding at all.
func canonicalQueries(rawQuery string) []string {
	decoders := []func(string) string{unescape}
	if strings.Contains(rawQuery, "+") {
		decoders = append(decoders, func(s string) string { return unescape(strings.ReplaceAll(s, "+", " ")) })
	}
	if strings.Contains(rawQuery, "%") {
		decoders = append(decoders, func(s string) string { return s })
	}
	var forms []string
	for _, decode := range decoders {
		forms = append(forms, sortedByKey(rawQuery, decode), sortedByEntry(rawQuery, decode))
	}
	return distinct(forms...)
}

func sortedByKey(rawQuery string, decode func(string) string) string {
	var entries []parameter
	for piece := range strings.SplitSeq(rawQuery, "&") {
		if piece != "" {
			key, value, _ := strings.Cut(piece, "=")
			entries = append(entries, parameter{percentEncode(decode(key)), percentEncode(decode(value))})
		}
	}
	slices.SortStableFunc(entries, func(a, b parameter) int { return strings.Compare(a.key, b.key) })
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = e.key + "=" + e.value
	}
	return strings.Join(texts, "&")
}

func sortedByEntry(rawQuery string, decode func(string) string) string {
	var entries []string
	for piece := range strings.SplitSeq(rawQuery, "&") {
		if piece == "" {
			continue
		}
		key, value, _ := strings.Cut(piece, "=")
		entry := percentEncode(decode(key))
		if value != "" {
			entry += "=" + percentEncode(decode(value))
		}
		entries = append(entries, entry)
	}
	slices.Sort(entries)
	return strings.Join(entries, "&")
}

// canonicalHeaders are the forms of the signed headers, with the Host as it was
// received and without its port (the Python SDK). Only the listed headers
// count: proxies add others.
func canonicalHeaders(r *http.Request, signed []string) []string {
	hosts := []string{r.Host}
	if slices.Contains(signed, "host") {
		if at := strings.LastIndexByte(r.Host, ':'); at > strings.LastIndexByte(r.Host, ']') {
			hosts = append(hosts, r.Host[:at])
		}
	}
	forms := make([]string, len(hosts))
	for i, host := range hosts {
		var b strings.Builder
		for _, name := range signed {
			b.WriteString(name)
			b.WriteByte(':')
			b.WriteString(headerValue(r, name, host))
			b.WriteByte('\n')
		}
		forms[i] = b.String()
	}
	return forms
}

// headerValue is the value of a header with runs of white space collapsed.
func headerValue(r *http.Request, name, host string) string {
	values := r.Header.Values(name)
	switch {
	case name == "host":
		return host
	case name == "content-length" && len(values) == 0:
		return strconv.FormatInt(r.ContentLength, 10)
	}
	return strings.Join(strings.Fields(strings.Join(values, ",")), " ")
}

// distinct drops repeated texts and keeps the order.
func distinct(texts ...string) []string {
	var kept []string
	for _, text := range texts {
		if !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}
