package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const settingsPath = "../../docs/settings.md"

// TestDocumentsListTheSettings keeps docs/settings.md to the table of settings. Run
// with -update to write it.
func TestDocumentsListTheSettings(t *testing.T) {
	generatedPart(t, settingsPath, "settings", settingsMarkdown(documentedSettings(t)))
}

// documentedSetting is a setting as the commands have it that share it.
type documentedSetting struct {
	flag     *kong.Flag // of the first command
	meaning  string
	commands []string
	defaults []string // by command
}

// documentedSettings merges the flags of all commands: those of one name and meaning
// are one setting, whatever their defaults.
func documentedSettings(t *testing.T) (all []*documentedSetting) {
	t.Helper()
	parser, err := newParser(&commandLine{}, newProblems(), &settingsFile{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range documentedOrder(parser.Model.Children) {
		for _, flag := range command.Flags {
			if flag.Name == "help" {
				continue
			}
			meaning, standard := splitHelp(flag)
			at := slices.IndexFunc(all, func(s *documentedSetting) bool { return s.flag.Name == flag.Name && s.meaning == meaning })
			if at < 0 {
				at = len(all)
				all = append(all, &documentedSetting{flag: flag, meaning: meaning})
			}
			if command.Name == "doctor" && slices.Contains(all[at].commands, "serve") {
				continue // it has all of them, as the page says
			}
			all[at].commands = append(all[at].commands, command.Name)
			all[at].defaults = append(all[at].defaults, standard)
		}
	}
	return all
}

// documentedOrder has serve first: it is what most readers run.
func documentedOrder(commands []*kong.Node) []*kong.Node {
	sorted := slices.Clone(commands)
	slices.SortStableFunc(sorted, func(a, b *kong.Node) int {
		return cmp.Compare(rank(a.Name), rank(b.Name))
	})
	return sorted
}

func rank(command string) int {
	if command == "serve" {
		return 0
	}
	return 1
}

var defaultInHelp = regexp.MustCompile(`^(.*?) ?Default: (.*)\.$`)

// splitHelp takes the default out of a help text, where it has one.
func splitHelp(flag *kong.Flag) (meaning, standard string) {
	if found := defaultInHelp.FindStringSubmatch(flag.Help); found != nil {
		return found[1], found[2]
	}
	if flag.IsBool() {
		return flag.Help, cmp.Or(flag.Default, "false")
	}
	return flag.Help, cmp.Or(flag.Default, "–")
}

// settingsMarkdown lists the settings by the commands that have them.
func settingsMarkdown(all []*documentedSetting) string {
	page := sections{columns: "| Flag | Variable | Key | Default | Allowed | Meaning |"}
	for _, s := range all {
		key := code(s.flag.Name)
		if s.flag.Name == "config" {
			key = "–"
		}
		page.add(listed(s.commands), code(flagText(s.flag)), codes(s.flag.Envs), key, s.standard(), cell(allowedValues(s.flag)), cell(s.meaning))
	}
	return page.String()
}

func flagText(flag *kong.Flag) string {
	if flag.Tag.Negatable != "" {
		return "--[no-]" + flag.Name
	}
	return "--" + flag.Name
}

// listed is `serve`, `dev` and `embedded-dis`.
func listed(commands []string) string {
	last := len(commands) - 1
	if last == 0 {
		return code(commands[0])
	}
	return codes(commands[:last]) + " and " + code(commands[last])
}

// standard is the default, by command where it depends on it.
func (s *documentedSetting) standard() string {
	if !slices.ContainsFunc(s.defaults, func(d string) bool { return d != s.defaults[0] }) {
		return cell(s.defaults[0])
	}
	var texts []string
	for i, command := range s.commands {
		texts = append(texts, code(command)+": "+cell(s.defaults[i]))
	}
	return strings.Join(texts, "<br>")
}

var examples = regexp.MustCompile(` such as \S+, \S+ or \w+`)

// allowedValues says what a setting may be; of texts, what they name. The page has the
// examples of durations and sizes once for all.
func allowedValues(flag *kong.Flag) string {
	text := examples.ReplaceAllString(allowedText(flag.Value), "")
	switch {
	case flag.PlaceHolder == "" || text != "text" && text != "a list":
		return text
	case flag.IsSlice():
		return flag.PlaceHolder + ", repeatable"
	}
	return flag.PlaceHolder
}

// TestEverySettingIsExplained: every setting says what it is and, in the help that
// --help shows too, what it is when it is not set.
func TestEverySettingIsExplained(t *testing.T) {
	for _, s := range documentedSettings(t) {
		if len(s.meaning) < 15 || !strings.HasSuffix(s.meaning, ".") {
			t.Errorf("--%s of %s: %q explains nothing", s.flag.Name, listed(s.commands), s.meaning)
		}
		if s.flag.Default != "" && !s.flag.IsBool() && !defaultInHelp.MatchString(s.flag.Help) {
			t.Errorf("--%s of %s does not name its default", s.flag.Name, listed(s.commands))
		}
	}
}
