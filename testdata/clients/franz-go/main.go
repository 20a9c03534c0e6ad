// Command franz-go is the client program of franz-go, with its default settings
// but for what the command line decides.
package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

func main() { records.Main(franz{}) }

type franz struct{}

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func (franz) Produce(ctx context.Context, command records.Produce, out *records.Output) error {
	codec, ok := codecs[command.Codec]
	if !ok {
		return fmt.Errorf("no codec %s", command.Codec)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(command.Bootstrap), kgo.ProducerBatchCompression(codec),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(records.MaxBytes))
	if err != nil {
		return err
	}
	defer client.Close()
	// The producer is idempotent unless that is switched off.
	results := make([]kgo.ProduceResult, len(command.Records))
	var pending sync.WaitGroup
	pending.Add(len(results))
	begin := time.Now()
	for i, r := range command.Records {
		command.Wait(begin, i)
		client.Produce(ctx, toFranz(command.Topic, r), func(stored *kgo.Record, err error) {
			results[i] = kgo.ProduceResult{Record: stored, Err: err}
			pending.Done()
		})
	}
	pending.Wait()
	for _, result := range results {
		if result.Err != nil {
			out.Refused(result.Err)
		} else {
			out.Record(fromFranz(result.Record))
		}
	}
	return nil
}

func (franz) Consume(ctx context.Context, command records.Consume, out *records.Output) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(command.Bootstrap), kgo.ConsumeTopics(command.Topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	defer client.Close()
	for read := 0; read < command.Count; {
		fetches := client.PollRecords(ctx, command.Count-read)
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) { out.Record(fromFranz(r)) })
		read += fetches.NumRecords()
	}
	return nil
}
