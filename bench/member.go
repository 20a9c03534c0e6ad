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
	// notReadyRest lies between two questions to a coordinator that is not there yet.
	notReadyRest = 50 * time.Millisecond
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
