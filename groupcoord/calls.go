package groupcoord

import (
	"context"
	"slices"
	"time"
)

// start runs a store call beside the group, for requests; the event it returns is
// queued.
func (a *actor) start(timeout time.Duration, requests []Request, call func(ctx context.Context) event) {
	a.running++
	go func() {
		ctx, cancel := context.WithTimeout(context.WithValue(a.ctx, requestsKey{}, requests), timeout)
		defer cancel()
		ev := call(ctx)
		a.c.mu.Lock()
		defer a.c.mu.Unlock()
		a.push(queued{at: time.Now(), event: ev, call: true})
	}()
}

// commit writes offsets unless the lease could end meanwhile: the next owner
// must never be overtaken by a write of this one.
func (a *actor) commit(ctx context.Context, commits []OffsetCommit) []CommittedOffset {
	if !a.mayWrite(ctx) {
		return failed(commits, codeLoading, leaseTooShort)
	}
	results := a.c.offsets.Commit(ctx, a.name, commits)
	if len(results) != len(commits) {
		a.c.cfg.Logger.Error().Str("group", cut(a.name)).Int("asked", len(commits)).Int("answered", len(results)).
			Msg("offset store answered another number of partitions")
		return failed(commits, codeNotAvailable, "wrong number of results")
	}
	return results
}

const leaseTooShort = "the group's lease would end before the write"

// mayWrite reports whether the lease lives longer than a write that ctx bounds.
func (a *actor) mayWrite(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return !ok || a.lease.outlives(deadline)
}

func failed(commits []OffsetCommit, code int16, message string) []CommittedOffset {
	results := make([]CommittedOffset, len(commits))
	for i, c := range commits {
		results[i] = CommittedOffset{TopicPartition: c.TopicPartition, Offset: -1, Code: code, Message: message}
	}
	return results
}

// read reads the offsets of partitions.
func (a *actor) read(ctx context.Context, partitions []TopicPartition) []CommittedOffset {
	results := a.c.offsets.Fetch(ctx, a.name, partitions)
	if len(results) == len(partitions) {
		return results
	}
	a.c.cfg.Logger.Error().Str("group", cut(a.name)).Int("asked", len(partitions)).Int("answered", len(results)).
		Msg("offset store answered another number of partitions")
	results = make([]CommittedOffset, len(partitions))
	for i, tp := range partitions {
		results[i] = CommittedOffset{TopicPartition: tp, Offset: -1, Code: codeLoading}
	}
	return results
}

// oldest looks up where the added partitions begin that have no committed offset.
func (a *actor) oldest(ctx context.Context, r *read, found []CommittedOffset) map[TopicPartition]CommittedOffset {
	var wanted []TopicPartition
	for _, o := range found {
		if o.Code == 0 && o.Offset < 0 && r.added[o.TopicPartition] {
			wanted = append(wanted, o.TopicPartition)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	first := a.c.offsets.Oldest(ctx, wanted)
	oldest := make(map[TopicPartition]CommittedOffset, len(wanted))
	for i, tp := range wanted {
		oldest[tp] = CommittedOffset{TopicPartition: tp, Offset: -1, Code: codeLoading}
		if len(first) == len(wanted) {
			oldest[tp] = first[i]
		}
	}
	a.c.cfg.Logger.Info().Str("group", cut(a.name)).Int("partitions", len(wanted)).
		Msg("partitions that a scale-up added begin at their oldest record")
	return oldest
}

// fetch reads what an OffsetFetch needs.
func (a *actor) fetch(ctx context.Context, r *read) fetched {
	if !r.event.all {
		found := a.read(ctx, r.missing)
		return fetched{offsets: found, oldest: a.oldest(ctx, r, found)}
	}
	offsets, err := a.c.offsets.FetchAll(ctx, a.name)
	if err != nil {
		a.c.cfg.Logger.Warn().Err(err).Str("group", cut(a.name)).Msg("read all committed offsets")
		return fetched{code: codeLoading}
	}
	return fetched{offsets: slices.Clone(offsets)}
}
