package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	// The goals of the medians: a record through the gateway may take this much
	// longer than the direct calls of DIS.
	addedProduceGoal = 500 * time.Microsecond
	addedTripGoal    = 300 * time.Microsecond

	loneSize   = 100
	loneWarmUp = 100 // turns before those that count
	// loneRest lies between two turns, so that the consumer waits in a fetch.
	loneRest = 2 * time.Millisecond
)

// The turns of a lone record, by their way.
const (
	throughGateway = "gateway"
	direct         = "direct"
)

// lone sends one record at a time through the gateway and with the raw client,
// in turns, in one process.
func lone(b *bench) error {
	u, err := startSetup(b, 0)
	if err != nil {
		return err
	}
	defer u.stop()
	fmt.Println("| one record at a time              | gateway, ms | direct, ms | added, ms |")
	fmt.Println("|-----------------------------------|------------:|-----------:|----------:|")
	produced, err := u.lone(b, "lone", "a produce")
	if err != nil {
		return err
	}
	trip, err := u.lone(b, "trip", "from a produce to its consumer")
	if err != nil {
		return err
	}
	fmt.Println()
	b.goal(produced <= addedProduceGoal, "a lone produce at most 0.5 ms above one PutRecords", milliseconds(produced)+" ms")
	b.goal(trip <= addedTripGoal, "from a produce to its consumer at most 0.3 ms above PutRecords and one GetRecords", milliseconds(trip)+" ms")
	return nil
}

func (u *setup) lone(b *bench, kind, title string) (added time.Duration, err error) {
	work := job{Kind: kind, Address: u.kafka, Endpoint: u.endpoint, Topic: kind + "-gateway", Stream: kind + "-direct",
		Partitions: 1, Records: b.turns(2000, 200), Size: loneSize}
	for _, name := range []string{work.Topic, work.Stream} {
		if err := u.createStream(name, 1); err != nil {
			return 0, err
		}
	}
	done, _, err := work.start()
	if err != nil {
		return 0, err
	}
	through, past := medianTime(done.Each[throughGateway]), medianTime(done.Each[direct])
	fmt.Printf("| %-33s | %11s | %10s | %9s |\n", title, milliseconds(through), milliseconds(past), milliseconds(through-past))
	return through - past, nil
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

// inTurns does the two ways alternately and times each turn after the warm-up
// until the moment that it names.
func inTurns(turns int, gateway, past func(turn int) (end time.Time, err error)) (result, error) {
	r := result{Each: map[string][]time.Duration{}}
	for turn := range loneWarmUp + turns {
		for _, way := range []struct {
			name string
			do   func(int) (time.Time, error)
		}{{throughGateway, gateway}, {direct, past}} {
			time.Sleep(loneRest)
			begin := time.Now()
			end, err := way.do(turn)
			if err != nil {
				return result{}, fmt.Errorf("turn %d, %s: %w", turn, way.name, err)
			}
			if turn >= loneWarmUp {
				r.Each[way.name] = append(r.Each[way.name], end.Sub(begin))
			}
		}
	}
	return r, nil
}

func loneClient(j job, options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(j.Address), kgo.DefaultProduceTopic(j.Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0)}, options...)...)
}

// loneProduces times a produce until it is acknowledged.
func loneProduces(j job) (result, error) {
	client, err := loneClient(j)
	if err != nil {
		return result{}, err
	}
	defer client.Close()
	straight, err := newRawClient(j.Endpoint)
	if err != nil {
		return result{}, err
	}
	defer straight.Close()
	data := values(j.Size)
	return inTurns(j.Records, func(turn int) (time.Time, error) {
		err := client.ProduceSync(context.Background(), &kgo.Record{Value: data[turn%len(data)]}).FirstErr()
		return time.Now(), err
	}, func(turn int) (time.Time, error) {
		err := putOne(straight, j.Stream, data[turn%len(data)])
		return time.Now(), err
	})
}

func putOne(client *dis.Client, stream string, value []byte) error {
	now := time.Now().UnixMilli()
	return put(client, &wire.PutRecordsRequest{StreamName: stream, Records: []wire.PutRecord{
		{Data: value, PartitionID: wire.Text(wire.PartitionID(0)), Timestamp: &now},
	}})
}

// trips times a produce until a consumer, which waits in a fetch, has the record.
func trips(j job) (result, error) {
	client, err := loneClient(j, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{j.Topic: {0: kgo.NewOffset().AtStart()}}))
	if err != nil {
		return result{}, err
	}
	defer client.Close()
	straight, err := newRawClient(j.Endpoint)
	if err != nil {
		return result{}, err
	}
	defer straight.Close()
	ctx := context.Background()
	cursor, err := straight.GetCursor(ctx, dis.CursorRequest{StreamName: j.Stream, Type: wire.CursorTrimHorizon})
	if err != nil {
		return result{}, err
	}
	value := values(j.Size)[0]
	return inTurns(j.Records, func(turn int) (time.Time, error) {
		return tripThroughGateway(client, turn, value)
	}, func(int) (_ time.Time, err error) {
		cursor, err = tripDirect(straight, j.Stream, cursor, value)
		return time.Now(), err
	})
}

// tripThroughGateway gives the time at which the consumer has the record; the
// producer's acknowledgement is waited for too, so that turns do not overlap.
func tripThroughGateway(client *kgo.Client, turn int, value []byte) (arrived time.Time, err error) {
	ctx := context.Background()
	produced := make(chan error, 1)
	sent := binary.BigEndian.AppendUint64(nil, uint64(turn))
	sent = append(sent, value[len(sent):]...)
	client.Produce(ctx, &kgo.Record{Value: sent}, func(_ *kgo.Record, err error) { produced <- err })
	fetches := client.PollFetches(ctx)
	arrived = time.Now()
	if err := fetches.Err(); err != nil {
		return arrived, err
	}
	records := fetches.Records()
	if len(records) != 1 || string(records[0].Value) != string(sent) {
		return arrived, fmt.Errorf("%d records arrived, or another one", len(records))
	}
	return arrived, <-produced
}

func tripDirect(client *dis.Client, stream, cursor string, value []byte) (next string, err error) {
	if err := putOne(client, stream, value); err != nil {
		return "", err
	}
	answer, err := client.GetRecords(context.Background(), dis.GetRecordsRequest{Cursor: cursor, MaxBytes: readBytes})
	if err != nil {
		return "", err
	}
	if len(answer.Records) != 1 {
		return "", fmt.Errorf("%d records arrived", len(answer.Records))
	}
	return answer.NextPartitionCursor, nil
}
