package translate

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever the settings are: a stream that is shown is found again under its topic,
// and no topic is two streams.
func TestStreamsAndTopicsAreOneToOne(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "d", "a.b", "c.d"})
	streams := []StreamRef{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", ""}} // the list does not show every id
	rapid.Check(t, func(t *rapid.T) {
		n := new(Names)
		for range rapid.IntRange(0, 6).Draw(t, "aliases") {
			alias := Alias{names.Draw(t, "topic"), StreamRef{Name: names.Draw(t, "stream")}}
			if rapid.Bool().Draw(t, "by id") {
				alias.Stream = StreamRef{ID: rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(t, "id")}
			}
			_ = n.Add(alias) // what contradicts is refused
		}
		pattern := rapid.SampledFrom([]string{"a", "b", "?", "*.*", "c*"})
		if rapid.Bool().Draw(t, "hides") {
			n.Hide(pattern.Draw(t, "hidden"))
		}
		if rapid.Bool().Draw(t, "exposes") {
			n.Expose(pattern.Draw(t, "exposed"))
		}
		taken := map[string]StreamRef{}
		for _, stream := range streams {
			topic, shown := n.Topic(stream.Name, stream.ID)
			if !shown {
				continue
			}
			if other, twice := taken[topic]; twice {
				t.Fatalf("topic %s is the streams %+v and %+v", topic, other, stream)
			}
			taken[topic] = stream
			if found, err := n.Stream(topic); err != nil || found != (StreamRef{Name: stream.Name}) && found != (StreamRef{ID: stream.ID}) {
				t.Fatalf("stream %+v is topic %s, which is %+v, %v", stream, topic, found, err)
			}
		}
		for _, alias := range n.ByID() {
			if stream, err := n.Stream(alias.Topic); err != nil || stream != alias.Stream {
				t.Fatalf("%+v is %+v, %v", alias, stream, err)
			}
		}
	})
}
