package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// streamsOf parses a dev command and gives the stream of each topic, "hidden" or
// "invalid".
func streamsOf(t *testing.T, names []string, args ...string) map[string]string {
	t.Helper()
	d, mistakes := parseDev(t, args...)
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	streams := map[string]string{}
	for _, name := range names {
		ref, err := d.names.Stream(name)
		streams[name] = ref.String()
		switch {
		case errors.Is(err, translate.ErrHidden):
			streams[name] = "hidden"
		case errors.Is(err, translate.ErrInvalidName):
			streams[name] = "invalid"
		}
	}
	return streams
}

// TestTopicSettings: the file, the environment and the command line say the same.
func TestTopicSettings(t *testing.T) {
	names := []string{"orders.v1", "partner.events", "app-a", "app-tmp", "app.b", "other", "orders_v1"}
	want := map[string]string{
		"orders.v1": "orders_v1", "partner.events": "id abc123", "app-a": "app-a", "app-tmp": "hidden",
		"app.b": "invalid", "other": "hidden", "orders_v1": "hidden",
	}
	file := writeFile(t, `
alias:
  - {topic: orders.v1, stream: orders_v1}
  - topic: partner.events
    stream-id: abc123
expose-topics: ["orders.*", partner.events, "app*"]
hide-topics: "*-tmp"
topics: [{match: "orders.*", format: reject}]
topic: ["orders.v1:2"]
`)
	if diff := cmp.Diff(want, streamsOf(t, names, "--config", file)); diff != "" {
		t.Errorf("from the file: %s", diff)
	}
	if diff := cmp.Diff(want, streamsOf(t, names,
		"--alias", "orders.v1,stream=orders_v1", "--alias=partner.events,stream-id=abc123",
		"--expose-topics", "orders.*", "--expose-topics=partner.events", "--expose-topics=app*", "--hide-topics=*-tmp")); diff != "" {
		t.Errorf("from the command line: %s", diff)
	}
	t.Setenv("KDG_ALIAS", "orders.v1,stream=orders_v1;partner.events,stream-id=abc123")
	t.Setenv("KDG_EXPOSE_TOPICS", "orders.*;partner.events;app*")
	t.Setenv("KDG_HIDE_TOPICS", "*-tmp")
	if diff := cmp.Diff(want, streamsOf(t, names)); diff != "" {
		t.Errorf("from the environment: %s", diff)
	}
}

func TestTopicSettingsByDefault(t *testing.T) {
	want := map[string]string{"any": "any", "a.b": "invalid"}
	if diff := cmp.Diff(want, streamsOf(t, []string{"any", "a.b"})); diff != "" {
		t.Error(diff)
	}
}

// TestTopicSettingMistakes: each names the setting and the entry.
func TestTopicSettingMistakes(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"topic twice":      {"alias: [{topic: a.b, stream: x}, {topic: a.b, stream: y}]", `alias in FILE: "a.b,stream=y": topic a.b has an alias already, for the stream x`},
		"stream twice":     {"alias: [{topic: a.b, stream: x}, {topic: a.c, stream: x}]", `"a.c,stream=x": stream x has an alias already, the topic a.b`},
		"id twice":         {"alias: [{topic: a, stream-id: x}, {topic: b, stream-id: x}]", `"b,stream-id=x": stream id x has an alias already, the topic a`},
		"name and id":      {"alias: [{topic: a, stream: x, stream-id: y}]", `"a,stream=x,stream-id=y": the name and the id of a stream exclude each other`},
		"no stream":        {"alias: [{topic: a}]", `alias in FILE: "a": the name or the id of a stream is needed`},
		"no topic":         {"alias: [{stream: a}]", `alias in FILE: entry 1: topic: a value is missing`},
		"name of topic":    {`alias: [{topic: "a b", stream: x}]`, `topic "a b" has characters that Kafka does not allow`},
		"name of stream":   {"alias: [{topic: a, stream: a.b}]", `"a.b" has characters that a DIS stream name cannot have`},
		"id":               {"alias: [{topic: a, stream-id: a.b}]", `"a.b" is no id of a stream`},
		"key":              {"alias: [{topic: a, streem: b}]", `alias in FILE: entry 1: unknown key "streem", did you mean stream?`},
		"empty value":      {`alias: ["a,stream="]`, `"a,stream=": stream: a value is missing`},
		"value twice":      {`alias: ["a,stream=b,stream=c"]`, `stream is given twice`},
		"an old habit":     {`alias: ["a=b"]`, `"a=b": topic "a=b" has characters that Kafka does not allow`},
		"exposed twice":    {"expose-topics: [a, b, a]", `expose-topics in FILE: "a": the same pattern stands before`},
		"hidden twice":     {"hide-topics: [a, a]", `hide-topics in FILE: "a": the same pattern stands before`},
		"open bracket":     {`hide-topics: ["a["]`, `hide-topics in FILE: "a[": "a[" is no pattern: a bracket is not closed`},
		"no pattern":       {`expose-topics: [""]`, `expose-topics in FILE: "": a name or a pattern of names is needed`},
		"expression":       {`expose-topics: ["app.*"]`, `expose-topics in FILE: "app.*": no topic matches "app.*": invalid topic name`},
		"topic of dev":     {`topic: ["a.b:1"]`, `topic in FILE: invalid topic name: "a.b" has characters that a DIS stream name cannot have`},
		"hidden, created":  {"topic: [\"a:1\"]\nhide-topics: a", `topic in FILE: topic "a": this gateway does not show the topic: --hide-topics has a`},
		"own name created": {"topic: [\"a:1\"]\nalias: [{topic: b, stream: a}]", `topic in FILE: topic "a": this gateway does not show the topic: by --alias its stream is the topic b`},
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
	_, mistakes := parseDev(t, "--alias", "a,stream=b.c", "--alias=b", "--alias=c,x=y", "--hide-topics=a[", "--expose-topics=a b", "--topics=a.b")
	if len(mistakes) != 6 {
		t.Errorf("not all at once: %q", mistakes)
	}
}
