package groupcoord

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// actor runs one group: it takes its events in the order of their arrival, one
// at a time, saves what has changed, and then does what follows.
type actor struct {
	c      *Coordinator
	name   string
	signal chan struct{} // holds one token while the queue may have grown

	queue []queued // guarded by c.mu

	listed atomic.Pointer[listing] // what ListGroups shows, nil: nothing

	// The rest belongs to the goroutine of run.

	ctx     context.Context // of the store calls; ends when the lease is lost
	cancel  context.CancelFunc
	lease   Lease
	group   *group
	saved   bool      // the store has a snapshot
	running int       // store calls whose end has not been handled
	quit    int16     // not 0: the group is given up, requests get this code
	lost    bool      // given up with its commits, not only closing
	last    time.Time // when something other than a timer happened
	kept    int       // bytes of members, as counted for all groups
	counted int32     // the generation up to which rebalances are counted
}

// queued is an event with the time of its arrival: a request that waited in the
// queue counts from when the client had sent it.
type queued struct {
	at    time.Time
	event event
	call  bool // the end of a store call
}

type listing struct {
	state        state
	protocolType string
	kind         kind
	members      int
}

func newActor(c *Coordinator, name string) *actor {
	a := &actor{c: c, name: name, signal: make(chan struct{}, 1)}
	a.ctx, a.cancel = context.WithCancel(c.ctx)
	return a
}

// push queues an event; c.mu is held.
func (a *actor) push(q queued) {
	a.queue = append(a.queue, q)
	select {
	case a.signal <- struct{}{}:
	default:
	}
}

func (a *actor) take() []queued {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	batch := a.queue
	a.queue = nil
	return batch
}

func (a *actor) run() {
	defer a.cancel()
	if code := a.load(); code != 0 {
		a.end(code)
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		a.checkOwnership()
		batch := a.take()
		for _, q := range batch {
			a.tick(q.at)
			a.step(q)
		}
		if len(batch) > 0 {
			continue // what came meanwhile is older than any timer now
		}
		now := time.Now()
		a.tick(now)
		if a.finished(now) && a.c.retire(a) {
			a.release()
			return
		}
		a.wait(timer, now)
	}
}

// end refuses what is queued until nothing is.
func (a *actor) end(code int16) {
	for {
		for _, q := range a.take() {
			q.event.(request).refuse(code)
		}
		if a.c.retire(a) {
			a.release()
			return
		}
	}
}

func (a *actor) release() {
	a.weigh(0)
	if a.lease.Release != nil {
		a.lease.Release()
	}
}

// checkOwnership notices the loss of the lease before anything else is done.
func (a *actor) checkOwnership() {
	if !a.lost && closed(a.lease.Lost) {
		a.c.cfg.Logger.Info().Str("group", cut(a.name)).Msg("group ownership lost")
		a.lose(codeNotCoordinator)
	}
	if a.quit == 0 && closed(a.c.closing) {
		a.quit = codeNotCoordinator
		a.perform(a.group.releaseWaiters(a.quit))
	}
}

// lose gives up the group at once: somebody else has it, or its state could not
// be saved.
func (a *actor) lose(code int16) {
	a.quit, a.lost = code, true
	a.listed.Store(nil)
	a.cancel()
	a.perform(a.group.abandon(code))
}

// tick runs the timers that are due at a time, before what happened then.
func (a *actor) tick(at time.Time) {
	if a.quit == 0 && due(a.group.wake, at) {
		a.transition(at, tick{})
	}
}

func (a *actor) step(q queued) {
	a.last = q.at
	if q.call {
		a.running--
		if a.lost {
			return
		}
	} else if r, ok := q.event.(request); ok && a.quit != 0 {
		r.refuse(a.quit)
		return
	}
	a.transition(q.at, q.event)
}

func (a *actor) transition(now time.Time, ev event) {
	ids := len(a.group.pending)
	changed, effects := a.group.handle(now, ev)
	if _, joins := ev.(*joinEvent); changed || joins || len(a.group.pending) != ids {
		a.weigh(a.group.weight())
	}
	if changed {
		began := time.Now()
		if code := a.save(a.group.snapshot()); code != 0 {
			for _, e := range effects {
				e.abort(code)
			}
			a.lose(code)
			return
		}
		a.group.forgive(time.Since(began))
	}
	a.publish()
	a.perform(effects)
}

func (a *actor) perform(effects []effect) {
	for _, e := range effects {
		e.run(a)
	}
}

func (a *actor) save(snapshot []byte) (code int16) {
	ctx, cancel := context.WithTimeout(a.ctx, a.c.cfg.SaveTimeout)
	defer cancel()
	err := a.c.store.Save(ctx, a.name, snapshot, a.lease.Token)
	switch {
	case err == nil:
		a.saved = snapshot != nil
		return 0
	case errors.Is(err, ErrFenced):
		a.c.cfg.Logger.Info().Str("group", cut(a.name)).Msg("group state refused, another gateway owns the group")
		return codeNotCoordinator
	default:
		a.c.cfg.Logger.Error().Err(err).Str("group", cut(a.name)).Msg("save group state")
		return codeNotAvailable
	}
}

// publish updates what ListGroups shows.
func (a *actor) publish() {
	g := a.group
	a.countRebalance()
	if !g.exists {
		a.listed.Store(nil)
		return
	}
	now := listing{g.state, g.protocolType, g.kind(), g.size()}
	if was := a.listed.Load(); was == nil || *was != now {
		a.listed.Store(&now)
	}
}

// finished reports whether the actor has nothing more to do.
func (a *actor) finished(now time.Time) bool {
	if a.running > 0 {
		return false
	}
	if a.quit != 0 {
		return true
	}
	if !a.group.idle() || !due(a.last.Add(a.linger()), now) {
		return false
	}
	if a.saved && !a.group.offsets.stored {
		// Nothing is left of the group: its generations may start again.
		a.save(nil) // failure is logged, and leaves a snapshot of no harm
	}
	return true
}

// linger is how long the group stays in memory with nothing to do. A name of
// which nothing is known goes at once: clients can make up any number of them.
func (a *actor) linger() time.Duration {
	if !a.group.exists {
		return 0
	}
	return a.c.cfg.EmptyGroupLinger
}

// wait blocks until something happens.
func (a *actor) wait(timer *time.Timer, now time.Time) {
	wake := a.group.wake
	if a.running == 0 && a.group.idle() {
		wake = earliest(wake, a.last.Add(a.linger()))
	}
	var expired <-chan time.Time
	if a.quit == 0 && !wake.IsZero() {
		timer.Reset(wake.Sub(now))
		expired = timer.C
	}
	lost, closing := a.lease.Lost, a.c.closing
	if a.lost {
		lost = nil
	}
	if a.quit != 0 {
		closing = nil
	}
	select {
	case <-a.signal:
	case <-expired:
	case <-lost:
	case <-closing:
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
