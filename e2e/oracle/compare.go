package oracle

import (
	"fmt"
	"regexp"
	"strings"
)

// Difference is something that the gateway answers otherwise than Apache Kafka,
// and has to.
type Difference struct {
	// What, Kafka and Gateway say it in words for docs/compatibility.md.
	What, Kafka, Gateway string
	Reason               string
	// Steps are the steps of scenarios that show it.
	Steps []Change
	// Everywhere is for lines of any transcript.
	Everywhere []Rule
}

// Change is a step in which the gateway's answer is Kafka's with each of the
// replacements made.
type Change struct {
	Scenario, Step string
	Replacement
}

// Replacement is a text of Kafka's transcripts, and the gateway's in its place. No
// text at all stands for the whole answer of the step.
type Replacement struct{ Kafka, Gateway string }

// Rule is for what is so on many lines: where Kafka matches a line of its
// transcripts, Gateway stands in its place, with $1 for the first group.
type Rule struct {
	Kafka   *regexp.Regexp
	Gateway string
}

// Expected is what the gateway has to answer in a scenario, made of the real
// broker's transcript. The error names differences that are not in it.
func Expected(scenario string, kafka Transcript) (Transcript, error) {
	return expected(Differences, scenario, kafka)
}

func expected(differences []Difference, scenario string, kafka Transcript) (Transcript, error) {
	wanted := Transcript{About: kafka.About}
	for _, s := range kafka.Steps {
		text := s.Text()
		for _, d := range differences {
			for _, change := range d.Steps {
				if change.Scenario != scenario || change.Step != s.Label {
					continue
				}
				if !strings.Contains(text, change.Kafka) {
					return wanted, fmt.Errorf("step %q lists the difference %q, but the broker does not answer %q:\n%s", s.Label, d.What, change.Kafka, text)
				}
				if change.Kafka == "" {
					text = change.Gateway
				} else {
					text = strings.ReplaceAll(text, change.Kafka, change.Gateway)
				}
			}
		}
		for _, d := range differences {
			for _, rule := range d.Everywhere {
				text = rule.Kafka.ReplaceAllString(text, rule.Gateway)
			}
		}
		wanted.Steps = append(wanted.Steps, Step{Label: s.Label, Lines: strings.Split(text, "\n")})
	}
	return wanted, nil
}

// Compare tells in which steps got is not what was wanted; "" when it is.
func Compare(wanted, got Transcript) string {
	var found strings.Builder
	for i := range max(len(wanted.Steps), len(got.Steps)) {
		var w, g Step
		if i < len(wanted.Steps) {
			w = wanted.Steps[i]
		}
		if i < len(got.Steps) {
			g = got.Steps[i]
		}
		if w.Label != g.Label {
			fmt.Fprintf(&found, "step %d is %q, wanted %q\n", i+1, g.Label, w.Label)
			break
		}
		if w.Text() != g.Text() {
			fmt.Fprintf(&found, "%s%s\n got:\n%s\n wanted:\n%s\n", stepMark, w.Label, g.Text(), w.Text())
		}
	}
	return found.String()
}
