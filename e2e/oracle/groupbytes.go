package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// bytes shows a field of bytes: what a consumer subscribes to and is assigned by
// its meaning.
func (d *describer) bytes(name string, value []byte) string {
	switch name {
	case "ProtocolMetadata":
		meta := kmsg.NewConsumerMemberMetadata()
		if err := meta.ReadFrom(value); err == nil {
			return d.subscription(meta)
		}
	case "MemberAssignment":
		assigned := kmsg.NewConsumerMemberAssignment()
		if err := assigned.ReadFrom(value); err == nil {
			return d.assigned(assigned)
		}
	}
	return d.r.names.clean(blob(value))
}

func (d *describer) subscription(meta kmsg.ConsumerMemberMetadata) string {
	topics := slices.Sorted(slices.Values(meta.Topics))
	return d.r.names.clean(fmt.Sprintf("v%d(%s)", meta.Version, strings.Join(topics, ",")))
}

func (d *describer) assigned(assigned kmsg.ConsumerMemberAssignment) string {
	var topics []string
	for _, t := range assigned.Topics {
		partitions := slices.Sorted(slices.Values(t.Partitions))
		topics = append(topics, fmt.Sprintf("%s%v", t.Topic, partitions))
	}
	slices.Sort(topics)
	return d.r.names.clean("(" + strings.Join(topics, ",") + ")")
}
