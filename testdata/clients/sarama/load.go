package main

import (
	"context"
	"sync"

	"github.com/IBM/sarama"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

func (client) Load(_ context.Context, load records.Load, tally *records.Tally) error {
	config := sarama.NewConfig()
	config.Producer.Return.Successes = true // to be counted
	producer, err := sarama.NewAsyncProducer([]string{load.Bootstrap}, config)
	if err != nil {
		return err
	}
	var answers sync.WaitGroup
	answers.Go(func() {
		for range producer.Successes() {
			tally.Answered(nil)
		}
	})
	answers.Go(func() {
		for failed := range producer.Errors() {
			tally.Answered(failed.Err)
		}
	})
	load.Each(func(key, value []byte) {
		producer.Input() <- &sarama.ProducerMessage{Topic: load.Topic, Key: sarama.ByteEncoder(key), Value: sarama.ByteEncoder(value)}
	})
	producer.AsyncClose()
	answers.Wait()
	return nil
}
