// Package offsets keeps the committed offsets of Kafka consumer groups as
// checkpoints of DIS apps, where the DIS Kafka adapter finds them too.
//
// The app has the group's name, or an escaped form of it (see AppName), and is
// created at the group's first commit. The checkpoint of a partition is the
// next offset to read, Kafka's own meaning; the DIS documentation is vague
// about it and the adapter means the same.
//
// Kafka accepts any offset, DIS only those inside the partition's range. What
// DIS refuses is stored as the nearest end of the range: a consumer that comes
// back reads from there, which may repeat records and never skips one.
package offsets

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Checkpoints are the calls of DIS that the store needs. A failure is a
// *dis.Error.
type Checkpoints interface {
	CommitCheckpoint(ctx context.Context, commit wire.CommitCheckpointRequest) error
	DeleteCheckpoints(ctx context.Context, app, stream, streamID string, partition *int) error
	ConsumerState(ctx context.Context, app, stream, streamID string) ([]wire.ConsumingState, error)
	CreateApp(ctx context.Context, name string) error
	DescribeApp(ctx context.Context, name string) (*wire.App, error)
	ListApps(ctx context.Context, streamFilter string) ([]wire.App, error)
	DeleteApp(ctx context.Context, name string) error
	DescribeStream(ctx context.Context, name string) (*wire.DescribeStreamResponse, error)
	DescribeStreamByID(ctx context.Context, id string) (*wire.DescribeStreamResponse, error)
}

// Config sets the store. Zero values mean the defaults.
type Config struct {
	// Parallel is how many calls to DIS run at once, default 64.
	Parallel int
	// MaxAppName is the longest app name that DIS accepts, default 200.
	MaxAppName int
	// Names has the aliases of topics and which are hidden; nil: neither.
	Names  *translate.Names
	Logger zerolog.Logger
}

// TopicPartition names a partition by its Kafka names.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// OffsetCommit is one offset to store: the next one to read.
type OffsetCommit struct {
	TopicPartition
	Offset      int64 // negative: none, as if the group had never committed
	LeaderEpoch int32 // accepted and not stored, DIS has no room for it
	Metadata    string
}

// CommittedOffset is what is stored of one partition, or why that is unknown.
type CommittedOffset struct {
	TopicPartition
	Offset   int64 // -1: none
	Metadata string
	Code     int16 // a Kafka error code, 0 for success
	Message  string
}

// Stats counts what a store did since it was made.
type Stats struct {
	// BelowRange and AboveRange are commits outside the range of their
	// partition that were stored as the range's oldest or next offset.
	BelowRange, AboveRange int64
}

// Store is the committed offsets of all groups, safe for concurrent use. Commits
// of one group to one partition reach DIS one after the other, in the order of
// the calls.
type Store struct {
	cfg         Config
	checkpoints Checkpoints
	catalog     translate.Catalog

	slots *semaphore.Weighted
	apps  singleflight.Group
	known knownApps

	mu    sync.Mutex
	turns map[turnKey]chan struct{}

	belowRange, aboveRange atomic.Int64
}

// New makes a store. It calls DIS only when it is used.
func New(cfg Config, checkpoints Checkpoints, catalog translate.Catalog) *Store {
	if cfg.Parallel <= 0 {
		cfg.Parallel = 64
	}
	if cfg.MaxAppName <= 0 {
		cfg.MaxAppName = 200
	}
	if cfg.Names == nil {
		cfg.Names = new(translate.Names)
	}
	return &Store{
		cfg: cfg, checkpoints: checkpoints, catalog: catalog,
		slots: semaphore.NewWeighted(int64(cfg.Parallel)),
		turns: map[turnKey]chan struct{}{},
	}
}

// Stats gives the counts so far.
func (s *Store) Stats() Stats {
	return Stats{BelowRange: s.belowRange.Load(), AboveRange: s.aboveRange.Load()}
}

// failed is the answer for a partition that could not be served. Where the
// failure means "nothing stored" to the call, it is that answer.
func failed(at TopicPartition, call translate.Call, err error) CommittedOffset {
	failure := translate.KafkaError(call, err)
	if failure.Code == 0 {
		return none(at)
	}
	return CommittedOffset{TopicPartition: at, Offset: -1, Code: failure.Code, Message: failure.Message}
}

func none(at TopicPartition) CommittedOffset { return CommittedOffset{TopicPartition: at, Offset: -1} }
