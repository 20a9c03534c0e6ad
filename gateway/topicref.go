package gateway

import (
	"context"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// noTopicID is what a request carries that names its topic, and a reply about a
// topic that has no id.
var noTopicID [16]byte

// topicRef is how a request refers to a topic: by its name, or by its id
// (KIP-516).
type topicRef struct {
	byID bool
	name string
	id   [16]byte
}

func byName(name string) topicRef { return topicRef{name: name} }

func byTopicID(id [16]byte) topicRef { return topicRef{byID: true, id: id} }

// find looks the topic up. A topic under another id than the one asked for is
// not found, so that nobody goes on with a stream that was made again.
func (r topicRef) find(ctx context.Context, catalog Catalog) (*translate.Topic, error) {
	if r.byID {
		return catalog.TopicByID(ctx, r.id)
	}
	return catalog.Topic(ctx, r.name)
}

// log adds the topic to a log line.
func (r topicRef) log(event *zerolog.Event) *zerolog.Event {
	if r.byID {
		return event.Str("topic_id", translate.IDText(r.id))
	}
	return event.Str("topic", cut(r.name))
}
