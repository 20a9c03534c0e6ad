package doctor

import (
	"fmt"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// partitions counts the partitions of a stream by what can be done with them.
type partitions struct {
	active, retired, expired, creating int
	readable                           []readable
	records                            int64 // readable ones
}

// readable is a partition with its numbers.
type readable struct {
	number int
	at     wire.SequenceRange
}

func countPartitions(all []wire.PartitionResponse) (partitions, error) {
	var p partitions
	for _, one := range all {
		switch one.Status {
		case wire.PartitionActive:
			p.active++
		case wire.PartitionDeleted:
			p.retired++
		case wire.PartitionExpired:
			p.expired++
			continue
		default:
			p.creating++
			continue
		}
		number, err := wire.ParsePartitionID(one.PartitionID)
		if err != nil {
			return p, err
		}
		if one.SequenceNumberRange == nil {
			return p, fmt.Errorf("partition %d is %s and has no sequence numbers", number, one.Status)
		}
		at, err := wire.ParseSequenceRange(*one.SequenceNumberRange)
		if err != nil {
			return p, fmt.Errorf("partition %d: %w", number, err)
		}
		p.readable = append(p.readable, readable{number, at})
		p.records += at.Next - at.Oldest
	}
	return p, nil
}

func (p partitions) String() string {
	text := plural(p.active, "partition")
	for _, other := range []struct {
		n    int
		what string
	}{
		{p.retired, "retired, still readable"}, {p.expired, "EXPIRED, without leader for clients"}, {p.creating, "being made"},
	} {
		if other.n > 0 {
			text += fmt.Sprintf(" and %d %s", other.n, other.what)
		}
	}
	return text + "; " + plural(p.records, "record") + p.ranges()
}

// shownRanges is for how many partitions the numbers are shown.
const shownRanges = 3

// ranges are the oldest and the next offset of each partition, of a few.
func (p partitions) ranges() string {
	if len(p.readable) > shownRanges {
		return ""
	}
	var texts []string
	for _, one := range p.readable {
		texts = append(texts, fmt.Sprintf("%d: %s", one.number, one.at))
	}
	return " (" + strings.Join(texts, ", ") + ")"
}
