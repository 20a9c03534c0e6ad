package fetch

import (
	"context"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// description is what one DescribeStream said.
type description struct {
	// startedAt is when the call was made: what it says may have changed since.
	startedAt  time.Time
	streamID   string
	partitions map[int32]ends
}

// ends is a partition in a description.
type ends struct {
	status wire.PartitionStatus
	// known is false while DIS shows no range: EXPIRED, or in the middle of a
	// scaling.
	known bool
	wire.SequenceRange
}

func newDescription(startedAt time.Time, answer *wire.DescribeStreamResponse) *description {
	d := &description{startedAt: startedAt, streamID: answer.StreamID, partitions: make(map[int32]ends, len(answer.Partitions))}
	for i := range answer.Partitions {
		p := &answer.Partitions[i]
		number, err := wire.ParsePartitionID(p.PartitionID)
		if err != nil {
			continue // nobody can have asked for a partition without a number
		}
		e := ends{status: p.Status}
		if p.SequenceNumberRange != nil {
			if e.SequenceRange, err = wire.ParseSequenceRange(*p.SequenceNumberRange); err == nil {
				e.known = true
			}
		}
		d.partitions[int32(number)] = e
	}
	return d
}

// describes is the describing of a stream: at most one call runs, and everyone
// uses its answer.
type describes struct {
	running *describing
	// latest is the last good answer, nil before the first.
	latest *description
	// failures counts the failed calls since then; failure is the last of them,
	// and no further call is made before retryAt.
	failures int
	failure  error
	retryAt  time.Time
	// told is set while the log has the beginning of these failures and not their end.
	told bool
	// askedAt is the time of the last call, whatever came of it.
	askedAt time.Time
}

// describing is a call that runs.
type describing struct {
	startedAt time.Time
	done      chan struct{}
}

// work reports whether the stream can be described at the moment.
func (d *describes) work() bool { return d.latest != nil && d.failures == 0 }

// fresh reports whether the latest description was asked for at `since` or later.
func (d *describes) fresh(since time.Time) bool {
	return d.latest != nil && !d.latest.startedAt.Before(since)
}

// refresh sees to it that a description from `since` or later comes, without
// waiting for it: when it is there the stream's fetches look again. The result
// is zero then; after a failure it is the time at which to call refresh again.
func (s *stream) refresh(since time.Time) (again time.Time) {
	d := &s.describes
	if d.fresh(since) || d.running != nil {
		return time.Time{}
	}
	if time.Now().Before(d.retryAt) {
		return d.retryAt
	}
	call := &describing{startedAt: time.Now(), done: make(chan struct{})}
	if s.engine.spawn(func() { s.describe(call) }) {
		d.running, d.askedAt = call, call.startedAt
	}
	return time.Time{}
}

// describeSince waits for a description from `since` or later and returns nil
// when it was applied to the stream.
func (s *stream) describeSince(ctx context.Context, since time.Time) error {
	for {
		s.mu.Lock()
		fresh := s.describes.fresh(since)
		refused := s.refresh(since)
		failure, call := s.describes.failure, s.describes.running
		s.mu.Unlock()
		switch {
		case fresh:
			return nil
		case !refused.IsZero():
			return failure
		case call == nil:
			return context.Cause(s.engine.ctx)
		}
		select {
		case <-call.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// describe makes the call and applies its answer.
func (s *stream) describe(call *describing) {
	ctx, cancel := context.WithTimeout(s.engine.ctx, s.engine.cfg.ReadTimeout)
	defer cancel()
	answer, err := s.ask(ctx)
	s.mu.Lock()
	s.describes.running = nil
	recreated := false
	if err != nil {
		s.describeFailed(err)
	} else {
		recreated = s.described(newDescription(call.startedAt, answer))
	}
	s.watch.recheck()
	s.mu.Unlock()
	close(call.done)
	if recreated && s.engine.cfg.OnRecreated != nil {
		s.engine.cfg.OnRecreated(s.topic)
	}
}

func (s *stream) ask(ctx context.Context) (*wire.DescribeStreamResponse, error) {
	if s.topic.StreamName == "" {
		return s.engine.source.DescribeStreamByID(ctx, s.topic.StreamID)
	}
	return s.engine.source.DescribeStream(ctx, s.topic.StreamName)
}

func (s *stream) describeFailed(err error) {
	d := &s.describes
	if d.failures == 0 && !s.gone && s.engine.ctx.Err() == nil && s.engine.tells(err) {
		d.told = true
		s.engine.cfg.Logger.Warn().Err(err).Str("topic", s.topic.Name).Msg("cannot describe the stream; consumers see its ends as last known")
	}
	d.failure = err
	d.retryAt = time.Now().Add(backoff(retryFirst, retryLast, d.failures))
	d.failures++
	for _, p := range s.partitions {
		p.unwatch()
	}
	s.changed()
}

// described applies a good answer, and reports whether it was the first that
// showed another stream under the name.
func (s *stream) described(d *description) (recreated bool) {
	if s.describes.told {
		s.describes.told = false
		s.engine.cfg.Logger.Info().Str("topic", s.topic.Name).Int("failures", s.describes.failures).Msg("the stream is described again")
	}
	s.describes.latest, s.describes.failures, s.describes.failure = d, 0, nil
	s.engine.away.Store(false)
	if s.topic.StreamID != "" && d.streamID != "" && d.streamID != s.topic.StreamID {
		recreated = s.successor == nil
		s.successor = d
		if recreated {
			s.engine.cfg.Logger.Warn().Str("topic", s.topic.Name).Str("stream_id", s.topic.StreamID).
				Str("new_stream_id", d.streamID).Msg("the stream was deleted and created again")
			s.discard()
		}
		s.changed()
		return recreated
	}
	s.successor = nil
	for number, p := range s.partitions {
		p.described(d.partitions[number])
	}
	return false
}
