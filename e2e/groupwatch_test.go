package e2e

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupWatch is a member of a consumer group that takes the time of its heartbeats
// and commits, and fails the test when the group rebalances.
type groupWatch struct {
	t      *testing.T
	client *kgo.Client
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	slowest map[int16]time.Duration // by API key
	count   map[int16]int
	lost    int
}

const (
	heartbeatEvery = 200 * time.Millisecond
	commitEvery    = 500 * time.Millisecond
)

func watchGroup(t *testing.T, broker string) *groupWatch {
	t.Helper()
	const topic = "watched"
	createTopic(t, broker, topic, 1)
	ctx, cancel := context.WithCancel(t.Context())
	w := &groupWatch{t: t, cancel: cancel, ended: make(chan struct{}), slowest: map[int16]time.Duration{}, count: map[int16]int{}}
	assigned := make(chan struct{}, 1)
	w.client = newFranz(t, broker, kgo.ConsumerGroup("watch"), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.HeartbeatInterval(heartbeatEvery), kgo.WithHooks(w),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { assigned <- struct{}{} }),
		kgo.OnPartitionsLost(func(context.Context, *kgo.Client, map[string][]int32) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.lost++
		}))
	select {
	case <-assigned:
	case <-time.After(clientTimeout):
		t.Fatal("the group got no assignment")
	}
	go w.run(ctx, topic)
	return w
}

func (w *groupWatch) run(ctx context.Context, topic string) {
	defer close(w.ended)
	offset := map[string]map[int32]kgo.EpochOffset{topic: {0: {Epoch: -1, Offset: 0}}}
	for {
		w.client.CommitOffsetsSync(ctx, offset, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
			if err == nil && resp.Topics[0].Partitions[0].ErrorCode != 0 {
				err = errors.New("code " + strconv.Itoa(int(resp.Topics[0].Partitions[0].ErrorCode)))
			}
			if err != nil && ctx.Err() == nil {
				w.t.Errorf("a commit beside the load: %v", err)
			}
		})
		select {
		case <-time.After(commitEvery):
		case <-ctx.Done():
			return
		}
	}
}

// OnBrokerE2E is kgo's hook for the time of a request.
func (w *groupWatch) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, took kgo.BrokerE2E) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slowest[key] = max(w.slowest[key], took.DurationE2E())
	w.count[key]++
}

// check ends the watch.
func (w *groupWatch) check(slowest time.Duration) {
	w.t.Helper()
	w.cancel()
	<-w.ended
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, name := range map[int16]string{kmsg.Heartbeat.Int16(): "heartbeat", kmsg.OffsetCommit.Int16(): "commit"} {
		w.t.Logf("%d answers to a %s, the slowest after %v", w.count[key], name, w.slowest[key])
		if w.count[key] == 0 {
			w.t.Errorf("no answer to a %s", name)
		}
		if w.slowest[key] > slowest {
			goal(w.t, "the slowest of %d answers to a %s came after %v, want %v", w.count[key], name, w.slowest[key], slowest)
		}
	}
	if w.lost > 0 {
		w.t.Errorf("the group lost its partitions %d times", w.lost)
	}
}
