package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// segmentBits is the size of a time index segment: the chunks that start within
// 65,536 sequence numbers. A lookup costs at most one seek per segment, and
// reads at most one segment record by record, when expiry has cut into it.
const segmentBits = 16

func segmentOf(number int64) int64 { return number >> segmentBits }

// firstAtTime finds the first record of [oldest, stored) in order of sequence
// numbers whose timestamp is at least the given one; stored when there is none.
func (s *store) firstAtTime(stream uint64, p *partition, timestamp int64) (int64, error) {
	at := p.position()
	for segment := segmentOf(at.Oldest); at.Oldest < at.Next; segment++ {
		entry, found, err := s.seekTime(stream, p.number, segment, timestamp)
		if err != nil || !found {
			return at.Next, err
		}
		segment = entry.segment
		from, to := entry.first, at.Next
		if entry.first < at.Oldest {
			// The chunk that the entry stands for has expired, and the entry hides
			// smaller timestamps behind it: the rest of the segment is read.
			if from, to, err = s.segmentFrom(stream, p.number, segment, at); err != nil {
				return 0, err
			}
		}
		number, found, err := s.scanTime(stream, p.number, from, to, timestamp)
		if err != nil || found {
			return number, err
		}
	}
	return at.Next, nil
}

// segmentFrom is the readable part of a segment: up to the end of the last
// chunk that starts in it.
func (s *store) segmentFrom(stream uint64, partition int, segment int64, at wire.SequenceRange) (from, to int64, err error) {
	last, found, err := s.chunkBefore(stream, partition, min(at.Next, (segment+1)<<segmentBits))
	if err != nil || !found {
		return at.Oldest, at.Oldest, err
	}
	return at.Oldest, min(at.Next, last.first+int64(last.count)), nil
}

// timeIndexEntry is the chunk that raised its segment's greatest timestamp.
type timeIndexEntry struct {
	segment  int64
	greatest int64
	first    int64
}

// seekTime finds the first entry at or behind a segment with a timestamp of at
// least the given one in its segment.
func (s *store) seekTime(stream uint64, partition int, segment, timestamp int64) (entry timeIndexEntry, found bool, err error) {
	prefix := partitionPrefix(kindTime, stream, partition)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)})
	if err != nil {
		return entry, false, fmt.Errorf("read the time index: %w", err)
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	for iter.SeekGE(timeKey(stream, partition, segment, timestamp)); iter.Valid(); {
		if entry, err = readTimeEntry(iter); err != nil {
			return entry, false, err
		}
		if entry.greatest >= timestamp {
			return entry, true, nil
		}
		// The seek ran into the next segment, in front of the timestamp.
		iter.SeekGE(timeKey(stream, partition, entry.segment, timestamp))
	}
	return entry, false, iter.Error()
}

func readTimeEntry(iter *pebble.Iterator) (timeIndexEntry, error) {
	value, err := iter.ValueAndErr()
	if err != nil {
		return timeIndexEntry{}, fmt.Errorf("read the time index: %w", err)
	}
	if len(value) != 8 {
		return timeIndexEntry{}, fmt.Errorf("read the time index: entry %x has %d bytes, want 8", iter.Key(), len(value))
	}
	segment, greatest := timeEntry(iter.Key())
	return timeIndexEntry{segment, greatest, int64(binary.BigEndian.Uint64(value))}, nil
}

// scanTime reads records of [from, to) until one has the timestamp or a later one.
func (s *store) scanTime(stream uint64, partition int, from, to, timestamp int64) (number int64, found bool, err error) {
	err = s.scan(stream, partition, from, to, func(at int64, r *storedRecord) bool {
		number, found = at, r.timestamp >= timestamp
		return !found
	})
	return number, found, err
}
