package gateway

import (
	"context"

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
	return waiting(func(ctx context.Context, c *call, req *kmsg.DescribeLogDirsRequest) (kmsg.Response, error) {
		resp := kmsg.NewPtrDescribeLogDirsResponse()
		dir := kmsg.NewDescribeLogDirsResponseDir()
		dir.Dir = logDir
		if req.Topics == nil {
			all, err := catalog.Topics(ctx)
			if err != nil {
				code := translate.KafkaError(translate.CallDescribeConfigs, err).Code
				resp.ErrorCode, dir.ErrorCode = code, code // before version 3 only the second is sent
			}
			for _, topic := range all {
				dir.Topics = append(dir.Topics, logOf(topic, nil))
			}
		} else {
			dir.Topics = namedLogs(ctx, catalog, req.Topics)
		}
		resp.Dirs = append(resp.Dirs, dir)
		return resp, nil
	})
}

func namedLogs(ctx context.Context, catalog Catalog, wanted []kmsg.DescribeLogDirsRequestTopic) []kmsg.DescribeLogDirsResponseDirTopic {
	found := make([]*translate.Topic, len(wanted))
	inParallel(len(wanted), topicLookups, func(i int) {
		// What is not there, or not known now, is left out.
		found[i], _ = catalog.Topic(ctx, wanted[i].Topic)
	})
	var logs []kmsg.DescribeLogDirsResponseDirTopic
	for i, topic := range found {
		if topic == nil {
			continue
		}
		only := map[int32]bool{}
		for _, p := range wanted[i].Partitions {
			only[p] = true
		}
		logs = append(logs, logOf(topic, only))
	}
	return logs
}

// logOf describes the partitions of a topic, all or only some.
func logOf(topic *translate.Topic, only map[int32]bool) kmsg.DescribeLogDirsResponseDirTopic {
	described := kmsg.NewDescribeLogDirsResponseDirTopic()
	described.Topic = topic.Name
	for i, p := range topic.Partitions {
		if !p.Readable() || only != nil && !only[int32(i)] {
			continue
		}
		partition := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		partition.Partition = int32(i)
		described.Partitions = append(described.Partitions, partition)
	}
	return described
}
