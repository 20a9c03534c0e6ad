package offsets

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// topicsOf are the topics of the streams in which an app has checkpoints, and where
// to find them in DIS. An app lists its streams by their names. Whether it lists
// those of other accounts is not known, and their names may be those of ours: streams
// with an alias by id are always asked, and each name counts once.
func (s *Store) topicsOf(app *wire.App) []translate.Alias {
	topics := s.cfg.Names.ByID()
	for _, stream := range slices.Compact(slices.Sorted(slices.Values(app.CommitCheckpointStreamNames))) {
		if topic, shown := s.cfg.Names.Topic(stream, ""); shown {
			topics = append(topics, translate.Alias{Topic: topic, Stream: translate.StreamRef{Name: stream}})
		}
	}
	return topics
}

// fetchTopics gives the stored offsets of an app in the topics, with one call to
// DIS for each.
func (s *Store) fetchTopics(ctx context.Context, app string, topics []translate.Alias) ([]CommittedOffset, error) {
	byTopic := make([][]CommittedOffset, len(topics))
	workers, ctx := errgroup.WithContext(ctx)
	for i, topic := range topics {
		workers.Go(func() error {
			stored, err := s.fetchStream(ctx, app, topic)
			for partition, c := range stored {
				byTopic[i] = append(byTopic[i], CommittedOffset{TopicPartition: TopicPartition{topic.Topic, partition}, Offset: c.offset, Metadata: c.metadata})
			}
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	var all []CommittedOffset
	for _, some := range byTopic {
		all = append(all, some...)
	}
	return all, nil
}

func (s *Store) fetchStream(ctx context.Context, app string, topic translate.Alias) (map[int32]checkpoint, error) {
	if err := s.slots.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("fetch offsets of stream %s: not started: %w", topic.Stream, err)
	}
	defer s.slots.Release(1)
	if s.isOfAnother(ctx, topic) {
		return nil, nil
	}
	return s.state(ctx, app, topic.Stream)
}

// isOfAnother reports whether a stream that has checkpoints under its name is the
// topic of an alias by its id. The name does not tell; the catalog, which has seen
// the id, does.
func (s *Store) isOfAnother(ctx context.Context, topic translate.Alias) bool {
	if topic.Stream.Name == "" || len(s.cfg.Names.ByID()) == 0 {
		return false
	}
	_, err := s.catalog.Topic(ctx, topic.Topic)
	return errors.Is(err, translate.ErrHidden)
}
