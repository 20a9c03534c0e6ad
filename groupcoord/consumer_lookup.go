package groupcoord

import (
	"maps"
	"slices"
)

// interests are the topics that somebody subscribes to.
type interests struct {
	names, patterns map[string]bool
}

func newInterests() interests {
	return interests{names: make(map[string]bool), patterns: make(map[string]bool)}
}

func (i interests) add(names []string, pattern string) {
	for _, name := range names {
		i.names[name] = true
	}
	if pattern != "" {
		i.patterns[pattern] = true
	}
}

func (i interests) addAll(other interests) {
	maps.Copy(i.names, other.names)
	maps.Copy(i.patterns, other.patterns)
}

func (i interests) none() bool { return len(i.names) == 0 && len(i.patterns) == 0 }

// covers reports whether a lookup has asked for all of them.
func (l *lookup) covers(i interests) bool {
	for name := range i.names {
		if _, ok := slices.BinarySearch(l.names, name); !ok {
			return false
		}
	}
	for pattern := range i.patterns {
		if _, ok := slices.BinarySearch(l.patterns, pattern); !ok {
			return false
		}
	}
	return true
}

// lookups are the questions of a group to the topic catalog.
type lookups struct {
	view    topicView
	running bool
	waiting []*waitingRequest
}

// waitingRequest is a request that needs topics looked up, or stands behind one of
// the same member.
type waitingRequest struct {
	request request
	member  string
	// needs are asked for again when a lookup has ended: the group may have
	// changed meanwhile.
	needs func() interests
	// then goes on. looked is false if the catalog has failed: clients must not wait
	// for it, and what it finds later changes the group then.
	then func(looked bool)
	// blind: the catalog has failed.
	blind bool
}

// afterLookup calls then when the topics of needs have been looked up: at once if
// there are none. Requests of one member keep their order.
func (g *group) afterLookup(r request, member string, needs func() interests, then func(looked bool)) {
	if needs().none() && !g.awaitsLookup(member) {
		then(true)
		return
	}
	g.lookups.waiting = append(g.lookups.waiting, &waitingRequest{request: r, member: member, needs: needs, then: then})
	g.startLookup()
}

// awaitsLookup reports whether a request of the member waits for a lookup.
func (g *group) awaitsLookup(member string) bool {
	return member != "" && slices.ContainsFunc(g.lookups.waiting, func(w *waitingRequest) bool { return w.member == member })
}

// startLookup asks for all that the members and those who wait subscribe to,
// unless a lookup runs; then it is asked again when that has ended.
func (g *group) startLookup() {
	if g.lookups.running {
		return
	}
	all := newInterests()
	for _, w := range g.lookups.waiting {
		all.addAll(w.needs())
	}
	missing := make(map[string]bool)
	if g.consumer != nil {
		old := g.consumer.interests()
		maps.Copy(all.patterns, old.patterns)
		for name := range old.names {
			if _, exists := g.lookups.view.found[name]; exists {
				all.names[name] = true
			} else if !all.names[name] {
				missing[name] = true
			}
		}
	}
	g.lookups.running = true
	g.effects = append(g.effects, storeLookup{lookup{
		names:    slices.Sorted(maps.Keys(all.names)),
		patterns: slices.Sorted(maps.Keys(all.patterns)),
		missing:  slices.Sorted(maps.Keys(missing)),
	}})
}

// lookupDone is the end of a storeLookup.
type lookupDone struct {
	lookup lookup
	view   topicView
	err    error
}

func (e lookupDone) apply(g *group) {
	g.lookups.running = false
	if e.err != nil {
		g.log.Warn().Err(e.err).Msg("topics of a consumer group not looked up")
	} else {
		g.see(e.view)
	}
	if g.servesConsumers() {
		g.lookupLater()
	}
	g.resume(e)
}

// resume goes on with those whose topics are known now.
func (g *group) resume(e lookupDone) {
	waiting := g.lookups.waiting
	g.lookups.waiting = nil
	for _, w := range waiting {
		needs := w.needs()
		w.blind = w.blind || e.err != nil && e.lookup.covers(needs)
		if (w.blind || e.lookup.covers(needs)) && !g.awaitsLookup(w.member) {
			w.then(!w.blind)
			continue
		}
		g.lookups.waiting = append(g.lookups.waiting, w)
	}
	if len(g.lookups.waiting) > 0 {
		g.startLookup()
	}
}

// see takes over what a lookup has found. When the subscribed topics are not what
// they were, the members have to be assigned anew.
func (g *group) see(view topicView) {
	before := g.lookups.view
	g.lookups.view = view
	if g.servesConsumers() && !before.same(view, g.consumer.interests()) {
		g.consumer.epoch++
		g.consumerChanged("subscribed topics changed")
	}
}

// of gives the existing topics of interest.
func (v topicView) of(matter interests) []Topic {
	names := maps.Clone(matter.names)
	for pattern := range matter.patterns {
		for _, name := range v.matched[pattern] {
			names[name] = true
		}
	}
	var topics []Topic
	for name := range names {
		if t, ok := v.found[name]; ok {
			topics = append(topics, t)
		}
	}
	return topics
}

// same reports whether two views agree on the topics that matter.
func (v topicView) same(other topicView, matter interests) bool {
	for name := range matter.names {
		if v.found[name] != other.found[name] {
			return false
		}
	}
	for pattern := range matter.patterns {
		if !slices.Equal(v.matched[pattern], other.matched[pattern]) {
			return false
		}
		for _, name := range v.matched[pattern] {
			if v.found[name] != other.found[name] {
				return false
			}
		}
	}
	return true
}

// lookupLater asks again in a while, as long as there are members.
func (g *group) lookupLater() {
	g.lookupAt = g.now.Add(g.cfg.TopicsInterval)
	g.wakeAt(g.lookupAt)
}
