package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

func (franz) Load(ctx context.Context, load records.Load, tally *records.Tally) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(load.Bootstrap), kgo.DefaultProduceTopic(load.Topic))
	if err != nil {
		return err
	}
	defer client.Close()
	load.Each(func(key, value []byte) {
		client.Produce(ctx, kgo.KeySliceRecord(key, value), func(_ *kgo.Record, err error) { tally.Answered(err) })
	})
	return client.Flush(ctx)
}
