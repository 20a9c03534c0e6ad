package repository_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	fencedBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	codeSpan    = regexp.MustCompile("`[^`\n]*`")
	pageLink    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	headline    = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	linkText    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// TestLinksOfDocuments: every link of a page to a file of the repository, or to a part
// of a page, leads somewhere.
func TestLinksOfDocuments(t *testing.T) {
	pages := documentPages(t)
	links := 0
	for _, page := range pages {
		text := readPage(t, page)
		text = codeSpan.ReplaceAllString(fencedBlock.ReplaceAllString(text, ""), "")
		for _, link := range pageLink.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(link[1])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if target.IsAbs() {
				continue
			}
			links++
			checkLink(t, page, target)
		}
	}
	if len(pages) < 8 || links < 50 {
		t.Errorf("only %d links on %d pages: the search must be wrong", links, len(pages))
	}
}

// TestIndexHasEveryPage: a page that the index does not have is found by chance.
func TestIndexHasEveryPage(t *testing.T) {
	index := readPage(t, "docs/README.md")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 8 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

// documentPages are the Markdown files, but not those that clients were installed with.
func documentPages(t *testing.T) (pages []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			pages = append(pages, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func checkLink(t *testing.T, page string, target *url.URL) {
	t.Helper()
	path := page
	if target.Path != "" {
		path = filepath.Join(filepath.Dir(page), filepath.FromSlash(target.Path))
	}
	switch _, err := os.Stat(path); {
	case err != nil:
		t.Errorf("%s links to %s: %v", page, target, err)
	case target.Fragment == "":
	case filepath.Ext(path) != ".md" || !anchors(readPage(t, path))[target.Fragment]:
		t.Errorf("%s links to %s: that page has no such part", page, target)
	}
}

// anchors are the names of a page's headlines in links, as GitHub makes them: lower case,
// without punctuation, spaces as hyphens, and a number behind those that come again.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	count := map[string]int{}
	for _, line := range headline.FindAllStringSubmatch(fencedBlock.ReplaceAllString(text, ""), -1) {
		name := anchor(linkText.ReplaceAllString(line[1], "$1"))
		if n := count[name]; n > 0 {
			found[name+"-"+strconv.Itoa(n)] = true
		} else {
			found[name] = true
		}
		count[name]++
	}
	return found
}

func anchor(headline string) string {
	return strings.Map(func(char rune) rune {
		switch {
		case unicode.IsLetter(char), unicode.IsDigit(char), char == '-', char == '_':
			return unicode.ToLower(char)
		case char == ' ':
			return '-'
		}
		return -1
	}, headline)
}

func TestAnchors(t *testing.T) {
	found := anchors("# Kafka's words, and `DIS`\n## 1. Order\n```\n# no headline\n```\n## Order\n## Order\n## [A link](x.md) here\n")
	for _, want := range []string{"kafkas-words-and-dis", "1-order", "order", "order-1", "a-link-here"} {
		if !found[want] {
			t.Errorf("no anchor %s in %v", want, found)
		}
	}
	if len(found) != 5 {
		t.Errorf("got %v", found)
	}
}
