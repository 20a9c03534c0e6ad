package fetch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// Bounds of the search behind the position that DIS gives. They are reached
// when DIS looks up by time of arrival and records carry much older times; the
// position that DIS gave is the answer then.
const (
	searchBytes = 64 << 20
	searchTime  = 10 * time.Second
	// searchFirst is the limit of the first read: mostly its first record is the
	// answer.
	searchFirst = 10
)

// timeSearch looks for the first record with a time, from where DIS says it is.
type timeSearch struct {
	partition *partition
	source    Source
	timestamp int64

	cursor string
	// position is where the cursor stands, -1 when that is not known.
	position  int64
	startedAt time.Time
	first     ListedOffset // the first record that was read
	bytes     int
	empties   int
}

func (e *Engine) newTimeSearch(p *partition, timestamp int64) *timeSearch {
	return &timeSearch{
		partition: p, source: e.source, timestamp: timestamp,
		position: -1, startedAt: time.Now(), first: notListed,
	}
}

func (t *timeSearch) run(ctx context.Context) (ListedOffset, error) {
	if err := t.open(ctx); err != nil {
		return notListed, err
	}
	for limit := searchFirst; ; limit = 0 {
		readAt := time.Now()
		answer, err := t.source.GetRecords(ctx, dis.GetRecordsRequest{
			Cursor: t.cursor, Limit: limit, MaxBytes: t.partition.stream.engine.cfg.ReadBytes,
		})
		if err != nil {
			return notListed, err
		}
		found, err := t.scan(answer.Records)
		if err != nil || found != notListed {
			return found, err
		}
		t.cursor = answer.NextPartitionCursor
		if len(answer.Records) == 0 {
			if ended, err := t.ended(ctx, readAt); err != nil || ended {
				return notListed, err
			}
		} else if t.bytes >= searchBytes || time.Since(t.startedAt) >= searchTime {
			return t.first, nil
		}
	}
}

// open gets the cursor of the time, or of the oldest record when DIS says that
// the time is before it.
func (t *timeSearch) open(ctx context.Context) error {
	p := t.partition
	request := cursorAt(p.stream.topic, p.number, 0)
	request.Type, request.Timestamp = wire.CursorAtTimestamp, t.timestamp
	cursor, err := t.source.GetCursor(ctx, request)
	for attempts := 0; expiredTime(err) || (attempts > 0 && dis.HasCode(err, wire.CodeSequenceOutOfRange)); attempts++ {
		if attempts == oldestAttempts {
			return err
		}
		// Retention may move on between the two calls: ask again.
		logStart, _, failure := p.freshEnds(ctx, time.Now())
		if failure != nil {
			return failure
		}
		cursor, err = t.source.GetCursor(ctx, cursorAt(p.stream.topic, p.number, logStart))
	}
	if err != nil {
		return err
	}
	t.cursor = cursor
	if at, err := wire.DecodeCursor(cursor); err == nil {
		t.position = at.StartingSequenceNumber
	}
	return nil
}

// oldestAttempts is how often the oldest record may be gone by the time it is
// looked at.
const oldestAttempts = 3

// expiredTime recognises DIS's refusal of a time before the oldest record,
// which shares its code with other errors.
func expiredTime(err error) bool {
	var refused *dis.Error
	return errors.As(err, &refused) && refused.Code == wire.CodeRequestError &&
		strings.Contains(refused.Message, "timestamp is expired")
}

// scan looks for the time in what was read. The time of an enveloped record is
// the one in its envelope.
func (t *timeSearch) scan(records []wire.Record) (ListedOffset, error) {
	for i := range records {
		r := &records[i]
		offset, err := strconv.ParseInt(r.SequenceNumber, 10, 64)
		if err != nil {
			return notListed, fmt.Errorf("sequence number of a record: %w", err)
		}
		at := ListedOffset{Offset: offset, Timestamp: record.DecodeDIS(r.Data, r.PartitionKey, r.Timestamp).Timestamp}
		if at.Timestamp >= t.timestamp {
			return at, nil
		}
		if t.first == notListed {
			t.first = at
		}
		t.position = offset + 1
		t.bytes += len(r.Data)
	}
	return notListed, nil
}

// ended decides whether an empty read was the end of the partition, and waits a
// moment if it was not.
func (t *timeSearch) ended(ctx context.Context, readAt time.Time) (bool, error) {
	if t.position < 0 {
		return true, nil // a cursor at a time after the newest record
	}
	_, high, err := t.partition.freshEnds(ctx, readAt)
	if err != nil || t.position >= high {
		return true, err
	}
	timer := time.NewTimer(backoff(pollFirst, pollLast, t.empties))
	defer timer.Stop()
	t.empties++
	select {
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, fmt.Errorf("find the offset of time %d: %w", t.timestamp, ctx.Err())
	}
}
