package gateway

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// logDir is the one place where this broker seems to keep records.
const logDir = "dis"

// DescribeLogDirs
//
//	v0 (KIP-113)
//	v1 throttling after the reply (KIP-219), same layout
//	v2 flexible
//	v3 error of the whole reply
//	v4 (KIP-827) size and free space of the volume
//	v5 (KIP-1066) whether no new partition is put there
//
// The answer has every partition that can be read, each of 0 bytes: that is what
// the gateway keeps of it, and DIS tells no size of what it keeps itself. Tools
// add these numbers up, so that -1, which means unknown for the volume, would be
// taken for a number too. Partitions that are not there are left out, as in Kafka.
func handleDescribeLogDirs(catalog Catalog) handler {
	return waiting(func(ctx context.Context, _ *call, req *kmsg.DescribeLogDirsRequest) (kmsg.Response, error) {
		resp := kmsg.NewPtrDescribeLogDirsResponse()
		dir := kmsg.NewDescribeLogDirsResponseDir()
		dir.Dir = logDir
		var err error
		if req.Topics != nil {
			dir.Topics = namedLogs(ctx, catalog, req.Topics)
		} else if dir.Topics, err = allLogs(ctx, catalog); err != nil {
			code := translate.KafkaError(translate.CallDescribeConfigs, err).Code
			resp.ErrorCode, dir.ErrorCode = code, code // before version 3 there is only the second
		}
		resp.Dirs = append(resp.Dirs, dir)
		return resp, nil
	})
}

func allLogs(ctx context.Context, catalog Catalog) (logs []kmsg.DescribeLogDirsResponseDirTopic, err error) {
	all, err := catalog.Topics(ctx)
	for _, topic := range all {
		logs = appendLog(logs, topic, nil)
	}
	return logs, err
}

func namedLogs(ctx context.Context, catalog Catalog, wanted []kmsg.DescribeLogDirsRequestTopic) (logs []kmsg.DescribeLogDirsResponseDirTopic) {
	found := make([]*translate.Topic, len(wanted))
	inParallel(len(wanted), topicLookups, func(i int) {
		// What is not there, or not known now, is left out.
		found[i], _ = catalog.Topic(ctx, wanted[i].Topic)
	})
	for i, topic := range found {
		if topic != nil {
			logs = appendLog(logs, topic, func(partition int32) bool { return slices.Contains(wanted[i].Partitions, partition) })
		}
	}
	return logs
}

// appendLog adds the partitions of a topic, all (nil) or only some, if there are any.
func appendLog(logs []kmsg.DescribeLogDirsResponseDirTopic, topic *translate.Topic, only func(int32) bool) []kmsg.DescribeLogDirsResponseDirTopic {
	log := kmsg.NewDescribeLogDirsResponseDirTopic()
	log.Topic = topic.Name
	for i, p := range topic.Partitions {
		if !p.Readable() || only != nil && !only(int32(i)) {
			continue
		}
		partition := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		partition.Partition = int32(i)
		log.Partitions = append(log.Partitions, partition)
	}
	if len(log.Partitions) == 0 {
		return logs
	}
	return append(logs, log)
}
