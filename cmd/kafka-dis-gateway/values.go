package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// byteSize is a number of bytes, written as 1048576, 64KiB, 64MiB or 1GiB.
type byteSize int64

var byteUnits = []struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"B", 1}, {"", 1},
}

func parseByteSize(text string) (byteSize, error) {
	for _, unit := range byteUnits {
		digits, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/unit.bytes {
			break
		}
		return byteSize(n * unit.bytes), nil
	}
	return 0, fmt.Errorf("%q is not a size", text)
}

// tolerantMapper reads a value of a flag. A bad value becomes a problem, not an
// error: kong would stop at the first one.
type tolerantMapper struct{ problems *problems }

func (m tolerantMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := popValue(ctx.Scan)
	if err != nil {
		return err
	}
	m.read(ctx.Value, fmt.Sprint(token.Value), target)
	return nil
}

// popValue takes a negative number for a value too, not for a flag: it is one that is
// not allowed.
func popValue(from *kong.Scanner) (kong.Token, error) {
	if text, isText := from.Peek().Value.(string); isText && len(text) > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9' {
		return from.Pop(), nil
	}
	return from.PopValue("value")
}

func (m tolerantMapper) read(value *kong.Value, text string, target reflect.Value) {
	// kong reads the environment and defaults straight into the setting, and
	// what wins over them into a value of its own.
	r := reading{value, target.CanAddr() && target.Addr() == value.Target.Addr()}
	if err := setText(target, text); err != nil || !allowed(value.Tag, target) {
		m.problems.badValue(r, text)
		return
	}
	m.problems.goodValue(r)
}

// tolerantBoolMapper lets a flag stand without a value.
type tolerantBoolMapper struct{ tolerantMapper }

func (tolerantBoolMapper) IsBool() bool { return true }

func (m tolerantBoolMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	text := "true"
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		text = fmt.Sprint(ctx.Scan.Pop().Value)
	}
	m.read(ctx.Value, text, target)
	return nil
}

func setText(target reflect.Value, text string) (err error) {
	var value any
	switch target.Interface().(type) {
	case time.Duration:
		value, err = time.ParseDuration(text)
	case byteSize:
		value, err = parseByteSize(text)
	case int:
		value, err = strconv.Atoi(text)
	case bool:
		value, err = strconv.ParseBool(text)
	case string:
		value = text
	default:
		return fmt.Errorf("settings of type %s are not supported", target.Type())
	}
	if err == nil {
		target.Set(reflect.ValueOf(value))
	}
	return err
}

// allowed applies the tags choices, min and max.
func allowed(tag *kong.Tag, target reflect.Value) bool {
	if choices := tag.Get("choices"); choices != "" {
		for choice := range strings.SplitSeq(choices, ",") {
			if target.String() == choice {
				return true
			}
		}
		return false
	}
	if lowest := tag.Get("min"); lowest != "" && target.Int() < bound(target.Type(), lowest) {
		return false
	}
	highest := tag.Get("max")
	return highest == "" || target.Int() <= bound(target.Type(), highest)
}

// bound reads the tag min or max of a setting.
func bound(kind reflect.Type, text string) int64 {
	limit := reflect.New(kind).Elem()
	if err := setText(limit, text); err != nil {
		panic(fmt.Sprintf("tag min or max of a setting: %v", err))
	}
	return limit.Int()
}

// allowedText says what a setting may be.
func allowedText(value *kong.Value) string {
	if choices := value.Tag.Get("choices"); choices != "" {
		return "one of " + strings.ReplaceAll(choices, ",", ", ")
	}
	kind := value.Target.Type()
	text := "text"
	switch reflect.Zero(kind).Interface().(type) {
	case time.Duration:
		text = "a duration such as 500ms, 30s or 5m"
	case byteSize:
		text = "a size in bytes such as 1048576, 64KiB or 64MiB"
	case int:
		text = "a whole number"
	case bool:
		text = "true or false"
	case []string:
		text = "a list"
	}
	if lowest := value.Tag.Get("min"); lowest != "" {
		text += ", at least " + lowest
	}
	if highest := value.Tag.Get("max"); highest != "" {
		text += ", at most " + highest
	}
	return text
}
