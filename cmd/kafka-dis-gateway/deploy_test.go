package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDeploymentNamesRealSettings: every variable in the files of deploy is a setting
// or a key of DIS. What resembles no setting would be left alone by the gateway.
func TestDeploymentNamesRealSettings(t *testing.T) {
	known := map[string]bool{}
	forEachFlag(t, func(_, _, _ string, variables []string) {
		for _, variable := range variables {
			known[variable] = true
		}
	})
	for _, variable := range []string{"AK", "SK", "SECURITY_TOKEN"} {
		known["HUAWEICLOUD_SDK_"+variable] = true
	}
	mentions := 0
	for _, path := range append(deploymentFiles(t), "../../Dockerfile") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b(?:KDG|HUAWEICLOUD)_[A-Z_]*[A-Z]`).FindAllString(string(text), -1) {
			mentions++
			if !known[name] {
				t.Errorf("%s sets %s, which does not exist", path, name)
			}
		}
	}
	if mentions < 15 {
		t.Errorf("only %d mentions, the pattern must be wrong", mentions)
	}
}

func deploymentFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("../../deploy", func(path string, entry fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".yaml" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in deploy: %v", err)
	}
	return files
}
