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

// sections are tables of Markdown with the same columns, in the order in which their
// headlines came first.
type sections struct {
	columns string // as in a row
	titles  []string
	rows    map[string]*strings.Builder
}

// add puts a row at the end of a section.
func (s *sections) add(title string, cells ...string) {
	if s.rows[title] == nil {
		if s.rows == nil {
			s.rows = map[string]*strings.Builder{}
		}
		s.titles, s.rows[title] = append(s.titles, title), new(strings.Builder)
	}
	s.rows[title].WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func (s *sections) String() string {
	tables := make([]string, len(s.titles))
	ruler := strings.Repeat("|---", strings.Count(s.columns, "|")-1) + "|"
	for i, title := range s.titles {
		tables[i] = "## " + title + "\n\n" + s.columns + "\n" + ruler + "\n" + s.rows[title].String()
	}
	return strings.Join(tables, "\n")
}

// cell makes a text fit into a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func code(text string) string { return "`" + cell(text) + "`" }

func codes(names []string) string {
	var texts []string
	for _, name := range names {
		texts = append(texts, code(name))
	}
	return strings.Join(texts, ", ")
}
