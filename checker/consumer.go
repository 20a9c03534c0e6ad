package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumer is franz-go, assigned to every partition or as a member of a group.
type consumer struct {
	client   *kgo.Client
	plan     consumerPlan
	recorder *recorder
	random   *rand.Rand
	finished chan struct{}
	stop     context.CancelFunc

	mu       sync.Mutex
	sessions map[int32]*session
}

func newConsumer(ctx context.Context, broker string, plan consumerPlan, seed uint64, r *recorder) (*consumer, error) {
	ctx, stop := context.WithCancel(ctx)
	c := &consumer{
		plan: plan, recorder: r, stop: stop, random: rand.New(rand.NewPCG(seed, uint64(plan.Name[1]))),
		finished: make(chan struct{}), sessions: map[int32]*session{},
	}
	options := append(clientOptions(broker, plan.Name), kgo.ConsumeTopics(topic), kgo.FetchMaxWait(500*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if plan.Group != "" {
		options = append(options, kgo.ConsumerGroup(plan.Group), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
			kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond), kgo.RebalanceTimeout(5*time.Second),
			kgo.OnPartitionsAssigned(c.assigned), kgo.OnPartitionsRevoked(c.gone), kgo.OnPartitionsLost(c.gone))
	}
	var err error
	if c.client, err = kgo.NewClient(options...); err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(c.finished)
		c.run(ctx)
	}()
	return c, nil
}

func (c *consumer) assigned(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, partition := range partitions[topic] {
		c.sessions[partition] = c.recorder.begin(c.plan.Name, c.plan.Group, partition)
		c.recorder.note(c.plan.Name, "is given partition %d", partition)
	}
}

func (c *consumer) gone(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, partition := range partitions[topic] {
		delete(c.sessions, partition)
		c.recorder.note(c.plan.Name, "no longer has partition %d", partition)
	}
}

// session finds the session that a record belongs to.
func (c *consumer) session(partition int32) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[partition]
	if s == nil {
		if c.plan.Group != "" {
			c.recorder.complain("group member %s got records of partition %d, which it does not own", c.plan.Name, partition)
		}
		s = c.recorder.begin(c.plan.Name, c.plan.Group, partition)
		c.sessions[partition] = s
	}
	return s
}

func (c *consumer) run(ctx context.Context) {
	for ctx.Err() == nil {
		fetches := c.client.PollFetches(ctx)
		fetches.EachError(func(_ string, partition int32, err error) {
			if ctx.Err() != nil {
				return
			}
			c.recorder.note(c.plan.Name, "partition %d: %v", partition, err)
			if !passing(err) {
				c.recorder.complain("consumer %s, partition %d: %v", c.plan.Name, partition, err)
			}
		})
		next := map[int32]kgo.EpochOffset{}
		fetches.EachRecord(func(record *kgo.Record) {
			c.recorder.read(c.session(record.Partition), record.Offset, ofClient(record))
			next[record.Partition] = kgo.EpochOffset{Epoch: -1, Offset: record.Offset + 1}
		})
		if c.plan.Group != "" {
			if len(next) > 0 && c.random.IntN(3) == 0 {
				c.commit(ctx, next)
			}
			c.client.AllowRebalance()
		}
	}
}

// passing are errors that franz-go shows and then gets over by itself: those of
// connections and of group membership.
func passing(err error) bool {
	var session *kgo.ErrGroupSession
	var first *kgo.ErrFirstReadEOF
	return errors.As(err, &session) || errors.As(err, &first) || kgo.IsRetryableBrokerErr(err)
}

func (c *consumer) commit(ctx context.Context, next map[int32]kgo.EpochOffset) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c.client.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{topic: next},
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
			if err != nil {
				c.recorder.note(c.plan.Name, "commit: %v", err)
				return // a commit that fails is repeated by a later one
			}
			for _, t := range response.Topics {
				for _, p := range t.Partitions {
					if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
						c.recorder.note(c.plan.Name, "commit of %v: %v", place{p.Partition, next[p.Partition].Offset}, err)
						continue
					}
					c.recorder.committed(commit{c.plan.Group, p.Partition, next[p.Partition].Offset, time.Now()})
				}
			}
		})
}

// close leaves the group, if there is one.
func (c *consumer) close() {
	c.stop()
	<-c.finished
	c.client.AllowRebalance()
	c.client.Close()
}
