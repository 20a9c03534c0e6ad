package groupcoord

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Limits of a pattern. Matching takes time that grows with the pattern and not only
// with the name (RE2), and everybody can send patterns: a few bytes, such as a
// Unicode class or a repetition, stand for a thousand times their size.
const (
	// maxPattern is the most bytes of a pattern.
	maxPattern = 16 << 10
	// maxPatternWide is the most Unicode classes, escapes such as \x{100} and characters
	// beyond ASCII, of which no name of a topic is made. Some take the parser a
	// millisecond each, before anything can be said of their size.
	maxPatternWide = 32
	// maxPatternSize is the most characters, ranges and operators that it stands for.
	maxPatternSize = 32 << 10
	// maxPatternChoices is the most places in it where matching may go on in two
	// ways, such as the * of ".*".
	maxPatternChoices = 100
	// lightPattern is up to how many bytes a pattern is matched without waiting for
	// a turn.
	lightPattern = 256
)

// compilePattern makes the expression of a subscription by pattern: RE2 syntax,
// and it has to match the whole name of a topic.
func compilePattern(text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("pattern of %d bytes; the limit is %d", len(text), maxPattern)
	}
	if wide := countWide(text); wide > maxPatternWide {
		return nil, fmt.Errorf("pattern with %d Unicode classes and characters beyond ASCII; the limit is %d", wide, maxPatternWide)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	switch size, choices := weigh(parsed); {
	case size > maxPatternSize:
		return nil, fmt.Errorf("pattern of %d characters, ranges and operators, repetitions and classes written out; the limit is %d", size, maxPatternSize)
	case choices > maxPatternChoices:
		return nil, fmt.Errorf("pattern with %d repetitions and optional parts; the limit is %d", choices, maxPatternChoices)
	}
	// The parsed form has no loose ends that could swallow what is put around it.
	whole, err := regexp.Compile(`\A(?:` + parsed.String() + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	return whole, nil
}

// countWide counts what may stand for more than the 256 first characters.
func countWide(text string) int {
	wide := 0
	for _, r := range text {
		if r >= utf8.RuneSelf {
			wide++
		}
	}
	for _, escape := range []string{`\p`, `\P`, `\x{`} {
		wide += strings.Count(text, escape)
	}
	return wide
}

// weigh tells what a parsed pattern stands for, repetitions written out. The parser
// bounds how deep it is nested and the product of its repetitions (1000).
func weigh(re *syntax.Regexp) (size, choices int) {
	size = 1 + len(re.Rune)
	for _, sub := range re.Sub {
		s, c := weigh(sub)
		size, choices = size+s, choices+c
	}
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpEmptyMatch:
		choices++
	case syntax.OpRepeat:
		times := max(re.Min, re.Max, 1)
		size, choices = size*times, choices*times
		if re.Max != re.Min {
			choices += max(re.Max-re.Min, 1)
		}
	}
	return size, choices
}
