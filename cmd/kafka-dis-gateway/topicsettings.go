package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// topicSettings say which topics there are for Kafka clients, and which streams
// they are.
type topicSettings struct {
	Alias        []string `sep:";" placeholder:"TOPIC,stream=NAME|TOPIC,stream-id=ID" help:"Topic whose stream does not have its name, repeatable (in the environment: separated by ;): stream, where DIS does not allow the name (dots, more than 64 characters); stream-id, where the stream belongs to another account, which shares it. The stream is no topic under its own name then." mapping:"topic,stream,stream-id"`
	ExposeTopics []string `sep:";" placeholder:"PATTERN" help:"Topics that exist for Kafka clients, repeatable (in the environment: separated by ;): names, with * and ? for any characters and any one. Default: all."`
	HideTopics   []string `sep:";" placeholder:"PATTERN" help:"Topics that do not exist for Kafka clients, whatever --expose-topics says, repeatable (in the environment: separated by ;). Default: none."`

	names *translate.Names
}

// check reads the settings and reports those that make no sense.
func (s *topicSettings) check(found *problems) {
	s.names = new(translate.Names)
	for _, text := range s.Alias {
		alias, err := parseAlias(text)
		if err == nil {
			err = s.names.Add(alias)
		}
		if err != nil {
			found.setting("alias", fmt.Errorf("%q: %w", text, err))
		}
	}
	for _, list := range []struct {
		setting  string
		patterns []string
		take     func(pattern string)
	}{
		{"expose-topics", s.ExposeTopics, s.names.Expose},
		{"hide-topics", s.HideTopics, s.names.Hide},
	} {
		for i, pattern := range list.patterns {
			err := s.checkPattern(pattern)
			if err == nil && slices.Contains(list.patterns[:i], pattern) {
				err = errors.New("the same pattern stands before")
			}
			if err != nil {
				found.setting(list.setting, fmt.Errorf("%q: %w", pattern, err))
				continue
			}
			list.take(pattern)
		}
	}
}

// parseAlias reads TOPIC,stream=NAME or TOPIC,stream-id=ID.
func parseAlias(text string) (alias translate.Alias, err error) {
	topic, keys, more := strings.Cut(text, ",")
	alias.Topic = topic
	for more {
		var pair string
		pair, keys, more = strings.Cut(keys, ",")
		key, value, _ := strings.Cut(pair, "=")
		var target *string
		switch key {
		case "stream":
			target = &alias.Stream.Name
		case "stream-id":
			target = &alias.Stream.ID
		default:
			return alias, unknownElementKey(key, []string{"stream", "stream-id"})
		}
		switch {
		case value == "":
			return alias, fmt.Errorf("%s: a value is missing", key)
		case *target != "":
			return alias, fmt.Errorf("%s is given twice", key)
		}
		*target = value
	}
	return alias, nil
}

// checkPattern refuses a pattern that no topic can match, such as a regular
// expression. Topics with an alias may have names that no stream can have.
func (s *topicSettings) checkPattern(pattern string) error {
	if pattern == "" {
		return errors.New("a name or a pattern of names is needed")
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("%q is no pattern: a bracket is not closed", pattern)
	}
	literal := strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]^", r) {
			return -1
		}
		return r
	}, pattern)
	if literal == "" || s.names.HasAlias(pattern) {
		return nil
	}
	if err := translate.ValidateStreamName(literal); err != nil {
		return fmt.Errorf("no topic matches %q: %w", pattern, err)
	}
	return nil
}
