package main

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	memberSession = 5 * time.Minute // longer than a round: nobody expires in it
	memberAnswers = 2 * time.Minute // patience for everything a member is told
	// notReadyRest lies between two questions to a coordinator that is not there yet.
	notReadyRest = 50 * time.Millisecond
)

// memberGroup is a group of the classic protocol that is to have so many members.
type memberGroup struct {
	name     string
	size     int
	complete atomic.Int32 // the generation that has all of them; 0: none yet
}

// member is one of them on a connection of its own.
type member struct {
	*connection
	group      *memberGroup
	id         string
	generation int32
	beat       []byte // the frame of its heartbeat, for the generation
}

func newMember(address string, group *memberGroup) (*member, error) {
	c, err := connect(address)
	if err != nil {
		return nil, err
	}
	m := &member{connection: c, group: group}
	return m, c.SetDeadline(time.Now().Add(memberAnswers))
}

// findCoordinator waits until the group has one.
func (m *member) findCoordinator() error {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.Version, req.CoordinatorKeys = 4, []string{m.group.name}
	resp, err := ask[*kmsg.FindCoordinatorResponse](m.connection, req)
	for err == nil && notReady(resp.Coordinators[0].ErrorCode) {
		time.Sleep(notReadyRest)
		resp, err = ask[*kmsg.FindCoordinatorResponse](m.connection, req)
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
	defer m.Close()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version, req.Group = 5, m.group.name
	who := kmsg.NewLeaveGroupRequestMember()
	who.MemberID = m.id
	req.Members = append(req.Members, who)
	resp, err := ask[*kmsg.LeaveGroupResponse](m.connection, req)
	if err != nil {
		return fmt.Errorf("LeaveGroup: %w", err)
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}
