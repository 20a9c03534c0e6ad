package gateway

import (
	"context"
	"encoding/binary"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// testID is the topic id of a stream in these tests.
func testID(stream string) [16]byte { return topics.TopicID("p", stream) }

func topicOf(name string, partitions int) *translate.Topic {
	t := &translate.Topic{
		Name: name, StreamName: name, StreamID: name, ID: testID(name),
		StreamType: wire.StreamCommon, DataType: "BLOB", RetentionHours: 48,
	}
	for range partitions {
		t.Partitions = append(t.Partitions, translate.Partition{Status: wire.PartitionActive})
	}
	return t
}

func streamNotFound(name string) error {
	return &dis.Error{Operation: "DescribeStream", HTTPStatus: 400, Code: wire.CodeStreamNotFound, Message: "no stream " + name, RequestID: "r-1", NotProcessed: true}
}

// fakeCatalog holds topics in memory. A hook, when set, answers first: it may
// block, fail or panic.
type fakeCatalog struct {
	mu      sync.Mutex
	topics  map[string]*translate.Topic
	lookup  func(ctx context.Context, name string) error
	list    error
	create  func(ctx context.Context, r topics.CreateRequest) error
	created []topics.CreateRequest
	scale   func(ctx context.Context, r topics.PartitionsRequest) error
	scaled  []topics.PartitionsRequest
	alter   func(ctx context.Context, r topics.AlterRequest) error
	altered []topics.AlterRequest
}

func newFakeCatalog(known ...*translate.Topic) *fakeCatalog {
	c := &fakeCatalog{topics: map[string]*translate.Topic{}}
	for _, t := range known {
		c.topics[t.Name] = t
	}
	return c
}

func (c *fakeCatalog) Topic(ctx context.Context, name string) (*translate.Topic, error) {
	if c.lookup != nil {
		if err := c.lookup(ctx, name); err != nil {
			return nil, err
		}
	}
	if err := translate.ValidateStreamName(name); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.topics[name]; t != nil {
		return t, nil
	}
	return nil, streamNotFound(name)
}

func (c *fakeCatalog) TopicByID(ctx context.Context, id [16]byte) (*translate.Topic, error) {
	if c.lookup != nil {
		if err := c.lookup(ctx, translate.IDText(id)); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.topics {
		if t.ID == id {
			return t, nil
		}
	}
	return nil, translate.ErrUnknownID
}

func (c *fakeCatalog) Topics(context.Context) ([]*translate.Topic, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*translate.Topic
	for _, t := range c.topics {
		all = append(all, t)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, c.list
}

func (c *fakeCatalog) Create(ctx context.Context, r topics.CreateRequest) (*translate.Topic, error) {
	if c.create != nil {
		if err := c.create(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := translate.ValidateStreamName(r.Name); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.created = append(c.created, r)
	t := topicOf(r.Name, r.Partitions)
	if r.ValidateOnly {
		t.StreamID, t.ID = "", noTopicID
		return t, nil
	}
	c.topics[r.Name] = t
	return t, nil
}

func (c *fakeCatalog) CreateMissing(ctx context.Context, r topics.CreateRequest) (*translate.Topic, error) {
	return c.Create(ctx, r)
}

func (c *fakeCatalog) CreatePartitions(ctx context.Context, r topics.PartitionsRequest) (*translate.Topic, error) {
	if c.scale != nil {
		if err := c.scale(ctx, r); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scaled = append(c.scaled, r)
	t := c.topics[r.Name]
	if t == nil {
		return nil, streamNotFound(r.Name)
	}
	if !r.ValidateOnly {
		t = topicOf(r.Name, r.Count)
		c.topics[r.Name] = t
	}
	return t, nil
}

func (c *fakeCatalog) Alter(ctx context.Context, r topics.AlterRequest) (*translate.Topic, error) {
	if c.alter != nil {
		if err := c.alter(ctx, r); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.altered = append(c.altered, r)
	return c.topics[r.Name], nil
}

func (c *fakeCatalog) Delete(_ context.Context, name string) (*translate.Topic, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[name]
	if t == nil {
		return nil, streamNotFound(name)
	}
	delete(c.topics, name)
	return t, nil
}

func (c *fakeCatalog) DeleteByID(ctx context.Context, id [16]byte) (*translate.Topic, error) {
	t, err := c.TopicByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.Delete(ctx, t.Name)
}

// fakeLog is producer and fetcher over logs in memory: batches are kept as they
// came, with their offsets written into them.
type fakeLog struct {
	mu        sync.Mutex
	partition map[topicPartition][]storedBatch
	next      map[topicPartition]int64
	changed   chan struct{} // closed and replaced at each append
	forgotten []string
	submitted []produce.Batch
	rooms     *produce.Engine // its buffer alone
	closed    bool
	nextID    int64

	// answer, when set, decides the result of a batch instead of the log.
	answer func(b produce.Batch, done func(produce.Result))
	// fetch, when set, answers instead of the log.
	fetch func(ctx context.Context, r fetch.Request) fetch.Response
	// onClose, when set, runs at the Close of the produce engine.
	onClose func()
}

type storedBatch struct {
	first, last int64
	bytes       []byte
}

func newFakeLog() *fakeLog {
	return &fakeLog{
		partition: map[topicPartition][]storedBatch{}, next: map[topicPartition]int64{},
		changed: make(chan struct{}), nextID: 4711, rooms: produce.New(produce.Config{}, nil),
	}
}

func (l *fakeLog) Submit(batches []produce.Batch, done func(i int, r produce.Result)) {
	for i, b := range batches {
		l.mu.Lock()
		l.submitted = append(l.submitted, b)
		l.mu.Unlock()
		tell := func(r produce.Result) { done(i, r) }
		if l.answer != nil {
			l.answer(b, tell)
			continue
		}
		go tell(l.append(b))
	}
}

func (l *fakeLog) append(b produce.Batch) produce.Result {
	if len(b.Records) < 61 {
		return produce.Result{Code: 87, Message: "no record batch"}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := topicPartition{b.Topic.Name, b.Partition}
	first := l.next[id]
	raw := slices.Clone(b.Records)
	binary.BigEndian.PutUint64(raw, uint64(first))
	last := first + int64(binary.BigEndian.Uint32(raw[23:]))
	l.partition[id] = append(l.partition[id], storedBatch{first, last, raw})
	l.next[id] = last + 1
	close(l.changed)
	l.changed = make(chan struct{})
	return produce.Result{BaseOffset: first, LogStartOffset: 0}
}

func (l *fakeLog) NewRoom() *produce.Room { return l.rooms.NewRoom() }

// reserved is what frames hold of the produce buffer.
func (l *fakeLog) reserved() int64 { return l.rooms.Metrics().BufferedBytes }

func (l *fakeLog) NewProducerID() (int64, int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nextID++
	return l.nextID, 0
}

func (l *fakeLog) Close(context.Context) error {
	if l.onClose != nil {
		l.onClose()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// reader gives the log its second Close.
type reader struct{ *fakeLog }

func (r reader) Close() {}

func (l *fakeLog) Fetch(ctx context.Context, r fetch.Request) fetch.Response {
	if l.fetch != nil {
		return l.fetch(ctx, r)
	}
	deadline := time.NewTimer(r.MaxWait)
	defer deadline.Stop()
	for {
		l.mu.Lock()
		resp, bytes := l.read(r)
		changed := l.changed
		l.mu.Unlock()
		if bytes >= int(r.MinBytes) || r.MaxWait <= 0 {
			return resp
		}
		select {
		case <-changed:
		case <-deadline.C:
			return resp
		case <-ctx.Done():
			return resp
		}
	}
}

func (l *fakeLog) read(r fetch.Request) (resp fetch.Response, bytes int) {
	for _, p := range r.Partitions {
		id := topicPartition{p.Topic.Name, p.Partition}
		answer := fetch.PartitionResponse{HighWatermark: l.next[id], Records: []byte{}}
		for _, b := range l.partition[id] {
			if b.last >= p.Offset {
				answer.Records = append(answer.Records, b.bytes...)
			}
		}
		bytes += len(answer.Records)
		resp.Partitions = append(resp.Partitions, answer)
	}
	return resp, bytes
}

func (l *fakeLog) ListOffset(_ context.Context, t *translate.Topic, partition int32, timestamp int64) (fetch.ListedOffset, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.next[topicPartition{t.Name, partition}]
	switch {
	case timestamp == fetch.Latest:
		return fetch.ListedOffset{Offset: next, Timestamp: -1}, nil
	case timestamp == fetch.Earliest:
		return fetch.ListedOffset{Offset: 0, Timestamp: -1}, nil
	case timestamp > 1_000_000 || next == 0:
		return fetch.ListedOffset{Offset: -1, Timestamp: -1}, nil
	}
	return fetch.ListedOffset{Offset: next - 1, Timestamp: timestamp}, nil
}

func (l *fakeLog) Forget(t *translate.Topic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgotten = append(l.forgotten, t.Name)
}

// fakeGroups answers at once with an echo of the request, but for JoinGroup
// with the group "held": that waits for release or Close.
type fakeGroups struct {
	mu       sync.Mutex
	held     []func()
	clients  []groupcoord.Client
	contexts []context.Context
	calls    []string
}

func (g *fakeGroups) note(ctx context.Context, c groupcoord.Client, call string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clients = append(g.clients, c)
	g.contexts = append(g.contexts, ctx)
	g.calls = append(g.calls, call)
}

func (g *fakeGroups) joins() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.calls)
}

// release answers the n oldest joins that are held.
func (g *fakeGroups) release(n int) {
	g.mu.Lock()
	held := g.held[:n]
	g.held = g.held[n:]
	g.mu.Unlock()
	for _, answer := range held {
		answer()
	}
}

func (g *fakeGroups) JoinGroup(ctx context.Context, c groupcoord.Client, req *kmsg.JoinGroupRequest, reply func(*kmsg.JoinGroupResponse)) {
	g.note(ctx, c, "join")
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.Generation, resp.MemberID, resp.LeaderID = 1, "m", "m"
	if req.Group != "held" {
		reply(resp)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = append(g.held, func() {
		resp.ErrorCode = 16
		reply(resp)
	})
}

func (g *fakeGroups) SyncGroup(ctx context.Context, c groupcoord.Client, _ *kmsg.SyncGroupRequest, reply func(*kmsg.SyncGroupResponse)) {
	g.note(ctx, c, "sync")
	reply(kmsg.NewPtrSyncGroupResponse())
}

func (g *fakeGroups) Heartbeat(ctx context.Context, c groupcoord.Client, _ *kmsg.HeartbeatRequest, reply func(*kmsg.HeartbeatResponse)) {
	g.note(ctx, c, "heartbeat")
	reply(kmsg.NewPtrHeartbeatResponse())
}

func (g *fakeGroups) LeaveGroup(ctx context.Context, c groupcoord.Client, _ *kmsg.LeaveGroupRequest, reply func(*kmsg.LeaveGroupResponse)) {
	g.note(ctx, c, "leave")
	reply(kmsg.NewPtrLeaveGroupResponse())
}

func (g *fakeGroups) OffsetCommit(ctx context.Context, c groupcoord.Client, _ *kmsg.OffsetCommitRequest, reply func(*kmsg.OffsetCommitResponse)) {
	g.note(ctx, c, "commit")
	reply(kmsg.NewPtrOffsetCommitResponse())
}

func (g *fakeGroups) OffsetFetch(ctx context.Context, c groupcoord.Client, _ *kmsg.OffsetFetchRequest, reply func(*kmsg.OffsetFetchResponse)) {
	g.note(ctx, c, "offsets")
	reply(kmsg.NewPtrOffsetFetchResponse())
}

func (g *fakeGroups) DescribeGroups(ctx context.Context, c groupcoord.Client, _ *kmsg.DescribeGroupsRequest, reply func(*kmsg.DescribeGroupsResponse)) {
	g.note(ctx, c, "describe")
	reply(kmsg.NewPtrDescribeGroupsResponse())
}

func (g *fakeGroups) ListGroups(ctx context.Context, c groupcoord.Client, _ *kmsg.ListGroupsRequest, reply func(*kmsg.ListGroupsResponse)) {
	g.note(ctx, c, "list")
	reply(kmsg.NewPtrListGroupsResponse())
}

func (g *fakeGroups) ConsumerGroupHeartbeat(ctx context.Context, c groupcoord.Client, _ *kmsg.ConsumerGroupHeartbeatRequest, reply func(*kmsg.ConsumerGroupHeartbeatResponse)) {
	g.note(ctx, c, "consumer heartbeat")
	reply(kmsg.NewPtrConsumerGroupHeartbeatResponse())
}

func (g *fakeGroups) ConsumerGroupDescribe(ctx context.Context, c groupcoord.Client, _ *kmsg.ConsumerGroupDescribeRequest, reply func(*kmsg.ConsumerGroupDescribeResponse)) {
	g.note(ctx, c, "describe consumers")
	reply(kmsg.NewPtrConsumerGroupDescribeResponse())
}

func (g *fakeGroups) DeleteGroups(ctx context.Context, c groupcoord.Client, _ *kmsg.DeleteGroupsRequest, reply func(*kmsg.DeleteGroupsResponse)) {
	g.note(ctx, c, "delete")
	reply(kmsg.NewPtrDeleteGroupsResponse())
}

func (g *fakeGroups) OffsetDelete(ctx context.Context, c groupcoord.Client, _ *kmsg.OffsetDeleteRequest, reply func(*kmsg.OffsetDeleteResponse)) {
	g.note(ctx, c, "delete offsets")
	reply(kmsg.NewPtrOffsetDeleteResponse())
}

func (g *fakeGroups) Close(context.Context) error {
	g.mu.Lock()
	n := len(g.held)
	g.mu.Unlock()
	g.release(n)
	return nil
}
