package groupcoord

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// rig is a coordinator with stores that can misbehave, under virtual time.
type rig struct {
	*testing.T
	c       *Coordinator
	offsets *fakeOffsets
	store   *fakeStore
	owners  *fakeOwners
	foreign []ForeignChange
}

// inBubble runs a test under virtual time with a coordinator of its own.
func inBubble(t *testing.T, cfg Config, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, offsets: newFakeOffsets(), store: &fakeStore{}, owners: &fakeOwners{}}
		cfg.Logger = zerolog.Nop()
		cfg.ForeignChange = func(c ForeignChange) { r.foreign = append(r.foreign, c) }
		r.c = New(cfg, r.offsets, r.store, r.owners)
		defer func() {
			if r.offsets.gate != nil && t.Failed() {
				close(r.offsets.gate)
			}
			if err := r.c.Close(context.Background()); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		test(r)
	})
}

// restart ends the coordinator and starts another over the same stores.
func (r *rig) restart() {
	r.Helper()
	if err := r.c.Close(r.Context()); err != nil {
		r.Fatalf("close: %v", err)
	}
	r.c = New(r.c.cfg, r.offsets, r.store, r.owners)
}

// sleep lets time pass and everything happen that is due.
func (r *rig) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// promise is the answer to come of one request.
type promise[R any] struct {
	r  *rig
	ch chan R
}

func send[Q, R any](r *rig, do func(context.Context, Client, Q, func(R)), client Client, req Q) promise[R] {
	return sendCtx(r, r.Context(), do, client, req)
}

func sendCtx[Q, R any](r *rig, ctx context.Context, do func(context.Context, Client, Q, func(R)), client Client, req Q) promise[R] {
	p := promise[R]{r, make(chan R, 2)}
	do(ctx, client, req, func(resp R) { p.ch <- resp })
	return p
}

// get returns the answer, which must be there now.
func (p promise[R]) get() R {
	p.r.Helper()
	synctest.Wait()
	select {
	case resp := <-p.ch:
		return resp
	default:
		p.r.Fatal("no answer yet")
		panic("unreachable")
	}
}

// now returns the answer if there is one now.
func (p promise[R]) now() (resp R, ok bool) {
	synctest.Wait()
	select {
	case resp = <-p.ch:
		return resp, true
	default:
		return resp, false
	}
}

// held fails the test if there is an answer now.
func (p promise[R]) held() {
	p.r.Helper()
	synctest.Wait()
	select {
	case resp := <-p.ch:
		p.r.Fatalf("answered too early: %+v", resp)
	default:
	}
}

func ptr[T any](v T) *T { return &v }

func want[T comparable](r *rig, what string, got, want T) {
	r.Helper()
	if got != want {
		r.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// member names the state of one consumer in a test.
type consumer struct {
	r          *rig
	group      string
	name       string
	version    int16 // of JoinGroup
	id         string
	instance   *string
	generation int32
	leader     bool
	session    time.Duration
	rebalance  time.Duration
	typ        string
	protocol   string // of the generation
	protocols  []kmsg.JoinGroupRequestProtocol
}

func (r *rig) consumer(name string) *consumer {
	return &consumer{
		r: r, group: "g", name: name, version: 9, generation: -1,
		session: 10 * time.Second, rebalance: 60 * time.Second,
		typ: "consumer", protocols: offers("range"),
	}
}

func (r *rig) static(name string) *consumer {
	c := r.consumer(name)
	c.instance = &name
	return c
}

// offers lists protocols whose metadata is "subscription".
func offers(names ...string) []kmsg.JoinGroupRequestProtocol {
	return offersWith("subscription", names...)
}

func offersWith(metadata string, names ...string) []kmsg.JoinGroupRequestProtocol {
	var list []kmsg.JoinGroupRequestProtocol
	for _, name := range names {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = name, []byte(metadata)
		list = append(list, p)
	}
	return list
}

func (c *consumer) client() Client { return Client{ID: c.name, Host: "127.0.0.1"} }

func (c *consumer) joinRequest() *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = c.version
	req.Group = c.group
	req.MemberID = c.id
	req.InstanceID = c.instance
	req.SessionTimeoutMillis = int32(c.session.Milliseconds())
	req.RebalanceTimeoutMillis = int32(c.rebalance.Milliseconds())
	req.ProtocolType = c.typ
	req.Protocols = c.protocols
	return req
}

// tryJoin sends one JoinGroup.
func (c *consumer) tryJoin() promise[*kmsg.JoinGroupResponse] {
	return send(c.r, c.r.c.JoinGroup, c.client(), c.joinRequest())
}

// join sends JoinGroup, twice if the coordinator wants the id it gives.
func (c *consumer) join() promise[*kmsg.JoinGroupResponse] {
	c.r.Helper()
	if c.id != "" || c.instance != nil || c.version < 4 {
		return c.tryJoin()
	}
	resp := c.tryJoin().get()
	want(c.r, "first join", resp.ErrorCode, codeMemberIDRequired)
	c.id = resp.MemberID
	return c.tryJoin()
}

// joined takes the answer, which must be a success.
func (c *consumer) joined(p promise[*kmsg.JoinGroupResponse]) *kmsg.JoinGroupResponse {
	c.r.Helper()
	resp := p.get()
	want(c.r, c.name+" joins", resp.ErrorCode, 0)
	c.id, c.generation, c.leader = resp.MemberID, resp.Generation, resp.LeaderID == resp.MemberID
	c.protocol = *resp.Protocol
	return resp
}

func (c *consumer) sync(assignments map[string]string) promise[*kmsg.SyncGroupResponse] {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version = 5
	req.Group, req.MemberID, req.InstanceID, req.Generation = c.group, c.id, c.instance, c.generation
	req.ProtocolType, req.Protocol = &c.typ, &c.protocol
	for id, a := range assignments {
		ga := kmsg.NewSyncGroupRequestGroupAssignment()
		ga.MemberID, ga.MemberAssignment = id, []byte(a)
		req.GroupAssignment = append(req.GroupAssignment, ga)
	}
	return send(c.r, c.r.c.SyncGroup, c.client(), req)
}

func (c *consumer) heartbeat() int16 {
	c.r.Helper()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Version = 4
	req.Group, req.MemberID, req.InstanceID, req.Generation = c.group, c.id, c.instance, c.generation
	return send(c.r, c.r.c.Heartbeat, c.client(), req).get().ErrorCode
}

func (c *consumer) leave() int16 {
	c.r.Helper()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = c.group, c.id
	return send(c.r, c.r.c.LeaveGroup, c.client(), req).get().ErrorCode
}

// commit sends one offset of topic t.
func (c *consumer) commit(partition int32, offset int64) promise[*kmsg.OffsetCommitResponse] {
	req := commitRequest(c.group, partition, offset)
	req.MemberID, req.InstanceID, req.Generation = c.id, c.instance, c.generation
	return send(c.r, c.r.c.OffsetCommit, c.client(), req)
}

func commitRequest(group string, partition int32, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group = 8, group
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = "t"
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.Metadata = partition, offset, ptr("")
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func code(p promise[*kmsg.OffsetCommitResponse]) int16 {
	p.r.Helper()
	return p.get().Topics[0].Partitions[0].ErrorCode
}

// fetch asks for partitions of topic t; none is all topics.
func (r *rig) fetch(group string, partitions ...int32) promise[*kmsg.OffsetFetchResponse] {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version, req.Group = 7, group
	if len(partitions) > 0 {
		t := kmsg.NewOffsetFetchRequestTopic()
		t.Topic, t.Partitions = "t", partitions
		req.Topics = append(req.Topics, t)
	}
	return send(r, r.c.OffsetFetch, Client{}, req)
}

// fetchedOffset reads one partition, which must be answered now.
func (r *rig) fetchedOffset(group string, partition int32) int64 {
	r.Helper()
	resp := r.fetch(group, partition).get()
	want(r, "fetch", resp.ErrorCode, 0)
	return resp.Topics[0].Partitions[0].Offset
}

// stable brings consumers into one generation with assignments named after them.
func (r *rig) stable(consumers ...*consumer) {
	r.Helper()
	var joins []promise[*kmsg.JoinGroupResponse]
	for _, c := range consumers {
		joins = append(joins, c.join())
	}
	r.sleep(2 * r.c.cfg.InitialRebalanceDelay)
	for i, c := range consumers {
		c.joined(joins[i])
	}
	r.assign(consumers...)
}

// assign syncs consumers that have joined, the leader last.
func (r *rig) assign(consumers ...*consumer) {
	r.Helper()
	assignments := make(map[string]string)
	var leader *consumer
	var syncs []promise[*kmsg.SyncGroupResponse]
	for _, c := range consumers {
		assignments[c.id] = c.name
		if c.leader {
			leader = c
			continue
		}
		p := c.sync(nil)
		p.held()
		syncs = append(syncs, p)
	}
	if leader == nil {
		r.Fatal("nobody leads")
	}
	syncs = append(syncs, leader.sync(assignments))
	for _, p := range syncs {
		want(r, "sync", p.get().ErrorCode, 0)
	}
}

func (r *rig) describe(group string) kmsg.DescribeGroupsResponseGroup {
	r.Helper()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Version = 5
	req.Groups = []string{group}
	return send(r, r.c.DescribeGroups, Client{}, req).get().Groups[0]
}

func (r *rig) state(group string) string {
	r.Helper()
	return r.describe(group).State
}
