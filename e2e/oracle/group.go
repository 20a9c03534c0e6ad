package oracle

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions of the group requests that helpers build.
const (
	joinVersion         = 9
	syncVersion         = 5
	heartbeatVersion    = 4
	leaveVersion        = 5
	commitVersion       = 8
	offsetsVersion      = 8
	describeVersion     = 5
	memberIDSince       = 4 // JoinGroup answers MEMBER_ID_REQUIRED (KIP-394)
	memberIDRequired    = 79
	defaultSession      = time.Minute // longer than a scenario takes on a slow machine
	defaultRebalance    = time.Minute
	consumerProtocol    = "consumer"
	defaultAssignorName = "range"
)

// Group is a consumer group of a scenario.
type Group struct {
	r       *Run
	name    string
	members map[string]*Member
	admin   *Conn
}

// Group names a group of this scenario alone.
func (r *Run) Group(name string) *Group {
	return &Group{r: r, name: name, members: map[string]*Member{}, admin: r.Conn("admin")}
}

// ID is the group id on the wire.
func (g *Group) ID() string { return g.r.Name(g.name) }

// Member is a member of a group with a connection of its own. The exported fields
// are what it sends; a scenario may set each of them to anything.
type Member struct {
	*Conn
	Group *Group

	// ID and Generation come from the last answer of JoinGroup that gave them; the
	// generation is the epoch of a member of the consumer protocol.
	ID         string
	Generation int32
	InstanceID *string
	// Topics are short names; the metadata of the protocols is made of them unless
	// Metadata is set.
	Topics    []string
	Metadata  []byte
	Protocols []string // default: range
	Type      string   // default: consumer
	Session   time.Duration
	Rebalance time.Duration
	// Version is that of JoinGroup.
	Version int16
}

// Member makes a member that subscribes to topics and has not joined yet. Its
// name stands for its id in the transcript.
func (g *Group) Member(name string, topics ...string) *Member {
	m := &Member{
		Conn: g.r.Conn(name), Group: g, Generation: -1, Topics: topics,
		Protocols: []string{defaultAssignorName}, Type: consumerProtocol,
		Session: defaultSession, Rebalance: defaultRebalance, Version: joinVersion,
	}
	g.members[name] = m
	return m
}

// Static is Member with a group.instance.id, which is the name of it too.
func (g *Group) Static(name, instance string, topics ...string) *Member {
	m := g.Member(name, topics...)
	m.InstanceID = &instance
	return m
}

// adopt takes an id that the group gave.
func (m *Member) adopt(id string) {
	if id == "" || id == m.ID {
		return
	}
	m.ID = id
	m.r.names.call(kindMember, id, m.name)
}

// JoinRequest is what the member joins with.
func (m *Member) JoinRequest() *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID = m.Version, m.Group.ID(), m.ID, m.InstanceID
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(m.Session.Milliseconds()), int32(m.Rebalance.Milliseconds())
	req.ProtocolType = m.Type
	for _, name := range m.Protocols {
		protocol := kmsg.NewJoinGroupRequestProtocol()
		protocol.Name, protocol.Metadata = name, m.metadata()
		req.Protocols = append(req.Protocols, protocol)
	}
	return req
}

func (m *Member) metadata() []byte {
	if m.Metadata != nil {
		return m.Metadata
	}
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Version = 1
	for _, topic := range m.Topics {
		meta.Topics = append(meta.Topics, m.r.Name(topic))
	}
	return meta.AppendTo(nil)
}

// Joining is a JoinGroup whose answer is to come.
type Joining struct {
	*Pending
	member *Member
}

// BeginJoin sends JoinGroup and returns at once. A new member that is told to
// come again with an id does so first; that answer is not written down.
func (m *Member) BeginJoin(label string, edit ...func(*kmsg.JoinGroupRequest)) Joining {
	if m.ID == "" && m.InstanceID == nil && m.Version >= memberIDSince {
		if resp := m.JoinOnce(""); resp != nil && resp.ErrorCode != memberIDRequired {
			m.r.Fatalf("%s got %s instead of a member id", m.name, codeName(resp.ErrorCode))
		}
	}
	return Joining{m.Begin(label, changed(m.JoinRequest(), edit)), m}
}

func changed[T any](req *T, edit []func(*T)) *T {
	for _, change := range edit {
		change(req)
	}
	return req
}

// Wait takes over id and generation of the answer and writes it down. It returns
// nil when the server closes the connection instead.
func (j Joining) Wait() *kmsg.JoinGroupResponse {
	answer := j.settle(j.await())
	resp, ok := answer.(*kmsg.JoinGroupResponse)
	if ok && (resp.ErrorCode == 0 || resp.ErrorCode == memberIDRequired) {
		j.member.adopt(resp.MemberID)
	}
	if ok && resp.ErrorCode == 0 {
		j.member.Generation = resp.Generation
	}
	if j.label != "" {
		j.member.r.step(j.label, j.show(answer))
	}
	return resp
}

// Join joins and waits for the answer, coming again with an id if told to.
func (m *Member) Join(label string, edit ...func(*kmsg.JoinGroupRequest)) *kmsg.JoinGroupResponse {
	return m.BeginJoin(label, edit...).Wait()
}

// JoinOnce sends one JoinGroup and takes the answer as it is.
func (m *Member) JoinOnce(label string, edit ...func(*kmsg.JoinGroupRequest)) *kmsg.JoinGroupResponse {
	return Joining{m.Begin(label, changed(m.JoinRequest(), edit)), m}.Wait()
}

// Plan is what a leader assigns: partitions by topic, by the name of the member.
type Plan map[string]map[string][]int32

// SyncRequest is what the member syncs with; followers have no plan.
func (m *Member) SyncRequest(plan Plan) *kmsg.SyncGroupRequest {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version, req.Group, req.Generation, req.MemberID, req.InstanceID = syncVersion, m.Group.ID(), m.Generation, m.ID, m.InstanceID
	req.ProtocolType, req.Protocol = &m.Type, &m.Protocols[0]
	for name, topics := range plan {
		assignment := kmsg.NewSyncGroupRequestGroupAssignment()
		assignment.MemberID, assignment.MemberAssignment = m.Group.members[name].ID, m.r.assignment(topics)
		req.GroupAssignment = append(req.GroupAssignment, assignment)
	}
	return req
}

func (r *Run) assignment(topics map[string][]int32) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	for name, partitions := range topics {
		topic := kmsg.NewConsumerMemberAssignmentTopic()
		topic.Topic, topic.Partitions = r.Name(name), partitions
		a.Topics = append(a.Topics, topic)
	}
	return a.AppendTo(nil)
}

// BeginSync sends SyncGroup and returns at once.
func (m *Member) BeginSync(label string, plan Plan, edit ...func(*kmsg.SyncGroupRequest)) *Pending {
	return m.Begin(label, changed(m.SyncRequest(plan), edit))
}

// Sync syncs and waits for the answer.
func (m *Member) Sync(label string, plan Plan, edit ...func(*kmsg.SyncGroupRequest)) {
	m.BeginSync(label, plan, edit...).Wait()
}

// Heartbeat sends one.
func (m *Member) Heartbeat(label string, edit ...func(*kmsg.HeartbeatRequest)) {
	m.Ask(label, changed(m.heartbeat(), edit))
}

func (m *Member) heartbeat() *kmsg.HeartbeatRequest {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Version, req.Group, req.Generation, req.MemberID, req.InstanceID = heartbeatVersion, m.Group.ID(), m.Generation, m.ID, m.InstanceID
	return req
}

// AwaitRebalance sends heartbeats until the answer is that the group rebalances,
// and writes that one down.
func (m *Member) AwaitRebalance(label string) {
	req := m.heartbeat()
	m.r.Eventually("a rebalance of "+m.Group.name, func() bool {
		resp, ok := m.Ask("", req).(*kmsg.HeartbeatResponse)
		return !ok || resp.ErrorCode != 0
	})
	m.Ask(label, req)
}

// Leave leaves with the member's id and instance.
func (m *Member) Leave(label string, edit ...func(*kmsg.LeaveGroupRequest)) {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version, req.Group = leaveVersion, m.Group.ID()
	leaving := kmsg.NewLeaveGroupRequestMember()
	leaving.MemberID, leaving.InstanceID = m.ID, m.InstanceID
	req.Members = append(req.Members, leaving)
	m.Ask(label, changed(req, edit))
}

// CommitRequest commits the next offset of one partition of a topic as the
// member; a member that never joined commits as a simple consumer does.
func (m *Member) CommitRequest(topic string, partition int32, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.Generation, req.MemberID, req.InstanceID = commitVersion, m.Group.ID(), m.Generation, m.ID, m.InstanceID
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = m.r.Name(topic)
	part := kmsg.NewOffsetCommitRequestTopicPartition()
	part.Partition, part.Offset = partition, offset
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	return req
}

// Commit commits one offset.
func (m *Member) Commit(label, topic string, partition int32, offset int64, edit ...func(*kmsg.OffsetCommitRequest)) {
	m.Ask(label, changed(m.CommitRequest(topic, partition, offset), edit))
}

// Offsets asks for the committed offsets of partitions of a topic.
func (g *Group) Offsets(label, topic string, partitions ...int32) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version = offsetsVersion
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group = g.ID()
	t := kmsg.NewOffsetFetchRequestGroupTopic()
	t.Topic, t.Partitions = g.r.Name(topic), partitions
	group.Topics = append(group.Topics, t)
	req.Groups = append(req.Groups, group)
	g.admin.Ask(label, req)
}

// Describe asks for state, members and assignments.
func (g *Group) Describe(label string) {
	g.admin.Ask(label, g.describeRequest())
}

// Delete deletes the group.
func (g *Group) Delete(label string) {
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Version, req.Groups = 2, []string{g.ID()}
	g.admin.Ask(label, req)
}
