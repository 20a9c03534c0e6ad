// Command kafka-go is the client program of segmentio/kafka-go: a Writer that
// waits for acknowledgements, and a Reader for every partition.
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

func main() { records.Main(client{}) }

type client struct{}

// explicit is a balancer that takes the partition from the message.
type explicit struct{}

func (explicit) Balance(m kafka.Message, _ ...int) int { return m.WriterData.(int) }

func (client) Produce(ctx context.Context, command records.Produce, out *records.Output) error {
	if err := command.Plain(); err != nil {
		return err
	}
	var codec kafka.Compression
	if command.Codec != "none" {
		if err := codec.UnmarshalText([]byte(command.Codec)); err != nil {
			return err
		}
	}
	transport := &kafka.Transport{} // the common one may not know a new topic yet
	defer transport.CloseIdleConnections()
	var mu sync.Mutex
	var acknowledged []kafka.Message
	writer := &kafka.Writer{
		Addr: kafka.TCP(command.Bootstrap), Topic: command.Topic, RequiredAcks: kafka.RequireAll,
		Compression: codec, Balancer: explicit{}, BatchTimeout: 20 * time.Millisecond, Transport: transport,
		BatchBytes: records.MaxBytes,
		Completion: func(messages []kafka.Message, err error) {
			if err != nil {
				return // WriteMessages reports it
			}
			mu.Lock()
			defer mu.Unlock()
			acknowledged = append(acknowledged, slices.Clone(messages)...)
		},
	}
	var sent []kafka.Message
	for _, r := range command.Records {
		sent = append(sent, toKafkaGo(r))
	}
	err := writer.WriteMessages(ctx, sent...)
	if closed := writer.Close(); closed != nil { // waits for the completions
		return closed
	}
	for _, m := range acknowledged {
		out.Record(fromKafkaGo(m))
	}
	var refused kafka.WriteErrors
	if !errors.As(err, &refused) {
		return err
	}
	for _, reason := range refused {
		if reason != nil {
			out.Refused(reason)
		}
	}
	return nil
}

func (client) Consume(ctx context.Context, command records.Consume, out *records.Output) error {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	conn, err := kafka.DialContext(ctx, "tcp", command.Bootstrap)
	if err != nil {
		return err
	}
	defer conn.Close()
	partitions, err := conn.ReadPartitions(command.Topics...)
	if err != nil {
		return fmt.Errorf("partitions: %w", err)
	}
	messages := make(chan kafka.Message)
	var readers sync.WaitGroup
	for _, p := range partitions {
		readers.Go(func() { read(ctx, command.Bootstrap, p, messages) })
	}
	for range command.Count {
		out.Record(fromKafkaGo(<-messages))
	}
	enough()
	readers.Wait()
	return nil
}

// read passes the messages of a partition on until ctx ends.
func read(ctx context.Context, bootstrap string, p kafka.Partition, messages chan<- kafka.Message) {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{bootstrap}, Topic: p.Topic, Partition: p.ID,
		MaxWait: 500 * time.Millisecond, // Close waits for the fetch that runs
	})
	defer reader.Close()
	for {
		m, err := reader.ReadMessage(ctx)
		if err != nil {
			return
		}
		select {
		case messages <- m:
		case <-ctx.Done():
			return
		}
	}
}

func toKafkaGo(r records.Record) kafka.Message {
	m := kafka.Message{WriterData: int(r.Partition), Time: time.UnixMilli(r.Timestamp), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, kafka.Header(h))
	}
	return m
}

func fromKafkaGo(m kafka.Message) records.Record {
	r := records.Record{Topic: m.Topic, Partition: int32(m.Partition), Offset: m.Offset,
		Timestamp: m.Time.UnixMilli(), Key: m.Key, Value: m.Value}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, records.Header(h))
	}
	return r
}
