package fetch

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// cached sums up the cache by going through the partitions.
func (b *bench) cached() (listed, counted int64) {
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	for _, s := range b.engine.streams {
		s.mu.Lock()
		for _, p := range s.partitions {
			for _, c := range p.chunks {
				listed += c.cost
			}
		}
		s.mu.Unlock()
	}
	b.engine.cache.mu.Lock()
	defer b.engine.cache.mu.Unlock()
	return listed, b.engine.cache.chunks.bytes
}

func TestCacheIsBounded(t *testing.T) {
	const partitions, each = 8, 300
	for name, cfg := range map[string]Config{
		"all partitions":     {CacheBytes: 500 << 10},
		"each partition":     {PartitionCacheBytes: 60 << 10},
		"no room for a read": {CacheBytes: 1},
		"nor in a partition": {PartitionCacheBytes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			prepare := func(d *fakeDIS) {
				for p := range partitions {
					d.partitions = append(d.partitions[:p], &fakePartition{status: wire.PartitionActive})
					d.fill(p, each, kilobytes(1))
				}
				d.maxRecords, d.latency = 50, time.Millisecond
			}
			inBubble(t, cfg, prepare, func(b *bench) {
				var group sync.WaitGroup
				for p := range int32(partitions) {
					group.Go(func() {
						if n := len(b.drain(p, 0, each, nil)); n != each {
							b.Errorf("partition %d: %d records", p, n)
						}
					})
				}
				group.Wait()
				synctest.Wait()
				limit := b.engine.cfg.CacheBytes
				if cfg.PartitionCacheBytes > 0 {
					limit = partitions * cfg.PartitionCacheBytes
				}
				if listed, counted := b.cached(); listed > limit || listed != counted {
					b.Errorf("%d bytes cached, counted as %d, limit %d", listed, counted, limit)
				}
				time.Sleep(2 * chunkIdle)
				if listed, counted := b.cached(); listed != 0 || counted != 0 {
					b.Errorf("%d bytes cached (counted %d) with nobody reading", listed, counted)
				}
			})
		})
	}
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	chunks := []*chunk{{cost: 40}, {cost: 40}, {cost: 40}, {cost: 200}}
	l := newLRU(100)
	l.add(chunks[0])
	l.add(chunks[1])
	l.touch(chunks[0])
	if out := l.add(chunks[2]); len(out) != 1 || out[0] != chunks[1] {
		t.Errorf("pushed out %v", out)
	}
	if out := l.add(chunks[3]); len(out) != 3 || l.bytes != 0 {
		t.Errorf("pushed out %v, %d bytes left", out, l.bytes)
	}
}

func TestUsedRecordsStayCached(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.fetch(0)
		for range 10 {
			time.Sleep(chunkIdle / 2)
			b.fetch(0)
		}
		if n := b.dis.dataReads(); n != 1 {
			b.Errorf("%d reads of the same records", n)
		}
	})
}

func TestIdleReadersAreDropped(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.drain(0, 0, 10, nil)
		b.fetch(10)
		synctest.Wait()
		time.Sleep(2 * partitionIdle)
		b.engine.mu.Lock()
		n := len(b.engine.streams)
		b.engine.mu.Unlock()
		if n != 0 {
			b.Errorf("%d streams kept", n)
		}
		if got := b.fetch(0); len(offsetsOf(b, got)) != 10 {
			b.Errorf("afterwards: %+v", got)
		}
	})
}

func TestWaitingLongKeepsTheReader(t *testing.T) {
	inBubble(t, Config{}, tenRecords, func(b *bench) {
		b.others.Go(func() {
			time.Sleep(time.Hour)
			b.engine.Advance(b.topic, 0, b.dis.put(0, "v")+1)
		})
		if d := took(func() { b.fetch(10, waiting(2*time.Hour)) }); d != time.Hour {
			b.Errorf("woke after %v", d)
		}
	})
}

func TestJumpingConsumersLeaveFewSessions(t *testing.T) {
	inBubble(t, Config{}, func(d *fakeDIS) { d.fill(0, 10000, "v"); d.maxRecords = 1 }, func(b *bench) {
		for offset := int64(0); offset < 10000; offset += 7 {
			b.fetch(offset)
		}
		synctest.Wait()
		p := b.engine.partition(b.topic, 0)
		p.stream.mu.Lock()
		defer p.stream.mu.Unlock()
		if n := len(p.sessions); n > 2*maxSessions { // some were at work and could not be dropped
			b.Errorf("%d sessions", n)
		}
	})
}
