package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	// pusherBuffer is how many records a pusher has under way at most.
	pusherBuffer = 2000
	// pushPatience is how long the records under way may take at the end.
	pushPatience = time.Minute
)

// pusher is one producer that numbers its records.
type pusher struct {
	number int
	sent   int

	mu           sync.Mutex
	acknowledged []bool // by number of the record
}

// pushAndCheck produces with many clients as fast as they can, and then looks in
// DIS for what was acknowledged.
func pushAndCheck(j job) (result, error) {
	all := make([]*pusher, pushers)
	var pushing errgroup.Group
	for i := range all {
		all[i] = &pusher{number: i}
		pushing.Go(func() error { return all[i].push(j) })
	}
	if err := pushing.Wait(); err != nil {
		return result{}, err
	}
	stored, repeated, err := storedPushes(j)
	if err != nil {
		return result{}, err
	}
	r := result{Repeated: repeated}
	for _, p := range all {
		r.Sent += p.sent
		for n, ok := range p.acknowledged {
			if !ok {
				continue
			}
			r.Acknowledged++
			if _, there := stored[pushed{p.number, n}]; !there {
				r.Lost++
			}
		}
	}
	return r, nil
}

func (p *pusher) push(j job) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(j.Address), kgo.DefaultProduceTopic(j.Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MaxBufferedRecords(pusherBuffer))
	if err != nil {
		return err
	}
	defer client.Close()
	data := values(j.Size)
	for end := time.Now().Add(j.Lasts); time.Now().Before(end); p.sent++ {
		n := p.sent
		value := binary.BigEndian.AppendUint32(nil, uint32(p.number))
		value = binary.BigEndian.AppendUint32(value, uint32(n))
		value = append(value, data[n%len(data)][len(value):]...)
		client.Produce(context.Background(), &kgo.Record{Partition: int32((p.number + n) % j.Partitions), Value: value},
			func(_ *kgo.Record, err error) { p.note(n, err == nil) })
	}
	ctx, cancel := context.WithTimeout(context.Background(), pushPatience)
	defer cancel()
	if err := client.Flush(ctx); err != nil {
		return fmt.Errorf("producer %d still has records under way: %w", p.number, err)
	}
	return nil
}

func (p *pusher) note(n int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.acknowledged) <= n {
		p.acknowledged = append(p.acknowledged, false)
	}
	p.acknowledged[n] = ok
}

// pushed names a record.
type pushed struct{ producer, number int }

// storedPushes reads a stream to its end, past the gateway.
func storedPushes(j job) (stored map[pushed]struct{}, repeated int, err error) {
	client, err := newRawClient(j.Endpoint)
	if err != nil {
		return nil, 0, err
	}
	defer client.Close()
	stored = map[pushed]struct{}{}
	for partition := range j.Partitions {
		err := everyRecord(client, j.Topic, partition, func(r *wire.Record) {
			name := pushed{int(binary.BigEndian.Uint32(r.Data)), int(binary.BigEndian.Uint32(r.Data[4:]))}
			if _, there := stored[name]; there {
				repeated++
			}
			stored[name] = struct{}{}
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return stored, repeated, nil
}

// everyRecord reads a partition from its start until a read returns nothing.
func everyRecord(client *dis.Client, stream string, partition int, do func(*wire.Record)) error {
	ctx := context.Background()
	cursor, err := client.GetCursor(ctx, dis.CursorRequest{StreamName: stream, Partition: partition, Type: wire.CursorTrimHorizon})
	if err != nil {
		return err
	}
	for {
		answer, err := client.GetRecords(ctx, dis.GetRecordsRequest{Cursor: cursor, MaxBytes: readBytes})
		if err != nil {
			return err
		}
		if len(answer.Records) == 0 {
			return nil
		}
		for i := range answer.Records {
			do(&answer.Records[i])
		}
		cursor = answer.NextPartitionCursor
	}
}
