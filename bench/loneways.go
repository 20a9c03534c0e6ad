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

func loneClient(j job, options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(j.Address), kgo.DefaultProduceTopic(j.Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0)}, options...)...)
}

// loneProduces times a produce until it is acknowledged, and, where the job has an
// endpoint of DIS, a write straight there.
func loneProduces(j job) (result, error) {
	client, err := loneClient(j)
	if err != nil {
		return result{}, err
	}
	defer client.Close()
	producer, err := newBareProducer(j.Address, j.bareTopic())
	if err != nil {
		return result{}, err
	}
	defer producer.Close()
	data := values(j.Size)
	value := func(turn int) []byte { return data[turn%len(data)] }
	ways := []loneWay{
		{withFranz, func(turn int) (time.Time, error) {
			err := client.ProduceSync(context.Background(), &kgo.Record{Value: value(turn)}).FirstErr()
			return time.Now(), err
		}},
		{bare, func(turn int) (time.Time, error) {
			err := producer.produce(value(turn))
			return time.Now(), err
		}},
	}
	if j.Endpoint == "" {
		return inTurns(j.Records, ways...)
	}
	straight, err := newRawClient(j.Endpoint)
	if err != nil {
		return result{}, err
	}
	defer straight.Close()
	return inTurns(j.Records, append(ways, loneWay{direct, func(turn int) (time.Time, error) {
		err := putOne(straight, j.Stream, value(turn))
		return time.Now(), err
	}})...)
}

func putOne(client *dis.Client, stream string, value []byte) error {
	now := time.Now().UnixMilli()
	return put(client, &wire.PutRecordsRequest{StreamName: stream, Records: []wire.PutRecord{
		{Data: value, PartitionID: wire.Text(wire.PartitionID(0)), Timestamp: &now},
	}})
}

// trips times a produce until a consumer, which waits in a fetch, has the record, and,
// where the job has an endpoint of DIS, a write and a read straight there.
func trips(j job) (result, error) {
	client, err := loneClient(j, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{j.Topic: {0: kgo.NewOffset().AtStart()}}))
	if err != nil {
		return result{}, err
	}
	defer client.Close()
	pair, err := newBarePair(j.Address, j.bareTopic())
	if err != nil {
		return result{}, err
	}
	defer pair.close()
	value := values(j.Size)[0]
	ways := []loneWay{
		{withFranz, func(turn int) (time.Time, error) { return tripWithFranz(client, numberedValue(turn, value)) }},
		{bare, func(turn int) (time.Time, error) { return pair.trip(numberedValue(turn, value)) }},
	}
	if j.Endpoint == "" {
		return inTurns(j.Records, ways...)
	}
	straight, err := newRawClient(j.Endpoint)
	if err != nil {
		return result{}, err
	}
	defer straight.Close()
	cursor, err := straight.GetCursor(context.Background(), dis.CursorRequest{StreamName: j.Stream, Type: wire.CursorTrimHorizon})
	if err != nil {
		return result{}, err
	}
	return inTurns(j.Records, append(ways, loneWay{direct, func(int) (_ time.Time, err error) {
		cursor, err = tripDirect(straight, j.Stream, cursor, value)
		return time.Now(), err
	}})...)
}

// numberedValue is the value with the turn in place of its first bytes.
func numberedValue(turn int, value []byte) []byte {
	numbered := binary.BigEndian.AppendUint64(nil, uint64(turn))
	return append(numbered, value[len(numbered):]...)
}

// tripWithFranz gives the time at which the consumer has the record; the
// producer's acknowledgement is waited for too, so that turns do not overlap.
func tripWithFranz(client *kgo.Client, sent []byte) (arrived time.Time, err error) {
	ctx := context.Background()
	produced := make(chan error, 1)
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
