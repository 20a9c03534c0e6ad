package fetch

import (
	"context"
	"fmt"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// get returns the records at the session's position. A cursor that DIS does not
// take any more is replaced by one at the same position.
func (s *session) get(ctx context.Context) ([]wire.Record, error) {
	source, size := s.partition.stream.engine.source, s.partition.stream.engine.cfg.ReadBytes
	for reopened := false; ; reopened = true {
		if s.cursor == "" || time.Since(s.cursorAt) >= cursorRenewal {
			if err := s.open(ctx); err != nil {
				return nil, err
			}
		}
		askedAt := time.Now()
		answer, err := source.GetRecords(ctx, dis.GetRecordsRequest{Cursor: s.cursor, MaxBytes: size, Paced: true})
		if err == nil {
			s.cursor, s.cursorAt = answer.NextPartitionCursor, askedAt
			return answer.Records, nil
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
	// A cursor that names another stream would read the records of a topic that
	// was deleted and created again under offsets of the old one. Cursors that
	// do not name it, or cannot be read, are taken as they are.
	if named, err := wire.DecodeCursor(cursor); err == nil && named.StreamID != "" &&
		p.stream.topic.StreamID != "" && named.StreamID != p.stream.topic.StreamID {
		return &dis.Error{
			Operation: "GetCursor", Code: wire.CodeSequenceOutOfRange, NotProcessed: true,
			Message: fmt.Sprintf("the cursor is for stream %s, not %s", named.StreamID, p.stream.topic.StreamID),
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
