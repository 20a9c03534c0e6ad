package offsets

import "context"

// turnKey is what commits take turns for.
type turnKey struct {
	app string
	TopicPartition
}

// queue takes the place behind the last commit of the key. The caller then waits
// for before, which is nil when nobody is ahead, and ends its turn with leave.
func (s *Store) queue(key turnKey) (before <-chan struct{}, leave func()) {
	own := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	ahead, taken := s.turns[key]
	if taken {
		before = ahead
	}
	s.turns[key] = own
	return before, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.turns[key] == own {
			delete(s.turns, key)
		}
		close(own)
	}
}

// inTurn runs work after the commits ahead and within the limit of parallel
// calls. When the context ends first, those behind still wait for those ahead.
func (s *Store) inTurn(ctx context.Context, before <-chan struct{}, leave func(), work func() CommittedOffset) (result CommittedOffset, err error) {
	if before != nil {
		select {
		case <-before:
		case <-ctx.Done():
			go func() {
				<-before
				leave()
			}()
			return CommittedOffset{}, ctx.Err()
		}
	}
	defer leave()
	if err := s.slots.Acquire(ctx, 1); err != nil {
		return CommittedOffset{}, err
	}
	defer s.slots.Release(1)
	return work(), nil
}
