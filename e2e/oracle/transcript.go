package oracle

import (
	"fmt"
	"strings"
)

// Transcript is what a server answered in a scenario.
type Transcript struct {
	About string
	Steps []Step
}

// Step is one labelled call and the lines of its answer.
type Step struct {
	Label string
	Lines []string
}

// Text is the answer as one text.
func (s Step) Text() string { return strings.Join(s.Lines, "\n") }

const (
	aboutMark = "# "
	stepMark  = "== "
)

// String is the form of the golden files.
func (t Transcript) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s%s\n", aboutMark, t.About)
	for _, s := range t.Steps {
		fmt.Fprintf(&text, "\n%s%s\n", stepMark, s.Label)
		for _, line := range s.Lines {
			fmt.Fprintf(&text, "%s\n", line)
		}
	}
	return text.String()
}

// ParseTranscript reads a golden file.
func ParseTranscript(text string) (t Transcript, err error) {
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		about, isAbout := strings.CutPrefix(line, aboutMark)
		label, isStep := strings.CutPrefix(line, stepMark)
		switch {
		case isAbout && i == 0:
			t.About = about
		case isStep:
			t.Steps = append(t.Steps, Step{Label: label})
		case line == "":
		case len(t.Steps) == 0:
			return t, fmt.Errorf("line %d: %q comes before the first step", i+1, line)
		default:
			last := &t.Steps[len(t.Steps)-1]
			last.Lines = append(last.Lines, line)
		}
	}
	return t, nil
}
