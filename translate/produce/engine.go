package produce

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Putter stores records; *dis.Client is one. PutRecords makes one attempt, ends
// when ctx does, and keeps nothing of the request once it has returned.
type Putter interface {
	PutRecords(ctx context.Context, put *wire.PutRecordsRequest) (*wire.PutRecordsResponse, error)
}

// Config is what an Engine may use. The zero value of a field is its default.
type Config struct {
	// MaxBatchBytes limits the decompressed records of one batch. Default 64 MiB,
	// and never more than half of BufferBytes.
	MaxBatchBytes int
	// BufferBytes is the memory for batches: one half for frames as received
	// (Room), one half for decompressed records. Default 256 MiB.
	BufferBytes int64
	// MaxInFlight is how many PutRecords of one stream run at the same time, each
	// with other partitions. Default 4.
	MaxInFlight int
	// RequestTimeout ends a PutRecords that is not answered; its records are
	// sent again. Default 30 s.
	RequestTimeout time.Duration
	// MaxProducers is how many pairs of idempotent producer and partition are
	// remembered; the one unused for longest is forgotten first. Default 65536.
	MaxProducers int
	// Pacing is the share of the throughput that DIS documents for a partition up to
	// which one is written, 1 being all of it less a small margin. 0: as fast as
	// records come, until DIS throttles. Default 0.
	Pacing float64
	// OnStored, if set, is told that a partition holds records up to next-1,
	// before any of them is acknowledged. It must not block.
	OnStored func(topic *translate.Topic, partition int32, next int64)
	// OnOutdated, if set, is told that DIS knows no such stream or partition, or that it
	// takes nothing: the snapshot of the topic is out of date. It is told before the
	// producer, who asks for metadata then. It must not block.
	OnOutdated func(topic *translate.Topic)
	// OnCounted, if set, is told how many records of a topic DIS acknowledged, and
	// their data in bytes. It is called under the engine's lock and must not block.
	OnCounted func(topic string, records, bytes int)
	Logger    zerolog.Logger
}

const (
	defaultMaxBatchBytes  = 64 << 20
	defaultBufferBytes    = 256 << 20
	defaultMaxInFlight    = 4
	defaultRequestTimeout = 30 * time.Second
	defaultMaxProducers   = 1 << 16
)

func (c Config) withDefaults() Config {
	setDefault(&c.MaxBatchBytes, defaultMaxBatchBytes)
	setDefault(&c.BufferBytes, defaultBufferBytes)
	setDefault(&c.MaxInFlight, defaultMaxInFlight)
	setDefault(&c.RequestTimeout, defaultRequestTimeout)
	setDefault(&c.MaxProducers, defaultMaxProducers)
	c.MaxBatchBytes = int(min(int64(c.MaxBatchBytes), c.BufferBytes/2))
	return c
}

func setDefault[T int | int64 | time.Duration](setting *T, value T) {
	if *setting <= 0 {
		*setting = value
	}
}

// Engine writes batches to DIS. It is safe for concurrent use.
type Engine struct {
	config   Config
	putter   Putter
	log      zerolog.Logger
	frames   *budget // raw batches, see Room
	payloads *budget // decompressed batches
	ids      *producerIDs
	metrics  counters

	ctx     context.Context // ends when Close gives up on started writes
	cancel  context.CancelFunc
	writers sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	streams     map[streamKey]*stream
	window      *window
	pacers      *pacers
	unsure      bool                  // as of a partition, for all of them
	movedLogged map[partitionKey]bool // retired partitions that the log has named since they were active
}

// New starts nothing yet: goroutines come with batches.
func New(config Config, putter Putter) *Engine {
	config = config.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	ids := newProducerIDs()
	e := &Engine{
		config:      config,
		putter:      putter,
		log:         config.Logger,
		frames:      newBudget(config.BufferBytes - config.BufferBytes/2),
		payloads:    newBudget(config.BufferBytes / 2),
		ids:         ids,
		ctx:         ctx,
		cancel:      cancel,
		streams:     make(map[streamKey]*stream),
		pacers:      newPacers(config.Pacing),
		movedLogged: make(map[partitionKey]bool),
	}
	e.window = newWindow(config.MaxProducers, ids, e.noteTwice)
	return e
}

// NewProducerID gives a producer id that no gateway gave before, and its first
// epoch. Such an id must begin with sequence 0 in every partition.
func (e *Engine) NewProducerID() (id int64, epoch int16) { return e.ids.next(), 0 }

// Close takes no batch any more, answers those of which nothing was sent with
// NOT_LEADER_OR_FOLLOWER (6), which makes clients look for the broker again, and
// returns when the others are finished. When ctx ends first, the outcome of what
// is left is unknown: it is answered 7, and ctx's error is returned.
func (e *Engine) Close(ctx context.Context) error {
	e.locked(func(a *answers) {
		e.closed = true
		for _, s := range e.streams {
			s.failUntouched(a, closing)
			s.release() // nobody comes back
		}
	})
	defer e.cancel()
	stop := context.AfterFunc(ctx, e.cancel)
	e.writers.Wait()
	if !stop() {
		return ctx.Err()
	}
	return nil
}

// answers collects what is to be told to callers once the lock is released.
type answers struct {
	stored   []storedNotice
	outdated []*translate.Topic
	done     []answer
}

type storedNotice struct {
	topic     *translate.Topic
	partition int32
	next      int64
}

type answer struct {
	done   func(Result)
	result Result
}

// locked runs do under the lock and then gives its answers: first what was
// stored, so that a consumer's high watermark is never behind an acknowledgement, and
// which topics have changed, so that the next try goes where they are now.
func (e *Engine) locked(do func(*answers)) {
	var a answers
	e.mu.Lock()
	do(&a)
	e.mu.Unlock()
	if e.config.OnStored != nil {
		for _, n := range a.stored {
			e.config.OnStored(n.topic, n.partition, n.next)
		}
	}
	if e.config.OnOutdated != nil {
		for _, topic := range slices.Compact(a.outdated) {
			e.config.OnOutdated(topic)
		}
	}
	for _, one := range a.done {
		one.done(one.result)
	}
}
