package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// beyond is how far behind every end the watcher asks, to see whether what it
// asks for changes what it is told.
const beyond = 1_000_000

// watcherName is its client id.
const watcherName = "watcher"

// watch looks at the ends of partitions until ctx ends: by ListOffsets, and by a
// Fetch from within the partition, at its end and far beyond. It speaks versions
// in which topics have names.
func watch(ctx context.Context, broker string, seed uint64, partitions *atomic.Int32, r *recorder) error {
	client, err := kgo.NewClient(append(clientOptions(broker, watcherName), kgo.RequestRetries(0), kgo.MaxVersions(kversion.V2_3_0()))...)
	if err != nil {
		return err
	}
	defer client.Close()
	random := rand.New(rand.NewPCG(seed, 77))
	high := map[int32]int64{}
	for ctx.Err() == nil {
		partition := random.Int32N(partitions.Load())
		v := view{Partition: partition, Asked: time.Now()}
		var answered bool
		switch random.IntN(4) {
		case 0:
			v.Offset = -1
			answered = askList(ctx, client, &v)
		case 1:
			v.Offset = random.Int64N(high[partition] + 1)
			answered = askFetch(ctx, client, &v)
		case 2:
			v.Offset = high[partition]
			answered = askFetch(ctx, client, &v)
		case 3:
			v.Offset = high[partition] + beyond
			answered = askFetch(ctx, client, &v)
		}
		v.Answered = time.Now()
		if answered {
			if v.Code == 0 && v.High < high[partition]+beyond/2 {
				high[partition] = max(high[partition], v.High)
			}
			r.looked(v)
		}
		select {
		case <-time.After(30 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return nil
}

// broker is the id of the only one.
const broker = 1

// askFetch is false when there was no answer.
func askFetch(ctx context.Context, client *kgo.Client, v *view) bool {
	request := kmsg.NewPtrFetchRequest()
	request.ReplicaID, request.MaxWaitMillis, request.MinBytes, request.MaxBytes = -1, 100, 1, 10_000
	request.SessionEpoch = -1
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = v.Partition, v.Offset, 10_000
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.FetchRequestTopicPartition{part}
	request.Topics = []kmsg.FetchRequestTopic{t}
	answer, err := client.Broker(broker).Request(ctx, request)
	if err != nil {
		return false
	}
	response := answer.(*kmsg.FetchResponse)
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return false
	}
	p := &response.Topics[0].Partitions[0]
	v.Code, v.High = p.ErrorCode, p.HighWatermark
	return true
}

func askList(ctx context.Context, client *kgo.Client, v *view) bool {
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID = -1
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.Timestamp = v.Partition, -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.ListOffsetsRequestTopicPartition{part}
	request.Topics = []kmsg.ListOffsetsRequestTopic{t}
	answer, err := client.Broker(broker).Request(ctx, request)
	if err != nil {
		return false
	}
	response := answer.(*kmsg.ListOffsetsResponse)
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return false
	}
	p := &response.Topics[0].Partitions[0]
	v.Code, v.High = p.ErrorCode, p.Offset
	return true
}

// waitPartitions waits until metadata shows so many partitions.
func waitPartitions(ctx context.Context, address string, count int) error {
	client, err := kgo.NewClient(clientOptions(address, "partitions")...)
	if err != nil {
		return err
	}
	defer client.Close()
	request := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	request.Topics = []kmsg.MetadataRequestTopic{t}
	seen := 0
	for {
		answer, err := client.Request(ctx, request)
		if err == nil && len(answer.(*kmsg.MetadataResponse).Topics) == 1 {
			seen = len(answer.(*kmsg.MetadataResponse).Topics[0].Partitions)
		}
		if seen >= count {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("metadata shows %d, last error: %w", seen, err)
		}
	}
}
