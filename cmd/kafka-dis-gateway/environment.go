package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// variablePrefix begins the variables that set flags.
const variablePrefix = "KDG_"

// misspelt finds variables that were meant to set something and do not. One
// that resembles no setting is left alone: Kubernetes makes variables of the
// names of services.
func misspelt(model *kong.Application) []error {
	known := variables(model)
	var found []error
	for _, entry := range slices.Sorted(slices.Values(os.Environ())) {
		variable, _, _ := strings.Cut(entry, "=")
		name, ours := strings.CutPrefix(variable, variablePrefix)
		if !ours || slices.Contains(known, name) {
			continue
		}
		if near := nearest(name, known); near != "" {
			found = append(found, fmt.Errorf("%s: unknown variable, did you mean %s?", variable, variablePrefix+near))
		}
	}
	return found
}

// variables are those of all commands, since they may share an environment,
// without the prefix.
func variables(model *kong.Application) []string {
	var names []string
	for _, command := range model.Children {
		for _, flag := range command.Flags {
			for _, variable := range flag.Tag.Envs {
				if name, ours := strings.CutPrefix(variable, variablePrefix); ours {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
