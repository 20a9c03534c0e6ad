package produce

import (
	"container/list"
	"context"
	"sync"
)

// budget hands out a number of bytes, first come first served. It differs from
// golang.org/x/sync/semaphore in that bytes already spent can be charged too,
// beyond the capacity, and that what is used can be read.
type budget struct {
	capacity int64

	mu    sync.Mutex
	used  int64
	queue list.List // of *claim, oldest in front
}

type claim struct {
	bytes   int64
	granted chan struct{}
}

func newBudget(capacity int64) *budget { return &budget{capacity: capacity} }

// acquire waits until bytes, at most the capacity, are free. The error is ctx's.
func (b *budget) acquire(ctx context.Context, bytes int64) error {
	b.mu.Lock()
	if b.fits(bytes) {
		b.used += bytes
		b.mu.Unlock()
		return nil
	}
	mine := &claim{bytes: bytes, granted: make(chan struct{})}
	place := b.queue.PushBack(mine)
	b.mu.Unlock()

	select {
	case <-mine.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-mine.granted: // at the same moment
		return nil
	default:
	}
	b.queue.Remove(place)
	b.grant() // the ones behind may be smaller
	return ctx.Err()
}

// tryAcquire takes bytes if they are free and nobody waits.
func (b *budget) tryAcquire(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.fits(bytes) {
		return false
	}
	b.used += bytes
	return true
}

// charge takes bytes that are in use already, free or not.
func (b *budget) charge(bytes int64) {
	b.mu.Lock()
	b.used += bytes
	b.mu.Unlock()
}

func (b *budget) release(bytes int64) {
	b.mu.Lock()
	b.used -= bytes
	b.grant()
	b.mu.Unlock()
}

func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

func (b *budget) fits(bytes int64) bool {
	return b.queue.Len() == 0 && b.used+bytes <= b.capacity
}

func (b *budget) grant() {
	for first := b.queue.Front(); first != nil; first = b.queue.Front() {
		next := first.Value.(*claim)
		if b.used+next.bytes > b.capacity {
			return
		}
		b.used += next.bytes
		b.queue.Remove(first)
		close(next.granted)
	}
}
