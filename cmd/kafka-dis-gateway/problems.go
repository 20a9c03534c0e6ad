package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"
)

// problems gathers the mistakes in the settings, so that the user sees all of
// them at once, each with the place it was made.
type problems struct {
	bad   map[reading]string // the text that was refused
	other []error

	flags         []*kong.Flag // of the chosen command
	onCommandLine map[*kong.Value]bool
	file          *settingsFile
}

// reading is one of the two times a setting may be read: from the environment,
// else its default; and from the command line, else the file.
type reading struct {
	value       *kong.Value
	environment bool
}

func newProblems() *problems { return &problems{bad: map[reading]string{}} }

// badValue notes that text is not allowed. A later goodValue of the same
// reading takes it back: the last one counts.
func (p *problems) badValue(r reading, text string) { p.bad[r] = text }

func (p *problems) goodValue(r reading) { delete(p.bad, r) }

// add notes a mistake that belongs to no single setting.
func (p *problems) add(err error) { p.other = append(p.other, err) }

// setting notes what is wrong with the value of the setting called name, which
// was readable but makes no sense.
func (p *problems) setting(name string, err error) {
	for _, flag := range p.flags {
		if flag.Name == name {
			p.add(fmt.Errorf("%s: %w", p.place(flag.Value), err))
		}
	}
}

// named is where the value of the setting called name comes from.
func (p *problems) named(name string) string {
	for _, flag := range p.flags {
		if flag.Name == name {
			return p.place(flag.Value)
		}
	}
	return "--" + name
}

// given reports whether something else than the default sets the setting called name.
func (p *problems) given(name string) bool {
	for _, flag := range p.flags {
		if flag.Name == name {
			return p.onCommandLine[flag.Value] || setVariable(flag.Value) != "" || p.file.has(name)
		}
	}
	return false
}

// locate gives the problems what they need to name the place of a mistake.
func (p *problems) locate(parsed *kong.Context, file *settingsFile) {
	p.flags, p.file, p.onCommandLine = parsed.Selected().Flags, file, map[*kong.Value]bool{}
	for _, element := range parsed.Path {
		if element.Flag != nil && !element.Resolved {
			p.onCommandLine[element.Flag.Value] = true
		}
	}
}

// place is where the value of a setting comes from.
func (p *problems) place(value *kong.Value) string {
	if variable := setVariable(value); variable != "" && !p.onCommandLine[value] {
		return variable
	}
	if p.file.has(value.Name) && !p.onCommandLine[value] {
		return p.file.place(value.Name)
	}
	return "--" + value.Name
}

// err joins everything found, in the order of the settings; nil when nothing
// was. What a source that wins has replaced is no mistake.
func (p *problems) err() error {
	var found []error
	for _, flag := range p.flags {
		fromEnvironment := setVariable(flag.Value) != "" && !p.onCommandLine[flag.Value]
		if text, bad := p.bad[reading{flag.Value, fromEnvironment}]; bad {
			found = append(found, fmt.Errorf("%s: %q is not allowed, give %s", p.place(flag.Value), text, allowedText(flag.Value)))
		}
	}
	return errors.Join(append(found, p.other...)...)
}

// split gives the errors of errors.Join, which has a line for each.
func split(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok || errors.Join(joined.Unwrap()...).Error() != err.Error():
		return []error{err}
	}
	return joined.Unwrap()
}

// setVariable is the environment variable that sets value, "" when none does.
func setVariable(value *kong.Value) string {
	for _, name := range value.Tag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return name
		}
	}
	return ""
}
