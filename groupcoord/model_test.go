package groupcoord

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// TestModel drives the state machine with random consumers that join, sync,
// beat, commit, leave, crash and let time pass, over a store that answers late
// and in any order, and checks what must hold whatever happens.
func TestModel(t *testing.T) {
	reached := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t, reached)
		t.Repeat(map[string]func(*rapid.T){
			"join":      m.join,
			"sync":      m.sync,
			"heartbeat": m.heartbeat,
			"commit":    m.commit,
			"fetch":     m.fetch,
			"leave":     m.leave,
			"crash":     m.crash,
			"time":      m.pass,
			"store":     m.storeAnswers,
			"restart":   m.restart,
			"rally":     m.rally,
			"beat":      m.beatAll,
			"":          m.check,
		})
		m.settle()
	})
	for _, what := range []string{"join", "rejoin in Stable", "sync", "heartbeat", "commit", "fetch"} {
		if reached[what] == 0 {
			t.Errorf("the model never had a successful %s", what)
		}
	}
}

const (
	modelDelay        = 3 * time.Second
	modelMaxRebalance = 60 * time.Second
	modelPartitions   = 3
)

type model struct {
	t     *rapid.T
	cfg   Config
	g     *group
	now   time.Time
	saved []byte
	slots []*slot

	calls []func(ok bool) event // running store calls: each ends with an event
	open  map[string]int        // requests without answer, by name

	generation int32                    // highest seen
	leaders    map[int32]string         // who was asked to assign, per generation
	reached    map[string]int           // successes: a model that never gets anywhere proves nothing
	tag        int64                    // last committed offset: each commit has its own
	forbidden  map[int64]bool           // tags of commits that had to be refused
	writing    map[TopicPartition]bool  // partitions with a running write
	written    map[TopicPartition]int64 // highest tag that was started
	stored     map[TopicPartition]int64 // what the store holds
	acked      map[TopicPartition]int64 // highest acknowledged tag
}

// slot is one consumer process.
type slot struct {
	name       string
	instance   *string
	id         string
	generation int32
	leads      []string // members to assign to
	joining    *time.Time
	life       int // grows with each crash: answers to earlier lives are lost
	metadata   string
}

func newModel(t *rapid.T, reached map[string]int) *model {
	m := &model{
		t:         t,
		cfg:       Config{InitialRebalanceDelay: modelDelay, CommitsInFlight: 2, Logger: zerolog.Nop()}.withDefaults(),
		now:       time.Unix(1_700_000_000, 0),
		open:      make(map[string]int),
		reached:   reached,
		leaders:   make(map[int32]string),
		forbidden: make(map[int64]bool),
		writing:   make(map[TopicPartition]bool),
		written:   make(map[TopicPartition]int64),
		stored:    make(map[TopicPartition]int64),
		acked:     make(map[TopicPartition]int64),
	}
	m.g = newGroup(&m.cfg, "g")
	for i := range 6 {
		s := &slot{name: fmt.Sprintf("c%d", i), metadata: "0"}
		if i >= 4 {
			s.instance = &s.name
		}
		m.slots = append(m.slots, s)
	}
	return m
}

// handle is what the actor does.
func (m *model) handle(ev event) {
	changed, effects := m.g.handle(m.now, ev)
	if changed {
		m.saved = m.g.snapshot()
	}
	m.perform(effects)
}

func (m *model) perform(effects []effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case answer:
			e.send()
		case storeCommit:
			m.startCommit(e)
		case storeFetch:
			m.later(func(ok bool) event { return m.endFetch(e, ok) })
		case storeReread:
			m.later(func(ok bool) event { return rereadDone{e.reread, m.lookup(e.reread.partitions(), ok)} })
		case foreign:
			m.t.Fatalf("own commit taken for a foreign change: %+v", e.change)
		}
	}
}

func (m *model) later(f func(ok bool) event) { m.calls = append(m.calls, f) }

// once counts an answer that is due, and fails if it comes twice.
func (m *model) once(what string) (answered func()) {
	m.open[what]++
	done := false
	return func() {
		if done {
			m.t.Fatalf("%s answered twice", what)
		}
		done = true
		m.open[what]--
	}
}

func (m *model) slot(t *rapid.T) *slot { return rapid.SampledFrom(m.slots).Draw(t, "slot") }

func (m *model) join(t *rapid.T) { m.joinAs(t, m.slot(t)) }

// rally brings everybody who is there into one generation, if nothing is in
// the way, and perhaps to its assignment.
func (m *model) rally(t *rapid.T) {
	for range 3 { // for an id; with it; in case of a rebalance that had begun
		for _, s := range m.slots {
			m.joinAs(t, s)
		}
	}
	m.advance(2 * modelDelay)
	if rapid.IntRange(0, 3).Draw(t, "syncs") > 0 {
		for _, s := range rapid.Permutation(m.slots).Draw(t, "order") {
			m.syncAs(s)
		}
	}
}

func (m *model) beatAll(*rapid.T) {
	for _, s := range m.slots {
		m.heartbeatAs(s)
	}
}

func (m *model) joinAs(t *rapid.T, s *slot) {
	if s.joining != nil {
		return
	}
	if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
		s.metadata += "'"
	}
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = rapid.SampledFrom([]int16{3, 5, 8, 9}).Draw(t, "version")
	if s.instance != nil {
		req.Version = max(req.Version, 5)
	}
	req.Group, req.MemberID, req.InstanceID = "g", s.id, s.instance
	req.SessionTimeoutMillis = rapid.SampledFrom([]int32{6000, 10000, 45000}).Draw(t, "session")
	req.RebalanceTimeoutMillis = rapid.SampledFrom([]int32{1000, 20000, int32(modelMaxRebalance.Milliseconds())}).Draw(t, "rebalance")
	req.ProtocolType = "consumer"
	req.Protocols = offersWith(s.metadata, rapid.SampledFrom([][]string{{"x", "y"}, {"y", "x"}, {"y"}}).Draw(t, "protocols")...)
	since, life := m.now, s.life
	s.joining = &since
	answered := m.once("join")
	m.handle(&joinEvent{Client{ID: s.name}, req, func(resp *kmsg.JoinGroupResponse) {
		answered()
		m.checkJoin(s, since, resp)
		if s.life == life {
			m.joined(s, resp)
		}
	}})
}

func (m *model) checkJoin(s *slot, since time.Time, resp *kmsg.JoinGroupResponse) {
	if waited := m.now.Sub(since); waited > modelMaxRebalance+modelDelay {
		m.t.Fatalf("join of %s waited %v", s.name, waited)
	}
	if resp.ErrorCode != 0 {
		return
	}
	m.reached["join"]++
	if m.g.state == stable {
		m.reached["rejoin in Stable"]++
	}
	if resp.Generation != m.g.generation || m.g.members.byID[resp.MemberID] == nil {
		m.t.Fatalf("join of %s: generation %d, member %s, but the group has %d", s.name, resp.Generation, resp.MemberID, m.g.generation)
	}
	if !m.g.common(*resp.Protocol) {
		m.t.Fatalf("protocol %s is not common", *resp.Protocol)
	}
	if len(resp.Members) == 0 || resp.SkipAssignment {
		return
	}
	if resp.LeaderID != resp.MemberID {
		m.t.Fatalf("%s sees the members and does not lead", resp.MemberID)
	}
	if other := m.leaders[resp.Generation]; other != "" && other != resp.MemberID {
		m.t.Fatalf("generation %d is led by %s and %s", resp.Generation, other, resp.MemberID)
	}
	m.leaders[resp.Generation] = resp.MemberID
}

func (m *model) joined(s *slot, resp *kmsg.JoinGroupResponse) {
	s.joining = nil
	switch resp.ErrorCode {
	case 0:
		s.id, s.generation, s.leads = resp.MemberID, resp.Generation, nil
		for _, member := range resp.Members {
			s.leads = append(s.leads, member.MemberID)
		}
	case codeMemberIDRequired:
		s.id = resp.MemberID
	case codeUnknownMember, codeFencedInstance:
		s.id = ""
	case codeRebalanceInProgress, codeNotCoordinator, codeInconsistentProtocol:
	default:
		m.t.Fatalf("join answered %d", resp.ErrorCode)
	}
}

// assignment of the model names generation and member.
func (m *model) assignment(generation int32, id string) string {
	return strconv.Itoa(int(generation)) + " " + id
}

func (m *model) sync(t *rapid.T) { m.syncAs(m.slot(t)) }

func (m *model) syncAs(s *slot) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID, req.Generation = 5, "g", s.id, s.instance, s.generation
	for _, id := range append(slices.Clone(s.leads), "nobody") {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = id, []byte(m.assignment(s.generation, id))
		req.GroupAssignment = append(req.GroupAssignment, a)
	}
	answered := m.once("sync")
	m.handle(&syncEvent{req, func(resp *kmsg.SyncGroupResponse) {
		answered()
		if resp.ErrorCode == 0 {
			m.checkSync(req, string(resp.MemberAssignment))
		}
	}})
}

func (m *model) checkSync(req *kmsg.SyncGroupRequest, got string) {
	m.reached["sync"]++
	if m.g.state != stable || req.Generation != m.g.generation || m.g.members.byID[req.MemberID] == nil {
		m.t.Fatalf("assignment given to %s of generation %d in %v %d", req.MemberID, req.Generation, m.g.state, m.g.generation)
	}
	switch {
	case got == "": // its leader was not told of it, or did not know that it leads
	case got == m.assignment(req.Generation, req.MemberID):
	case req.InstanceID != nil && strings.HasPrefix(got, m.assignment(req.Generation, *req.InstanceID)+"-"):
		// a static member that came back has the assignment of its former id
	default:
		m.t.Fatalf("%s got the assignment %q", req.MemberID, got)
	}
}

func (m *model) heartbeat(t *rapid.T) { m.heartbeatAs(m.slot(t)) }

func (m *model) heartbeatAs(s *slot) {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = "g", s.id, s.instance, s.generation
	answered := m.once("heartbeat")
	m.handle(&heartbeatEvent{req, func(resp *kmsg.HeartbeatResponse) {
		answered()
		if resp.ErrorCode != 0 {
			return
		}
		m.reached["heartbeat"]++
		if m.g.state < completing || s.generation != m.g.generation {
			m.t.Fatalf("heartbeat of generation %d accepted in %v %d", s.generation, m.g.state, m.g.generation)
		}
	}})
}

func (m *model) leave(t *rapid.T) {
	s := m.slot(t)
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version, req.Group = 3, "g"
	req.Members = []kmsg.LeaveGroupRequestMember{{MemberID: s.id, InstanceID: s.instance}}
	answered := m.once("leave")
	m.handle(&leaveEvent{req, func(*kmsg.LeaveGroupResponse) { answered() }})
}

func (m *model) crash(t *rapid.T) {
	s := m.slot(t)
	*s = slot{name: s.name, instance: s.instance, life: s.life + 1, metadata: "0"}
}

func (m *model) pass(t *rapid.T) {
	m.advance(time.Duration(rapid.Int64Range(0, 15_000).Draw(t, "ms")) * time.Millisecond)
}

func (m *model) advance(d time.Duration) {
	until := m.now.Add(d)
	for due(m.g.wake, until) {
		if m.g.wake.After(m.now) {
			m.now = m.g.wake
		}
		m.handle(tick{})
		m.check(m.t)
	}
	m.now = until
}

// restart loses the group as the actor does, and loads its last snapshot.
func (m *model) restart(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
		return
	}
	m.perform(m.g.abandon(codeNotCoordinator))
	for _, call := range m.calls {
		call(false) // what was running ends; its result is for nobody
	}
	m.calls = nil
	restored, err := restore(&m.cfg, "g", m.saved, m.now)
	if err != nil {
		m.t.Fatalf("restore: %v", err)
	}
	m.g = restored
}

// check is what holds after every step.
func (m *model) check(*rapid.T) {
	g := m.g
	fail := func(format string, args ...any) {
		m.t.Fatalf("%v %d: "+format, append([]any{g.state, g.generation}, args...)...)
	}
	if g.generation < m.generation {
		fail("generation went back from %d", m.generation)
	}
	m.generation = g.generation
	if g.state == empty && g.members.len() > 0 || g.state > preparing && g.members.len() == 0 {
		fail("%d members", g.members.len())
	}
	if g.members.len() > 0 && g.members.byID[g.leader] == nil {
		fail("leader %q is no member", g.leader)
	}
	for id := range g.unsynced {
		if g.members.byID[id] == nil || g.state < completing {
			fail("sync of %s is awaited", id)
		}
	}
	for _, member := range g.members.list {
		if member.join != nil && g.state != preparing || member.sync != nil && g.state != completing {
			fail("a request of %s is held", member.id)
		}
		if _, ok := g.pending[member.id]; ok {
			fail("%s is a member and pending", member.id)
		}
	}
	if next := g.nextTimer(); !next.IsZero() && (g.wake.IsZero() || g.wake.After(next)) {
		fail("timer at %v would be missed, wake is %v", next, g.wake)
	}
}

// settle ends everything: each request must have been answered.
func (m *model) settle() {
	m.drain()
	m.advance(10 * time.Minute)
	m.drain()
	m.check(m.t)
	for what, n := range m.open {
		if n != 0 {
			m.t.Fatalf("%d %s never answered", n, what)
		}
	}
	if !m.g.idle() {
		m.t.Fatalf("after 10 minutes of silence: %v", m.g.state)
	}
}

// drain lets all store calls succeed.
func (m *model) drain() {
	for len(m.calls) > 0 {
		call := m.calls[0]
		m.calls = m.calls[1:]
		m.handle(call(true))
	}
}
