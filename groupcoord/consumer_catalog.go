package groupcoord

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Topic is what the consumer protocol has to know of a topic.
type Topic struct {
	Name string
	// ID differs from that of a deleted topic of the same name.
	ID [16]byte
	// Partitions is how many it has, numbered from 0.
	Partitions int32
}

// TopicCatalog tells which topics there are. Groups of the consumer protocol ask
// it when a member subscribes, and every [Config.TopicsInterval] while they have
// members: it should answer from memory where it can. It is called from many
// goroutines.
type TopicCatalog interface {
	// Topics gives those of the named topics that exist. An error means that it
	// could not be told of one of them.
	Topics(ctx context.Context, names []string) ([]Topic, error)
	// AllTopics gives every topic, for subscriptions by pattern.
	AllTopics(ctx context.Context) ([]Topic, error)
}

// noTopics is the catalog of a coordinator that was given none.
type noTopics struct{}

func (noTopics) Topics(context.Context, []string) ([]Topic, error) { return nil, nil }

func (noTopics) AllTopics(context.Context) ([]Topic, error) { return nil, nil }

// topicView is what a group knows of the topics it subscribes to.
type topicView struct {
	found   map[string]Topic    // those that exist, by name
	matched map[string][]string // names by pattern, sorted
}

// lookup is a question to the catalog. Its lists are sorted.
type lookup struct {
	names    []string
	patterns []string
	// missing are names that did not exist when they were looked up. They are looked
	// for in the list of all topics: asking for each could be a call of the backend
	// every time.
	missing []string
}

// lookUp asks the catalog, and matches the patterns here, where it holds nobody up.
func (c *Coordinator) lookUp(ctx context.Context, l lookup) (topicView, error) {
	view := topicView{found: make(map[string]Topic), matched: make(map[string][]string)}
	topics, err := c.cfg.Topics.Topics(ctx, l.names)
	if err != nil {
		return view, fmt.Errorf("look subscribed topics up: %w", err)
	}
	for _, t := range topics {
		view.found[t.Name] = t
	}
	if len(l.patterns) == 0 && len(l.missing) == 0 {
		return view, nil
	}
	all, err := c.cfg.Topics.AllTopics(ctx)
	if err != nil {
		return view, fmt.Errorf("list topics: %w", err)
	}
	for _, t := range all {
		if _, ok := slices.BinarySearch(l.missing, t.Name); ok {
			view.found[t.Name] = t
		}
	}
	slices.SortFunc(all, func(a, b Topic) int { return strings.Compare(a.Name, b.Name) })
	if l.isHeavy(len(all)) {
		done, err := c.matchTurn(ctx)
		if err != nil {
			return view, err
		}
		defer done()
	}
	for _, text := range l.patterns {
		if err := view.match(ctx, text, all); err != nil {
			return view, err
		}
	}
	return view, nil
}

// manyMatches is from how many names to match on a lookup waits for its turn.
const manyMatches = 50_000

// isHeavy reports whether matching may take so long that it must not be done
// several times at once.
func (l lookup) isHeavy(topics int) bool {
	return len(l.patterns)*topics >= manyMatches ||
		slices.ContainsFunc(l.patterns, func(text string) bool { return len(text) > lightPattern })
}

// matchTurn waits until no other heavy patterns are matched, so that
// those who send such patterns wait for each other and leave processors to all else.
func (c *Coordinator) matchTurn(ctx context.Context) (done func(), err error) {
	select {
	case c.matching <- struct{}{}:
		return func() { <-c.matching }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a turn to match patterns: %w", ctx.Err())
	}
}

// match finds the topics of a pattern. Those that are named, too, stay as the
// catalog has just described them.
func (v topicView) match(ctx context.Context, text string, all []Topic) error {
	pattern, err := compilePattern(text)
	if err != nil {
		return nil // refused when a member came with it
	}
	v.matched[text] = []string{}
	for _, t := range all {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("match topics: %w", err)
		}
		if !pattern.MatchString(t.Name) {
			continue
		}
		v.matched[text] = append(v.matched[text], t.Name)
		if _, ok := v.found[t.Name]; !ok {
			v.found[t.Name] = t
		}
	}
	return nil
}

// storeLookup asks the catalog beside the group.
type storeLookup struct {
	lookup lookup
}

func (e storeLookup) run(a *actor) {
	a.start(a.c.cfg.TopicsTimeout, nil, func(ctx context.Context) event {
		view, err := a.c.lookUp(ctx, e.lookup)
		return lookupDone{e.lookup, view, err}
	})
}

func (storeLookup) abort(int16) {} // those who wait are refused with the group
