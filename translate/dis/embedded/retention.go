package embedded

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// expiry is what has outlived the retention of a stream.
type expiry struct {
	stream *stream
	cutoff int64 // ms; what arrived until then expires
	// oldest is where the partitions begin afterwards, for those that change.
	oldest map[*partition]int64
	// retired is true when a partition was retired that long ago.
	retired bool
}

// sweep removes what has outlived the retention of its stream, counted from
// arrival, and turns partitions that were retired that long ago to EXPIRED. It
// looks at all streams before it changes the first: the store reads slowly
// right after a range was deleted. The locks that stop reads and writes are
// taken only for streams where something is to be removed.
func (s *Server) sweep() {
	var due []expiry
	for _, st := range s.catalog.allStreams() {
		e, err := s.findExpired(st)
		if err != nil {
			s.logExpiry(st, err)
		} else if e.retired || len(e.oldest) > 0 {
			due = append(due, e)
		}
	}
	for _, e := range due {
		if err := s.expire(e); err != nil {
			s.logExpiry(e.stream, err)
		}
	}
}

func (s *Server) logExpiry(st *stream, err error) {
	s.config.Logger.Error().Err(err).Str("stream", st.name).Msg("embedded DIS cannot expire records")
}

func (s *Server) findExpired(st *stream) (expiry, error) {
	st.mu.RLock()
	defer st.mu.RUnlock()
	e := expiry{stream: st, cutoff: s.now() - st.meta.retention(), oldest: map[*partition]int64{}}
	if st.deleted {
		return e, nil
	}
	for number, p := range st.partitions {
		switch meta := &st.meta.Partitions[number]; {
		case meta.Status == wire.PartitionExpired:
			continue
		case meta.retired(e.cutoff):
			e.retired = true
			continue
		}
		arrival, err := s.oldestArrival(st, p)
		if err == nil && arrival <= e.cutoff {
			e.oldest[p], err = s.firstArrivedAfter(st, p, e.cutoff)
		}
		if err != nil {
			return e, err
		}
	}
	return e, nil
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
			return 0, missingRecord(p, readable.Oldest)
		}
		p.oldestArrival = first.arrival
	}
	return p.oldestArrival, nil
}

func missingRecord(p *partition, number int64) error {
	return fmt.Errorf("record %d of partition %s is missing", number, p.id)
}

// expire removes from the store and, once that is synced, from memory.
func (s *Server) expire(e expiry) error {
	s.admin.Lock()
	defer s.admin.Unlock()
	st := e.stream
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.deleted {
		return nil
	}
	meta := st.meta
	if e.retired {
		meta.Partitions = slices.Clone(meta.Partitions)
		meta.ModifiedAt = s.now()
		for number, p := range st.partitions {
			if meta.Partitions[number].retired(e.cutoff) {
				meta.Partitions[number].Status = wire.PartitionExpired
				e.oldest[p] = p.stored.Load()
			}
		}
	}
	batch := s.store.db.NewBatch()
	if err := e.write(batch, meta); err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	st.meta = meta
	st.publishLayout()
	for p, oldest := range e.oldest {
		p.oldest.Store(oldest)
		p.oldestArrival = 0
	}
	return nil
}

func (e *expiry) write(batch *pebble.Batch, meta streamMeta) error {
	for p, oldest := range e.oldest {
		if err := removeBefore(batch, e.stream, p, oldest); err != nil {
			return err
		}
	}
	if !e.retired {
		return nil
	}
	return setJSON(batch, streamKey(e.stream.number), meta)
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
			err = missingRecord(p, readable.Oldest+int64(i))
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
	if segment := segmentOf(number); segment > segmentOf(p.oldest.Load()) {
		times := partitionPrefix(kindTime, st.number, p.number)
		if err := batch.DeleteRange(times, timeKey(st.number, p.number, segment, minTimestamp), nil); err != nil {
			return err
		}
	}
	return batch.Set(partitionPrefix(kindOldest, st.number, p.number), number64(number), nil)
}
