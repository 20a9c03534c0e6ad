// Package harmless makes texts of others, clients or DIS, fit to be shown.
package harmless

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes one line of a text that came from elsewhere, DIS for example, whatever
// is in it.
func OneLine(text string) string { return Text(strings.Join(strings.Fields(text), " ")) }

// Text is a text without what a terminal would obey instead of showing it, or what
// makes a text look like another: control characters, also those above ASCII, what
// changes the direction of writing, and bytes that are no UTF-8. A replacement
// character stands for each.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return utf8.RuneError
		}
		return r
	}, text)
}
