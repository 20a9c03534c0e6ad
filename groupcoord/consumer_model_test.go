package groupcoord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// TestConsumerModel drives a group with random clients of both protocols, whose
// answers get lost, who are slow, crash and come back, while topics grow and the
// catalog answers late or not at all. It checks what must hold whatever happens:
//
//   - a partition has one owner, also among what the clients themselves believe as
//     long as the group counts them as members;
//   - a commit at another epoch than the member's never reaches the store;
//   - whoever has to give partitions up has its rebalance timeout for it, no more;
//   - another owner could go on from the last snapshot;
//   - after a quiet time every partition of the subscriptions is owned.
func TestConsumerModel(t *testing.T) {
	reached := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		m := newConsumerModel(t, reached)
		m.clients = append(m.beatClients("c0", "c1", "c2"),
			newBeatClient(m, "s", ptr("static")),
			&joinClient{m: m, name: "eager"},
			&joinClient{m: m, name: "coop", cooperative: true},
		)
		t.Repeat(map[string]func(*rapid.T){
			"step":    m.stepOne,
			"step 2":  m.stepOne,
			"round":   m.stepAll,
			"begin":   m.beginOne,
			"adopt":   m.adoptOne,
			"arrive":  m.arriveOne,
			"commit":  m.commit,
			"leave":   m.leave,
			"crash":   m.crash,
			"exodus":  m.exodus,
			"change":  m.changeSubscription,
			"topics":  m.changeTopics,
			"time":    m.pass,
			"catalog": m.callsEnd,
			"restart": m.restart,
			"":        m.check,
		})
		m.settle()
	})
	wantReached(t, reached, "joined", "adopted", "fenced", "lost answer", "lost request", "late", "commit", "upgrade", "downgrade",
		"revoking", "unreleased", "doubt", "static return", "restart")
}

// TestConsumerModelTakingOver is the same with few clients, who change what they
// subscribe to while they take over what they were given before.
func TestConsumerModelTakingOver(t *testing.T) {
	reached := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		m := newConsumerModel(t, reached)
		m.clients = m.beatClients("c0", "c1")
		m.stepAll(t)
		t.Repeat(map[string]func(*rapid.T){
			"step":   m.stepAndDrain,
			"step 2": m.stepAndDrain,
			"step 3": m.stepAndDrain,
			"begin":  m.beginOne,
			"adopt":  m.adoptOne,
			"arrive": m.arriveOne,
			"change": m.changeSubscription,
			"time":   m.pass,
			"topics": m.changeTopics,
			"delete": m.deleteTopic,
			"beats":  m.beatOnly,
			"":       m.check,
		})
		m.settle()
	})
	wantReached(t, reached, "adopted", "fenced", "lost answer", "lost request", "late", "revoking", "doubt", "doubt ends in time", "too slow", "topic deleted")
}

// TestConsumerModelClassic is the same with cooperative clients of the classic protocol,
// and one of the consumer protocol that comes and goes.
func TestConsumerModelClassic(t *testing.T) {
	reached := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		m := newConsumerModel(t, reached)
		m.clients = append(m.beatClients("c0"),
			&joinClient{m: m, name: "coop", cooperative: true},
			&joinClient{m: m, name: "coop2", cooperative: true},
		)
		t.Repeat(map[string]func(*rapid.T){
			"step":   m.stepAndDrain,
			"step 2": m.stepAndDrain,
			"step 3": m.stepAndDrain,
			"round":  m.stepAll,
			"adopt":  m.adoptOne,
			"arrive": m.arriveOne,
			"change": m.changeSubscription,
			"exodus": m.exodus,
			"time":   m.pass,
			"":       m.check,
		})
		m.settle()
	})
	wantReached(t, reached, "adopted", "lost answer", "upgrade", "downgrade", "revoking", "unreleased")
}

// wantReached makes sure that a model goes where it has to.
func wantReached(t *testing.T, reached map[string]int, wanted ...string) {
	t.Helper()
	for _, what := range wanted {
		if reached[what] == 0 {
			t.Errorf("the model never had: %s", what)
		}
	}
}

// The longest times of the model's clients.
const (
	consumerModelRebalance = 60 * time.Second
	consumerModelSession   = 45 * time.Second
)

type consumerModel struct {
	t       *rapid.T
	cfg     Config
	g       *group
	now     time.Time
	saved   []byte
	topics  *fakeTopics
	calls   []func(ok bool) event
	clients []modelClient
	reached map[string]int
	open    int // requests without an answer

	tag       int64
	forbidden map[int64]bool // commits that had to be refused
	lastKind  kind
}

func newConsumerModel(t *rapid.T, reached map[string]int) *consumerModel {
	m := &consumerModel{
		t: t, now: time.Unix(1_700_000_000, 0), topics: newFakeTopics("a:3", "b:2"), reached: reached,
		forbidden: make(map[int64]bool), lastKind: kindClassic,
	}
	m.cfg = Config{Topics: m.topics, Logger: zerolog.Nop()}.withDefaults()
	m.g = newGroup(&m.cfg, "g")
	return m
}

func (m *consumerModel) beatClients(names ...string) (clients []modelClient) {
	for _, name := range names {
		clients = append(clients, newBeatClient(m, name, nil))
	}
	return clients
}

// modelClient is a consumer process.
type modelClient interface {
	// step sends the next request that is due.
	step(fate)
	// arrive brings what is late on its way.
	arrive()
	// begin starts to do what the last answer asked for, adopt has done it.
	begin()
	adopt()
	// memberID is that under which the client believes to be a member.
	memberID() string
	owns() partitionSet
	committer() (id string, epoch int32)
	leave(forGood bool)
	crash()
	subscribe(topics []string)
}

// handle is what the actor does.
func (m *consumerModel) handle(ev event) {
	changed, effects := m.g.handle(m.now, ev)
	if changed {
		m.saved = m.g.snapshot()
	}
	m.perform(effects)
	if k := m.g.kind(); k != m.lastKind {
		m.lastKind = k
		if k == kindConsumer && slices.ContainsFunc(m.g.consumer.list, func(c *consumerMember) bool { return c.classic != nil }) {
			m.reached["upgrade"]++
		}
		if k == kindClassic && m.g.members.len() > 0 {
			m.reached["downgrade"]++
		}
	}
}

func (m *consumerModel) perform(effects []effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case answer:
			e.send()
		case storeCommit:
			m.written(e)
		case storeLookup:
			c := &Coordinator{cfg: m.cfg}
			m.calls = append(m.calls, func(ok bool) event {
				m.topics.fail(!ok)
				view, err := c.lookUp(m.t.Context(), e.lookup)
				return lookupDone{e.lookup, view, err}
			})
		case storeReread:
			m.calls = append(m.calls, func(bool) event {
				results := make([]CommittedOffset, len(e.reread.entries))
				for i, entry := range e.reread.entries {
					results[i] = *entry.was
				}
				return rereadDone{e.reread, results}
			})
		default:
			m.t.Fatalf("effect %T", e)
		}
	}
}

func (m *consumerModel) written(e storeCommit) {
	results := make([]CommittedOffset, len(e.commits))
	for i, c := range e.commits {
		if m.forbidden[c.Offset] {
			m.t.Fatalf("commit %d at a wrong epoch reached the store", c.Offset)
		}
		results[i] = CommittedOffset{TopicPartition: c.TopicPartition, Offset: c.Offset}
	}
	m.calls = append(m.calls, func(bool) event { return commitDone{e.commits, results} })
}

// once counts an answer that is due.
func (m *consumerModel) once() (answered func()) {
	m.open++
	done := false
	return func() {
		if done {
			m.t.Fatal("answered twice")
		}
		done = true
		m.open--
	}
}

func (m *consumerModel) client(t *rapid.T) modelClient {
	return m.clients[rapid.IntRange(0, len(m.clients)-1).Draw(t, "client")]
}

// fate is what becomes of a request.
type fate string

const (
	fine        fate = "fine"
	lostAnswer  fate = "answer lost"
	lostRequest fate = "request lost"
	lateAnswer  fate = "answer late"
	lateRequest fate = "request late"
)

func (m *consumerModel) stepOne(t *rapid.T) {
	m.client(t).step(rapid.SampledFrom([]fate{fine, fine, fine, fine, fine, lostAnswer, lostAnswer, lostRequest, lateAnswer, lateRequest}).Draw(t, "fate"))
}

func (m *consumerModel) stepAndDrain(t *rapid.T) {
	m.stepOne(t)
	m.drain()
}

// beatOnly is a time in which clients do nothing but send heartbeats: the patience of
// some ends.
func (m *consumerModel) beatOnly(*rapid.T) {
	for range 3 {
		for _, c := range m.clients {
			c.arrive()
			c.step(fine)
			m.drain()
			m.checkOwners()
		}
		m.advance(6 * time.Second)
	}
}

// stepAll is a time without trouble.
func (m *consumerModel) stepAll(t *rapid.T) {
	order := make([]int, len(m.clients))
	for i := range order {
		order[i] = i
	}
	for _, i := range rapid.Permutation(order).Draw(t, "order") {
		c := m.clients[i]
		c.arrive()
		c.step(fine)
		m.drain()
		c.adopt()
	}
}

func (m *consumerModel) beginOne(t *rapid.T) { m.client(t).begin() }

func (m *consumerModel) adoptOne(t *rapid.T) { m.client(t).adopt() }

func (m *consumerModel) arriveOne(t *rapid.T) { m.client(t).arrive() }

func (m *consumerModel) leave(t *rapid.T) {
	m.client(t).leave(rapid.Bool().Draw(t, "for good"))
}

// exodus leaves the classic clients alone.
func (m *consumerModel) exodus(*rapid.T) {
	for _, c := range m.clients {
		if beats, ok := c.(*beatClient); ok {
			beats.leave(true)
		}
	}
}

func (m *consumerModel) crash(t *rapid.T) { m.client(t).crash() }

func (m *consumerModel) changeSubscription(t *rapid.T) {
	m.client(t).subscribe(rapid.SampledFrom([][]string{{"a"}, {"a", "b"}, {"b", "later"}}).Draw(t, "topics"))
}

func (m *consumerModel) changeTopics(t *rapid.T) {
	topic := rapid.SampledFrom([]string{"a", "b", "later"}).Draw(t, "topic")
	count := rapid.Int32Range(1, 5).Draw(t, "partitions")
	m.topics.set(fmt.Sprintf("%s:%d", topic, count))
}

// deleteTopic deletes one, and the group sees it soon. It may come back.
func (m *consumerModel) deleteTopic(t *rapid.T) {
	m.topics.remove(rapid.SampledFrom([]string{"a", "b", "later"}).Draw(t, "topic"))
	m.advance(m.cfg.TopicsInterval)
	m.drain()
	m.reached["topic deleted"]++
}

func (m *consumerModel) commit(t *rapid.T) {
	id, epoch := m.client(t).committer()
	epoch -= rapid.SampledFrom([]int32{0, 0, 1}).Draw(t, "behind")
	m.tag++
	tag := m.tag
	req := commitRequest("g", 0, tag)
	req.Version, req.MemberID, req.Generation = 9, id, epoch
	if !m.mayCommit(id, epoch) {
		m.forbidden[tag] = true
	}
	answered := m.once()
	m.handle(newCommitEvent(req, func(resp *kmsg.OffsetCommitResponse) {
		answered()
		if resp.Topics[0].Partitions[0].ErrorCode != 0 {
			return
		}
		m.reached["commit"]++
		if m.forbidden[tag] {
			m.t.Fatalf("commit %d at a wrong epoch acknowledged", tag)
		}
	}))
}

func (m *consumerModel) mayCommit(id string, epoch int32) bool {
	switch {
	case m.g.state == empty:
		return epoch < 0
	case m.g.consumer != nil:
		member := m.g.consumer.byID[id]
		return member != nil && member.epoch == epoch
	default:
		return m.g.members.byID[id] != nil && epoch == m.g.generation && m.g.state != completing
	}
}

func (m *consumerModel) pass(t *rapid.T) {
	m.advance(time.Duration(rapid.Int64Range(0, 20_000).Draw(t, "ms")) * time.Millisecond)
}

func (m *consumerModel) advance(d time.Duration) {
	until := m.now.Add(d)
	for n := 0; due(m.g.wake, until); n++ {
		mustEnd(m.t, n, "ticks")
		if m.g.wake.After(m.now) {
			m.now = m.g.wake
		}
		m.handle(tick{})
		m.checkOwners()
	}
	m.now = until
}

// doubts counts the members of whose partitions some are in doubt.
func (m *consumerModel) doubts() (n int) {
	if m.g.consumer == nil {
		return 0
	}
	for _, member := range m.g.consumer.list {
		if len(member.doubtful) > 0 {
			n++
		}
	}
	return n
}

func (m *consumerModel) callsEnd(t *rapid.T) {
	if len(m.calls) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.calls)-1).Draw(t, "call")
	call := m.calls[i]
	m.calls = slices.Delete(m.calls, i, i+1)
	m.handle(call(rapid.IntRange(0, 3).Draw(t, "fails") > 0))
}

func (m *consumerModel) drain() {
	for n := 0; len(m.calls) > 0; n++ {
		mustEnd(m.t, n, "calls")
		call := m.calls[0]
		m.calls = m.calls[1:]
		m.handle(call(true))
	}
}

// restart loses the group, as the actor does, and loads its last snapshot.
func (m *consumerModel) restart(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "really") > 0 {
		return
	}
	m.perform(m.g.abandon(codeNotCoordinator))
	m.calls = nil
	restored, err := restore(&m.cfg, "g", m.saved, m.now)
	if err != nil {
		m.t.Fatalf("restore: %v", err)
	}
	if m.g.consumer != nil && m.g.state != empty {
		m.reached["restart"]++
		if !maps.Equal(restored.subscribed, m.g.subscribed) {
			m.t.Fatalf("the next owner knows of subscriptions to %v, not %v", restored.subscribed, m.g.subscribed)
		}
	}
	m.g = restored
	m.lastKind = m.g.kind()
}

// check is what holds after every step.
func (m *consumerModel) check(*rapid.T) {
	m.checkOwners()
	if next := m.g.nextTimer(); !next.IsZero() && (m.g.wake.IsZero() || m.g.wake.After(next)) {
		m.t.Fatalf("timer at %v would be missed, wake is %v", next, m.g.wake)
	}
	if m.g.consumer == nil {
		return
	}
	m.checkSaved()
	m.checkMembers(m.g.consumer)
}

// checkSaved: nothing of the members is known here alone.
func (m *consumerModel) checkSaved() {
	now, err := json.Marshal(m.g.consumerSnapshot())
	if err != nil {
		m.t.Fatal(err)
	}
	var saved struct {
		Consumer json.RawMessage `json:"consumer"`
	}
	if err := json.Unmarshal(m.saved, &saved); err != nil {
		m.t.Fatal(err)
	}
	if !bytes.Equal(now, saved.Consumer) {
		m.t.Fatalf("not saved:\n%s\nsaved is:\n%s", now, saved.Consumer)
	}
}

func (m *consumerModel) checkMembers(c *consumerGroup) {
	owners := make(map[partitionID]*consumerMember)
	for _, member := range c.list {
		for _, set := range []partitionSet{member.assigned, member.revoking, member.doubtful} {
			for p := range set {
				if owners[p] != nil {
					m.t.Fatalf("%s belongs to %s and %s", p.text(), owners[p].id, member.id)
				}
				owners[p] = member
			}
		}
		m.checkMember(c, member)
	}
	if !maps.Equal(owners, c.owners) {
		m.t.Fatalf("owners are not those of the members")
	}
	if m.g.state != c.state() {
		m.t.Fatalf("state %v, should be %v", m.g.state, c.state())
	}
}

func (m *consumerModel) checkMember(c *consumerGroup, member *consumerMember) {
	if member.epoch > c.targetEpoch || c.targetEpoch > c.epoch {
		m.t.Fatalf("%s at epoch %d, target %d, group %d", member.id, member.epoch, c.targetEpoch, c.epoch)
	}
	switch member.state {
	case memberRevoking:
		m.reached["revoking"]++
	case memberUnreleased:
		m.reached["unreleased"]++
	}
	gives := member.state == memberRevoking && member.classic == nil && member.epoch != leftForAWhile
	if gives && (member.revokeBy.IsZero() || member.revokeBy.Sub(m.now) > consumerModelRebalance) {
		m.t.Fatalf("%s has until %v to give partitions up", member.id, member.revokeBy)
	}
	if len(member.doubtful) > 0 {
		m.reached["doubt"]++
	}
	for _, deadline := range []time.Time{member.revokeBy, member.doubtUntil, member.rejoinBy, member.syncBy} {
		if deadline.Sub(m.now) > consumerModelRebalance {
			m.t.Fatalf("%s is waited for until %v", member.id, deadline)
		}
	}
}

// checkOwners: what clients believe to have is disjoint as long as the group counts
// them as members. One that was fenced and does not know it cannot commit.
func (m *consumerModel) checkOwners() {
	owners := make(map[partitionID]string)
	for _, c := range m.clients {
		if !m.isMember(c.memberID()) {
			continue
		}
		for p := range c.owns() {
			if other := owners[p]; other != "" {
				m.t.Fatalf("%s is used by %s and %s", p.text(), other, c.memberID())
			}
			owners[p] = c.memberID()
		}
	}
}

func (m *consumerModel) isMember(id string) bool {
	if m.g.consumer != nil {
		return m.g.consumer.byID[id] != nil
	}
	return m.g.members.byID[id] != nil
}

// settle lets everybody go on without trouble for some minutes.
func (m *consumerModel) settle() {
	m.topics.set("a:4") // every client subscribes to something that exists
	m.topics.set("b:3")
	for range 60 {
		for _, c := range m.clients {
			c.arrive()
			c.step(fine)
			m.drain()
			c.adopt()
		}
		m.checkOwners()
		m.advance(3 * time.Second)
		m.drain()
	}
	m.check(m.t)
	m.checkQuiet()
	for _, c := range m.clients {
		c.crash()
	}
	m.advance(10 * time.Minute)
	m.drain()
	if m.open != 0 {
		m.t.Fatalf("%d requests were never answered", m.open)
	}
	if !m.g.idle() {
		m.t.Fatalf("after 10 minutes of silence: %v", m.g.state)
	}
}

// checkQuiet: everything is owned, and the group knows it.
func (m *consumerModel) checkQuiet() {
	if m.g.state != stable {
		m.t.Fatalf("after a quiet time the group is %v", m.g.state)
	}
	owned := make(partitionSet)
	for _, c := range m.clients {
		if !m.isMember(c.memberID()) {
			m.t.Fatalf("after a quiet time %s is not a member", c.memberID())
		}
		maps.Copy(owned, c.owns())
	}
	want := make(partitionSet)
	for name := range m.g.subscribed {
		for n := range m.topics.topics[name].Partitions {
			want.add(partitionID{topicNamed(name), n})
		}
	}
	if !owned.equal(want) || len(want) == 0 {
		m.t.Fatalf("after a quiet time %v are owned, of %v", texts(owned), texts(want))
	}
}
