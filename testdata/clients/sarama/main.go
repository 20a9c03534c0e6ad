// Command sarama is the client program of IBM/sarama, with its default settings
// but for what the command line and its API demand.
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

func main() { records.Main(client{}) }

type client struct{}

func (client) Produce(_ context.Context, command records.Produce, out *records.Output) error {
	if err := command.Plain(); err != nil {
		return err
	}
	config := sarama.NewConfig()
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.MaxMessageBytes = records.MaxBytes
	if err := config.Producer.Compression.UnmarshalText([]byte(command.Codec)); err != nil {
		return err
	}
	producer, err := sarama.NewSyncProducer([]string{command.Bootstrap}, config)
	if err != nil {
		return err
	}
	defer producer.Close()
	var sent []*sarama.ProducerMessage
	for _, r := range command.Records {
		sent = append(sent, toSarama(command.Topic, r))
	}
	err = producer.SendMessages(sent)
	var refused sarama.ProducerErrors
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	for i, m := range sent {
		if at := slices.IndexFunc(refused, func(e *sarama.ProducerError) bool { return e.Msg == m }); at >= 0 {
			out.Refused(refused[at].Err)
			continue
		}
		stored := command.Records[i]
		stored.Topic, stored.Partition, stored.Offset = m.Topic, m.Partition, m.Offset
		out.Record(stored)
	}
	return nil
}

func toSarama(topic string, r records.Record) *sarama.ProducerMessage {
	m := &sarama.ProducerMessage{Topic: topic, Partition: r.Partition, Timestamp: time.UnixMilli(r.Timestamp)}
	if r.Key != nil {
		m.Key = sarama.ByteEncoder(r.Key)
	}
	if r.Value != nil {
		m.Value = sarama.ByteEncoder(r.Value)
	}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte(h.Key), Value: h.Value})
	}
	return m
}

func (client) Consume(_ context.Context, command records.Consume, out *records.Output) error {
	consumer, err := sarama.NewConsumer([]string{command.Bootstrap}, nil)
	if err != nil {
		return err
	}
	defer consumer.Close()
	messages := make(chan *sarama.ConsumerMessage)
	enough := make(chan struct{})
	var forwarders sync.WaitGroup
	defer forwarders.Wait()
	defer close(enough)
	for _, topic := range command.Topics {
		partitions, err := consumer.Partitions(topic)
		if err != nil {
			return fmt.Errorf("partitions of %s: %w", topic, err)
		}
		for _, p := range partitions {
			partition, err := consumer.ConsumePartition(topic, p, sarama.OffsetOldest)
			if err != nil {
				return fmt.Errorf("%s/%d: %w", topic, p, err)
			}
			forwarders.Go(func() { forward(partition, messages, enough) })
		}
	}
	for range command.Count {
		out.Record(fromSarama(<-messages))
	}
	return nil
}

// forward passes messages on until there were enough.
func forward(partition sarama.PartitionConsumer, to chan<- *sarama.ConsumerMessage, enough <-chan struct{}) {
	defer partition.AsyncClose()
	for {
		select {
		case m := <-partition.Messages():
			select {
			case to <- m:
			case <-enough:
				return
			}
		case <-enough:
			return
		}
	}
}

func fromSarama(m *sarama.ConsumerMessage) records.Record {
	r := records.Record{Topic: m.Topic, Partition: m.Partition, Offset: m.Offset,
		Timestamp: m.Timestamp.UnixMilli(), Key: m.Key, Value: m.Value}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, records.Header{Key: string(h.Key), Value: h.Value})
	}
	return r
}
