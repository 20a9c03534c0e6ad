package groupcoord

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// maxPattern is the most bytes of a pattern. A longer one could name all topics that
// there can be, and costs memory and time many times its size.
const maxPattern = 64 << 10

// compilePattern makes the expression of a subscription by pattern: RE2 syntax,
// and it has to match the whole name of a topic.
func compilePattern(text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("pattern of %d bytes; the limit is %d", len(text), maxPattern)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	// The parsed form has no loose ends that could swallow what is put around it.
	whole, err := regexp.Compile(`\A(?:` + parsed.String() + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	return whole, nil
}
