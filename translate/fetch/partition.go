package fetch

import (
	"slices"
	"sort"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// partition is what is known and kept of one partition, and who waits for it.
// The lock of its stream guards it.
type partition struct {
	stream *stream
	number int32

	// high is the high watermark: the largest of the ends that DIS described,
	// the position after the last record read, and what Advance said. logStart
	// is the largest start that DIS described. Neither ever goes back.
	high, logStart int64
	status         wire.PartitionStatus

	// chunks are in order of `from`. Two may overlap where sessions came from
	// different positions, but no two begin at the same.
	chunks []*chunk
	recent lru // the same chunks by use

	sessions map[int64]*session // by position
	pace     pace
	wants    map[*want]struct{}
	doubts   doubts
	// version counts the changes that a waiting fetch must look at.
	version uint64
	usedAt  time.Time
}

// want is a fetch's wish for the records of a partition from an offset on.
type want struct {
	offset int64
	// position is where the records that the fetch has so far end, and so where
	// it waits; it has seen the partition's changes up to version.
	position int64
	version  uint64
	// handed are the chunks that were read while it waited, so that it gets them
	// even if the cache has no room for them.
	handed []*chunk
	// asking means that the next describe matters to the fetch, whatever it says.
	asking bool
	wake   chan<- struct{}
	// callers are the request, for log lines.
	callers []dis.Caller
}

func newPartition(s *stream, number int32, snapshot translate.Partition) *partition {
	p := &partition{
		stream:   s,
		number:   number,
		high:     snapshot.Range.Next,
		logStart: snapshot.Range.Oldest,
		status:   snapshot.Status,
		recent:   newLRU(s.engine.cfg.PartitionCacheBytes),
		sessions: make(map[int64]*session),
		pace:     newPace(s.topic.StreamType, s.engine.cfg.Pacing, time.Now()),
		wants:    make(map[*want]struct{}),
		doubts:   make(doubts),
	}
	if s.describes.latest != nil && s.successor == nil {
		p.described(s.describes.latest.partitions[number])
	}
	return p
}

// encoding is how the partition's records are kept and served.
func (p *partition) encoding() record.Encoding {
	return record.Encoding{Codec: p.stream.engine.cfg.Codec, LogAppendTime: p.stream.topic.Records.LogAppendTime}
}

// described applies what DIS said of the partition. The zero value, of a
// partition that is not listed, changes nothing. Where nothing changed only the
// fetches that asked look again.
func (p *partition) described(e ends) {
	status, logStart := p.status, p.logStart
	if e.status != "" {
		p.status = e.status
	}
	if e.known {
		p.logStart = max(p.logStart, e.Oldest)
		p.raise(e.Next)
	}
	p.version++
	for w := range p.wants {
		if w.asking || p.status != status || p.logStart != logStart {
			w.notify()
		}
	}
}

// raise lifts the high watermark and wakes the sessions that can read on.
func (p *partition) raise(next int64) {
	if next <= p.high {
		return
	}
	p.high = next
	for position, session := range p.sessions {
		if position < next {
			session.pokeNow()
		}
	}
}

// changed makes every waiting fetch look again.
func (p *partition) changed() {
	p.version++
	for w := range p.wants {
		w.notify()
	}
}

// notify makes the fetch look again.
func (w *want) notify() { poke(w.wake) }

// chunkAt finds the cached chunk that answers for a position.
func (p *partition) chunkAt(position int64) *chunk {
	after := sort.Search(len(p.chunks), func(i int) bool { return p.chunks[i].from > position })
	if after == 0 || !p.chunks[after-1].contains(position) {
		return nil
	}
	return p.chunks[after-1]
}

// keep adds a chunk that was read and hands it to those who wait for it. The
// result goes to dropEvicted.
func (p *partition) keep(c *chunk) (evicted []*chunk) {
	p.raise(c.next)
	for w := range p.wants {
		if c.contains(w.position) {
			w.handed = append(w.handed, c)
		}
	}
	c.usedAt = time.Now()
	at := sort.Search(len(p.chunks), func(i int) bool { return p.chunks[i].from >= c.from })
	if at < len(p.chunks) && p.chunks[at].from == c.from {
		p.forget(p.chunks[at])
	}
	p.chunks = slices.Insert(p.chunks, at, c)
	for _, old := range p.recent.add(c) {
		p.forget(old)
	}
	if p.recent.has(c) {
		evicted = p.stream.engine.cache.add(c)
	}
	p.changed()
	return evicted
}

// touch marks a chunk as used.
func (p *partition) touch(c *chunk, now time.Time) {
	c.usedAt = now
	p.recent.touch(c)
	p.stream.engine.cache.touch(c)
}

// forget drops a chunk from the partition and from the cache.
func (p *partition) forget(c *chunk) {
	p.unlist(c)
	p.stream.engine.cache.remove(c)
}

// unlist drops a chunk from the partition alone.
func (p *partition) unlist(c *chunk) {
	p.recent.remove(c)
	at := sort.Search(len(p.chunks), func(i int) bool { return p.chunks[i].from >= c.from })
	if at < len(p.chunks) && p.chunks[at] == c {
		p.chunks = slices.Delete(p.chunks, at, at+1)
	}
}

func (p *partition) dropChunks() {
	for len(p.chunks) > 0 {
		p.forget(p.chunks[len(p.chunks)-1])
	}
}

// drained reports whether a retired partition has been read to its end.
func (p *partition) drained(position int64) bool { return p.retired() && position >= p.high }

func (p *partition) retired() bool { return p.status == wire.PartitionDeleted }
