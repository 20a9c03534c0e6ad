package groupcoord

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// compilePattern makes the expression of a subscription by pattern: RE2 syntax,
// and it has to match the whole name of a topic.
func compilePattern(text string) (*regexp.Regexp, error) {
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
