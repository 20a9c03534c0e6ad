package fetch

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// answers lend memory for what DIS answers, until it is encoded for consumers.
var answers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledAnswer is the size above which memory is left to the collector.
const maxPooledAnswer = 8 << 20

// getChunk reads at the session's position and encodes what it finds; nil when
// there is nothing. The bytes are what DIS counts of the read.
func (s *session) getChunk(ctx context.Context) (c *chunk, bytes int, err error) {
	memory := answers.Get().(*[]byte)
	defer func() {
		if cap(*memory) <= maxPooledAnswer {
			answers.Put(memory)
		}
	}()
	records, err := s.get(ctx, memory)
	if err != nil {
		return nil, 0, err
	}
	p, cfg := s.partition, s.partition.stream.engine.cfg
	c, err = newChunk(p, s.position, records, p.encoding(), cfg.BatchBytes)
	if err != nil {
		s.cursor = "" // it stands behind records that were not kept
	}
	return c, dataBytes(records), err
}

// get returns the records at the session's position, in the given memory. A
// cursor that DIS does not take any more is replaced by one at the same position.
func (s *session) get(ctx context.Context, memory *[]byte) ([]wire.Record, error) {
	source, size := s.partition.stream.engine.source, s.partition.stream.engine.cfg.ReadBytes
	for reopened := false; ; reopened = true {
		if s.cursor == "" || time.Since(s.cursorAt) >= cursorRenewal {
			if err := s.open(ctx); err != nil {
				return nil, err
			}
		}
		askedAt := time.Now()
		answer, err := source.GetRecords(ctx, dis.GetRecordsRequest{
			Cursor: s.cursor, Stream: cmp.Or(s.partition.stream.topic.StreamName, s.partition.stream.topic.StreamID), MaxBytes: size, Memory: memory, Paced: true,
		})
		if err == nil {
			err = s.keepCursor(readOperation, answer.NextPartitionCursor, askedAt)
			return answer.Records, err
		}
		if !dis.HasCode(err, wire.CodeCursorExpired, wire.CodeInvalidCursor, wire.CodeRecordExpired) {
			return nil, err
		}
		s.cursor = ""
		if reopened || dis.HasCode(err, wire.CodeRecordExpired) {
			return nil, err
		}
	}
}

// open gets a cursor at the session's position.
func (s *session) open(ctx context.Context) error {
	p := s.partition
	askedAt := time.Now()
	cursor, err := p.stream.engine.source.GetCursor(ctx, cursorAt(p.stream.topic, p.number, s.position))
	if err != nil {
		s.cursor = ""
		return err
	}
	return s.keepCursor("GetCursor", cursor, askedAt)
}

// keepCursor takes a cursor for the next read, unless it names another stream: it
// is of a topic that was deleted and created again, whose records would be read
// under offsets of the old one, and so were those that came with it. Cursors that
// do not name a stream, or cannot be read, are taken as they are.
func (s *session) keepCursor(operation, cursor string, askedAt time.Time) error {
	topic := s.partition.stream.topic
	if named, err := wire.DecodeCursor(cursor); err == nil && named.StreamID != "" &&
		topic.StreamID != "" && named.StreamID != topic.StreamID {
		s.cursor = ""
		return &dis.Error{
			Operation: operation, Code: wire.CodeSequenceOutOfRange, NotProcessed: true,
			Message: fmt.Sprintf("the cursor is for stream %s, not %s", named.StreamID, topic.StreamID),
		}
	}
	s.cursor, s.cursorAt = cursor, askedAt
	return nil
}

// cursorAt names the stream by its name, or by its id when another account
// shares it and its name means nothing here.
func cursorAt(topic *translate.Topic, partition int32, position int64) dis.CursorRequest {
	request := dis.CursorRequest{
		StreamName:     topic.StreamName,
		Partition:      int(partition),
		Type:           wire.CursorAtSequence,
		SequenceNumber: position,
	}
	if topic.StreamName == "" {
		request.StreamID = topic.StreamID
	}
	return request
}
