package embedded

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// scan calls visit for the stored records of [from, to) in order until it
// returns false. A missing record is an error: numbers are dense, except for
// gaps that were stored on purpose.
func (s *store) scan(stream uint64, partition int, from, to int64, visit func(number int64, r *storedRecord) bool) (err error) {
	if from >= to {
		return nil
	}
	iter, err := s.chunkIterator(stream, partition, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()

	expected, more := from, true
	for valid := iter.SeekLT(chunkKey(stream, partition, from+1)); valid && more && expected < to; valid = iter.Next() {
		value, err := iter.ValueAndErr()
		if err != nil {
			return fmt.Errorf("read records: %w", err)
		}
		first := chunkFirst(iter.Key())
		if first > expected {
			break
		}
		if expected, more, err = scanChunk(value, first, expected, to, visit); err != nil {
			return fmt.Errorf("read records at %d: %w", first, err)
		}
	}
	if err := iter.Error(); err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	if more && expected < to {
		return fmt.Errorf("read records: record %d of partition %d is missing", expected, partition)
	}
	return nil
}

// scanChunk visits the records of one chunk from the expected number on and
// gives the number that comes next.
func scanChunk(value []byte, first, expected, to int64, visit func(int64, *storedRecord) bool) (int64, bool, error) {
	_, count, records, err := chunkHeader(value)
	if err != nil {
		return expected, false, err
	}
	if end := min(first+int64(count), to); records == nil {
		return max(expected, end), true, nil
	}
	var r storedRecord
	for number := first; number < min(first+int64(count), to); number++ {
		if records, err = nextRecord(records, &r); err != nil {
			return expected, false, err
		}
		if number < expected {
			continue
		}
		expected++
		if !visit(number, &r) {
			return expected, false, nil
		}
	}
	return expected, true, nil
}

// chunkIterator reads the chunks of a partition that start before a number.
func (s *store) chunkIterator(stream uint64, partition int, before int64) (*pebble.Iterator, error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: partitionPrefix(kindChunk, stream, partition),
		UpperBound: chunkKey(stream, partition, before),
	})
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return iter, nil
}

// storedChunk is what a chunk says about itself.
type storedChunk struct {
	first   int64
	count   int
	arrival int64 // ms
}

// chunkBefore finds the last chunk that starts before a number.
func (s *store) chunkBefore(stream uint64, partition int, before int64) (found storedChunk, ok bool, err error) {
	iter, err := s.chunkIterator(stream, partition, before)
	if err != nil {
		return found, false, err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	if !iter.Last() {
		return found, false, iter.Error()
	}
	value, err := iter.ValueAndErr()
	if err != nil {
		return found, false, fmt.Errorf("read records: %w", err)
	}
	found.first = chunkFirst(iter.Key())
	found.arrival, found.count, _, err = chunkHeader(value)
	return found, err == nil, err
}

// firstTime is the timestamp of the first stored record of [from, to).
func (s *store) firstTime(stream uint64, partition int, from, to int64) (timestamp int64, err error) {
	err = s.scan(stream, partition, from, to, func(_ int64, r *storedRecord) bool {
		timestamp = r.timestamp
		return false
	})
	return timestamp, err
}
