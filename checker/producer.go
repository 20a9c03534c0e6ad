package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// topic is the one of every run.
const topic = "t"

// producer is one that a run starts, stops and waits for.
type producer interface {
	// send hands over one record; it returns before the record is acknowledged.
	send(ctx context.Context, id recordID, c content)
	// finish waits until every record has its outcome.
	finish(ctx context.Context) error
	close()
}

// produce sends bursts until ctx ends. Which partitions and how many records is
// drawn from the seed; how far it gets by the end of the run is not.
func produce(ctx context.Context, s *schedule, plan producerPlan, partitions *atomic.Int32, p producer, r *recorder) {
	random := rand.New(rand.NewPCG(s.Seed, uint64(plan.Name[1])))
	numbers := map[int32]int{}
	pace := time.NewTicker(plan.Pace)
	defer pace.Stop()
	for {
		partition := random.Int32N(partitions.Load())
		for range 1 + random.IntN(plan.Burst) {
			id := recordID{plan.Name, partition, numbers[partition]}
			numbers[partition]++
			c := newContent(s.Seed, id, plan.Large)
			r.sending(id, &c)
			p.send(ctx, id, c)
			if random.IntN(3) == 0 {
				partition = random.Int32N(partitions.Load())
			}
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
	}
}

// franzProducer is franz-go.
type franzProducer struct {
	client       *kgo.Client
	plan         producerPlan
	gatewayStops bool // in this run
	recorder     *recorder
	running      sync.WaitGroup
}

// longTimeout is a timeout_ms within which the gateway has always written, so
// that a producer that does not send again never hears that the outcome is open.
const longTimeout = 25 * time.Second

// clientOptions are those of every client: quick to see changes and to try again.
func clientOptions(broker, name string) []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(broker), kgo.ClientID(name),
		kgo.MetadataMinAge(100 * time.Millisecond), kgo.MetadataMaxAge(time.Second),
		kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
		kgo.RetryTimeout(time.Minute), kgo.RequestRetries(1000), kgo.DialTimeout(5 * time.Second),
	}
}

func newFranzProducer(broker string, plan producerPlan, r *recorder) (*franzProducer, error) {
	options := append(clientOptions(broker, plan.Name),
		kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(plan.Linger), kgo.ProducerBatchCompression(codecs[plan.Codec]),
		kgo.UnknownTopicRetries(-1), kgo.MaxBufferedRecords(4000))
	if plan.Kind == plain {
		options = append(options, kgo.DisableIdempotentWrite(), kgo.RecordRetries(0), kgo.MaxProduceRequestsInflightPerBroker(5),
			kgo.ProduceRequestTimeout(longTimeout))
	} else {
		options = append(options, kgo.ProduceRequestTimeout(plan.Timeout))
	}
	client, err := kgo.NewClient(options...)
	stops := r.h.Schedule.has(killGateway, restartGateway)
	return &franzProducer{client: client, plan: plan, gatewayStops: stops, recorder: r}, err
}

func (p *franzProducer) send(_ context.Context, id recordID, c content) {
	record := &kgo.Record{Partition: id.Partition, Key: c.Key, Value: c.Value, Headers: c.Headers, Timestamp: time.UnixMilli(c.Timestamp)}
	p.running.Add(1)
	p.client.Produce(context.Background(), record, func(record *kgo.Record, err error) {
		defer p.running.Done()
		if err == nil {
			p.recorder.acknowledged(id, record.Offset)
			return
		}
		p.recorder.refused(id, err)
		if p.plan.Kind == idempotent && !p.lostServer(err) {
			p.recorder.complain("idempotent producer %s was refused record %s: %v", p.plan.Name, id, err)
		}
	})
}

// lostServer tells what franz-go makes of a server that ends before its first
// answer on a connection: it takes it for one of another protocol, and gives up
// records that it has not sent yet.
func (p *franzProducer) lostServer(err error) bool {
	var first *kgo.ErrFirstReadEOF
	return errors.As(err, &first) && p.gatewayStops
}

func (p *franzProducer) finish(ctx context.Context) error {
	if err := p.client.Flush(ctx); err != nil {
		return fmt.Errorf("producer %s has %d records without an outcome: %w", p.plan.Name, p.client.BufferedProduceRecords(), err)
	}
	return nil
}

func (p *franzProducer) close() {
	p.client.Close()
	p.running.Wait()
}
