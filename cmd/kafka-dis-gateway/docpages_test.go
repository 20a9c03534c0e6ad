package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the generated parts of docs/settings.md and docs/metrics.md")

// generatedPart keeps what stands in a document between the lines `<!-- NAME:begin -->`
// and `<!-- NAME:end -->` to want. With -update it is written there.
func generatedPart(t *testing.T, path, name, want string) {
	t.Helper()
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(raw), begin)
	got, after, ends := strings.Cut(rest, end)
	want = "\n" + want + "\n"
	switch {
	case !begins || !ends:
		t.Fatalf("%s has no lines %q and %q", path, strings.TrimSpace(begin), end)
	case got == want:
		return
	case !*update:
		t.Fatalf("%s is not what the code has; run `go test ./cmd/kafka-dis-gateway -run Documents -update` (-page +code)\n%s",
			path, cmp.Diff(strings.Split(got, "\n"), strings.Split(want, "\n")))
	}
	if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cell makes a text fit into a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func code(text string) string { return "`" + cell(text) + "`" }
