package repository_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	shownTestCommand = regexp.MustCompile("go test ([^`\n]*)-run '?([^' `\n]+)'?([^`\n]*)")
	testFunction     = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	shownMakeTarget  = regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)")
)

// TestDocumentsNameRealTests: the tests that the documents tell to run exist, each
// pattern of each command.
func TestDocumentsNameRealTests(t *testing.T) {
	commands := 0
	for _, page := range documentPages(t) {
		for _, command := range shownTestCommand.FindAllStringSubmatch(readPage(t, page), -1) {
			if command[2] == "^$" || !strings.Contains(command[1]+command[3], "./") {
				continue // no test, or all of a module of its own
			}
			commands++
			functions := testsOf(t, strings.Fields(command[1]+command[3]))
			for pattern := range strings.SplitSeq(strings.ReplaceAll(command[2], `\|`, "|"), "|") {
				name, _, _ := strings.Cut(pattern, "/") // behind it is a part of the test
				wanted, err := regexp.Compile(name)
				if err != nil {
					t.Errorf("%s: %s: %v", page, command[0], err)
					continue
				}
				if !anyMatches(functions, wanted) {
					t.Errorf("%s: no test matches %s of %q", page, pattern, command[0])
				}
			}
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands, the pattern must be wrong", commands)
	}
}

// testsOf are the tests of the packages among the words of a command.
func testsOf(t *testing.T, words []string) (names []string) {
	t.Helper()
	for _, word := range words {
		if !strings.HasPrefix(word, "./") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(word, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, found := range testFunction.FindAllStringSubmatch(readPage(t, file), -1) {
				names = append(names, found[1])
			}
		}
	}
	return names
}

func anyMatches(names []string, pattern *regexp.Regexp) bool {
	for _, name := range names {
		if pattern.MatchString(name) {
			return true
		}
	}
	return false
}

// TestDocumentsNameRealMakeTargets: what the documents tell to make can be made.
func TestDocumentsNameRealMakeTargets(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := 0
	for _, page := range documentPages(t) {
		for _, found := range shownMakeTarget.FindAllStringSubmatch(readPage(t, page), -1) {
			targets++
			if !regexp.MustCompile(`(?m)^` + found[1] + `:`).Match(makefile) {
				t.Errorf("%s: there is no target for make %s", page, found[1])
			}
		}
	}
	if targets < 5 {
		t.Errorf("only %d targets, the pattern must be wrong", targets)
	}
}
