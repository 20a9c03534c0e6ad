package oracle

import (
	"regexp"
	"strings"
	"testing"
)

func transcript(lines ...string) (t Transcript) {
	for _, line := range lines {
		label, answer, _ := strings.Cut(line, ": ")
		t.Steps = append(t.Steps, Step{Label: label, Lines: strings.Split(answer, "\n")})
	}
	return t
}

// TestCompare: what is not listed is found, and so is what is listed and no
// longer so.
func TestCompare(t *testing.T) {
	listed := []Difference{{
		Steps:      []Change{{"s", "two", Replacement{"ErrorCode=87", "ErrorCode=2"}}},
		Everywhere: []Rule{{regexp.MustCompile(`Epoch=\d+`), "Epoch=-1"}},
	}}
	kafka := transcript("one: ErrorCode=0 Epoch=5", "two: ErrorCode=87\nEpoch=7")
	for _, c := range []struct {
		name     string
		gateway  Transcript
		differs  string
		scenario string
	}{
		{"as listed", transcript("one: ErrorCode=0 Epoch=-1", "two: ErrorCode=2\nEpoch=-1"), "", "s"},
		{"not listed", transcript("one: ErrorCode=3 Epoch=-1", "two: ErrorCode=2\nEpoch=-1"), "== one", "s"},
		{"listed and no longer so", transcript("one: ErrorCode=0 Epoch=-1", "two: ErrorCode=87\nEpoch=-1"), "== two", "s"},
		{"a rule and no longer so", transcript("one: ErrorCode=0 Epoch=5", "two: ErrorCode=2\nEpoch=-1"), "== one", "s"},
		{"listed for another scenario", transcript("one: ErrorCode=0 Epoch=-1", "two: ErrorCode=2\nEpoch=-1"), "== two", "other"},
		{"a step less", transcript("one: ErrorCode=0 Epoch=-1"), `step 2 is "", wanted "two"`, "s"},
		{"a step more", transcript("one: ErrorCode=0 Epoch=-1", "two: ErrorCode=2\nEpoch=-1", "three: x"), `step 3 is "three"`, "s"},
	} {
		wanted, err := expected(listed, c.scenario, kafka)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := Compare(wanted, c.gateway); !strings.HasPrefix(got, c.differs) || (c.differs == "") != (got == "") {
			t.Errorf("%s: %q, want one that begins with %q", c.name, got, c.differs)
		}
	}
	if _, err := expected(listed, "s", transcript("two: ErrorCode=0")); err == nil {
		t.Error("a difference that the broker's transcript does not have is not told")
	}
}

func TestTranscriptRoundTrip(t *testing.T) {
	written := Transcript{About: "what for", Steps: []Step{
		{"one", []string{"c: Produce v12 ErrorCode=0", " Topics Topic=t"}}, {"nothing to say", nil}, {"two", []string{"c: connection closed"}},
	}}
	read, err := ParseTranscript(written.String())
	if err != nil || read.String() != written.String() || len(read.Steps) != 3 || Compare(written, read) != "" {
		t.Errorf("wrote\n%s\nread\n%s, %v", written, read, err)
	}
	if _, err := ParseTranscript("a line\n"); err == nil {
		t.Error("an answer before the first step is accepted")
	}
}
