package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const readmePath = "../../README.md"

func readmeText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents gives the text of the README and of every page of docs, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	texts := make(map[string]string)
	for _, path := range append(paths, readmePath) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// otherPrograms are commands of others, whose flags the documents name too: up to the
// end of the line, or of the words in code.
var otherPrograms = regexp.MustCompile("\\b(?:kafka-[a-z-]+\\.sh|curl|docker|kubectl|go test|mvn|java)\\b[^`\n]*")

// mentioned checks that what the documents say of the kind of a pattern exists.
func mentioned(t *testing.T, pattern string, least int, exists func(name string) bool) {
	t.Helper()
	mentions := 0
	for path, text := range documents(t) {
		for _, name := range regexp.MustCompile(pattern).FindAllString(otherPrograms.ReplaceAllString(text, ""), -1) {
			mentions++
			if !exists(name) {
				t.Errorf("%s mentions %s, which does not exist", path, name)
			}
		}
	}
	if mentions < least {
		t.Errorf("only %d mentions, the pattern must be wrong", mentions)
	}
}

// TestDocumentsNameRealSettings: every flag and variable that the documents mention
// exists.
func TestDocumentsNameRealSettings(t *testing.T) {
	known := map[string]bool{"--help": true, "--dis-": true} // the beginning of several
	forEachFlag(t, func(_, name, _ string, variables []string) {
		known["--"+name] = true
		for _, variable := range variables {
			known[variable] = true
		}
	})
	for _, variable := range []string{"AK", "SK", "SECURITY_TOKEN"} {
		known["HUAWEICLOUD_SDK_"+variable] = true
	}
	mentioned(t, `--[a-z][a-z-]+|\b(?:KDG|HUAWEICLOUD_SDK)_[A-Z_]*[A-Z]`, 20, func(name string) bool { return known[name] })
}

func TestREADMEListsTheCommands(t *testing.T) {
	text := readmeText(t)
	for _, command := range []string{"dev", "serve", "doctor", "embedded-dis", "health", "version"} {
		if !strings.Contains(text, "| `"+command+"` |") {
			t.Errorf("README.md does not list the command %s", command)
		}
	}
}

// TestShownSettingsAreGood: what the documents show of a settings file is one.
func TestShownSettingsAreGood(t *testing.T) {
	shown := 0
	for path, text := range documents(t) {
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1) {
			if strings.Contains(block[1], "access_key:") {
				continue // a file with keys
			}
			shown++
			if _, mistakes := parseDev(t, "--config", writeFile(t, block[1])); mistakes != nil {
				t.Errorf("mistakes %q in the file of %s\n%s", mistakes, path, block[1])
			}
		}
	}
	if shown < 2 {
		t.Errorf("only %d files, the pattern must be wrong", shown)
	}
}
