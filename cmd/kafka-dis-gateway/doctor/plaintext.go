package doctor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes one line of a text that came from elsewhere, DIS for example, whatever
// is in it.
func OneLine(text string) string { return Plain(strings.Join(strings.Fields(text), " ")) }

// Plain is a text without what a terminal would obey instead of showing it: control
// characters, also those above ASCII, what changes the direction of writing, and bytes
// that are no UTF-8.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return utf8.RuneError
		}
		return r
	}, text)
}
