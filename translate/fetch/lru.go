package fetch

import (
	"container/list"
	"sync"
)

// lru keeps chunks in order of use and says which have to go when they take
// more bytes than its limit. It does no locking.
type lru struct {
	limit, bytes int64
	order        list.List // front: used last
	at           map[*chunk]*list.Element
}

func newLRU(limit int64) lru { return lru{limit: limit, at: make(map[*chunk]*list.Element)} }

// add returns the chunks that were pushed out, which may include c itself.
func (l *lru) add(c *chunk) (out []*chunk) {
	l.at[c] = l.order.PushFront(c)
	l.bytes += c.cost
	for l.bytes > l.limit {
		oldest := l.order.Back().Value.(*chunk)
		l.remove(oldest)
		out = append(out, oldest)
	}
	return out
}

func (l *lru) has(c *chunk) bool {
	_, ok := l.at[c]
	return ok
}

func (l *lru) touch(c *chunk) {
	if element, ok := l.at[c]; ok {
		l.order.MoveToFront(element)
	}
}

func (l *lru) remove(c *chunk) {
	element, ok := l.at[c]
	if !ok {
		return
	}
	l.order.Remove(element)
	delete(l.at, c)
	l.bytes -= c.cost
}

// cache bounds the chunks of all partitions together.
type cache struct {
	mu     sync.Mutex
	chunks lru
}

func newCache(limit int64) *cache { return &cache{chunks: newLRU(limit)} }

// add returns the chunks that were pushed out. They are still listed by their
// partitions, which may be of other streams: the caller passes them to
// dropEvicted when it holds no lock.
func (c *cache) add(added *chunk) []*chunk {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chunks.add(added)
}

// size is the memory that the chunks are charged for.
func (c *cache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chunks.bytes
}

func (c *cache) touch(used *chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chunks.touch(used)
}

func (c *cache) remove(gone *chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chunks.remove(gone)
}

// dropEvicted takes chunks that the cache pushed out from their partitions.
func dropEvicted(chunks []*chunk) {
	for _, c := range chunks {
		s := c.owner.stream
		s.mu.Lock()
		c.owner.unlist(c)
		s.mu.Unlock()
	}
}
