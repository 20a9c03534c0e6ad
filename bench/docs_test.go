package main

import (
	"os"
	"strings"
	"testing"
)

// TestEveryPartIsDocumented: the page on performance has a row for each part.
func TestEveryPartIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if row := "| `make bench BENCH=\"-run " + p.name + "\"` |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/performance.md has no row that begins with %s", row)
		}
	}
}
