package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// recordSettings say how records are stored and served, for all topics and for
// some by name or pattern.
type recordSettings struct {
	RecordFormat     string   `default:"envelope" choices:"envelope,reject,drop-headers" help:"What becomes of records that DIS's own form cannot hold: envelope stores them in one, reject refuses them, drop-headers stores them without headers. Default: envelope."`
	RecordTimestamps string   `default:"dis" choices:"dis,envelope" help:"Where the times of records are stored: dis, in DIS's own field; envelope, in an envelope of every record, for a DIS that does not keep them. Default: dis."`
	TimestampType    string   `default:"CreateTime" choices:"CreateTime,LogAppendTime" help:"Times of records: CreateTime, the producer's; LogAppendTime, of their arrival. Default: CreateTime."`
	Topics           []string `sep:";" placeholder:"PATTERN[,format=F][,timestamps=T][,timestamp-type=Y]" help:"Topics that differ from --record-format, --record-timestamps and --timestamp-type, repeatable (in the environment: separated by ;). PATTERN is a name, with * and ? for any characters and any one; of several that match the first counts." mapping:"match,format,timestamps,timestamp-type"`
	FetchCompression string   `default:"none" choices:"none,gzip,snappy,lz4,zstd" help:"Compression of what consumers get; those too old for zstd get it uncompressed. Default: none."`

	standard record.Policy
	rules    []topicRule
}

// topicRule is one of --topics.
type topicRule struct {
	pattern string
	policy  record.Policy
}

// check reads the rules and reports those that make no sense, with checkPattern for
// the patterns.
func (s *recordSettings) check(found *problems, checkPattern func(string) error) {
	standard := topicWords{format: s.RecordFormat, timestamps: s.RecordTimestamps, timestampType: s.TimestampType}
	var err error
	if s.standard, err = standard.policy(); err != nil {
		found.setting("record-format", err)
	}
	for _, text := range s.Topics {
		rule, err := parseTopicRule(text, standard)
		if err == nil {
			if err = checkPattern(rule.pattern); err != nil {
				err = fmt.Errorf("match: %w", err)
			}
		}
		if err == nil && slices.ContainsFunc(s.rules, func(r topicRule) bool { return r.pattern == rule.pattern }) {
			err = errors.New("the same pattern stands before")
		}
		if err != nil {
			found.setting("topics", fmt.Errorf("%q: %w", text, err))
			continue
		}
		s.rules = append(s.rules, rule)
	}
}

// policy is how the records of a topic are stored.
func (s *recordSettings) policy(topic string) record.Policy {
	for _, rule := range s.rules {
		if matches, _ := path.Match(rule.pattern, topic); matches { // the pattern was checked
			return rule.policy
		}
	}
	return s.standard
}

func (s *recordSettings) codec() record.Codec {
	for codec := record.CodecNone; codec <= record.CodecZstd; codec++ {
		if codec.String() == s.FetchCompression {
			return codec
		}
	}
	panic("a choice of --fetch-compression is no codec: " + s.FetchCompression)
}

// parseTopicRule reads PATTERN and the keys that follow it; what they leave out
// is as in standard.
func parseTopicRule(text string, standard topicWords) (topicRule, error) {
	pattern, keys, more := strings.Cut(text, ",")
	words := standard
	for more {
		var pair string
		pair, keys, more = strings.Cut(keys, ",")
		if err := words.set(strings.Cut(pair, "=")); err != nil {
			return topicRule{}, err
		}
	}
	policy, err := words.policy()
	return topicRule{pattern, policy}, err
}

// topicWords are the settings of a topic in words.
type topicWords struct{ format, timestamps, timestampType string }

func (w *topicWords) set(key, value string, hasValue bool) error {
	var target *string
	var choices []string
	switch key {
	case "format":
		target, choices = &w.format, []string{"envelope", "reject", "drop-headers"}
	case "timestamps":
		target, choices = &w.timestamps, []string{"dis", "envelope"}
	case "timestamp-type":
		target, choices = &w.timestampType, []string{"CreateTime", "LogAppendTime"}
	default:
		return unknownElementKey(key, []string{"format", "timestamps", "timestamp-type"})
	}
	if !hasValue || !slices.Contains(choices, value) {
		return fmt.Errorf("%s: %q is not allowed, give one of %s", key, value, strings.Join(choices, ", "))
	}
	*target = value
	return nil
}

func (w topicWords) policy() (record.Policy, error) {
	p := record.Policy{EnvelopeTimestamps: w.timestamps == "envelope", LogAppendTime: w.timestampType == "LogAppendTime"}
	for _, format := range []record.Format{record.FormatReject, record.FormatDropHeaders} {
		if format.String() == w.format {
			p.Format = format
		}
	}
	if p.Format == record.FormatReject && p.EnvelopeTimestamps {
		return p, errors.New("reject allows no envelopes, and timestamps in the envelope need one for every record")
	}
	return p, nil
}
