package produce

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// growing asks for room in the background.
type growing struct {
	t    *testing.T
	room *Room
	done chan error
}

func (r *rig) grow(room *Room, bytes int64) *growing {
	g := &growing{r.t, room, make(chan error, 1)}
	go func() { g.done <- room.Grow(r.t.Context(), bytes) }()
	synctest.Wait()
	return g
}

// granted says whether it has what it asked for.
func (g *growing) granted() bool {
	g.t.Helper()
	synctest.Wait()
	select {
	case err := <-g.done:
		if err != nil {
			g.t.Error(err)
		}
		g.done <- err
		return true
	default:
		return false
	}
}

// newRoomRig has a buffer of 1000 bytes for frames.
func newRoomRig(t *testing.T) *rig { return newRig(t, func(c *Config) { c.BufferBytes = 2000 }) }

func (r *rig) wantUsed(bytes int64) {
	r.t.Helper()
	if used := r.engine.Metrics().BufferedBytes; used != bytes {
		r.t.Errorf("%d bytes in use, want %d", used, bytes)
	}
}

func TestRoomOfMoreThanThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoomRig(t)
		first := r.engine.NewRoom()
		if !r.grow(first, 5000).granted() {
			t.Fatal("a frame that is alone waits")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		late := r.engine.NewRoom()
		if err := late.Grow(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v while the buffer is full", err)
		}
		late.Release()
		first.Release()
		first.Release() // once counts
		r.wantUsed(0)
	})
}

// A frame that was begun comes before those that were not.
func TestGrowingFramesComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoomRig(t)
		done, begun, beyond := r.engine.NewRoom(), r.engine.NewRoom(), r.engine.NewRoom()
		r.grow(done, 600)
		r.grow(begun, 100)
		r.grow(beyond, 100)
		newcomer := r.grow(r.engine.NewRoom(), 300)
		if newcomer.granted() {
			t.Fatal("more was granted than there is")
		}
		if !r.grow(beyond, 400).granted() {
			t.Fatal("no frame may go beyond the capacity")
		}
		more := r.grow(begun, 300)
		if more.granted() {
			t.Fatal("two frames went beyond the capacity")
		}
		done.Release() // 600 of 1000 in use
		if !more.granted() || newcomer.granted() {
			t.Errorf("granted: begun %t, newcomer %t", more.granted(), newcomer.granted())
		}
		beyond.Release()
		if !newcomer.granted() {
			t.Error("the newcomer still waits")
		}
		begun.Release()
		newcomer.room.Release()
		r.wantUsed(0)
	})
}

// A buffer full of frames that have all begun: they get done, with one of them at
// a time beyond the capacity.
func TestNoFramesWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoomRig(t)
		var rooms []*Room
		for range 10 {
			room := r.engine.NewRoom()
			r.grow(room, 100)
			rooms = append(rooms, room)
		}
		var frames sync.WaitGroup
		for _, room := range rooms {
			frames.Go(func() {
				defer room.Release()
				for _, more := range []int64{400, 700} {
					if err := room.Grow(t.Context(), more); err != nil {
						t.Error(err)
					}
					if used := r.engine.Metrics().BufferedBytes; used > 1000+400+700 {
						t.Errorf("%d bytes in use: more than one frame beyond the capacity", used)
					}
					time.Sleep(time.Second)
				}
			})
		}
		frames.Wait()
		r.wantUsed(0)
	})
}

// A frame that gives up while it grows keeps nobody waiting.
func TestGrowingFrameGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoomRig(t)
		beyond, tired, behind := r.engine.NewRoom(), r.engine.NewRoom(), r.engine.NewRoom()
		r.grow(beyond, 500)
		r.grow(tired, 300)
		r.grow(behind, 100)
		r.grow(beyond, 200) // 1100
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		gaveUp := make(chan error, 1)
		go func() { gaveUp <- tired.Grow(ctx, 700) }()
		synctest.Wait()
		small := r.grow(behind, 100)
		if err := <-gaveUp; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		tired.Release() // 800
		if !small.granted() {
			t.Error("the frame behind still waits")
		}
		beyond.Release()
		behind.Release()
		r.wantUsed(0)
	})
}
