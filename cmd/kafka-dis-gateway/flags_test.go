package main

import "testing"

// forEachFlag visits every flag of every command.
func forEachFlag(t *testing.T, visit func(command, name, help string, variables []string)) {
	t.Helper()
	parser, err := newParser(&commandLine{}, newProblems(), &settingsFile{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Children {
		for _, flag := range command.Flags {
			visit(command.Name, flag.Name, flag.Help, flag.Envs)
		}
	}
}
