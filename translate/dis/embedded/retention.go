package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// sweep removes what has outlived the retention of its stream, counted from
// arrival, and turns partitions that were retired that long ago to EXPIRED.
func (s *Server) sweep() {
	for _, st := range s.catalog.allStreams() {
		if err := s.expire(st); err != nil {
			s.config.Logger.Error().Err(err).Str("stream", st.name).Msg("embedded DIS cannot expire records")
		}
	}
}

// expire looks first and takes the locks that stop reads and writes only when
// there is something to remove.
func (s *Server) expire(st *stream) error {
	now := s.now()
	due, err := s.isDue(st, now)
	if err != nil || !due {
		return err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.deleted {
		return nil
	}
	batch := s.store.db.NewBatch()
	done, err := s.buildExpiry(st, batch, now)
	if err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	done()
	return nil
}

func (s *Server) isDue(st *stream, now int64) (bool, error) {
	st.mu.RLock()
	defer st.mu.RUnlock()
	if st.deleted {
		return false, nil
	}
	cutoff := now - st.meta.retention()
	for number, p := range st.partitions {
		meta := &st.meta.Partitions[number]
		if meta.Status == wire.PartitionExpired {
			continue
		}
		if meta.retired(cutoff) {
			return true, nil
		}
		arrival, err := s.oldestArrival(st, p)
		if err != nil {
			return false, err
		}
		if arrival <= cutoff {
			return true, nil
		}
	}
	return false, nil
}

// retired reports whether a partition was retired at or before a time.
func (m *partitionMeta) retired(cutoff int64) bool {
	return m.Status == wire.PartitionDeleted && m.RetiredAt <= cutoff
}

// oldestArrival is when the oldest record arrived, endOfNumbers when the
// partition is empty. It is remembered, so that a sweep over partitions where
// nothing expires reads nothing. Only the sweep calls it.
func (s *Server) oldestArrival(st *stream, p *partition) (int64, error) {
	readable := p.position()
	if readable.Oldest == readable.Next {
		return endOfNumbers, nil
	}
	if p.oldestArrival == 0 {
		first, found, err := s.store.chunkBefore(st.number, p.number, readable.Oldest+1)
		if err != nil {
			return 0, err
		}
		if !found {
			return 0, fmt.Errorf("record %d of partition %s is missing", readable.Oldest, p.id)
		}
		p.oldestArrival = first.arrival
	}
	return p.oldestArrival, nil
}

// buildExpiry collects the removals of a stream; done applies them in memory
// once they are stored. The caller holds admin and st.mu.
func (s *Server) buildExpiry(st *stream, batch *pebble.Batch, now int64) (done func(), err error) {
	cutoff := now - st.meta.retention()
	meta := st.meta
	meta.Partitions = append([]partitionMeta(nil), meta.Partitions...)
	oldest := map[*partition]int64{}
	expired := false
	for number, p := range st.partitions {
		from := p.oldest.Load()
		to := from
		switch {
		case meta.Partitions[number].Status == wire.PartitionExpired:
			continue
		case meta.Partitions[number].retired(cutoff):
			meta.Partitions[number].Status, expired = wire.PartitionExpired, true
			to = p.stored.Load()
		default:
			if to, err = s.firstArrivedAfter(st, p, cutoff); err != nil {
				return nil, err
			}
		}
		if to > from {
			oldest[p] = to
			if err := removeBefore(batch, st, p, to); err != nil {
				return nil, err
			}
		}
	}
	if expired {
		meta.ModifiedAt = now
		if err := setJSON(batch, streamKey(st.number), meta); err != nil {
			return nil, err
		}
	}
	return func() {
		st.meta = meta
		for p, to := range oldest {
			p.oldest.Store(to)
			p.oldestArrival = 0
		}
	}, nil
}

// firstArrivedAfter finds the first record of a chunk that arrived after a
// time. Arrival times never go back, so halving the range works.
func (s *Server) firstArrivedAfter(st *stream, p *partition, cutoff int64) (int64, error) {
	readable := p.position()
	var failure error
	count := sort.Search(int(readable.Next-readable.Oldest), func(i int) bool {
		if failure != nil {
			return true
		}
		c, found, err := s.store.chunkBefore(st.number, p.number, readable.Oldest+int64(i)+1)
		if err == nil && !found {
			err = fmt.Errorf("record %d of partition %s is missing", readable.Oldest+int64(i), p.id)
		}
		failure = err
		return c.arrival > cutoff
	})
	return readable.Oldest + int64(count), failure
}

// removeBefore deletes the chunks and the finished index segments in front of
// a number, and stores the number as the oldest readable one.
func removeBefore(batch *pebble.Batch, st *stream, p *partition, number int64) error {
	err := batch.DeleteRange(
		partitionPrefix(kindChunk, st.number, p.number), chunkKey(st.number, p.number, number), nil)
	if err != nil {
		return err
	}
	times := partitionPrefix(kindTime, st.number, p.number)
	err = batch.DeleteRange(times, binary.BigEndian.AppendUint64(times[:len(times):len(times)], uint64(segmentOf(number))), nil)
	if err != nil {
		return err
	}
	return batch.Set(partitionPrefix(kindOldest, st.number, p.number), number64(number), nil)
}
