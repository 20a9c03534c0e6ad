package translate

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func byName(topic, stream string) Alias { return Alias{topic, StreamRef{Name: stream}} }

func byID(topic, id string) Alias { return Alias{topic, StreamRef{ID: id}} }

// namesWith makes names from good aliases.
func namesWith(t *testing.T, aliases ...Alias) *Names {
	t.Helper()
	n := new(Names)
	for _, a := range aliases {
		if err := n.Add(a); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestStreamOfATopic(t *testing.T) {
	n := namesWith(t, byName("orders.v1", "orders_v1"), byID("partner", "abc123"), byName("a", "b"), byName("b", "c"))
	n.Expose("or*")
	n.Expose("partner*")
	n.Expose("?")
	n.Hide("*-internal")
	for topic, want := range map[string]StreamRef{
		"orders.v1": {Name: "orders_v1"}, "partner": {ID: "abc123"}, "orders": {Name: "orders"}, "a": {Name: "b"}, "b": {Name: "c"}, "z": {Name: "z"},
	} {
		if got, err := n.Stream(topic); err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", topic, got, err, want)
		}
	}
	for topic, want := range map[string]string{"orders-internal": "--hide-topics has *-internal", "other": "--expose-topics has no pattern"} {
		if _, err := n.Stream(topic); !errors.Is(err, ErrHidden) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an ErrHidden with %q", topic, err, want)
		}
	}
}

// A topic without an alias that no stream can have: the message says that one would
// help, unless not even Kafka allows the name.
func TestNamesThatNoStreamCanHave(t *testing.T) {
	n := new(Names)
	long := strings.Repeat("x", 65)
	for topic, want := range map[string]string{
		"a.b": "allowed are A-Z a-z 0-9 _ and -; --alias a.b,stream=NAME gives the topic a stream of another name",
		long:  "has at most 64; --alias " + long + ",stream=NAME",
	} {
		if _, err := n.Stream(topic); !errors.Is(err, ErrInvalidName) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an ErrInvalidName with %q", topic, err, want)
		}
	}
	for _, topic := range []string{"", "a b", "ä", "a/b", "..", strings.Repeat("x", 250)} {
		if _, err := n.Stream(topic); !errors.Is(err, ErrInvalidName) || strings.Contains(err.Error(), "--alias") {
			t.Errorf("%q: %v, want an ErrInvalidName without a word of aliases", topic, err)
		}
	}
	for _, topic := range []string{"a", "A-b_9", strings.Repeat("x", 64), "-", "__consumer_offsets"} {
		if got, err := n.Stream(topic); err != nil || got.Name != topic {
			t.Errorf("%q: %+v, %v", topic, got, err)
		}
	}
}

func TestTopicOfAStream(t *testing.T) {
	n := namesWith(t, byName("orders.v1", "orders_v1"), byID("partner", "abc123"), byName("a", "b"), byName("hidden.a", "seen"))
	n.Hide("hidden*")
	type stream struct{ name, id string }
	for of, want := range map[stream]string{
		{"orders_v1", ""}:     "orders.v1",
		{"orders_v1", "x"}:    "orders.v1",
		{"orders", ""}:        "orders",
		{"b", ""}:             "a",
		{"ours", "abc123"}:    "partner", // an alias by id of one of our own
		{"a", ""}:             "",        // an alias has its name
		{"seen", ""}:          "",        // hidden as the topic that it is
		{"hidden-stream", ""}: "",
	} {
		got, shown := n.Topic(of.name, of.id)
		if !shown {
			got = ""
		}
		if got != want {
			t.Errorf("stream %+v is topic %q, want %q", of, got, want)
		}
	}
}

func TestAliasesByID(t *testing.T) {
	n := namesWith(t, byID("z", "1"), byName("m", "s"), byID("a", "2"), byID("hidden", "3"))
	n.Hide("hidden")
	if diff := cmp.Diff([]Alias{byID("a", "2"), byID("z", "1")}, n.ByID()); diff != "" {
		t.Error(diff)
	}
	if len(new(Names).ByID()) != 0 {
		t.Error("aliases of nobody")
	}
}

func TestAliasesThatMakeNoSense(t *testing.T) {
	for name, c := range map[string]struct {
		alias Alias
		want  string
	}{
		"no topic":           {byName("", "s"), "the name of a topic is needed"},
		"dots alone":         {byName("..", "s"), `".." is no name of a topic`},
		"long topic":         {byName(strings.Repeat("x", 250), "s"), "has 250 characters, Kafka allows 249"},
		"topic":              {byName("a b", "s"), `topic "a b" has characters that Kafka does not allow`},
		"no stream":          {Alias{Topic: "t"}, "the name or the id of a stream is needed"},
		"both":               {Alias{"t", StreamRef{"s", "i"}}, "exclude each other"},
		"stream":             {byName("t", "a.b"), `"a.b" has characters that a DIS stream name cannot have`},
		"id":                 {byID("t", "a/b"), `"a/b" is no id of a stream`},
		"long id":            {byID("t", strings.Repeat("x", 65)), "is no id of a stream"},
		"topic twice":        {byName("known", "s"), "topic known has an alias already, for the stream taken"},
		"stream twice":       {byName("t", "taken"), "stream taken has an alias already, the topic known"},
		"id twice":           {byID("t", "abc"), "stream id abc has an alias already, the topic shared"},
		"topic with id also": {byID("shared", "other"), "topic shared has an alias already, for the stream id abc"},
	} {
		t.Run(name, func(t *testing.T) {
			n := namesWith(t, byName("known", "taken"), byID("shared", "abc"))
			if err := n.Add(c.alias); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
