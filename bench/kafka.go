package main

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// produceKafka writes with franz-go's default settings, records spread evenly
// over the partitions.
func produceKafka(j job) (time.Duration, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(j.Address), kgo.DefaultProduceTopic(j.Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	if err := client.Ping(context.Background()); err != nil {
		return 0, err
	}
	var (
		once    sync.Once
		failure error
	)
	data := values(j.Size)
	begin := time.Now()
	for i := range j.Records {
		record := &kgo.Record{Partition: int32(i % j.Partitions), Value: data[i%len(data)]}
		client.Produce(context.Background(), record, func(_ *kgo.Record, err error) {
			if err != nil {
				once.Do(func() { failure = err })
			}
		})
	}
	if err := client.Flush(context.Background()); err != nil {
		return 0, err
	}
	return time.Since(begin), failure
}

// consumeKafka reads all records with franz-go's default settings.
func consumeKafka(j job) (time.Duration, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(j.Address), kgo.ConsumeTopics(j.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	begin := time.Now()
	for got := 0; got < j.Records; {
		fetches := client.PollFetches(context.Background())
		if err := fetches.Err(); err != nil {
			return 0, err
		}
		got += fetches.NumRecords()
	}
	return time.Since(begin), nil
}
