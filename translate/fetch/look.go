package fetch

import (
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// sight is what a fetch sees of a partition at one moment.
type sight struct {
	code           int16
	replaced       bool // beside a code: the stream has a successor
	high, logStart int64
	// spans are the encoded batches in order; end is the position behind them, or
	// the fetch offset when there are none.
	spans []span
	bytes int
	end   int64
	// full means that the limits leave no room for the next batch.
	full bool
	// blocked means that there is nothing to read until DIS described the ends.
	blocked bool
	// again is the time at which to look again without being woken.
	again time.Time
}

// span is a run of whole batches in a chunk.
type span struct {
	chunk      *chunk
	begin, end int // into the chunk's data
}

func (s *sight) wantsMore() bool { return s.code == codeNone && !s.full && !s.blocked }

// failing is an error, beside which a response says nothing of the ends.
func failing(code int16) sight { return sight{code: code, high: -1, logStart: -1} }

// look takes the batches from the fetch offset on that are at hand, within the
// limit; the first may be larger where first is set. While the ends are not
// known it takes nothing, except at last.
func (p *partition) look(w *want, limit int, first, last bool, now time.Time) (seen sight) {
	if p == nil {
		return failing(codeUnknownPartition)
	}
	p.stream.mu.Lock()
	defer p.stream.mu.Unlock()
	p.usedAt, w.version, w.position, w.asking = now, p.version, w.offset, false
	p.stream.watchOn(now)
	if code := p.trouble(w.offset, now); code != codeNone {
		seen = failing(code)
		seen.replaced = p.stream.successor != nil
		return seen
	}
	seen.end = w.offset
	unknown := p.unknown(now)
	if unknown {
		w.asking = true
		seen.again = p.stream.refresh(now.Add(-describeStale))
	}
	if last || !unknown {
		p.take(&seen, w, limit, first, now)
		w.position = seen.end
	} else {
		seen.blocked = p.chunkAt(w.offset) != nil || w.handedAt(w.offset) != nil
	}
	if seen.code != codeNone {
		return failing(seen.code)
	}
	seen.high, seen.logStart = p.high, p.logStart
	return seen
}

// take fills in the batches, or the error of the offset.
func (p *partition) take(seen *sight, w *want, limit int, first bool, now time.Time) {
	if w.offset < p.logStart || w.offset > p.high {
		var confirmed bool
		w.asking = true
		if confirmed, seen.again = p.outside(w.offset, now); confirmed {
			p.logOutside(w.offset)
			seen.code = codeOffsetOutOfRange
			return
		}
		if seen.blocked = w.offset < p.logStart; seen.blocked {
			return
		}
	}
	p.gather(seen, w, limit, first, now)
	if s := p.sessions[seen.end]; seen.bytes == 0 && s != nil && now.Before(s.notBefore) {
		seen.code = s.code
	}
}

// trouble is the error of a partition that cannot be read at all.
func (p *partition) trouble(offset int64, now time.Time) int16 {
	s := p.stream
	switch {
	case s.gone:
		return codeUnknownPartition
	case s.describes.failure != nil && now.Before(s.describes.retryAt) && fetchCode(s.describes.failure) != codeNone:
		return fetchCode(s.describes.failure)
	case s.successor != nil:
		// The offset belongs to a stream that is gone. Where the new one has no
		// such offset the consumer must start over; where it has, it gets there
		// once the topic is looked up again.
		if other := s.successor.partitions[p.number]; other.known && (offset < other.Oldest || offset > other.Next) {
			return codeOffsetOutOfRange
		}
		return codeNotLeader
	case p.status == wire.PartitionExpired:
		return codeNotLeader
	}
	return codeNone
}

// unknown reports whether what is known of the ends is too old to tell a
// consumer, and DIS is about to say more. What a watch found out is as young as
// the idle budget allows.
func (p *partition) unknown(now time.Time) bool {
	d, w := &p.stream.describes, &p.stream.watch
	since := now
	if w.running {
		since = w.startedAt
	}
	return d.failures == 0 && !d.fresh(since.Add(-describeStale))
}

func (p *partition) logOutside(offset int64) {
	p.stream.engine.cfg.Logger.Warn().Str("topic", p.stream.topic.Name).Int32("partition", p.number).
		Int64("offset", offset).Int64("log_start", p.logStart).Int64("high_watermark", p.high).
		Msg("a consumer asked for an offset that does not exist; it is told so")
}

// gather collects batches that follow each other without a gap in positions.
func (p *partition) gather(seen *sight, w *want, limit int, first bool, now time.Time) {
	for {
		c := p.chunkAt(seen.end)
		if c == nil {
			c = w.handedAt(seen.end)
		}
		if c == nil {
			break
		}
		i := c.batchAt(seen.end)
		start, begin := c.start(i)
		if len(seen.spans) > 0 && start != seen.end {
			break // it overlaps: the records before the end were already taken
		}
		p.touch(c, now)
		taken := begin
		for ; i < len(c.batches); i++ {
			if size := c.batches[i].end - taken; seen.bytes+size > limit && (!first || seen.bytes > 0) {
				seen.full = true
				break
			}
			seen.bytes += c.batches[i].end - taken
			taken = c.batches[i].end
			seen.end = c.batches[i].last + 1
		}
		if taken > begin {
			seen.spans = append(seen.spans, span{chunk: c, begin: begin, end: taken})
		}
		if seen.full {
			return
		}
	}
	seen.full = seen.bytes >= limit && (!first || seen.bytes > 0)
}

// handedAt finds a chunk that was handed over in case the cache lost it.
func (w *want) handedAt(position int64) *chunk {
	for _, c := range w.handed {
		if c.contains(position) {
			return c
		}
	}
	return nil
}
