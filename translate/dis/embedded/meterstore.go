package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// wholeStream stands for the partition in the keys of a stream's own counts.
const wholeStream = math.MaxUint32

func metricKey(stream uint64, partition uint32, minute int64) []byte {
	return binary.BigEndian.AppendUint64(metricPrefix(stream, partition), uint64(minute))
}

func metricPrefix(stream uint64, partition uint32) []byte {
	return binary.BigEndian.AppendUint32(streamPrefix(kindMetric, stream), partition)
}

// keepMetrics runs once a minute.
func (s *Server) keepMetrics() {
	err := s.storeMetrics(minuteOf(s.now()))
	if err == nil {
		err = s.expireMetrics()
	}
	if err != nil {
		s.config.Logger.Error().Err(err).Msg("embedded DIS cannot store metrics")
	}
}

// storeMetrics moves the counts of the minutes before a given one from memory
// into the store. The minute that runs is only stored when the server closes: a
// killed server loses the counts of the last minute or two, no records.
func (s *Server) storeMetrics(before int64) error {
	s.admin.Lock() // the streams and their partitions stay as they are
	defer s.admin.Unlock()
	s.metering.Lock()
	defer s.metering.Unlock()
	batch := s.store.db.NewBatch()
	var stored []func()
	for _, st := range s.catalog.allStreams() {
		moved, err := s.addMetrics(batch, st, before)
		if err != nil {
			return errors.Join(err, batch.Close())
		}
		stored = append(stored, moved...)
	}
	if len(stored) == 0 {
		return batch.Close()
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	for _, done := range stored {
		done()
	}
	return nil
}

// addMetrics adds what a stream counted to a batch. The functions forget it in
// memory.
func (s *Server) addMetrics(batch *pebble.Batch, st *stream, before int64) (moved []func(), err error) {
	add := func(m *meter, partition uint32) error {
		minutes := m.before(before)
		for _, one := range minutes {
			if err := s.store.addCounts(batch, metricKey(st.number, partition, one.minute), one.counts); err != nil {
				return err
			}
		}
		if len(minutes) > 0 {
			moved = append(moved, func() { m.drop(minutes) })
		}
		return nil
	}
	if err := add(&st.meter, wholeStream); err != nil {
		return nil, err
	}
	for _, p := range st.partitions {
		if err := add(&p.meter, uint32(p.number)); err != nil {
			return nil, err
		}
	}
	return moved, nil
}

// addCounts adds to what an earlier run of the server stored for the same minute.
func (s *store) addCounts(batch *pebble.Batch, key []byte, c counts) error {
	value, found, err := s.get(key)
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	if found {
		earlier, ok := decodeCounts(value)
		if !ok {
			return fmt.Errorf("read metrics: value of key %x is damaged", key)
		}
		c.add(&earlier)
	}
	return batch.Set(key, c.encode(), nil)
}

// readMetrics gives the counts of the minutes of [from, to), stored or not.
func (s *Server) readMetrics(stream uint64, partition uint32, m *meter, from, to int64) (map[int64]counts, error) {
	s.metering.RLock()
	defer s.metering.RUnlock()
	found := map[int64]counts{}
	err := s.store.between(metricKey(stream, partition, from), metricKey(stream, partition, to), func(key, value []byte) error {
		c, ok := decodeCounts(value)
		if !ok {
			return fmt.Errorf("read metrics: value of key %x is damaged", key)
		}
		found[int64(binary.BigEndian.Uint64(key[len(key)-8:]))] = c
		return nil
	})
	for _, one := range m.before(to) {
		if one.minute >= from {
			c := found[one.minute]
			c.add(&one.counts)
			found[one.minute] = c
		}
	}
	return found, err
}

// expireMetrics removes the counts of minutes that can no longer be asked for.
func (s *Server) expireMetrics() error {
	oldest := minuteOf(s.now() - wire.MaxMetricsWindow.Milliseconds())
	batch := s.store.db.NewBatch()
	err := s.store.eachPrefix([]byte{kindMetric}, len(metricPrefix(0, 0)), func(prefix, first []byte) error {
		if minute := int64(binary.BigEndian.Uint64(first[len(prefix):])); minute >= oldest {
			return nil
		}
		return batch.DeleteRange(prefix, binary.BigEndian.AppendUint64(prefix, uint64(oldest)), nil)
	})
	if err != nil || batch.Empty() {
		return errors.Join(err, batch.Close())
	}
	return s.store.commit(batch)
}

// eachPrefix visits the first key of every group of keys that agree in their
// first bytes, with one seek each. The prefix may be kept and appended to.
func (s *store) eachPrefix(kind []byte, length int, visit func(prefix, first []byte) error) (err error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: kind, UpperBound: prefixEnd(kind)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	for valid := iter.First(); valid; {
		prefix := append([]byte(nil), iter.Key()[:length]...)
		if err := visit(prefix[:length:length], iter.Key()); err != nil {
			return err
		}
		valid = iter.SeekGE(prefixEnd(prefix))
	}
	return iter.Error()
}
