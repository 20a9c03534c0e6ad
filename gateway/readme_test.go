package gateway

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of APIs into the README")

const (
	readmePath = "../README.md"
	apisBegin  = "<!-- apis:begin -->\n"
	apisEnd    = "<!-- apis:end -->"
)

// TestREADMEHasTheTableOfAPIs keeps the README to the table that the server
// works by. Run with -update to write it.
func TestREADMEHasTheTableOfAPIs(t *testing.T) {
	raw, err := os.ReadFile(readmePath)
	want := APIsMarkdown()
	if err != nil {
		t.Fatalf("%v; between the lines %q and %q of it belongs\n%s", err, strings.TrimSpace(apisBegin), apisEnd, want)
	}
	before, rest, begins := strings.Cut(string(raw), apisBegin)
	got, after, ends := strings.Cut(rest, apisEnd)
	switch {
	case !begins || !ends:
		t.Fatalf("README.md has no lines %q and %q; between them belongs\n%s", strings.TrimSpace(apisBegin), apisEnd, want)
	case strings.TrimSpace(got) == strings.TrimSpace(want):
		return
	case !*update:
		t.Fatalf("the table of APIs in README.md is not that of the server; run `go test ./gateway -run README -update`. Wanted:\n%s", want)
	}
	if err := os.WriteFile(readmePath, []byte(before+apisBegin+want+apisEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
