package embedded

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

const batchEntryOverhead = 64 // keys and lengths of a chunk and its time index entry

// place is where a chunk was stored.
type place struct {
	partition *partition
	first     int64
	count     int
	gap       bool
}

// appendChunks stores chunks, grouped by partition in ascending order, and
// returns when they are synced and readable. Puts to different partitions run
// side by side; puts to one partition hold its lock only until their place in
// the log is fixed, and share syncs too. The caller holds st.mu for reading;
// unlock gives it up as soon as the order is decided.
func (s *store) appendChunks(st *stream, chunks []chunk, now int64, unlock func()) ([]place, error) {
	places, batch, err := s.orderChunks(st, chunks, now)
	if err != nil {
		return nil, err
	}
	unlock()
	if err := s.sync(batch); err != nil {
		return nil, err
	}
	for _, at := range places {
		at.partition.publish(at.first + int64(at.count))
	}
	return places, nil
}

// orderChunks decides the place of chunks under the locks of their partitions,
// taken in ascending order.
func (s *store) orderChunks(st *stream, chunks []chunk, now int64) ([]place, *pebble.Batch, error) {
	var last *partition
	for _, c := range chunks {
		if c.partition != last {
			last = c.partition
			last.mu.Lock()
			defer last.mu.Unlock()
		}
	}
	return s.applyChunks(st, chunks, now)
}

// applyChunks numbers the chunks and writes them to the log. The partitions'
// counters move only when that worked.
func (s *store) applyChunks(st *stream, chunks []chunk, now int64) ([]place, *pebble.Batch, error) {
	size := 0
	for _, c := range chunks {
		size += len(c.value) + batchEntryOverhead
	}
	batch := s.db.NewBatchWithSize(size)
	places := make([]place, len(chunks))
	var tail appendTail
	tails := make([]appendTail, 0, 1)
	for i := range chunks {
		c := &chunks[i]
		if c.partition != tail.partition {
			if tail.partition != nil {
				tails = append(tails, tail)
			}
			tail = tailOf(c.partition, now)
		}
		places[i] = place{partition: c.partition, first: tail.next, count: c.count, gap: c.gap}
		if err := tail.add(batch, st.number, c); err != nil {
			return nil, nil, errors.Join(err, batch.Close())
		}
	}
	if err := s.apply(batch); err != nil {
		return nil, nil, err
	}
	for _, t := range append(tails, tail) {
		t.save()
	}
	return places, batch, nil
}

// appendTail is the end of a partition while a batch is built.
type appendTail struct {
	partition *partition
	arrival   int64
	next      int64
	segment   int64
	greatest  int64
}

// tailOf reads the end of a partition. Arrival times never go back, even when
// the clock does: expiry relies on their order.
func tailOf(p *partition, now int64) appendTail {
	return appendTail{
		partition: p,
		arrival:   max(now, p.lastArrival),
		next:      p.next,
		segment:   p.segment,
		greatest:  p.greatest,
	}
}

func (t *appendTail) add(batch *pebble.Batch, stream uint64, c *chunk) error {
	c.setArrival(t.arrival)
	if err := batch.Set(chunkKey(stream, t.partition.number, t.next), c.value, nil); err != nil {
		return err
	}
	if segment := segmentOf(t.next); segment != t.segment {
		t.segment, t.greatest = segment, minTimestamp
	}
	if c.greatest > t.greatest {
		t.greatest = c.greatest
		key := timeKey(stream, t.partition.number, t.segment, t.greatest)
		if err := batch.Set(key, number64(t.next), nil); err != nil {
			return err
		}
	}
	t.next += int64(c.count)
	return nil
}

func (t *appendTail) save() {
	p := t.partition
	p.next, p.lastArrival = t.next, t.arrival
	p.segment, p.greatest = t.segment, t.greatest
}
