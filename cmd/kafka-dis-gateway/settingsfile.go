package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// settingsFile is the YAML file named by --config, as a source of flag values
// for kong. Keys are the flags' names; lists set repeatable flags.
type settingsFile struct {
	problems *problems
	path     string
	loaded   bool
	values   map[string]any
	// unreadable is why there are no values.
	unreadable error
}

// Validate has nothing to do: which keys are known depends on the command.
func (f *settingsFile) Validate(*kong.Application) error { return nil }

// Resolve gives the file's value of a flag that neither the command line nor
// the environment sets.
func (f *settingsFile) Resolve(context *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !f.loaded {
		f.loaded = true
		f.load(context)
	}
	value, ok := f.values[flag.Name]
	if !ok || setVariable(flag.Value) != "" {
		return nil, nil
	}
	converted, err := flagValue(flag, value)
	if err != nil {
		f.problems.add(fmt.Errorf("%s: %w", f.place(flag.Name), err))
		return nil, nil
	}
	return converted, nil
}

func (f *settingsFile) load(context *kong.Context) {
	if context.Selected() == nil {
		return
	}
	known := map[string]bool{}
	for _, flag := range context.Selected().Flags {
		known[flag.Name] = true
		if flag.Name == "config" {
			f.path, _ = context.FlagValue(flag).(string)
		}
	}
	if f.path == "" {
		return
	}
	if err := f.read(); err != nil {
		f.unreadable = err
		return
	}
	shared := context.Selected().Tag.Has("shares-file")
	for _, key := range slices.Sorted(maps.Keys(f.values)) {
		if known[key] && key != "config" && key != "help" {
			continue
		}
		if !shared || ownerOf(key, context) == "" {
			f.problems.add(unknownKey(f.place(key), key, context))
		}
		delete(f.values, key)
	}
}

func (f *settingsFile) read() error {
	data, err := readAtMost(f.path, maxSettingsFile)
	if err != nil {
		return fmt.Errorf("%w: give a YAML file that can be read", err)
	}
	// Windows editors put a byte order mark in front of UTF-8.
	decoder := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))), yaml.Strict())
	if err := decoder.Decode(&f.values); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: not a YAML mapping of settings: %s", f.path, oneLine(err))
	}
	// Nobody reads what stands behind a line of ---, so it would be without effect.
	var more any
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more than one YAML document: remove the line --- and what is not meant", f.path)
	}
	return nil
}

// maxSettingsFile is far more than all settings need, in bytes. A path that is no
// settings file, such as a device, may never end.
const maxSettingsFile = 1 << 20

// readAtMost reads a file that has no more than so many bytes.
func readAtMost(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return data, nil
}

func (f *settingsFile) has(key string) bool {
	_, ok := f.values[key]
	return ok
}

func (f *settingsFile) place(key string) string { return fmt.Sprintf("%s in %s", key, f.path) }

// unknownKey says what a key may be: the setting that it resembles, or the
// commands that it belongs to.
func unknownKey(place, key string, context *kong.Context) error {
	if other := ownerOf(key, context); other != "" {
		return fmt.Errorf("%s: a setting of the command %s, not of %s", place, other, context.Selected().Name)
	}
	var names []string
	for _, flag := range context.Selected().Flags {
		if flag.Name != "help" && flag.Name != "config" {
			names = append(names, flag.Name)
		}
	}
	if near := nearest(key, names); near != "" {
		return fmt.Errorf("%s: unknown key, did you mean %s?", place, near)
	}
	return fmt.Errorf("%s: unknown key, allowed are %s", place, strings.Join(names, ", "))
}

// ownerOf is the first command that has the setting called key, "" when none has.
func ownerOf(key string, context *kong.Context) string {
	for _, command := range context.Model.Children {
		for _, flag := range command.Flags {
			if flag.Name == key {
				return command.Name
			}
		}
	}
	return ""
}

// flagValue turns a YAML value into what kong takes from a resolver: text, or a
// list of texts for a repeatable flag.
func flagValue(flag *kong.Flag, value any) (any, error) {
	list, isList := value.([]any)
	switch {
	case isList && !flag.IsSlice():
		return nil, errors.New("a list is not allowed here, give one value")
	case !isList && flag.IsSlice():
		list = []any{value}
	case !isList:
		return scalar(value)
	}
	texts := make([]any, len(list))
	for i, element := range list {
		text, err := elementText(flag, element)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		texts[i] = text
	}
	return texts, nil
}

// elementText gives one element of a list as the flag's text. A flag with the
// tag mapping, which names keys, takes mappings too: the value of the first key
// stands in front, the others follow as ,key=value.
func elementText(flag *kong.Flag, element any) (string, error) {
	mapping, isMapping := element.(map[string]any)
	keys := strings.Split(flag.Tag.Get("mapping"), ",")
	if !isMapping || keys[0] == "" {
		return scalar(element)
	}
	for _, key := range slices.Sorted(maps.Keys(mapping)) {
		if !slices.Contains(keys, key) {
			return "", unknownElementKey(key, keys)
		}
	}
	var text strings.Builder
	for i, key := range keys {
		value, given := mapping[key]
		if !given && i > 0 {
			continue
		}
		word, err := scalar(value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", key, err)
		}
		if strings.Contains(word, ",") {
			return "", fmt.Errorf("%s: %q has a comma", key, word)
		}
		if i > 0 {
			text.WriteString("," + key + "=")
		}
		text.WriteString(word)
	}
	return text.String(), nil
}

func unknownElementKey(key string, keys []string) error {
	if near := nearest(key, keys); near != "" {
		return fmt.Errorf("unknown key %q, did you mean %s?", key, near)
	}
	return fmt.Errorf("unknown key %q, allowed are %s", key, strings.Join(keys, ", "))
}

func scalar(value any) (string, error) {
	switch value.(type) {
	case nil:
		return "", errors.New("a value is missing")
	case map[string]any, []any:
		return "", errors.New("a mapping or a list inside is not allowed here, give one value")
	}
	return fmt.Sprint(value), nil
}

// oneLine keeps the message of a YAML error and drops the picture of the
// source that follows it.
func oneLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}
