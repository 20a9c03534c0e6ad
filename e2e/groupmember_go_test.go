package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The members in this process write their diaries as the programs do.

func (d diary) assigned(held []string) {
	fmt.Fprintln(d.written, strings.Join(append([]string{"assigned"}, slices.Sorted(slices.Values(held))...), " "))
}

func (d diary) record(topic string, partition int32, offset int64, value []byte) {
	fmt.Fprintf(d.written, "record %s %d %d %s\n", topic, partition, offset, value)
}

// end writes that a commit of the next offset was stored, or not.
func (d diary) end(topic string, partition int32, next int64, err error) {
	if err != nil {
		fmt.Fprintf(d.written, "uncommitted %s %d %d %v\n", topic, partition, next, err)
		return
	}
	fmt.Fprintf(d.written, "committed %s %d %d\n", topic, partition, next)
}

func partitionName(topic string, partition int32) string {
	return fmt.Sprintf("%s/%d", topic, partition)
}

// franzMember is a franz-go client in this process.
type franzMember struct {
	diary
	client *kgo.Client
	stop   context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	has     map[string]bool
	pending map[string]*kgo.Record // the last ones of partitions that are to be committed
}

func joinFranzProtocol(t *testing.T, broker, kind, name string, _ ...string) protocolMember {
	t.Helper()
	if kind != "topic" {
		t.Fatalf("no test of franz-go has a %s", kind)
	}
	return joinFranz(t, broker, name, kgo.ServerSideBalancer())
}

func joinFranz(t *testing.T, broker, topic string, options ...kgo.Opt) protocolMember {
	t.Helper()
	m := &franzMember{diary: diary{newLines()}, ended: make(chan struct{}), has: make(map[string]bool), pending: make(map[string]*kgo.Record)}
	m.client = newFranz(t, broker, append(options, kgo.ConsumerGroup("g"), kgo.ConsumeTopics(topic),
		kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(m.changed(true)), kgo.OnPartitionsRevoked(m.changed(false)), kgo.OnPartitionsLost(m.changed(false)))...)
	polling, stop := context.WithCancel(t.Context())
	m.stop = stop
	go m.run(t.Context(), polling)
	return m
}

func (m *franzMember) changed(has bool) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for topic, partitions := range topics {
			for _, p := range partitions {
				m.has[partitionName(topic, p)] = has
				if !has {
					delete(m.pending, partitionName(topic, p))
				}
			}
		}
		var held []string
		for p, has := range m.has {
			if has {
				held = append(held, p)
			}
		}
		m.assigned(held)
	}
}

// run ends after the first poll that polling is over for: what was read before is
// committed, and no rebalance comes in between.
func (m *franzMember) run(ctx, polling context.Context) {
	defer close(m.ended)
	for polling.Err() == nil {
		wait, done := context.WithTimeout(polling, 200*time.Millisecond)
		fetches := m.client.PollFetches(wait)
		fetches.EachError(func(topic string, partition int32, err error) {
			if wait.Err() == nil && !joinsAgain(err) {
				fmt.Fprintf(m.written, "refused %s %d %v\n", topic, partition, err)
			}
		})
		m.mu.Lock()
		fetches.EachRecord(func(r *kgo.Record) {
			m.record(r.Topic, r.Partition, r.Offset, r.Value)
			m.pending[partitionName(r.Topic, r.Partition)] = r
		})
		last := slices.Collect(maps.Values(m.pending))
		m.mu.Unlock()
		done()
		m.commit(ctx, last)
		m.client.AllowRebalance()
	}
}

// joinsAgain reports whether an error tells of a session of the group that has ended
// and that the client begins anew by itself: on trouble of the network, among which
// kgo does not count a refused connection, or with an error that is to be tried again.
func joinsAgain(err error) bool {
	var ended *kgo.ErrGroupSession
	var network *os.SyscallError
	return errors.As(err, &ended) && (errors.As(ended.Err, &network) || kgo.IsRetryableBrokerErr(ended.Err) ||
		kerr.IsRetriable(ended.Err) || errors.Is(ended.Err, kerr.UnknownMemberID))
}

// commit commits the records; what a rebalance has overtaken stays pending.
func (m *franzMember) commit(ctx context.Context, last []*kgo.Record) {
	if len(last) == 0 {
		return
	}
	err := m.client.CommitRecords(ctx, last...)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range last {
		m.end(r.Topic, r.Partition, r.Offset+1, err)
		if err == nil {
			delete(m.pending, partitionName(r.Topic, r.Partition))
		}
	}
}

func (m *franzMember) leave() {
	m.stop()
	<-m.ended
	m.client.Close()
}

// saramaMember is a consumer group of sarama. Its Commit tells of a failure only
// in the channel of errors; in a group where no member is late there is none.
type saramaMember struct {
	diary
	t     *testing.T
	group sarama.ConsumerGroup
	ended sync.WaitGroup
	stop  context.CancelFunc
}

func joinSarama(t *testing.T, broker, topic string, set func(*sarama.Config)) protocolMember {
	t.Helper()
	config := saramaClient{broker}.settings()
	config.Consumer.Return.Errors = true
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Heartbeat.Interval = quickHeartbeat
	if set != nil {
		set(config)
	}
	group, err := sarama.NewConsumerGroup([]string{broker}, "g", config)
	if err != nil {
		t.Fatal(err)
	}
	m := &saramaMember{diary: diary{newLines()}, t: t, group: group}
	ctx, stop := context.WithCancel(t.Context())
	m.stop = stop
	m.ended.Go(func() {
		for ctx.Err() == nil {
			if err := group.Consume(ctx, []string{topic}, m); err != nil && ctx.Err() == nil {
				t.Errorf("sarama: %v", err)
				return
			}
		}
	})
	m.ended.Go(func() {
		for err := range group.Errors() {
			t.Errorf("sarama: %v", err)
		}
	})
	t.Cleanup(m.close)
	return m
}

func (m *saramaMember) Setup(session sarama.ConsumerGroupSession) error {
	var held []string
	for topic, partitions := range session.Claims() {
		for _, p := range partitions {
			held = append(held, partitionName(topic, p))
		}
	}
	m.assigned(held)
	return nil
}

func (m *saramaMember) Cleanup(sarama.ConsumerGroupSession) error {
	m.assigned(nil)
	return nil
}

// ConsumeClaim commits all that there is at once: sarama sends commits over the
// connection of its fetches, and one of them can take as long as a fetch waits.
func (m *saramaMember) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case r, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			m.record(r.Topic, r.Partition, r.Offset, r.Value)
			for range len(claim.Messages()) {
				r = <-claim.Messages()
				m.record(r.Topic, r.Partition, r.Offset, r.Value)
			}
			session.MarkMessage(r, "")
			session.Commit()
			m.end(r.Topic, r.Partition, r.Offset+1, nil)
		case <-session.Context().Done():
			return nil
		}
	}
}

func (m *saramaMember) close() {
	m.stop()
	if err := m.group.Close(); err != nil {
		m.t.Errorf("closing sarama: %v", err)
	}
	m.ended.Wait()
}

func (m *saramaMember) leave() { m.close() }

// kafkaGoMember is a ConsumerGroup of kafka-go, which tells of its partitions,
// with a Reader for each of them.
type kafkaGoMember struct {
	diary
	t      *testing.T
	broker string
	topic  string
	group  *kafka.ConsumerGroup
	ended  sync.WaitGroup
}

func joinKafkaGo(t *testing.T, broker, topic string) protocolMember {
	t.Helper()
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: "g", Brokers: []string{broker}, Topics: []string{topic},
		GroupBalancers: []kafka.GroupBalancer{kafka.RangeGroupBalancer{}}, HeartbeatInterval: quickHeartbeat, JoinGroupBackoff: quickHeartbeat})
	if err != nil {
		t.Fatal(err)
	}
	m := &kafkaGoMember{diary: diary{newLines()}, t: t, broker: broker, topic: topic, group: group}
	m.ended.Go(func() {
		for {
			generation, err := group.Next(t.Context())
			switch {
			case err == nil:
				m.serve(generation)
			case errors.Is(err, kafka.RebalanceInProgress): // overtaken by the next one, which it joins
			case errors.Is(err, kafka.ErrGroupClosed), t.Context().Err() != nil:
				return
			default:
				t.Errorf("kafka-go: %v", err)
				return
			}
		}
	})
	t.Cleanup(m.leave)
	return m
}

// serve starts what runs as long as the generation.
func (m *kafkaGoMember) serve(generation *kafka.Generation) {
	var held []string
	for topic, partitions := range generation.Assignments {
		for _, p := range partitions {
			held = append(held, partitionName(topic, int32(p.ID)))
		}
	}
	m.assigned(held)
	var readers sync.WaitGroup
	for _, p := range generation.Assignments[m.topic] {
		readers.Add(1)
		generation.Start(func(ctx context.Context) {
			defer readers.Done()
			m.read(ctx, generation, p)
		})
	}
	generation.Start(func(ctx context.Context) {
		<-ctx.Done()
		readers.Wait()
		m.assigned(nil)
	})
}

func (m *kafkaGoMember) read(ctx context.Context, generation *kafka.Generation, p kafka.PartitionAssignment) {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{m.broker}, Topic: m.topic, Partition: p.ID,
		MaxWait: 500 * time.Millisecond}) // Close waits for the fetch that runs
	defer closeClient(m.t, reader)
	if err := reader.SetOffset(p.Offset); err != nil {
		m.t.Errorf("kafka-go: %v", err)
		return
	}
	for {
		r, err := reader.ReadMessage(ctx)
		if err != nil {
			if ctx.Err() == nil {
				m.t.Errorf("kafka-go: %v", err)
			}
			return
		}
		m.record(r.Topic, int32(r.Partition), r.Offset, r.Value)
		next := map[string]map[int]int64{r.Topic: {r.Partition: r.Offset + 1}}
		m.end(r.Topic, int32(r.Partition), r.Offset+1, generation.CommitOffsets(next))
	}
}

func (m *kafkaGoMember) leave() {
	if err := m.group.Close(); err != nil {
		m.t.Errorf("closing kafka-go: %v", err)
	}
	m.ended.Wait()
}
