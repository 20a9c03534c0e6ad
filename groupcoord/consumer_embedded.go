package groupcoord

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Why a classic group cannot become one of the consumer protocol.
var (
	// errOtherProtocol: what a group that has no consumers assigns is not known.
	errOtherProtocol = errors.New("its members are not consumers")
	// errCustomAssignor: the assignor keeps data of its own with the assignment, which
	// the assignors here would lose.
	errCustomAssignor = errors.New("the assignment carries data of a custom assignor")
)

// readSubscription decodes the metadata that a classic consumer joins with.
func readSubscription(metadata []byte) (*kmsg.ConsumerMemberMetadata, error) {
	var s kmsg.ConsumerMemberMetadata
	if err := s.ReadFrom(metadata); err != nil {
		return nil, fmt.Errorf("subscription of a classic consumer: %w", err)
	}
	return &s, nil
}

// ownedByName are the partitions that a classic consumer says it has. One that does
// not say so, as all do before the cooperative protocol, has given up everything.
func ownedByName(s *kmsg.ConsumerMemberMetadata, topics map[string]Topic) partitionSet {
	owned := make(partitionSet)
	for _, o := range s.OwnedPartitions {
		if t, ok := topics[o.Topic]; ok {
			for _, p := range o.Partitions {
				owned.add(partitionID{t.ID, p})
			}
		}
	}
	return owned
}

// ownedNames are the topics of which a classic consumer says it has partitions.
func ownedNames(s *kmsg.ConsumerMemberMetadata) []string {
	var names []string
	for _, o := range s.OwnedPartitions {
		names = append(names, o.Topic)
	}
	return names
}

// readAssignment decodes what the leader of a classic group gave a member: nothing
// if it was not named.
func readAssignment(encoded []byte) (a kmsg.ConsumerMemberAssignment, err error) {
	if len(encoded) == 0 {
		return a, nil
	}
	if err := a.ReadFrom(encoded); err != nil {
		return a, fmt.Errorf("assignment of a classic consumer: %w", err)
	}
	return a, nil
}

// assignedPartitions are those of an assignment. Topics that do not exist are left
// out, but not partitions: one that is gone may come back while the member still uses
// it.
func assignedPartitions(encoded []byte, topics map[string]Topic) (partitionSet, error) {
	a, err := readAssignment(encoded)
	if err != nil {
		return nil, err
	}
	if len(a.UserData) > 0 {
		return nil, errCustomAssignor
	}
	set := make(partitionSet)
	for _, at := range a.Topics {
		if t, ok := topics[at.Topic]; ok {
			for _, p := range at.Partitions {
				set.add(partitionID{t.ID, p})
			}
		}
	}
	return set, nil
}

// assignedNames are the topics in an assignment; none if it cannot be read.
func assignedNames(encoded []byte) []string {
	a, err := readAssignment(encoded)
	if err != nil {
		return nil
	}
	var names []string
	for _, t := range a.Topics {
		names = append(names, t.Topic)
	}
	return names
}

// writeAssignment encodes partitions for a classic consumer, at the version of its
// subscription.
func writeAssignment(set partitionSet, names map[topicID]string, version int16) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	a.Version = version
	for _, t := range set.byTopic() {
		if name, ok := names[t.topic]; ok {
			at := kmsg.NewConsumerMemberAssignmentTopic()
			at.Topic, at.Partitions = name, t.partitions
			a.Topics = append(a.Topics, at)
		}
	}
	return a.AppendTo(nil)
}
