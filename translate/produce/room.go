package produce

import "context"

// Room is what one frame holds of the buffer. It grows with what has arrived of
// the frame: one that is announced and does not come holds next to nothing.
//
// Frames that grow are served before those that begin, first come first served
// among each. Were the buffer full of frames that all wait for the rest of their
// own, none would ever be done: one of them at a time may go beyond the
// capacity. One goroutine at a time uses a Room.
type Room struct {
	budget *budget
	held   int64
}

// NewRoom gives the room of a frame, which holds nothing yet.
func (e *Engine) NewRoom() *Room { return &Room{budget: e.frames} }

// Grow waits for so many bytes more. Call it before memory is spent on them. The
// error is ctx's.
func (r *Room) Grow(ctx context.Context, bytes int64) error {
	if r.held == 0 {
		bytes = min(bytes, r.budget.capacity) // more than there is waits for all of it
		if err := r.budget.acquire(ctx, bytes); err != nil {
			return err
		}
		r.held = bytes
		return nil
	}
	if err := r.budget.extend(ctx, r, bytes); err != nil {
		return err
	}
	r.held += bytes
	return nil
}

// Release gives everything back, once every batch of the frame was answered;
// what is still being written by then stays charged by the engine.
func (r *Room) Release() {
	r.budget.leave(r)
}
