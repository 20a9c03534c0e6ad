package oracle

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of differences into docs/compatibility.md")

const (
	compatibilityPath = "../../docs/compatibility.md"
	listBegin         = "<!-- differences:begin -->\n"
	listEnd           = "<!-- differences:end -->"
)

// TestCompatibilityHasTheDifferences keeps the document to the list by which the
// gateway is compared. Run with -update to write it.
func TestCompatibilityHasTheDifferences(t *testing.T) {
	raw, err := os.ReadFile(compatibilityPath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(raw), listBegin)
	got, after, ends := strings.Cut(rest, listEnd)
	want := "\n" + Markdown() + "\n"
	switch {
	case !begins || !ends:
		t.Fatalf("docs/compatibility.md has no lines %q and %q", strings.TrimSpace(listBegin), listEnd)
	case got == want:
		return
	case !*update:
		t.Fatalf("docs/compatibility.md does not list the differences of the code; run `go test ./e2e/oracle -update`. Wanted:\n%s", want)
	}
	if err := os.WriteFile(compatibilityPath, []byte(before+listBegin+want+listEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDifferencesAreExplained: no difference without words, and none that no
// scenario shows.
func TestDifferencesAreExplained(t *testing.T) {
	scenarios := map[string]bool{}
	for _, s := range Scenarios() {
		scenarios[s.Name] = true
	}
	for _, d := range Differences {
		if d.What == "" || d.Kafka == "" || d.Gateway == "" || len(d.Reason) < 40 {
			t.Errorf("the difference %q is not explained", d.What)
		}
		if len(d.Steps)+len(d.Everywhere) == 0 {
			t.Errorf("no scenario shows the difference %q", d.What)
		}
		for _, change := range d.Steps {
			if !scenarios[change.Scenario] {
				t.Errorf("the difference %q names the scenario %q, which does not exist", d.What, change.Scenario)
			}
			if change.Kafka == change.Gateway {
				t.Errorf("the difference %q, step %q, is none", d.What, change.Step)
			}
		}
	}
}
