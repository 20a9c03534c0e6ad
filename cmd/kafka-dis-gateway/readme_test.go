package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestREADMENamesRealSettings: every flag, variable and command that the README
// mentions exists.
func TestREADMENamesRealSettings(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"--help": true}
	forEachFlag(t, func(_, name, _ string, variables []string) {
		known["--"+name] = true
		for _, variable := range variables {
			known[variable] = true
		}
	})
	for _, variable := range []string{"AK", "SK", "SECURITY_TOKEN"} {
		known["HUAWEICLOUD_SDK_"+variable] = true
	}
	mentions := regexp.MustCompile(`--[a-z][a-z-]+|\b(?:KDG|HUAWEICLOUD_SDK)_[A-Z_]*[A-Z]`).FindAllString(string(text), -1)
	if len(mentions) < 10 {
		t.Errorf("only %d settings are mentioned, the pattern must be wrong", len(mentions))
	}
	for _, mention := range mentions {
		if !known[mention] {
			t.Errorf("README.md mentions %s, which does not exist", mention)
		}
	}
	for _, command := range []string{"dev", "serve", "embedded-dis", "version"} {
		if !strings.Contains(string(text), "| `"+command+"` |") {
			t.Errorf("README.md does not list the command %s", command)
		}
	}
}
