package groupcoord

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// errCustomAssignor: the assignor of a classic group keeps data of its own with the
// assignment, which the assignors here would lose.
var errCustomAssignor = errors.New("the assignment carries data of a custom assignor")

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

// readAssignment decodes what the leader of a classic group gave a member. Topics
// that do not exist are left out, but not partitions: one that is gone may come back
// while the member still uses it.
func readAssignment(encoded []byte, topics map[string]Topic) (partitionSet, error) {
	set := make(partitionSet)
	if len(encoded) == 0 {
		return set, nil
	}
	var a kmsg.ConsumerMemberAssignment
	if err := a.ReadFrom(encoded); err != nil {
		return nil, fmt.Errorf("assignment of a classic consumer: %w", err)
	}
	if len(a.UserData) > 0 {
		return nil, errCustomAssignor
	}
	for _, at := range a.Topics {
		t, ok := topics[at.Topic]
		for _, p := range at.Partitions {
			if ok {
				set.add(partitionID{t.ID, p})
			}
		}
	}
	return set, nil
}

// assignedNames are the topics in an assignment; none if it cannot be read.
func assignedNames(encoded []byte) []string {
	var a kmsg.ConsumerMemberAssignment
	if len(encoded) == 0 || a.ReadFrom(encoded) != nil {
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

// errOtherProtocol: what a classic group that has no consumers assigns is not known.
var errOtherProtocol = errors.New("its members are not consumers")
