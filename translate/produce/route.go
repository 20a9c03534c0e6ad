package produce

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// streamKey tells streams apart, also one from its successor of the same name.
type streamKey struct{ name, id string }

type partitionKey struct {
	stream streamKey
	number int32
}

func keyOf(topic *translate.Topic) streamKey {
	return streamKey{name: topic.StreamName, id: topic.StreamID}
}

// route gives the partition of the stream that a batch is written to: its own,
// or, where a scale-down has retired that, one of the active ones, always the
// same for the same set of active ones.
func route(topic *translate.Topic, partition int32) (target int32, trouble *Result) {
	if partition < 0 || int(partition) >= len(topic.Partitions) {
		result := failed(kerr.UnknownTopicOrPartition.Code,
			fmt.Sprintf("topic %q has no partition %d, it has %d", topic.Name, partition, len(topic.Partitions)))
		return 0, &result
	}
	if topic.Partitions[partition].Status == wire.PartitionActive {
		return partition, nil
	}
	var active []int32
	for i, p := range topic.Partitions {
		if p.Status == wire.PartitionActive {
			active = append(active, int32(i))
		}
	}
	if len(active) == 0 {
		result := failed(kerr.LeaderNotAvailable.Code, fmt.Sprintf("topic %q has no active partition", topic.Name))
		return 0, &result
	}
	return active[int(partition)%len(active)], nil
}

// noteMoved counts a batch for a retired partition and names the partition in
// the log the first time since it was active.
func (e *Engine) noteMoved(topic string, from partitionKey, target int32) {
	e.metrics.movedBatches.Add(1)
	if e.movedLogged[from] {
		return
	}
	e.movedLogged[from] = true
	e.log.Warn().Str("topic", topic).Int32("partition", from.number).Int32("written_to", target).
		Msg("partition was retired by a scale-down; what producers send there is written to an active one")
}
