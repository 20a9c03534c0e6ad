package fetch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Source is the part of a DIS client that reading needs.
type Source interface {
	GetCursor(ctx context.Context, at dis.CursorRequest) (string, error)
	GetRecords(ctx context.Context, read dis.GetRecordsRequest) (*wire.GetRecordsResponse, error)
	DescribeStream(ctx context.Context, name string) (*wire.DescribeStreamResponse, error)
	DescribeStreamByID(ctx context.Context, id string) (*wire.DescribeStreamResponse, error)
}

var _ Source = (*dis.Client)(nil)

// Engine serves the Fetch and ListOffsets requests of all connections. It is
// safe for use by many goroutines.
type Engine struct {
	cfg    Config
	source Source
	cache  *cache
	idle   idle
	checks checks
	// replies are the bytes of records in responses that were not released.
	replies atomic.Int64
	// throttledReads counts the reads that DIS refused for their number or size.
	throttledReads atomic.Int64
	// refusedOffsets counts the consumers that were told OFFSET_OUT_OF_RANGE.
	refusedOffsets atomic.Int64
	// fetchedRecords and fetchedBytes count what was put into responses.
	fetchedRecords, fetchedBytes atomic.Int64

	// away is set from the first failure that concerns every call until DIS answers
	// again: the log tells of an outage once and not for each partition.
	away atomic.Bool

	ctx  context.Context // ends with Close
	stop context.CancelFunc

	spawning sync.Mutex // makes closing and starting a goroutine exclude each other
	closed   bool
	running  sync.WaitGroup

	mu      sync.Mutex
	streams map[string]*stream
	latest  map[string]string // topic name -> key of the stream last seen under it
}

// New starts an engine that reads from source. Close must be called.
func New(cfg Config, source Source) *Engine {
	cfg = cfg.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	e := &Engine{
		cfg:     cfg,
		source:  source,
		cache:   newCache(cfg.CacheBytes),
		idle:    newIdle(cfg.IdlePolls),
		ctx:     ctx,
		stop:    stop,
		streams: make(map[string]*stream),
		latest:  make(map[string]string),
	}
	e.running.Go(e.sweepUntilClosed)
	return e
}

// Close abandons reads, ends waiting fetches with what they have, and returns
// when every goroutine of the engine has ended. Later calls answer as if DIS
// could not be reached.
func (e *Engine) Close() {
	e.spawning.Lock()
	e.closed = true
	e.spawning.Unlock()
	e.stop()
	e.running.Wait()
}

// Advance says that a produce through this gateway stored records up to next-1:
// the high watermark rises at once, and consumers that wait below next are
// served without waiting for the next poll.
func (e *Engine) Advance(topic *translate.Topic, partition int32, next int64) {
	p := e.partition(topic, partition)
	if p == nil {
		return
	}
	p.stream.mu.Lock()
	defer p.stream.mu.Unlock()
	p.raise(next)
}

// Forget drops everything known of a topic that was deleted. Fetches that wait
// for it are answered UNKNOWN_TOPIC_OR_PARTITION.
func (e *Engine) Forget(topic *translate.Topic) {
	e.mu.Lock()
	s := e.streams[streamKey(topic)]
	delete(e.streams, streamKey(topic))
	e.mu.Unlock()
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.watch.recheck() // and so ends it
	s.discard()
}

// partition finds or creates the state of a partition, and learns from the
// snapshot of the topic. It is nil for a number that the topic does not have.
func (e *Engine) partition(topic *translate.Topic, number int32) *partition {
	if number < 0 || int(number) >= len(topic.Partitions) {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key := streamKey(topic)
	s := e.streams[key]
	if s == nil {
		s = newStream(e, topic)
		e.streams[key] = s
		if before := e.latest[topic.Name]; before != "" && before != key {
			s.replacedAt = time.Now()
		}
		e.latest[topic.Name] = key
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.partitions[number]
	if p == nil {
		p = newPartition(s, number, topic.Partitions[number])
		s.partitions[number] = p
	}
	p.high = max(p.high, topic.Partitions[number].Range.Next)
	p.usedAt = time.Now()
	return p
}

// spawn runs f in a goroutine that Close waits for; false when the engine is
// closed. The caller may hold a stream's lock.
func (e *Engine) spawn(f func()) bool {
	e.spawning.Lock()
	defer e.spawning.Unlock()
	if e.closed {
		return false
	}
	e.running.Go(f)
	return true
}

// sleep ends early with a poke, or when the engine is closed.
func (e *Engine) sleep(delay time.Duration, poked <-chan struct{}) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-poked:
	case <-e.ctx.Done():
	}
}

// poke does not block: one that is pending is enough.
func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// streamKey tells a stream from a later one of the same name.
func streamKey(topic *translate.Topic) string {
	if topic.StreamID != "" {
		return "id/" + topic.StreamID
	}
	return "name/" + topic.StreamName
}
