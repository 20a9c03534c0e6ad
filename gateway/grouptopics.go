package gateway

import (
	"context"
	"errors"
	"sync"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// GroupTopics tells the group coordinator which topics there are: it fits the topic
// catalog to the interface that groupcoord declares, since neither knows the other.
type GroupTopics struct{ catalog topicLister }

// topicLister is the part of Catalog that groups need.
type topicLister interface {
	translate.Catalog
	Topics(ctx context.Context) ([]*translate.Topic, error)
}

var _ groupcoord.TopicCatalog = GroupTopics{}

// NewGroupTopics wraps a catalog.
func NewGroupTopics(catalog topicLister) GroupTopics { return GroupTopics{catalog} }

// topicLookups is how many topics of one group are looked up at a time. Most are
// answered from memory.
const topicLookups = 16

// Topics gives those of the named topics that can be read. The error says that DIS
// could not be asked about one of them.
func (g GroupTopics) Topics(ctx context.Context, names []string) ([]groupcoord.Topic, error) {
	var mu sync.Mutex
	var found []groupcoord.Topic
	var failed error
	inParallel(len(names), topicLookups, func(i int) {
		topic, err := g.catalog.Topic(ctx, names[i])
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			found = appendReadable(found, topic)
		case !absent(err):
			failed = err
		}
	})
	return found, failed
}

// absent reports whether an error says that there is no topic to read: it does not
// exist, cannot, is kept from clients, or DIS is still creating it.
func absent(err error) bool {
	return dis.HasCode(err, wire.CodeStreamNotFound) || errors.Is(err, translate.ErrInvalidName) || errors.Is(err, translate.ErrHidden) ||
		errors.Is(err, translate.ErrNotReady) || errors.Is(err, translate.ErrNoStreamID)
}

// AllTopics gives every topic that can be read.
func (g GroupTopics) AllTopics(ctx context.Context) ([]groupcoord.Topic, error) {
	topics, err := g.catalog.Topics(ctx)
	if err != nil {
		return nil, err
	}
	var found []groupcoord.Topic
	for _, topic := range topics {
		found = appendReadable(found, topic)
	}
	return found, nil
}

// appendReadable adds a topic unless it has no partitions, as one that is not
// known in detail yet.
func appendReadable(list []groupcoord.Topic, topic *translate.Topic) []groupcoord.Topic {
	if len(topic.Partitions) == 0 {
		return list
	}
	return append(list, groupcoord.Topic{Name: topic.Name, ID: topic.ID, Partitions: int32(len(topic.Partitions))})
}
