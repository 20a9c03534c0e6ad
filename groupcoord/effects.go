package groupcoord

import "context"

// event is something that happens to a group. apply changes the group and
// collects what has to follow in g.effects and g.changed; it may read g.now,
// and touches nothing outside of the group.
type event interface {
	apply(g *group)
}

// request is an event that somebody waits for.
type request interface {
	event
	// refuse answers without looking at the group.
	refuse(code int16)
	// loading is the code for a group that is being loaded; 0 is an answer
	// without error.
	loading() int16
}

// effect is what follows from a transition once its snapshot is saved.
type effect interface {
	run(a *actor)
	// abort is called instead of run when the snapshot could not be saved: the
	// transition has not happened, and what is known of the group is given up.
	abort(code int16)
}

// answer replies to a request.
type answer struct {
	to   request
	send func()
}

func (e answer) run(*actor)       { e.send() }
func (e answer) abort(code int16) { e.to.refuse(code) }

// answer makes send an effect of the current event.
func (g *group) answer(to request, send func()) {
	g.effects = append(g.effects, answer{to, send})
}

// refuse answers r with code.
func (g *group) refuse(r request, code int16) {
	g.answer(r, func() { r.refuse(code) })
}

// storeCommit writes offsets. There is never more than one for a partition.
type storeCommit struct {
	commits  []OffsetCommit
	requests []Request
}

func (e storeCommit) run(a *actor) {
	a.start(a.c.cfg.CommitTimeout, e.requests, func(ctx context.Context) event {
		return commitDone{e.commits, a.commit(ctx, e.commits)}
	})
}

func (storeCommit) abort(int16) {} // those who wait are refused with the group

// storeFetch reads the offsets that are not known here.
type storeFetch struct {
	read *read
}

func (e storeFetch) run(a *actor) {
	a.start(a.c.cfg.FetchTimeout, []Request{e.read.event.request}, func(ctx context.Context) event {
		return fetchDone{e.read, a.fetch(ctx, e.read)}
	})
}

func (storeFetch) abort(int16) {}

// storeReread reads known offsets again.
type storeReread struct {
	reread *reread
}

func (e storeReread) run(a *actor) {
	a.start(a.c.cfg.FetchTimeout, nil, func(ctx context.Context) event {
		return rereadDone{e.reread, a.read(ctx, e.reread.partitions())}
	})
}

func (storeReread) abort(int16) {}

// foreign reports an offset that somebody else has changed.
type foreign struct {
	change ForeignChange
}

func (e foreign) run(a *actor) {
	c := e.change
	a.c.cfg.Logger.Warn().
		Str("group", cut(c.Group)).Str("topic", cut(c.Topic)).Int32("partition", c.Partition).
		Int64("acknowledged", c.Acknowledged).Int64("found", c.Found).
		Msg("committed offset was changed by somebody else: another gateway or program serves this group")
	if a.c.cfg.ForeignChange != nil {
		a.c.cfg.ForeignChange(c)
	}
}

func (foreign) abort(int16) {}
