package main

import (
	"slices"
	"strings"
)

// unknownFlag is an argument that is no flag of the command.
type unknownFlag struct {
	error
	others []string // the arguments without it and what seems to be its value
}

// withoutUnknown turns the error of the reader of arguments into an *unknownFlag
// where it is one.
func withoutUnknown(err error, args []string) error {
	rest, is := strings.CutPrefix(err.Error(), "unknown flag ")
	name, _, _ := strings.Cut(rest, " ")
	name = strings.TrimSuffix(name, ",")
	at := slices.IndexFunc(args, func(arg string) bool { return arg == name || strings.HasPrefix(arg, name+"=") })
	if !is || at < 0 {
		return err
	}
	end := at + 1
	if args[at] == name && end < len(args) && !strings.HasPrefix(args[end], "-") {
		end++
	}
	return &unknownFlag{err, slices.Delete(slices.Clone(args), at, end)}
}
