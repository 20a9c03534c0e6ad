package topics

import (
	"slices"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// forgetAfter is how long a stream that is not listed stays in the cache, so
// that an old answer is still recognised as older than what was learnt since.
const forgetAfter = time.Minute

// cache is what is known of the streams. Answers of DIS may arrive in another
// order than the questions left, so each is stamped with the tick of its
// question and an answer older than what is known is dropped. The catalog's
// mutex guards it.
type cache struct {
	projectID string // part of the topic ids
	aliases   *translate.Names
	entries   map[string]*entry   // by the name of the topic
	names     map[[16]byte]string // by topic id, see entry.ids
	ticks     int64
	listTick  int64              // of the list that was last applied
	sorted    []*translate.Topic // what topics gave last, nil once that has changed
}

func newCache(projectID string, aliases *translate.Names) cache {
	return cache{projectID: projectID, aliases: aliases, entries: map[string]*entry{}, names: map[[16]byte]string{}}
}

// entry is one name that was listed or asked for.
type entry struct {
	listing listing // as last listed, zero when it is not in the list
	topic   *translate.Topic
	err     error // why there is no topic, or why it is stale
	// ids are the topic ids that the name was seen with, the latest last. Past
	// ones are kept so that a client that still has one is answered from memory.
	ids [][16]byte

	described   int64 // tick of the describe that is stored here
	invalidated int64 // tick of the last invalidation
	checked     time.Time
	used        time.Time // last lookup by name
	unsettled   bool      // the next refresh describes it again
	creation    attempt   // the last one of CreateMissing
}

// listing is what the list shows of a stream and a change of which means that
// it must be described again.
type listing struct {
	streamID   string // not every DIS lists it
	createTime int64
	partitions int
	retention  int
	status     wire.StreamStatus
}

// answer is the outcome of a describe.
type answer struct {
	started   int64
	at        time.Time
	topic     *translate.Topic
	unsettled bool
	err       error
}

func (c *cache) tick() int64 {
	c.ticks++
	return c.ticks
}

func (c *cache) entry(name string) *entry {
	e, ok := c.entries[name]
	if !ok {
		e = &entry{}
		c.entries[name] = e
	}
	return e
}

// lookup answers from memory; current is false when DIS must be asked first.
func (c *cache) lookup(name string, now time.Time, negativeTTL time.Duration) (topic *translate.Topic, err error, current bool) {
	e := c.entry(name)
	e.used = now
	switch {
	case e.described == 0, e.invalidated > e.described:
		return nil, nil, false
	case e.topic != nil:
		return e.topic, nil, true
	case now.Sub(e.checked) < negativeTTL:
		return nil, e.err, true
	default:
		return nil, nil, false
	}
}

// known is the last good description of a name, nil when there is none.
func (c *cache) known(name string) *translate.Topic {
	if e := c.entries[name]; e != nil {
		return e.topic
	}
	return nil
}

// answer is what is known of a name right after a describe.
func (c *cache) answer(name string) (*translate.Topic, error) {
	e := c.entry(name)
	if e.topic != nil {
		return e.topic, nil
	}
	return nil, e.err
}

// failing reports whether the last describe of the name failed.
func (c *cache) failing(name string) bool {
	e, ok := c.entries[name]
	return ok && e.err != nil && !isDefinite(e.err)
}

func (c *cache) invalidate(name string) {
	if e, ok := c.entries[name]; ok {
		e.invalidated = c.tick()
	}
}

// store keeps the answer unless a later one is known. A failure leaves the last
// good description in place, to be asked for again by the next refresh.
func (c *cache) store(name string, a answer) {
	e := c.entry(name)
	if a.started < e.described {
		return
	}
	c.sorted = nil
	e.described, e.checked, e.err = a.started, a.at, a.err
	switch {
	case a.err == nil:
		e.topic, e.unsettled = a.topic, a.unsettled || !e.confirms(a.topic)
	case isDefinite(a.err):
		e.topic, e.unsettled = nil, false
	default:
		e.unsettled = true
	}
}

// unknown is a topic of which no more than its existence is known.
func (c *cache) unknown(name string) *translate.Topic {
	stream, _ := c.aliases.Stream(name) // entries have names that were checked
	return &translate.Topic{Name: name, StreamName: stream.Name, StreamID: stream.ID}
}

// topics gives every topic that exists, ordered by name; the list is shared and is
// not to be changed. With a thousand topics to sort it is kept, since lookups wait
// for the mutex meanwhile.
func (c *cache) topics() []*translate.Topic {
	if c.sorted == nil {
		c.sorted = c.existing()
		slices.SortFunc(c.sorted, func(a, b *translate.Topic) int { return strings.Compare(a.Name, b.Name) })
	}
	return c.sorted
}

func (c *cache) existing() []*translate.Topic {
	all := make([]*translate.Topic, 0, len(c.entries))
	for name, e := range c.entries {
		switch {
		case !c.exists(e):
		case e.topic != nil:
			all = append(all, e.topic)
		default:
			all = append(all, c.unknown(name))
		}
	}
	return all
}

// exists reports whether an entry is a topic as far as is known.
func (c *cache) exists(e *entry) bool {
	listed := e.listing != listing{}
	if e.topic != nil {
		return listed || e.described > c.listTick
	}
	return listed && !isAbsent(e.err)
}
