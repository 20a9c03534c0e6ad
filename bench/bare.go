package main

import (
	"bytes"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// bareFetchWait is how long a fetch of a bare consumer waits for records.
const bareFetchWait = 5 * time.Second

// bareProducer writes to partition 0 of a topic without a client library.
type bareProducer struct {
	*connection
	topic string
}

func newBareProducer(address, topic string) (*bareProducer, error) {
	c, err := connect(address)
	return &bareProducer{c, topic}, err
}

// produce writes one record and waits until it is acknowledged.
func (p *bareProducer) produce(value []byte) error {
	batch, err := record.AppendBatch(nil, record.CodecNone, []record.Positioned{
		{Record: record.Record{Value: value, Timestamp: time.Now().UnixMilli()}},
	})
	if err != nil {
		return err
	}
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, -1, 10_000
	topic, partition := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	partition.Records = batch
	topic.Topic, topic.Partitions = p.topic, append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)
	resp, err := ask[*kmsg.ProduceResponse](p.connection, req)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

// barePair is a producer, and a consumer of the same topic that always waits in a
// fetch.
type barePair struct {
	producer *bareProducer
	consumer *connection
	fetched  chan fetched
}

// fetched is what one fetch brought, and when.
type fetched struct {
	records []byte
	at      time.Time
	err     error
}

func newBarePair(address, topic string) (*barePair, error) {
	producer, err := newBareProducer(address, topic)
	if err != nil {
		return nil, err
	}
	consumer, err := connect(address)
	if err != nil {
		producer.Close()
		return nil, err
	}
	p := &barePair{producer, consumer, make(chan fetched, 1)}
	go p.follow()
	return p, nil
}

// close ends the consumer too, by its connection.
func (p *barePair) close() {
	p.producer.Close()
	p.consumer.Close()
}

// follow fetches record after record, from the first one of the topic on.
func (p *barePair) follow() {
	for next := int64(0); ; {
		f := p.fetch(next)
		if f.err == nil && len(f.records) == 0 {
			continue // the wait was over
		}
		p.fetched <- f
		if f.err != nil {
			return
		}
		next++
	}
}

func (p *barePair) fetch(offset int64) fetched {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxWaitMillis, req.MinBytes, req.SessionEpoch = 12, int32(bareFetchWait.Milliseconds()), 1, -1
	topic, partition := kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
	partition.FetchOffset, partition.PartitionMaxBytes = offset, 1<<20
	topic.Topic, topic.Partitions = p.producer.topic, append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)
	resp, err := ask[*kmsg.FetchResponse](p.consumer, req)
	f := fetched{at: time.Now(), err: err}
	if err == nil {
		answer := &resp.Topics[0].Partitions[0]
		f.records, f.err = answer.RecordBatches, kerr.ErrorForCode(answer.ErrorCode)
	}
	return f
}

// trip gives the time at which the consumer has the record.
func (p *barePair) trip(value []byte) (arrived time.Time, err error) {
	if err := p.producer.produce(value); err != nil {
		return time.Time{}, err
	}
	f := <-p.fetched
	if f.err == nil && !bytes.Contains(f.records, value) {
		f.err = errors.New("another record arrived, or several")
	}
	return f.at, f.err
}
