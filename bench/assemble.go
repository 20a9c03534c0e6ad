package main

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// The first heartbeat of a member whose group is not complete yet comes at
	// once; each further one after twice the rest of the one before.
	firstRest, longestRest = 2 * time.Millisecond, 128 * time.Millisecond

	groupTopic = "coordinated"
	// groupPartitions are those of the topic: one for each member of the largest group.
	groupPartitions = 100
)

// assemble joins until all members of the group are in one generation and this
// one has its assignment.
func (m *member) assemble() error {
	for {
		joined, err := m.join()
		if err != nil {
			return fmt.Errorf("JoinGroup: %w", err)
		}
		rebalances, err := m.sync(joined)
		if err != nil {
			return fmt.Errorf("SyncGroup: %w", err)
		}
		if !rebalances {
			rebalances, err = m.awaitOthers()
		}
		if err != nil || !rebalances {
			return err
		}
	}
}

func (m *member) join() (*kmsg.JoinGroupResponse, error) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version, req.Group, req.ProtocolType = 9, m.group.name, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(memberSession.Milliseconds()), int32(memberSession.Milliseconds())
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name, protocol.Metadata = "range", memberMetadata
	req.Protocols = append(req.Protocols, protocol)
	for {
		req.MemberID = m.id
		resp, err := ask[*kmsg.JoinGroupResponse](m.connection, req)
		switch {
		case err != nil:
			return nil, err
		case resp.ErrorCode == kerr.MemberIDRequired.Code:
			m.id = resp.MemberID
		case notReady(resp.ErrorCode):
			time.Sleep(notReadyRest)
		case resp.ErrorCode != 0:
			return nil, kerr.ErrorForCode(resp.ErrorCode)
		default:
			m.id, m.generation = resp.MemberID, resp.Generation
			m.beat = m.formatter.AppendRequest(m.beat[:0], m.heartbeat(), 0)
			return resp, nil
		}
	}
}

var memberMetadata = func() []byte {
	metadata := kmsg.NewConsumerMemberMetadata()
	metadata.Version, metadata.Topics = 1, []string{groupTopic}
	return metadata.AppendTo(nil)
}()

// memberAssignments are one partition each.
var memberAssignments = func() (all [groupPartitions][]byte) {
	for i := range all {
		topic := kmsg.NewConsumerMemberAssignmentTopic()
		topic.Topic, topic.Partitions = groupTopic, []int32{int32(i)}
		assignment := kmsg.NewConsumerMemberAssignment()
		assignment.Topics = append(assignment.Topics, topic)
		all[i] = assignment.AppendTo(nil)
	}
	return all
}()

// sync gets the assignment, which the leader hands out. It reports whether the
// group rebalances again instead.
func (m *member) sync(joined *kmsg.JoinGroupResponse) (rebalances bool, err error) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version, req.Group, req.MemberID, req.Generation = 5, m.group.name, m.id, m.generation
	req.ProtocolType, req.Protocol = joined.ProtocolType, joined.Protocol
	for i, other := range joined.Members {
		assignment := kmsg.NewSyncGroupRequestGroupAssignment()
		assignment.MemberID, assignment.MemberAssignment = other.MemberID, memberAssignments[i]
		req.GroupAssignment = append(req.GroupAssignment, assignment)
	}
	if len(joined.Members) == m.group.size {
		m.group.complete.Store(m.generation) // before anybody has its assignment
	}
	resp, err := ask[*kmsg.SyncGroupResponse](m.connection, req)
	switch {
	case err != nil:
		return false, err
	case resp.ErrorCode == kerr.RebalanceInProgress.Code:
		return true, nil
	case resp.ErrorCode == 0 && len(resp.MemberAssignment) == 0:
		return false, fmt.Errorf("member %s has no assignment", m.id)
	}
	return false, kerr.ErrorForCode(resp.ErrorCode)
}

// awaitOthers sends heartbeats until the group has all members, or rebalances to
// take more of them in.
func (m *member) awaitOthers() (rebalances bool, err error) {
	for rest := firstRest; m.group.complete.Load() != m.generation; rest = min(2*rest, longestRest) {
		switch code, err := m.sendBeat(); {
		case err != nil:
			return false, fmt.Errorf("heartbeat: %w", err)
		case code == kerr.RebalanceInProgress.Code:
			return true, nil
		case code != 0:
			return false, fmt.Errorf("heartbeat: %w", kerr.ErrorForCode(code))
		}
		time.Sleep(rest)
	}
	return false, nil
}
