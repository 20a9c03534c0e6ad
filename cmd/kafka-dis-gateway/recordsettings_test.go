package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// policiesOf parses a dev command and gives the policy of each topic.
func policiesOf(t *testing.T, names []string, args ...string) map[string]record.Policy {
	t.Helper()
	d, mistakes := parseDev(t, args...)
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	policies := map[string]record.Policy{}
	for _, name := range names {
		policies[name] = d.policy(name)
	}
	return policies
}

// TestTopicsSettings: the first pattern that matches counts, what it leaves out
// is as for all topics, and the file, the environment and the command line say
// the same things.
func TestTopicsSettings(t *testing.T) {
	names := []string{"orders-eu", "orders-us", "audit", "metrics_7", "other"}
	want := map[string]record.Policy{
		"orders-eu": {EnvelopeTimestamps: true},
		"orders-us": {Format: record.FormatDropHeaders, EnvelopeTimestamps: true},
		"audit":     {Format: record.FormatReject, LogAppendTime: true},
		"metrics_7": {EnvelopeTimestamps: true, LogAppendTime: true},
		"other":     {EnvelopeTimestamps: true},
	}
	file := writeFile(t, `
record-timestamps: envelope
topics:
  - match: orders-eu
  - {match: "orders-*", format: drop-headers}
  - match: audit
    format: reject
    timestamps: dis
    timestamp-type: LogAppendTime
  - "metrics_?,timestamp-type=LogAppendTime"
`)
	if diff := cmp.Diff(want, policiesOf(t, names, "--config", file)); diff != "" {
		t.Errorf("from the file: %s", diff)
	}
	rules := []string{"orders-eu", "orders-*,format=drop-headers", "audit,format=reject,timestamps=dis,timestamp-type=LogAppendTime", "metrics_?,timestamp-type=LogAppendTime"}
	args := []string{"--record-timestamps=envelope"}
	for _, rule := range rules {
		args = append(args, "--topics", rule)
	}
	if diff := cmp.Diff(want, policiesOf(t, names, args...)); diff != "" {
		t.Errorf("from the command line: %s", diff)
	}
	t.Setenv("KDG_TOPICS", strings.Join(rules, ";"))
	if diff := cmp.Diff(want, policiesOf(t, names, args[0])); diff != "" {
		t.Errorf("from the environment: %s", diff)
	}
}

func TestRecordDefaults(t *testing.T) {
	d, mistakes := parseDev(t)
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	if got := d.policy("any"); got != (record.Policy{}) || d.codec() != record.CodecNone {
		t.Errorf("policy %+v, codec %v", got, d.codec())
	}
	d, mistakes = parseDev(t, "--record-format", "drop-headers", "--timestamp-type", "LogAppendTime", "--fetch-compression", "zstd")
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	want := record.Policy{Format: record.FormatDropHeaders, LogAppendTime: true}
	if got := d.policy("any"); got != want || d.codec() != record.CodecZstd {
		t.Errorf("policy %+v, codec %v", got, d.codec())
	}
}

// TestTopicsMistakes: each names the key.
func TestTopicsMistakes(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"value":               {"topics: [{match: a, format: raw}]", `topics in FILE: "a,format=raw": format: "raw" is not allowed, give one of envelope, reject, drop-headers`},
		"value of timestamps": {"topics: [{match: a, timestamps: keep}]", `timestamps: "keep" is not allowed, give one of dis, envelope`},
		"value of type":       {"topics: [{match: a, timestamp-type: now}]", `timestamp-type: "now" is not allowed, give one of CreateTime, LogAppendTime`},
		"key":                 {"topics: [{match: a}, {match: b, fromat: reject}]", `topics in FILE: entry 2: unknown key "fromat", did you mean format?`},
		"strange key":         {"topics: [{match: a, zzz: 1}]", `entry 1: unknown key "zzz", allowed are match, format, timestamps, timestamp-type`},
		"no pattern":          {"topics: [{format: reject}]", `topics in FILE: entry 1: match: a value is missing`},
		"empty pattern":       {`topics: [{match: ""}]`, `match: a name or a pattern of names is needed`},
		"regular expression":  {`topics: [{match: "orders.*"}]`, `match: no topic matches "orders.*": invalid topic name`},
		"open bracket":        {`topics: [{match: "orders-[12"}]`, `match: "orders-[12" is no pattern: a bracket is not closed`},
		"twice":               {"topics: [{match: a}, {match: a, format: reject}]", `"a,format=reject": the same pattern stands before`},
		"comma":               {`topics: [{match: "a,b"}]`, `entry 1: match: "a,b" has a comma`},
		"nested":              {"topics: [{match: [a, b]}]", `entry 1: match: a mapping or a list inside is not allowed here, give one value`},
		"reject and envelope": {"topics: [{match: a, format: reject, timestamps: envelope}]", `"a,format=reject,timestamps=envelope": reject allows no envelopes`},
		"for all topics":      {"record-format: reject\nrecord-timestamps: envelope", `record-format in FILE: reject allows no envelopes`},
		"word of all topics":  {"record-format: raw", `record-format in FILE: "raw" is not allowed, give one of envelope, reject, drop-headers`},
		"codec":               {"fetch-compression: lzma", `fetch-compression in FILE: "lzma" is not allowed, give one of none, gzip, snappy, lz4, zstd`},
	} {
		t.Run(name, func(t *testing.T) {
			file := writeFile(t, c.file+"\n")
			_, mistakes := parseDev(t, "--config", file)
			want := strings.ReplaceAll(c.want, "FILE", file)
			if len(mistakes) != 1 || !strings.Contains(mistakes[0], want) {
				t.Errorf("mistakes %q, want one with %q", mistakes, want)
			}
		})
	}
	if _, mistakes := parseDev(t, "--topics", "a,format"); len(mistakes) != 1 || !strings.Contains(mistakes[0], `--topics: "a,format": format: "" is not allowed`) {
		t.Errorf("mistakes %q", mistakes)
	}
}
