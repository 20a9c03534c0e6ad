package offsets

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Kafka's codes of the refusals that DIS is not asked about.
const (
	codeUnknownPartition = 3
	codeMetadataTooLarge = 12
	codeGroupNotFound    = 69
)

// Commit stores offsets, one call to DIS for each since DIS has no other, and
// answers in the same order when all are done. Code 0 means that DIS stored the
// offset; Offset is the one it stored, which differs from the wanted one where
// that was outside the partition's range. A negative offset removes what was
// stored. The other codes tell why not: one failure does not touch the rest.
func (s *Store) Commit(ctx context.Context, group string, offsets []OffsetCommit) []CommittedOffset {
	results := make([]CommittedOffset, len(offsets))
	app, err := AppName(group, s.cfg.MaxAppName)
	if err != nil {
		for i, o := range offsets {
			results[i] = failed(o.TopicPartition, translate.CallCommit, err)
		}
		return results
	}
	alone := s.known.firstAlone(app, len(offsets))
	var running sync.WaitGroup
	for i, o := range offsets {
		// The place is taken here, so that the order of the calls counts and
		// not that of the goroutines.
		before, leave := s.queue(turnKey{app, o.TopicPartition})
		running.Go(func() {
			if i == 0 {
				defer alone.done()
			} else {
				alone.wait()
			}
			result, err := s.inTurn(ctx, before, leave, func() CommittedOffset { return s.commit(ctx, app, o) })
			if err != nil {
				result = failed(o.TopicPartition, translate.CallCommit, fmt.Errorf("commit not started: %w", err))
			}
			results[i] = result
		})
	}
	running.Wait()
	return results
}

// commit stores one offset.
func (s *Store) commit(ctx context.Context, app string, o OffsetCommit) CommittedOffset {
	topic, err := s.check(ctx, o)
	if err != nil {
		return failed(o.TopicPartition, translate.CallCommit, err)
	}
	if o.Offset < 0 {
		return s.remove(ctx, app, topic, o)
	}
	stored, err := s.commitWithin(ctx, app, topic, o)
	if err != nil {
		err = fmt.Errorf("commit offset %d of %s-%d: %w", o.Offset, o.Topic, o.Partition, err)
		return failed(o.TopicPartition, translate.CallCommit, err)
	}
	return CommittedOffset{TopicPartition: o.TopicPartition, Offset: stored, Metadata: o.Metadata}
}

// check refuses what DIS could not store, and finds the topic.
func (s *Store) check(ctx context.Context, o OffsetCommit) (*translate.Topic, error) {
	// DIS counts in UTF-16, as the Java service it is.
	if units := len(utf16.Encode([]rune(o.Metadata))); units > wire.MaxCheckpointMetadata {
		return nil, translate.Failure{Code: codeMetadataTooLarge, Message: fmt.Sprintf("offset metadata has %d characters, DIS stores %d", units, wire.MaxCheckpointMetadata)}
	}
	if !utf8.ValidString(o.Metadata) {
		return nil, translate.Failure{Code: codeMetadataTooLarge, Message: "offset metadata is not UTF-8, DIS stores text only"}
	}
	topic, err := s.catalog.Topic(ctx, o.Topic)
	if err != nil {
		return nil, err
	}
	if o.Partition < 0 || int(o.Partition) >= len(topic.Partitions) {
		return nil, translate.Failure{Code: codeUnknownPartition, Message: fmt.Sprintf("topic %s has %d partitions, no partition %d", o.Topic, len(topic.Partitions), o.Partition)}
	}
	return topic, nil
}

// remove takes the checkpoint away. Kafka stores any number, and to every client
// a negative one means that nothing is committed: the admin client of kafkajs
// resets a group by committing -1 or -2.
func (s *Store) remove(ctx context.Context, app string, topic *translate.Topic, o OffsetCommit) CommittedOffset {
	partition := int(o.Partition)
	err := s.checkpoints.DeleteCheckpoints(ctx, app, topic.StreamName, topic.StreamID, &partition)
	if err != nil && !dis.HasCode(err, wire.CodeAppNotFound, wire.CodeNoCheckpoint) {
		err = fmt.Errorf("remove the committed offset of %s-%d: %w", o.Topic, o.Partition, err)
		return failed(o.TopicPartition, translate.CallCommit, err)
	}
	return none(o.TopicPartition)
}

// rangeTries bounds how often one commit is sent while DIS calls its number out
// of range: as it is, once more after a describe, as an end of the range, and
// once more in case the range moved meanwhile.
const rangeTries = 4

// commitWithin stores the offset, or the end of the partition's range nearest to
// it, and gives what was stored.
func (s *Store) commitWithin(ctx context.Context, app string, topic *translate.Topic, o OffsetCommit) (stored int64, err error) {
	stored = o.Offset
	for try := 1; ; try++ {
		err = s.send(ctx, app, topic, o, stored)
		if !dis.HasCode(err, wire.CodeSequenceOutOfRange, wire.CodeInvalidSequence) || try == rangeTries {
			break
		}
		bounds, describeErr := s.bounds(ctx, topic, o.Partition)
		if describeErr != nil {
			return 0, describeErr
		}
		// The end that DIS checks against may lag behind the records that it
		// gave out, so above the end the number gets a second chance.
		switch {
		case o.Offset < bounds.Oldest:
			stored = bounds.Oldest
		case o.Offset > bounds.Next && try > 1:
			stored = bounds.Next
		default:
			stored = o.Offset
		}
	}
	if err != nil {
		return 0, err
	}
	s.noteMoved(app, o, stored)
	return stored, nil
}

// noteMoved counts and logs a commit that was stored as another number.
func (s *Store) noteMoved(app string, o OffsetCommit, stored int64) {
	if stored == o.Offset {
		return
	}
	event := s.cfg.Logger.Info()
	if stored > o.Offset {
		s.belowRange.Add(1)
	} else {
		s.aboveRange.Add(1)
		event = s.cfg.Logger.Warn()
	}
	event.Str("app", app).Str("topic", o.Topic).Int32("partition", o.Partition).
		Int64("offset", o.Offset).Int64("stored", stored).
		Msg("committed offset is outside the partition's range, its nearest end was stored")
}

// send stores one number, creating the app if DIS does not know it.
func (s *Store) send(ctx context.Context, app string, topic *translate.Topic, o OffsetCommit, number int64) error {
	request := wire.CommitCheckpointRequest{
		AppName:        app,
		CheckpointType: wire.CheckpointLastRead,
		StreamName:     topic.StreamName,
		StreamID:       topic.StreamID,
		PartitionID:    wire.Text(wire.PartitionID(int(o.Partition))),
		SequenceNumber: wire.Text(strconv.FormatInt(number, 10)),
		Metadata:       o.Metadata,
	}
	err := s.checkpoints.CommitCheckpoint(ctx, request)
	if dis.HasCode(err, wire.CodeAppNotFound) {
		s.known.forget(app)
		if err := s.ensureApp(ctx, app); err != nil {
			return err
		}
		err = s.checkpoints.CommitCheckpoint(ctx, request)
	}
	if err == nil {
		s.known.note(app)
	}
	return err
}
