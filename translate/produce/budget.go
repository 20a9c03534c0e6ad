package produce

import (
	"container/list"
	"context"
	"sync"
)

// budget hands out a number of bytes, first come first served. It differs from
// golang.org/x/sync/semaphore in that bytes already spent can be charged too,
// beyond the capacity, that what is used can be read, and that who holds
// something already comes before who holds nothing.
type budget struct {
	capacity int64

	mu      sync.Mutex
	used    int64
	queue   list.List // of *claim, oldest in front
	growing list.List // of *claim of those who hold something, oldest in front
	beyond  *Room     // the one that may go beyond the capacity
}

type claim struct {
	bytes   int64
	room    *Room // of one that is growing
	granted chan struct{}
}

func newBudget(capacity int64) *budget { return &budget{capacity: capacity} }

// acquire waits until bytes, at most the capacity, are free. The error is ctx's.
func (b *budget) acquire(ctx context.Context, bytes int64) error {
	if b.tryAcquire(bytes) {
		return nil
	}
	return b.wait(ctx, &b.queue, &claim{bytes: bytes, granted: make(chan struct{})})
}

// extend waits for more bytes for a room that has some.
func (b *budget) extend(ctx context.Context, room *Room, bytes int64) error {
	if b.tryAcquire(bytes) {
		return nil
	}
	return b.wait(ctx, &b.growing, &claim{bytes: bytes, room: room, granted: make(chan struct{})})
}

// wait puts a claim into a queue until it is granted.
func (b *budget) wait(ctx context.Context, queue *list.List, mine *claim) error {
	b.mu.Lock()
	place := queue.PushBack(mine)
	b.grant()
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
	queue.Remove(place)
	b.grant() // the ones behind may be smaller
	return ctx.Err()
}

// tryAcquire takes bytes if they are free and nobody waits.
func (b *budget) tryAcquire(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.growing.Len()+b.queue.Len() > 0 || !b.fits(bytes) {
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

// leave releases what a room holds.
func (b *budget) leave(room *Room) {
	b.mu.Lock()
	b.used -= room.held
	room.held = 0
	if b.beyond == room {
		b.beyond = nil
	}
	b.grant()
	b.mu.Unlock()
}

func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// filled is which part of the capacity is used.
func (b *budget) filled() float64 { return float64(b.inUse()) / float64(b.capacity) }

func (b *budget) fits(bytes int64) bool { return b.used+bytes <= b.capacity }

// grant serves who waits, as far as that goes.
func (b *budget) grant() {
	for place := b.growing.Front(); place != nil; place = b.growing.Front() {
		next := place.Value.(*claim)
		if !b.fits(next.bytes) && b.beyond == nil {
			b.beyond = next.room
		}
		if !b.fits(next.bytes) && b.beyond != next.room {
			b.grantBeyond()
			return
		}
		b.give(&b.growing, place)
	}
	for place := b.queue.Front(); place != nil && b.fits(place.Value.(*claim).bytes); place = b.queue.Front() {
		b.give(&b.queue, place)
	}
}

// grantBeyond serves the room that need not wait, wherever it stands.
func (b *budget) grantBeyond() {
	for place := b.growing.Front(); place != nil; place = place.Next() {
		if place.Value.(*claim).room == b.beyond {
			b.give(&b.growing, place)
			return
		}
	}
}

func (b *budget) give(queue *list.List, place *list.Element) {
	granted := queue.Remove(place).(*claim)
	b.used += granted.bytes
	close(granted.granted)
}
