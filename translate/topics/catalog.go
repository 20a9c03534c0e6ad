// Package topics shows the streams of a DIS project as Kafka topics, and
// creates, changes and deletes them.
//
// Every produce and fetch looks its topic up, so a lookup must not wait for
// DIS: the catalog answers from memory and learns of changes in the background.
// While it is used it lists the streams every few seconds and describes only
// those that changed. A name it does not know is described at once, so that a
// topic made elsewhere is found on the first request; the answer "does not
// exist" holds for a second, so that a storm of metadata requests for a missing
// topic costs one call.
//
// Stale beats wrong: when DIS does not answer, the last snapshot is served. A
// topic is missing only when DIS said so, since clients give up the partitions
// of a missing topic.
//
// The catalog knows topics by their Kafka names. Which stream that is, and whether
// clients may know of it, translate.Names tells: a stream with an alias is in the
// list under its own name, or in none at all when another account shares it.
package topics

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// Streams are the calls of DIS that the catalog needs. A failure is a
// *dis.Error.
type Streams interface {
	ListStreams(ctx context.Context) ([]wire.StreamInfo, error)
	DescribeStream(ctx context.Context, name string) (*wire.DescribeStreamResponse, error)
	DescribeStreamByID(ctx context.Context, id string) (*wire.DescribeStreamResponse, error)
	CreateStream(ctx context.Context, request wire.CreateStreamRequest) error
	DeleteStream(ctx context.Context, name string) error
	ChangePartitionCount(ctx context.Context, name string, target int) (*wire.ChangePartitionCountResponse, error)
	UpdateStream(ctx context.Context, update wire.UpdateStreamRequest) error
}

// Config sets the catalog. Zero durations mean the defaults.
type Config struct {
	// ProjectID is part of the topic ids.
	ProjectID string
	// Refresh is the time between two lists of the streams while the catalog is
	// used, default 5 s. It grows when listing is slow or fails.
	Refresh time.Duration
	// IdleAfter is how long after the last use the refreshing stops, default
	// 5 min, which is how often most clients ask for metadata.
	IdleAfter time.Duration
	// DescribeEvery is the age at which a topic in use is described again even
	// though the list shows no change, default 5 min: the list does not show
	// that a retired partition expired.
	DescribeEvery time.Duration
	// NegativeTTL is how long a failed lookup is remembered, default 1 s.
	NegativeTTL time.Duration
	// CallTimeout bounds one describe with its repeats, default 10 s. A list, which is
	// a call for each hundred streams, may take listCalls times as long.
	CallTimeout time.Duration
	// Names has the aliases and which topics are hidden; nil: neither.
	Names *translate.Names
	// Records gives what the settings say of the records of a topic; nil has
	// nothing said of any.
	Records func(name string) record.Policy
	Logger  zerolog.Logger
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&c.Refresh, 5 * time.Second},
		{&c.IdleAfter, 5 * time.Minute},
		{&c.DescribeEvery, 5 * time.Minute},
		{&c.NegativeTTL, time.Second},
		{&c.CallTimeout, 10 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.standard
		}
	}
	if c.Names == nil {
		c.Names = new(translate.Names)
	}
	if c.Records == nil {
		c.Records = func(string) record.Policy { return record.Policy{} }
	}
	return c
}

// Catalog is the topics of one project, safe for concurrent use.
type Catalog struct {
	cfg     Config
	streams Streams
	ctx     context.Context // of calls that serve several callers; ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup
	flights singleflight.Group

	mu     sync.Mutex
	cache  cache
	pace   pace
	closed bool
}

var _ translate.Catalog = (*Catalog)(nil)

// errClosed answers lookups that would need DIS after Close.
var errClosed = errors.New("the topic catalog is closed")

// New makes an empty catalog. It calls DIS on the first use.
func New(cfg Config, streams Streams) *Catalog {
	ctx, cancel := context.WithCancel(context.Background())
	cfg = cfg.withDefaults()
	c := &Catalog{cfg: cfg, streams: streams, ctx: ctx, cancel: cancel, cache: newCache(cfg.ProjectID, cfg.Names)}
	for _, alias := range cfg.Names.ByID() {
		c.cache.identify(alias.Topic, alias.Stream.ID)
	}
	return c
}

// Close stops the refreshing and waits for the calls under way.
func (c *Catalog) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.running.Wait()
}

// Topic finds a topic by its Kafka name, from memory where possible.
//
// Errors: translate.ErrHidden; translate.ErrInvalidName; translate.ErrNotReady
// while the stream is being created; a *dis.Error with wire.CodeStreamNotFound when
// it does not exist or is being deleted; any other *dis.Error when DIS could not be
// asked and nothing is known from before.
func (c *Catalog) Topic(ctx context.Context, name string) (*translate.Topic, error) {
	if _, err := c.cfg.Names.Stream(name); err != nil {
		return nil, err
	}
	now := time.Now()
	c.mu.Lock()
	c.use(now)
	topic, err, current := c.cache.lookup(name, now, c.cfg.NegativeTTL)
	c.mu.Unlock()
	if current {
		return topic, err
	}
	return c.describe(ctx, name)
}

// Topics gives all topics, ordered by name, in a list that is not to be changed. One
// that exists without being known in detail (DIS is still creating it, or did not
// answer the describe) has no partitions. The error is DIS's, and only when the
// streams were never listed.
func (c *Catalog) Topics(ctx context.Context) ([]*translate.Topic, error) {
	// A refresh that runs already may not describe every stream, hence twice.
	for range 2 {
		c.mu.Lock()
		now := time.Now()
		c.use(now)
		c.pace.allUsed = now
		current := c.pace.current(now, c.cfg)
		c.mu.Unlock()
		if current {
			break
		}
		if err := c.wait(ctx, listFlight, c.refresh); err != nil && !c.listed() {
			return nil, fmt.Errorf("list topics: %w", err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cache.topics(), nil
}

// Exists reports whether there is a topic as far as is known; it asks nobody and is
// no use of the topic.
func (c *Catalog) Exists(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.cache.entries[name]
	return e != nil && c.cache.exists(e)
}

// Count is the number of topics as far as is known; it asks nobody.
func (c *Catalog) Count() (topics int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.cache.entries {
		if c.cache.exists(e) {
			topics++
		}
	}
	return topics
}

// Known gives the topics that are in memory, in no order, as Topics does. It neither
// asks DIS nor counts as a use, after which the streams would be listed again.
func (c *Catalog) Known() []*translate.Topic {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cache.topics()
}

// Invalidate makes the next lookup of the topic ask DIS, as when DIS refuses a call
// that fits the snapshot.
func (c *Catalog) Invalidate(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cache.invalidate(name)
	c.flights.Forget(describeFlight + name) // it may have asked before the change
}

// Flights are calls that several callers wait for. No name of a topic has a space.
const (
	listFlight     = "list streams"
	describeFlight = "describe "
	createFlight   = "create "
)

// describe asks DIS for one stream and answers with what is known afterwards.
func (c *Catalog) describe(ctx context.Context, name string) (*translate.Topic, error) {
	err := c.wait(ctx, describeFlight+name, func() error {
		c.describeNow(dis.WithCallers(c.ctx, dis.Callers(ctx)...), name) // who came first
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look topic %q up: %w", name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cache.answer(name)
}

// describeNow is now within the time of one call.
func (c *Catalog) describeNow(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	_, _ = c.now(ctx, name) // the caller asks the cache
}

// describeStream asks DIS for the stream of a topic.
func (c *Catalog) describeStream(ctx context.Context, topic string) (*wire.DescribeStreamResponse, error) {
	stream, err := c.cfg.Names.Stream(topic)
	switch {
	case err != nil:
		return nil, err
	case stream.Name == "":
		return c.streams.DescribeStreamByID(ctx, stream.ID)
	}
	return c.streams.DescribeStream(ctx, stream.Name)
}

// store keeps the answer to a describe that began at the tick started, and gives
// what it means.
func (c *Catalog) store(name string, started int64, described *wire.DescribeStreamResponse, err error) (*translate.Topic, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var topic *translate.Topic
	unsettled := false
	if err == nil {
		topic, unsettled, err = c.toTopic(name, described)
		if !isAbsent(err) {
			c.cache.identify(name, described.StreamID)
		}
	}
	// A lasting failure is logged when it begins and when it ends, not at every refresh.
	switch failed := err != nil && !isDefinite(err); {
	case failed == c.cache.failing(name) || c.ctx.Err() != nil:
	case failed:
		c.cfg.Logger.Warn().Err(err).Str("topic", name).Msg("describe failed, what is known of the topic is kept")
	default:
		c.cfg.Logger.Info().Str("topic", name).Msg("what DIS says of the topic is known again")
	}
	c.cache.store(name, answer{started: started, at: time.Now(), topic: topic, unsettled: unsettled, err: err})
	return topic, err
}

// wait joins or starts a call that does not end with the caller's context.
func (c *Catalog) wait(ctx context.Context, flight string, call func() error) error {
	result := c.flights.DoChan(flight, func() (any, error) {
		if !c.enter() {
			return nil, errClosed
		}
		defer c.running.Done()
		return nil, call()
	})
	select {
	case r := <-result:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter registers a call that Close waits for; false after Close.
func (c *Catalog) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.running.Add(1)
	return true
}

func (c *Catalog) listed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.pace.listedAt.IsZero()
}

// isAbsent reports whether there is no such topic for clients: no stream, or one
// that is kept from them.
func isAbsent(err error) bool { return isMissing(err) || errors.Is(err, translate.ErrHidden) }

// isMissing reports whether DIS said that the stream does not exist.
func isMissing(err error) bool { return dis.HasCode(err, wire.CodeStreamNotFound) }
