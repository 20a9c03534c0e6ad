package groupcoord

import (
	"context"
	"fmt"
	"time"
)

// loaded is what acquiring and loading a group brought.
type loaded struct {
	lease    Lease
	snapshot []byte
	err      error
}

// load makes this gateway the group's owner and reads its last state. The code
// tells why not: the group is elsewhere, a store is not available, or the
// coordinator is closing. Requests wait for it up to LoadPatience; after that
// they are told that the group is loading.
func (a *actor) load() (code int16) {
	ctx, cancel := context.WithTimeout(a.ctx, a.c.cfg.LoadTimeout)
	defer cancel()
	result := make(chan loaded, 1)
	go func() { result <- a.acquire(ctx) }()

	patience := time.NewTimer(a.c.cfg.LoadPatience)
	defer patience.Stop()
	var arrivals <-chan struct{} // watched only when patience has run out
	closing := a.c.closing
	for {
		select {
		case l := <-result:
			if code != 0 {
				a.lease = l.lease
				return code
			}
			return a.open(l)
		case <-patience.C:
			arrivals = a.signal
			a.refuseLoading()
		case <-arrivals:
			a.refuseLoading()
		case <-closing:
			closing = nil
			code = codeNotCoordinator
			cancel()
		}
	}
}

func (a *actor) refuseLoading() {
	for _, q := range a.take() {
		r := q.event.(request)
		r.refuse(r.loading())
	}
}

func (a *actor) acquire(ctx context.Context) loaded {
	lease, err := a.c.owners.Acquire(ctx, a.name)
	if err != nil {
		return loaded{err: fmt.Errorf("acquire group: %w", err)}
	}
	if lease.Owner != "" {
		return loaded{lease: Lease{Owner: lease.Owner}}
	}
	snapshot, err := a.c.store.Load(ctx, a.name)
	if err != nil {
		err = fmt.Errorf("load group: %w", err)
	}
	return loaded{lease, snapshot, err}
}

func (a *actor) open(l loaded) (code int16) {
	a.lease = l.lease
	now := time.Now()
	a.last = now
	if l.err == nil && l.lease.Owner != "" {
		return codeNotCoordinator
	}
	if l.err == nil {
		a.group, l.err = restore(&a.c.cfg, a.name, l.snapshot, now)
	}
	if l.err != nil {
		a.c.cfg.Logger.Error().Err(l.err).Str("group", cut(a.name)).Msg("open group")
		return codeNotAvailable
	}
	a.weigh(a.group.weight())
	a.saved, a.counted = l.snapshot != nil, a.group.era()
	a.publish()
	return 0
}
