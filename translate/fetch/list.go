package fetch

import (
	"context"
	"fmt"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// The timestamps of ListOffsets that name an end of the partition.
const (
	Latest   = -1
	Earliest = -2
)

// ListedOffset is the answer to ListOffsets: -1 and -1 when no record has the
// time or a later one. For the ends of a partition the timestamp is -1.
type ListedOffset struct {
	Offset, Timestamp int64
}

var notListed = ListedOffset{Offset: -1, Timestamp: -1}

// ListOffset finds the offset that a timestamp stands for: Latest, which is the
// high watermark; Earliest, which is the oldest record that DIS keeps; or, for a
// time in ms since the epoch, the first record that is as new or newer. Where
// DIS looks up by time of arrival, records that arrived before that time and
// carry a later one are passed over.
//
// The error is one of DIS, of the context, or a translate.Failure; for
// translate.KafkaError(translate.CallListOffsets, err).
func (e *Engine) ListOffset(ctx context.Context, topic *translate.Topic, partition int32, timestamp int64) (ListedOffset, error) {
	p := e.partition(topic, partition)
	switch {
	case p == nil:
		return notListed, translate.Failure{
			Code:    codeUnknownPartition,
			Message: fmt.Sprintf("topic %s has no partition %d", topic.Name, partition),
		}
	case timestamp < Earliest:
		return notListed, translate.Failure{
			Code:    codeInvalidRequest,
			Message: fmt.Sprintf("timestamp %d has no meaning in the served versions of ListOffsets", timestamp),
		}
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.ReadTimeout)
	defer cancel()
	stop := context.AfterFunc(e.ctx, cancel)
	defer stop()
	if timestamp >= 0 {
		return e.newTimeSearch(p, timestamp).run(ctx)
	}
	logStart, high, err := p.freshEnds(ctx, time.Now().Add(-describeForList))
	if err != nil {
		return notListed, err
	}
	if timestamp == Earliest {
		return ListedOffset{Offset: logStart, Timestamp: -1}, nil
	}
	return ListedOffset{Offset: high, Timestamp: -1}, nil
}

// freshEnds gives the ends by a describe from `since` or later, and by what
// was produced through this gateway in the meantime.
func (p *partition) freshEnds(ctx context.Context, since time.Time) (logStart, high int64, err error) {
	if err := p.stream.describeSince(ctx, since); err != nil {
		return 0, 0, err
	}
	p.stream.mu.Lock()
	defer p.stream.mu.Unlock()
	said := p.stream.describes.latest.partitions[p.number]
	switch {
	case said.status == wire.PartitionExpired:
		return 0, 0, translate.Failure{
			Code:    codeNotLeader,
			Message: fmt.Sprintf("partition %d of topic %s is retired and has expired", p.number, p.stream.topic.Name),
		}
	case !said.known:
		return 0, 0, fmt.Errorf("partition %d of topic %s: %w", p.number, p.stream.topic.Name, translate.ErrNotReady)
	case p.stream.successor != nil:
		return said.Oldest, said.Next, nil
	}
	return p.logStart, p.high, nil
}
