package translate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
)

// StreamRef names a stream in calls to DIS. One that another account shares has
// no name here and is known by its id alone.
type StreamRef struct{ Name, ID string }

// String is the reference as settings and messages have it.
func (r StreamRef) String() string {
	if r.Name == "" {
		return "id " + r.ID
	}
	return r.Name
}

// Alias gives a topic a stream that does not have its name: one whose own name
// Kafka clients cannot or should not use, or one that is known by its id.
type Alias struct {
	Topic  string
	Stream StreamRef // of which one field is set
}

// Names says which stream a topic is, and which topics there are for Kafka
// clients. The zero value has every stream as the topic of its name. It is set up
// first and then safe for concurrent use.
//
// A stream with an alias is the topic of that name and no other, and where an
// alias takes the name of another stream, that one cannot be reached.
type Names struct {
	streams map[string]StreamRef // by topic, of those with an alias
	topics  map[StreamRef]string // the reverse
	exposed []string             // patterns; none exposes every topic
	hidden  []string
}

// Add takes an alias. The error says what is wrong with it: its names, or that the
// topic or the stream has one already.
func (n *Names) Add(a Alias) error {
	if err := validateTopicName(a.Topic); err != nil {
		return err
	}
	if err := a.Stream.validate(); err != nil {
		return err
	}
	if other, taken := n.streams[a.Topic]; taken {
		return fmt.Errorf("topic %s has an alias already, for the stream %s", a.Topic, other)
	}
	if other, taken := n.topics[a.Stream]; taken {
		return fmt.Errorf("stream %s has an alias already, the topic %s", a.Stream, other)
	}
	if n.streams == nil {
		n.streams, n.topics = map[string]StreamRef{}, map[StreamRef]string{}
	}
	n.streams[a.Topic], n.topics[a.Stream] = a.Stream, a.Topic
	return nil
}

// Expose hides every topic whose name matches none of the exposed patterns, which
// are those of path.Match.
func (n *Names) Expose(pattern string) { n.exposed = append(n.exposed, pattern) }

// Hide hides the topics whose name matches the pattern, whatever is exposed.
func (n *Names) Hide(pattern string) { n.hidden = append(n.hidden, pattern) }

// Stream is the stream of a topic; whether it exists is another matter.
//
// Errors: ErrHidden; ErrInvalidName for a name without an alias that no stream can
// have. Their texts are fit for the client.
func (n *Names) Stream(topic string) (StreamRef, error) {
	if err := n.refusal(topic); err != nil {
		return StreamRef{}, err
	}
	if stream, ok := n.streams[topic]; ok {
		return stream, nil
	}
	if other, taken := n.topics[StreamRef{Name: topic}]; taken {
		return StreamRef{}, fmt.Errorf("topic %q: %w: by --alias its stream is the topic %s", topic, ErrHidden, other)
	}
	err := ValidateStreamName(topic)
	if err != nil && validateTopicName(topic) == nil {
		err = fmt.Errorf("%w; --alias %s,stream=NAME gives the topic a stream of another name", err, topic)
	}
	return StreamRef{Name: topic}, err
}

// Topic is the topic that a stream of this project is; shown is false when it is
// none. The id may be unknown.
func (n *Names) Topic(streamName, streamID string) (topic string, shown bool) {
	topic, aliased := n.TopicOfID(streamID)
	if !aliased {
		topic, aliased = n.topics[StreamRef{Name: streamName}]
	}
	if !aliased {
		topic = streamName
		if _, taken := n.streams[topic]; taken {
			return "", false
		}
	}
	return topic, n.refusal(topic) == nil
}

// TopicOfID is the topic whose alias has the id of a stream.
func (n *Names) TopicOfID(streamID string) (topic string, ok bool) {
	topic, ok = n.topics[StreamRef{ID: streamID}]
	return topic, ok
}

// ByID are the topics whose alias is the id of a stream, without the hidden ones,
// in order.
func (n *Names) ByID() []Alias {
	var byID []Alias
	for topic, stream := range n.streams {
		if stream.Name == "" && n.refusal(topic) == nil {
			byID = append(byID, Alias{topic, stream})
		}
	}
	slices.SortFunc(byID, func(a, b Alias) int { return cmp.Compare(a.Topic, b.Topic) })
	return byID
}

// HasAlias reports whether a topic whose name matches the pattern has an alias.
func (n *Names) HasAlias(pattern string) bool {
	for topic := range n.streams {
		if matches(pattern, topic) {
			return true
		}
	}
	return false
}

// refusal is an ErrHidden for a topic that the settings hide.
func (n *Names) refusal(topic string) error {
	for _, pattern := range n.hidden {
		if matches(pattern, topic) {
			return fmt.Errorf("topic %q: %w: --hide-topics has %s", topic, ErrHidden, pattern)
		}
	}
	if len(n.exposed) > 0 && !slices.ContainsFunc(n.exposed, func(pattern string) bool { return matches(pattern, topic) }) {
		return fmt.Errorf("topic %q: %w: --expose-topics has no pattern for it", topic, ErrHidden)
	}
	return nil
}

// matches applies a pattern that was checked.
func matches(pattern, topic string) bool {
	ok, err := path.Match(pattern, topic)
	return ok && err == nil
}
