package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	memberSession = 5 * time.Minute // longer than a round: nobody expires in it
	memberAnswers = 2 * time.Minute // patience for everything a member is told
	// The first heartbeat of a member whose group is not complete yet comes at
	// once; each further one after twice the rest of the one before.
	firstRest, longestRest = 2 * time.Millisecond, 128 * time.Millisecond
	// notReadyRest lies between two questions to a coordinator that is not there yet.
	notReadyRest = 50 * time.Millisecond
	groupTopic   = "coordinated"
	// groupPartitions are those of the topic: one for each member of the largest group.
	groupPartitions = 100
)

// memberGroup is a group of the classic protocol that is to have so many members.
type memberGroup struct {
	name     string
	size     int
	complete atomic.Int32 // the generation that has all of them; 0: none yet
}

// member is one of them on a connection of its own. It speaks to the socket
// itself: the generator shares the cores with the server under measurement, and
// a client library would take most of them.
type member struct {
	group      *memberGroup
	connection net.Conn
	source     *bufio.Reader
	formatter  *kmsg.RequestFormatter
	frame      []byte
	id         string
	generation int32
	beat       []byte // the frame of its heartbeat, for the generation
}

func newMember(address string, group *memberGroup) (*member, error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	m := &member{group: group, connection: connection, source: bufio.NewReaderSize(connection, 1<<10),
		formatter: kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench"))}
	if err := connection.SetDeadline(time.Now().Add(memberAnswers)); err != nil {
		return m, err
	}
	return m, greet(connection)
}

// findCoordinator waits until the group has one.
func (m *member) findCoordinator() error {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.Version, req.CoordinatorKeys = 4, []string{m.group.name}
	resp, err := ask[*kmsg.FindCoordinatorResponse](m, req)
	for err == nil && notReady(resp.Coordinators[0].ErrorCode) {
		time.Sleep(notReadyRest)
		resp, err = ask[*kmsg.FindCoordinatorResponse](m, req)
	}
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Coordinators[0].ErrorCode)
}

// notReady are the codes of a coordinator that is about to come.
func notReady(code int16) bool {
	return code == kerr.CoordinatorNotAvailable.Code || code == kerr.CoordinatorLoadInProgress.Code || code == kerr.NotCoordinator.Code
}

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
		resp, err := ask[*kmsg.JoinGroupResponse](m, req)
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
	resp, err := ask[*kmsg.SyncGroupResponse](m, req)
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

func (m *member) heartbeat() *kmsg.HeartbeatRequest {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.Generation = 4, m.group.name, m.id, m.generation
	return req
}

// sendBeat sends the heartbeat that was encoded before. Of the answer, which has
// a correlation id, no tags and a throttle time before it, the code is all there is.
func (m *member) sendBeat() (code int16, err error) {
	answer, err := m.exchange(m.beat)
	if err != nil {
		return 0, err
	}
	const at = 4 + 1 + 4
	if len(answer) < at+2 {
		return 0, fmt.Errorf("an answer of %d bytes", len(answer))
	}
	return int16(binary.BigEndian.Uint16(answer[at:])), nil
}

// leave ends the membership and the connection.
func (m *member) leave() error {
	defer m.connection.Close()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version, req.Group = 5, m.group.name
	who := kmsg.NewLeaveGroupRequestMember()
	who.MemberID = m.id
	req.Members = append(req.Members, who)
	resp, err := ask[*kmsg.LeaveGroupResponse](m, req)
	if err != nil {
		return fmt.Errorf("LeaveGroup: %w", err)
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}

// ask sends a request of a flexible version and decodes its answer.
func ask[R kmsg.Response](m *member, req kmsg.Request) (resp R, err error) {
	m.frame = m.formatter.AppendRequest(m.frame[:0], req, 0)
	answer, err := m.exchange(m.frame)
	if err != nil {
		return resp, err
	}
	resp = req.ResponseKind().(R)
	const header = 4 + 1 // correlation id, no tags
	return resp, resp.ReadFrom(answer[min(header, len(answer)):])
}

func (m *member) exchange(frame []byte) ([]byte, error) {
	if _, err := m.connection.Write(frame); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(m.source, length[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(m.source, answer)
	return answer, err
}
