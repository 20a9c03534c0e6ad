package topics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	describeParallel = 8
	// refreshShare is the part of the time that refreshing may take, as 1/n: a
	// project whose list is long is listed less often.
	refreshShare = 20
	maxRefresh   = time.Minute
	// listCalls is how many times longer than a describe a list may take.
	listCalls = 3
)

// pace says when the streams are listed. The catalog's mutex guards it.
type pace struct {
	looping  bool
	lastUse  time.Time
	allUsed  time.Time // last call of Topics
	began    time.Time // of the refresh that runs, zero when none does
	listedAt time.Time // last success
	complete bool      // that one described every stream, not only those in use
	failures int       // in a row
	failedAt time.Time
	failure  error         // the last of them
	took     time.Duration // of the last refresh, and of the one before
	before   time.Duration

	identify     bool      // the next list is to learn the id of every stream
	identifiedAt time.Time // when one last did
}

// interval is the time to the next list. One that took long because of a hiccup
// of DIS says nothing of the next, so the shorter of the last two counts.
func (p *pace) interval(standard time.Duration) time.Duration {
	wait := max(standard, min(p.took, p.before)*refreshShare)
	for range min(p.failures, 10) {
		wait *= 2
	}
	return min(wait, max(maxRefresh, standard))
}

// current reports whether Topics may answer from memory: the list is fresh, or DIS
// fails at the moment and a try of the client's own would only make it wait. While a
// refresh runs, what counts is how it was when that began.
func (p *pace) current(now time.Time, cfg Config) bool {
	if p.listedAt.IsZero() {
		return false
	}
	fresh := 2 * p.interval(cfg.Refresh)
	if !p.began.IsZero() {
		now = p.began
	}
	if p.failures > 0 {
		return now.Sub(p.failedAt) < fresh
	}
	return p.complete && now.Sub(p.listedAt) < fresh
}

// use keeps the refreshing alive. The caller holds the mutex.
func (c *Catalog) use(now time.Time) {
	c.pace.lastUse = now
	if c.pace.looping || c.closed {
		return
	}
	c.pace.looping = true
	c.running.Add(1)
	go c.refreshWhileUsed()
}

func (c *Catalog) refreshWhileUsed() {
	defer c.running.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-timer.C:
		}
		if c.idle() {
			return
		}
		if err := c.wait(c.ctx, listFlight, c.refresh); err != nil && c.ctx.Err() != nil {
			return
		}
		c.mu.Lock()
		timer.Reset(c.pace.interval(c.cfg.Refresh))
		c.mu.Unlock()
	}
}

// idle reports that nobody used the catalog for a while; the next use starts the
// loop again.
func (c *Catalog) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.pace.lastUse) <= c.cfg.IdleAfter {
		return false
	}
	c.pace.looping = false
	return true
}

// refresh lists the streams and describes those that changed.
func (c *Catalog) refresh() error {
	began := time.Now()
	c.mu.Lock()
	started := c.cache.tick()
	reach := scope{all: began.Sub(c.pace.allUsed) <= c.cfg.IdleAfter, identify: c.pace.identify}
	c.pace.identify, c.pace.began = false, began
	c.mu.Unlock()

	ctx, cancel := context.WithTimeout(c.ctx, listCalls*c.cfg.CallTimeout)
	defer cancel()
	list, err := c.streams.ListStreams(ctx)
	if err != nil {
		c.refreshFailed(err)
		return fmt.Errorf("list streams: %w", err)
	}
	c.mu.Lock()
	changed := c.cache.apply(list, started, began, reach, c.cfg.DescribeEvery)
	c.mu.Unlock()
	c.describeAll(changed)
	c.refreshed(began, reach)
	return nil
}

// scope says which streams a refresh describes beside those in use: all of
// them, or those whose id the list does not show.
type scope struct{ all, identify bool }

// describeAll describes the streams, those first that were not for the longest time.
// Where DIS answers none of several in a row, as when it has too many calls, the rest
// is left for the next refresh: it would only add to the trouble, and each takes its
// time to fail.
func (c *Catalog) describeAll(names []string) {
	var workers errgroup.Group
	workers.SetLimit(describeParallel)
	var failed atomic.Int64 // in a row
	for i, name := range names {
		if failed.Load() >= describeParallel {
			c.postpone(names[i:])
			break
		}
		workers.Go(func() error {
			// A failure is stored with the topic and logged there.
			if _, _ = c.describe(c.ctx, name); c.hadHiccup(name) {
				failed.Add(1)
			} else {
				failed.Store(0)
			}
			return nil
		})
	}
	_ = workers.Wait() // the workers return no error
}

// hadHiccup reports whether the last describe of a topic failed in a way that may
// pass.
func (c *Catalog) hadHiccup(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return isHiccup(c.cache.entry(name).err)
}

// postpone makes the next refresh describe the topics.
func (c *Catalog) postpone(names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		c.cache.entry(name).unsettled = true
	}
}

func (c *Catalog) refreshFailed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pace.began = time.Time{}
	c.pace.failures++
	c.pace.failedAt, c.pace.failure = time.Now(), err
	if c.pace.failures == 1 && c.ctx.Err() == nil {
		c.cfg.Logger.Warn().Err(err).Msg("cannot list streams, topics are served as last seen")
	}
}

func (c *Catalog) refreshed(began time.Time, reach scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pace.failures > 0 {
		c.cfg.Logger.Info().Int("failures", c.pace.failures).Msg("streams are listed again")
	}
	now := time.Now()
	c.pace.began = time.Time{}
	c.pace.failures, c.pace.failure = 0, nil
	c.pace.listedAt = now
	c.pace.took, c.pace.before = now.Sub(began), c.pace.took
	c.pace.complete = reach.all
	if reach.all || reach.identify {
		c.pace.identifiedAt = now
	}
}

// apply takes over a list that began at the tick started, and names the streams
// to describe: of those within reach, the new and the changed ones.
func (c *cache) apply(list []wire.StreamInfo, started int64, now time.Time, reach scope, describeEvery time.Duration) []string {
	c.listTick, c.sorted = started, nil
	listed := make(map[string]bool, len(list))
	var changed []string
	for _, info := range list {
		name, shown := c.aliases.Topic(info.StreamName, info.StreamID)
		if isGone(info.Status) || !shown {
			continue
		}
		listed[name] = true
		e := c.entry(name)
		seen := listing{info.StreamID, info.CreateTime, info.PartitionCount, info.RetentionPeriod, info.Status}
		differs := e.listing != seen
		if differs {
			c.identify(name, info.StreamID)
		}
		if e.described < started && e.replacedBy(seen) {
			e.topic, e.err, e.invalidated = nil, errReplaced, c.tick()
		}
		e.listing = seen
		wanted := reach.all || reach.identify && info.StreamID == "" || !e.used.IsZero()
		old := e.used.After(e.checked) && now.Sub(e.checked) > describeEvery
		// A describe that began after the list may have been answered before it, and
		// so before the change that the list shows.
		nothing := e.topic == nil && !errors.Is(e.err, translate.ErrHidden)
		switch due := differs || nothing || e.unsettled || old; {
		case !due || e.described >= started && !differs:
		case wanted:
			changed = append(changed, name)
		case e.topic != nil: // whoever asks for it, by name or in a list, gets it described
			e.unsettled, e.invalidated = true, c.tick()
		}
	}
	changed = append(changed, c.applyShared(listed, started, now, reach, describeEvery)...)
	c.applyAbsent(listed, started, now)
	slices.SortStableFunc(changed, func(a, b string) int { return c.entries[a].checked.Compare(c.entries[b].checked) })
	return changed
}

// applyAbsent handles what the list does not show. The list may lag behind what
// a describe said, so the next lookup asks DIS instead of believing the list.
func (c *cache) applyAbsent(listed map[string]bool, started int64, now time.Time) {
	for name, e := range c.entries {
		if listed[name] {
			continue
		}
		e.listing = listing{}
		switch {
		case e.described > started:
		case now.Sub(e.checked) > forgetAfter && now.Sub(e.used) > forgetAfter:
			c.forget(name)
		case e.topic != nil && e.invalidated < e.described:
			e.invalidated = c.tick()
		}
	}
}

// isGone reports whether a stream in this state is no topic any more.
func isGone(status wire.StreamStatus) bool {
	return status == wire.StreamTerminating || status == wire.StreamTerminated
}
