package embedded

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// load brings streams, their positions and apps into memory. The positions
// come from the records themselves, with one seek each, so they cannot differ
// from what survived a crash.
func (s *Server) load() error {
	err := s.store.each([]byte{kindStream}, func(_, value []byte) error {
		var meta streamMeta
		if err := json.Unmarshal(value, &meta); err != nil {
			return fmt.Errorf("stream: %w", err)
		}
		st := newStream(meta)
		for number := range meta.Partitions {
			p, err := s.loadPartition(st, number)
			if err != nil {
				return fmt.Errorf("stream %s partition %d: %w", st.name, number, err)
			}
			st.partitions = append(st.partitions, p)
		}
		s.catalog.addStream(st)
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.loadTransfers(); err != nil {
		return err
	}
	return s.store.each([]byte{kindApp}, func(_, value []byte) error {
		var meta appMeta
		if err := json.Unmarshal(value, &meta); err != nil {
			return fmt.Errorf("app: %w", err)
		}
		s.catalog.addApp(s.newApp(meta))
		return nil
	})
}

// each visits the entries whose key starts with prefix. Key and value are only
// valid during the visit.
func (s *store) each(prefix []byte, visit func(key, value []byte) error) error {
	return s.between(prefix, prefixEnd(prefix), visit)
}

// between visits the entries with keys of [from, to), as each does.
func (s *store) between(from, to []byte, visit func(key, value []byte) error) (err error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	for valid := iter.First(); valid; valid = iter.Next() {
		value, err := iter.ValueAndErr()
		if err != nil {
			return err
		}
		if err := visit(iter.Key(), value); err != nil {
			return err
		}
	}
	return iter.Error()
}

func (s *Server) loadPartition(st *stream, number int) (*partition, error) {
	p := s.newPartition(st, number)
	oldest, err := s.store.getNumber(partitionPrefix(kindOldest, st.number, number))
	if err != nil {
		return nil, err
	}
	last, found, err := s.store.chunkBefore(st.number, number, endOfNumbers)
	if err != nil {
		return nil, err
	}
	p.next = oldest
	if found {
		p.next, p.lastArrival = last.first+int64(last.count), last.arrival
		if err := s.loadTimeIndex(st, p, last.first); err != nil {
			return nil, err
		}
	}
	p.oldest.Store(oldest)
	p.stored.Store(p.next)
	return p, nil
}

// loadTimeIndex recovers the greatest timestamp in the segment of the last chunk.
func (s *Server) loadTimeIndex(st *stream, p *partition, lastChunk int64) (err error) {
	p.segment = segmentOf(lastChunk)
	prefix := partitionPrefix(kindTime, st.number, p.number)
	iter, err := s.store.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	if !iter.Last() {
		return iter.Error()
	}
	if segment, greatest := timeEntry(iter.Key()); segment == p.segment {
		p.greatest = greatest
	}
	return nil
}

// newPartition is an empty partition with the limits of its stream's type.
func (s *Server) newPartition(st *stream, number int) *partition {
	p := &partition{number: number, id: wire.PartitionID(number), greatest: minTimestamp}
	if s.config.Limits == LimitsDocumented {
		p.limiters = newLimiters(st.meta.Settings.StreamType)
	}
	return p
}
