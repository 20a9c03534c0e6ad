package embedded

import (
	"math"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	defaultGetRecords = 1000
	maxGetRecords     = 10000
	// defaultGetBytes bounds the data of an answer when the client does not;
	// it is the documented read throughput of a COMMON partition.
	defaultGetBytes = 2 * mib
	// maxGetBytes bounds it when the client asks for more.
	maxGetBytes = 10 * mib
)

// getRecords serves GET /v2/{project}/records. The answer is immediate, also at
// the end of a partition. A record bigger than max_fetch_bytes is not
// delivered: the answer is empty and its cursor stands in front of it.
func (s *Server) getRecords(r *request) (reply, error) {
	limits, err := readLimits(r.query)
	if err != nil {
		return reply{}, err
	}
	cursor, err := s.readCursor(r.query.get("partition-cursor"))
	if err != nil {
		return reply{}, err
	}
	if _, hit := s.faults.hit(FaultExpiredCursors, r.operation); hit {
		return reply{}, cursorExpired(r.query.get("partition-cursor"))
	}
	st, err := s.catalog.streamOfCursor(r.project, cursor)
	if err != nil {
		return reply{}, err
	}
	unlock, err := st.open()
	if err != nil {
		return reply{}, err
	}
	defer unlock()
	p, err := st.readable(cursor.PartitionID)
	if err != nil {
		return reply{}, err
	}
	begin := time.Now()
	records := recordsWriter{protobuf: r.protobuf}
	next, err := s.readRecords(st, p, cursor.StartingSequenceNumber, limits, &records)
	s.countGet(st, p, &records, err, time.Since(begin))
	if err != nil {
		return reply{}, err
	}
	return records.reply(s.newCursor(st, p, wire.CursorAtSequence, next, nil)), nil
}

// getLimits bound one answer.
type getLimits struct {
	records int
	bytes   int
}

func readLimits(q query) (getLimits, error) {
	records, err := q.number("limit", 1, maxGetRecords, defaultGetRecords)
	if err != nil {
		return getLimits{}, err
	}
	bytes, err := q.number("max_fetch_bytes", 1, math.MaxInt64, defaultGetBytes)
	return getLimits{records: records, bytes: min(bytes, maxGetBytes)}, err
}

// readRecords collects records and gives the number behind the last of them.
// The caller holds st.mu.
func (s *Server) readRecords(st *stream, p *partition, from int64, limits getLimits, into *recordsWriter) (next int64, err error) {
	readable := p.position()
	switch {
	case from < readable.Oldest:
		return 0, recordExpired(from, readable.Oldest, readable.Next)
	case from > readable.Next:
		return 0, sequenceOutOfRange(from, readable.Oldest, readable.Next)
	}
	if p.limiters != nil {
		now := s.config.Now()
		if !p.limiters.allowRead(now) {
			return 0, throttled(st.name, p.id)
		}
		limits.bytes = min(limits.bytes, p.limiters.readBytes.Burst())
		defer func() { p.limiters.chargeRead(now, into.bytes) }()
	}
	next = from
	if from < readable.Next {
		if _, hit := s.faults.hit(FaultEmptyReads, "GetRecords"); hit {
			return next, nil
		}
	}
	err = s.store.scan(st.number, p.number, from, readable.Next, func(number int64, r *storedRecord) bool {
		if into.count == limits.records || into.bytes+len(r.data) > limits.bytes {
			return false
		}
		into.add(number, r)
		next = number + 1
		return true
	})
	return next, err
}
