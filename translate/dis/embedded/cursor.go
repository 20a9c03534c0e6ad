package embedded

import (
	"math"
	"net/http"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const maxCursorLength = 512

// getCursor serves GET /v2/{project}/cursors.
func (s *Server) getCursor(r *request) (reply, error) {
	st, err := s.catalog.stream(r.project, r.query.get("stream-name"), r.query.get("stream-id"))
	if err != nil {
		return reply{}, err
	}
	unlock, err := st.open()
	if err != nil {
		return reply{}, err
	}
	defer unlock()
	p, err := st.readable(r.query.get("partition-id"))
	if err != nil {
		return reply{}, err
	}
	kind, at, timestamp, err := s.resolvePosition(st, p, r.query)
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, wire.CursorResponse{PartitionCursor: s.newCursor(st, p, kind, at, timestamp)})
}

// resolvePosition turns a cursor type and its argument into a sequence number.
func (s *Server) resolvePosition(st *stream, p *partition, q query) (kind wire.CursorType, at int64, timestamp *int64, err error) {
	kind = wire.CursorType(q.get("cursor-type"))
	if kind == "" {
		kind = wire.CursorAtSequence
	}
	readable := p.position()
	switch kind {
	case wire.CursorTrimHorizon:
		at = readable.Oldest
	case wire.CursorLatest:
		at = readable.Next
	case wire.CursorAtSequence:
		at, err = startingPosition(q, readable, 0)
	case wire.CursorAfterSequence:
		at, err = startingPosition(q, readable, 1)
	case wire.CursorAtTimestamp:
		var t int64
		t, at, err = s.positionAtTime(st, p, q.get("timestamp"))
		timestamp = &t
	default:
		err = refuse(wire.CodeInvalidCursorType, "Invalid cursor-type. [%s]", string(kind))
	}
	return kind, at, timestamp, err
}

// startingPosition reads the starting sequence number of a cursor that begins
// so many records behind it. A refusal names the readable range for both types
// of cursor: the Java SDK takes no negative number from its text.
func startingPosition(q query, readable wire.SequenceRange, behind int64) (int64, error) {
	number, err := parseSequence(q.get("starting-sequence-number"))
	if err != nil {
		return 0, err
	}
	if at := number + behind; at >= readable.Oldest && at <= readable.Next {
		return at, nil
	}
	return 0, sequenceOutOfRange(number, readable.Oldest, readable.Next)
}

// parseSequence reads a sequence number of a client: 0 to 2^63-1.
func parseSequence(text string) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 || number == math.MaxInt64 {
		return 0, refuse(wire.CodeInvalidSequence, "Invalid sequence_number. [%s]", text)
	}
	return number, nil
}

// positionAtTime finds the first record that is not older than a timestamp,
// and refuses a timestamp in front of the oldest record.
func (s *Server) positionAtTime(st *stream, p *partition, text string) (timestamp, at int64, err error) {
	timestamp, err = strconv.ParseInt(text, 10, 64)
	if err != nil || timestamp < 0 {
		return 0, 0, invalidRequest("timestamp", text)
	}
	readable := p.position()
	if readable.Oldest == readable.Next {
		return timestamp, readable.Next, nil
	}
	oldest, err := s.timeOfOldest(st, p, readable)
	if err != nil {
		return 0, 0, err
	}
	if timestamp < oldest {
		return 0, 0, timestampExpired(timestamp, oldest)
	}
	if s.config.TimeIndex == TimeIndexArrival {
		at, err = s.firstArrivedAfter(st, p, timestamp-1)
	} else {
		at, err = s.store.firstAtTime(st.number, p, timestamp)
	}
	return timestamp, at, err
}

// timeOfOldest is the time of the oldest readable record, in the sense of the
// time index.
func (s *Server) timeOfOldest(st *stream, p *partition, readable wire.SequenceRange) (int64, error) {
	if s.config.TimeIndex == TimeIndexCreate {
		return s.store.firstTime(st.number, p.number, readable.Oldest, readable.Next)
	}
	first, found, err := s.store.chunkBefore(st.number, p.number, readable.Oldest+1)
	if err == nil && !found {
		err = missingRecord(p, readable.Oldest)
	}
	return first.arrival, err
}

// newCursor issues a cursor. The number is always the resolved one: the Kafka
// adapter decodes cursors to look up times.
func (s *Server) newCursor(st *stream, p *partition, kind wire.CursorType, at int64, timestamp *int64) string {
	return wire.Cursor{
		StreamName:             st.name,
		StreamID:               st.id,
		PartitionID:            p.id,
		Type:                   kind,
		StartingSequenceNumber: at,
		Timestamp:              timestamp,
		IssuedAt:               s.now(),
	}.Encode()
}

// readCursor checks the text and the age of a cursor.
func (s *Server) readCursor(text string) (wire.Cursor, error) {
	if text == "" || len(text) > maxCursorLength {
		return wire.Cursor{}, refuse(wire.CodeInvalidCursor, "Invalid partition cursor. [%s]", text)
	}
	cursor, err := wire.DecodeCursor(text)
	if err != nil || cursor.StartingSequenceNumber < 0 || cursor.StartingSequenceNumber == math.MaxInt64 {
		return wire.Cursor{}, refuse(wire.CodeInvalidCursor, "Invalid partition cursor. [%s]", text)
	}
	if _, err := wire.ParsePartitionID(cursor.PartitionID); err != nil {
		return wire.Cursor{}, refuse(wire.CodeInvalidCursor, "Invalid partition cursor. [%s]", text)
	}
	if s.now()-cursor.IssuedAt > s.config.CursorLifetime.Milliseconds() {
		return wire.Cursor{}, cursorExpired(text)
	}
	return cursor, nil
}

// streamOfCursor finds the stream that a cursor was issued for: the id of the
// cursor counts, so that a cursor of a deleted stream does not read from a new
// one of the same name.
func (c *catalog) streamOfCursor(project string, cursor wire.Cursor) (*stream, error) {
	if cursor.StreamID == "" {
		return c.stream(project, cursor.StreamName, "")
	}
	st, err := c.stream(project, "", cursor.StreamID)
	if err != nil {
		return nil, streamNotFound(cursor.StreamName, project)
	}
	return st, nil
}
