package gateway

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
)

// ListOffsets
//
//	v0 several offsets before a time, newest first
//	v1 (KIP-79) one offset and its timestamp; none found is -1, not an error
//	v2 isolation level, throttle time
//	v3 throttling after the reply (KIP-219), same layout
//	v4 (KIP-320) leader epochs, here always -1
//	v5 OFFSET_NOT_AVAILABLE, same layout
//	v6 flexible
//
// v0 looked for log segments that are older than a time. DIS shows none, so a
// time gives the first record at or after it, which is what v1 gives.
func handleListOffsets(catalog Catalog, fetcher Fetcher) handler {
	return waiting(func(ctx context.Context, _ *call, req *kmsg.ListOffsetsRequest) (kmsg.Response, error) {
		resp := kmsg.NewPtrListOffsetsResponse()
		var lookups []func()
		named := map[topicPartition]int{}
		for _, t := range req.Topics {
			for _, part := range t.Partitions {
				named[topicPartition{t.Topic, part.Partition}]++
			}
		}
		for _, t := range req.Topics {
			topic := kmsg.NewListOffsetsResponseTopic()
			topic.Topic = t.Topic
			partitions, _ := onceEach(t.Partitions, func(p kmsg.ListOffsetsRequestTopicPartition) int32 { return p.Partition })
			topic.Partitions = make([]kmsg.ListOffsetsResponseTopicPartition, len(partitions))
			for i, part := range partitions {
				answer := &topic.Partitions[i]
				answer.Default()
				answer.Partition = part.Partition
				if named[topicPartition{t.Topic, part.Partition}] > 1 {
					answer.ErrorCode = invalidRequest // which times are meant?
					continue
				}
				l := offsetLookup{catalog, fetcher, t.Topic, part, req.Version}
				lookups = append(lookups, func() { l.run(ctx, answer) })
			}
			resp.Topics = append(resp.Topics, topic)
		}
		inParallel(len(lookups), maxLookups, func(i int) { lookups[i]() })
		return resp, nil
	})
}

type topicPartition struct {
	topic     string
	partition int32
}

// offsetLookup is the lookup of one partition.
type offsetLookup struct {
	catalog Catalog
	fetcher Fetcher
	topic   string
	part    kmsg.ListOffsetsRequestTopicPartition
	version int16
}

func (l offsetLookup) run(ctx context.Context, answer *kmsg.ListOffsetsResponseTopicPartition) {
	topic, err := l.catalog.Topic(ctx, l.topic)
	switch {
	case err != nil:
		answer.ErrorCode = translate.KafkaError(translate.CallListOffsets, err).Code
	case l.part.Partition < 0 || int(l.part.Partition) >= len(topic.Partitions):
		answer.ErrorCode = unknownTopicOrPartition
	case l.part.Timestamp < fetch.Earliest: // -3 and below came with versions that are not offered
		answer.ErrorCode = unsupportedVersion
	case l.version == 0:
		answer.OldStyleOffsets, err = l.several(ctx, topic)
		answer.ErrorCode = translate.KafkaError(translate.CallListOffsets, err).Code
	default:
		listed, err := l.fetcher.ListOffset(ctx, topic, l.part.Partition, l.part.Timestamp)
		if err != nil {
			answer.ErrorCode = translate.KafkaError(translate.CallListOffsets, err).Code
			return
		}
		answer.Offset, answer.Timestamp = listed.Offset, listed.Timestamp
	}
}

// several is the answer of v0: the offset asked for and, when more are wanted,
// the start of the log.
func (l offsetLookup) several(ctx context.Context, topic *translate.Topic) ([]int64, error) {
	if l.part.MaxNumOffsets < 1 {
		return nil, nil
	}
	first, err := l.fetcher.ListOffset(ctx, topic, l.part.Partition, l.part.Timestamp)
	if err != nil || first.Offset < 0 {
		return nil, err
	}
	if l.part.Timestamp == fetch.Earliest || l.part.MaxNumOffsets == 1 {
		return []int64{first.Offset}, nil
	}
	start, err := l.fetcher.ListOffset(ctx, topic, l.part.Partition, fetch.Earliest)
	if err != nil {
		return nil, err
	}
	if start.Offset >= first.Offset {
		return []int64{first.Offset}, nil
	}
	return []int64{first.Offset, start.Offset}, nil
}
