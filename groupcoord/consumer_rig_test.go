package groupcoord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// fakeTopics is a TopicCatalog in memory that can be slow and fail.
type fakeTopics struct {
	mu     sync.Mutex
	topics map[string]Topic
	delay  time.Duration
	down   bool
	asked  int
	named  []string // asked for by name, in the last call
}

// newFakeTopics has topics named like "t:3", with as many partitions.
func newFakeTopics(topics ...string) *fakeTopics {
	f := &fakeTopics{topics: make(map[string]Topic)}
	for _, t := range topics {
		f.set(t)
	}
	return f
}

// topicNamed is the id of a fake topic.
func topicNamed(name string) topicID {
	var id topicID
	copy(id[:], name)
	return id
}

// set creates a topic, or changes the number of its partitions.
func (f *fakeTopics) set(topic string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name, count, _ := strings.Cut(topic, ":")
	var n int32
	if _, err := fmt.Sscan(count, &n); err != nil {
		panic(err)
	}
	f.topics[name] = Topic{name, topicNamed(name), n}
}

func (f *fakeTopics) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.topics, name)
}

// fail lets all calls from now on fail, or not.
func (f *fakeTopics) fail(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

// slow lets all calls from now on take a time.
func (f *fakeTopics) slow(delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delay = delay
}

// calls counts the calls so far.
func (f *fakeTopics) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// lastNames are those that the last call asked for.
func (f *fakeTopics) lastNames() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.named
}

func (f *fakeTopics) ask(ctx context.Context) error {
	f.mu.Lock()
	f.asked++
	delay, down := f.delay, f.down
	f.mu.Unlock()
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if down {
		return errors.New("the catalog is down")
	}
	return nil
}

func (f *fakeTopics) Topics(ctx context.Context, names []string) ([]Topic, error) {
	if err := f.ask(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.named = slices.Clone(names)
	var found []Topic
	for _, name := range names {
		if t, ok := f.topics[name]; ok {
			found = append(found, t)
		}
	}
	return found, nil
}

func (f *fakeTopics) AllTopics(ctx context.Context) ([]Topic, error) {
	if err := f.ask(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.topics)), nil
}

// inConsumerBubble runs a test with a coordinator that knows topics.
func inConsumerBubble(t *testing.T, cfg Config, topics *fakeTopics, test func(r *rig)) {
	t.Helper()
	cfg.Topics = topics
	inBubble(t, cfg, test)
}

// beater is one client of the consumer protocol.
type beater struct {
	r         *rig
	name      string
	id        string
	epoch     int32
	instance  *string
	topics    []string
	pattern   *string
	assignor  *string
	rebalance time.Duration
	version   int16
	owned     []string // partitions like "t0"
	interval  int32
}

func (r *rig) beater(name string, topics ...string) *beater {
	return &beater{r: r, name: name, id: name, topics: topics, rebalance: 60 * time.Second, version: 1}
}

func (r *rig) staticBeater(name, instance string, topics ...string) *beater {
	b := r.beater(name, topics...)
	b.instance = &instance
	return b
}

func (b *beater) client() Client { return Client{ID: b.name, Host: "127.0.0.1"} }

func (b *beater) request() *kmsg.ConsumerGroupHeartbeatRequest {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch, req.InstanceID = b.version, "g", b.id, b.epoch, b.instance
	return req
}

// fullRequest says everything, with what is owned.
func (b *beater) fullRequest() *kmsg.ConsumerGroupHeartbeatRequest {
	req := b.request()
	req.RebalanceTimeoutMillis = int32(b.rebalance.Milliseconds())
	req.SubscribedTopicNames, req.SubscribedTopicRegex = b.topics, b.pattern
	if b.topics == nil && b.pattern == nil {
		req.SubscribedTopicNames = []string{}
	}
	req.ServerAssignor = b.assignor
	req.Topics = ownedTopics(b.owned)
	return req
}

func ownedTopics(owned []string) []kmsg.ConsumerGroupHeartbeatRequestTopic {
	set := make(partitionSet)
	for _, p := range owned {
		set.add(partitionNamed(p))
	}
	topics := []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	for _, t := range set.byTopic() {
		rt := kmsg.NewConsumerGroupHeartbeatRequestTopic()
		rt.TopicID, rt.Partitions = t.topic, t.partitions
		topics = append(topics, rt)
	}
	return topics
}

// partitionNamed reads a name like "t0".
func partitionNamed(text string) partitionID {
	i := strings.IndexAny(text, "0123456789")
	var n int32
	if _, err := fmt.Sscan(text[i:], &n); err != nil {
		panic(err)
	}
	return partitionID{topicNamed(text[:i]), n}
}

func (p partitionID) text() string {
	return strings.TrimRight(string(p.topic[:]), "\x00") + fmt.Sprint(p.partition)
}

func texts(set partitionSet) []string {
	list := []string{}
	for _, p := range set.sorted() {
		list = append(list, p.text())
	}
	return list
}

func (b *beater) send(req *kmsg.ConsumerGroupHeartbeatRequest) promise[*kmsg.ConsumerGroupHeartbeatResponse] {
	return send(b.r, b.r.c.ConsumerGroupHeartbeat, b.client(), req)
}

// took takes over what a successful answer says, and returns the assignment in it.
func (b *beater) took(p promise[*kmsg.ConsumerGroupHeartbeatResponse]) []string {
	b.r.Helper()
	resp := p.get()
	if resp.ErrorCode != 0 {
		b.r.Fatalf("heartbeat of %s: error %d %s", b.name, resp.ErrorCode, text(resp.ErrorMessage))
	}
	b.id, b.epoch, b.interval = *resp.MemberID, resp.MemberEpoch, resp.HeartbeatIntervalMillis
	if resp.Assignment == nil {
		return nil
	}
	assigned := make(partitionSet)
	for _, t := range resp.Assignment.Topics {
		for _, p := range t.Partitions {
			assigned.add(partitionID{t.TopicID, p})
		}
	}
	return texts(assigned)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// join joins, and has what it is given.
func (b *beater) join() []string {
	b.r.Helper()
	b.epoch, b.owned = 0, nil
	b.owned = b.took(b.send(b.fullRequest()))
	return b.owned
}

// beat sends a heartbeat that says nothing. A new assignment is not yet what the
// client has.
func (b *beater) beat() []string {
	b.r.Helper()
	return b.took(b.send(b.request()))
}

// has sends what the client has now.
func (b *beater) has(owned ...string) []string {
	b.r.Helper()
	b.owned = owned
	return b.took(b.send(b.fullRequest()))
}

// follow sends heartbeats and does what the answers say until nothing changes.
func (b *beater) follow() []string {
	b.r.Helper()
	for range 10 {
		epoch := b.epoch
		next := b.took(b.send(b.fullRequest()))
		if slices.Equal(next, b.owned) && epoch == b.epoch {
			return b.owned
		}
		b.owned = next
	}
	b.r.Fatalf("%s does not come to rest", b.name)
	return nil
}

func (b *beater) leave(epoch int32) int16 {
	b.r.Helper()
	req := b.request()
	req.MemberEpoch = epoch
	return b.send(req).get().ErrorCode
}

// settle lets all follow until nobody's partitions change.
func (r *rig) settle(members ...*beater) {
	r.Helper()
	for range 5 {
		for _, b := range members {
			b.follow()
		}
	}
}

func (r *rig) describeConsumers(version int16) kmsg.ConsumerGroupDescribeResponseGroup {
	r.Helper()
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Version, req.Groups = version, []string{"g"}
	return send(r, r.c.ConsumerGroupDescribe, Client{}, req).get().Groups[0]
}

func wantList(r *rig, what string, got []string, wanted ...string) {
	r.Helper()
	if !slices.Equal(got, wanted) {
		r.Fatalf("%s: %v, want %v", what, got, wanted)
	}
}
