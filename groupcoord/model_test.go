package groupcoord

import (
	"encoding/json"
	"flag"
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

// modelSteps is about how many things happen in one run of the model.
const modelSteps = "200"

// TestModel drives the state machine with random consumers of every version that
// join, sync, beat, commit, leave, crash, lose answers and let time pass, and an
// administrator who deletes the group, over a store that answers late and in any
// order. It checks what must hold whatever happens: one owner of a partition in a
// generation, no commit of a past generation in the store, nobody waits longer than
// the longest rebalance timeout and the initial delay; and when everybody is well
// again, every partition has an owner.
func TestModel(t *testing.T) {
	defer flag.Set("rapid.steps", flag.Lookup("rapid.steps").Value.String())
	if err := flag.Set("rapid.steps", modelSteps); err != nil {
		t.Fatal(err)
	}
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
			"lose":      m.lose,
			"delete":    m.delete,
			"time":      m.pass,
			"store":     m.storeAnswers,
			"restart":   m.restart,
			"rally":     m.rally,
			"beat":      m.beatAll,
			"":          func(t *rapid.T) { m.reached["step"]++; m.check(t) },
		})
		m.recover()
		m.settle()
	})
	t.Logf("what happened: %v", reached)
	for _, what := range []string{"join", "rejoin in Stable", "sync", "heartbeat", "commit", "fetch", "delete", "recover"} {
		if reached[what] == 0 {
			t.Errorf("the model never had a successful %s", what)
		}
	}
	checkTransitions(t, reached)
}

// transitionLog counts the changes of state that are logged, by "from -> to".
type transitionLog map[string]int

func (l transitionLog) Write(line []byte) (int, error) {
	var entry struct{ Message, From, To string }
	if err := json.Unmarshal(line, &entry); err != nil {
		return 0, err
	}
	if entry.Message == "group changed state" {
		l[entry.From+" -> "+entry.To]++
	}
	return len(line), nil
}

// checkTransitions compares the changes of state that were seen with those that the
// package's documentation lists.
func checkTransitions(t *testing.T, seen map[string]int) {
	listed := make(map[string]bool)
	for _, line := range documented(t, "in these ways and no others") {
		if change := columns(line)[0]; strings.Contains(change, " -> ") {
			listed[change] = true
			if seen[change] == 0 {
				t.Errorf("%s is documented and never happened", change)
			}
		}
	}
	for change := range seen {
		if strings.Contains(change, " -> ") && !listed[change] {
			t.Errorf("%s happened and is not documented", change)
		}
	}
}

const (
	modelDelay        = 3 * time.Second
	modelMaxRebalance = 60 * time.Second
	modelPartitions   = 3 // that are committed
	modelAssigned     = 8 // that the members share
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

	longest     time.Duration            // rebalance timeout of any member since the last rebalance began
	lastLongest time.Duration            // and in the one before, which ends the syncs that were held
	deletions   int                      // of the group
	deleting    bool                     // one runs
	owners      map[ownership]string     // who got a partition in a generation
	generation  int32                    // highest seen
	leaders     map[int32]string         // who was asked to assign, per generation
	reached     map[string]int           // successes: a model that never gets anywhere proves nothing
	tag         int64                    // last committed offset: each commit has its own
	forbidden   map[int64]bool           // tags of commits that had to be refused
	writing     map[TopicPartition]bool  // partitions with a running write
	written     map[TopicPartition]int64 // highest tag that was started
	stored      map[TopicPartition]int64 // what the store holds
	acked       map[TopicPartition]int64 // highest acknowledged tag
}

// ownership is a partition in a generation.
type ownership struct {
	generation int32
	partition  int
}

// slot is one consumer process.
type slot struct {
	name       string
	instance   *string
	id         string
	generation int32
	protocol   string
	leads      []string // members to assign to
	joining    bool
	synced     bool // it has the assignment of its generation
	owned      []int
	life       int // grows with each crash and lost answer: answers to earlier lives are lost
	metadata   string
}

func newModel(t *rapid.T, reached map[string]int) *model {
	m := &model{
		t:         t,
		cfg:       Config{InitialRebalanceDelay: modelDelay, CommitsInFlight: 2, Logger: zerolog.New(transitionLog(reached))}.withDefaults(),
		owners:    make(map[ownership]string),
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
	before := m.g.state
	changed, effects := m.g.handle(m.now, ev)
	if changed {
		m.saved = m.g.snapshot()
	}
	m.noteTimeouts(before)
	m.noteEnd()
	m.perform(effects)
}

// noteTimeouts keeps the longest rebalance timeout since the rebalance began.
func (m *model) noteTimeouts(before state) {
	if m.g.state == preparing && before != preparing {
		m.lastLongest, m.longest = m.longest, 0
	}
	m.longest = max(m.longest, m.g.rebalanceTimeout())
}

// noteEnd forgets the generations of a group that does not exist any more.
func (m *model) noteEnd() {
	if !m.g.exists {
		m.generation = 0
		clear(m.leaders)
		clear(m.owners)
	}
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
		case storeDelete:
			m.startDelete()
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
	if s.joining {
		return
	}
	if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
		s.metadata += "'"
	}
	m.joinWith(s, drawJoining(t))
}

func (m *model) joinWith(s *slot, with joining) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = with.version
	if s.instance != nil {
		req.Version = max(req.Version, 5)
	}
	req.Group, req.MemberID, req.InstanceID = "g", s.id, s.instance
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = with.session, with.rebalance
	req.ProtocolType = "consumer"
	req.Protocols = offersWith(s.metadata, with.protocols...)
	since, life := m.now, s.life
	s.joining, s.synced, s.owned = true, false, nil
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
	if waited := m.now.Sub(since); waited > m.longest+modelDelay {
		m.t.Fatalf("join of %s waited %v, the longest rebalance timeout is %v", s.name, waited, m.longest)
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
	s.joining = false
	switch resp.ErrorCode {
	case 0:
		s.id, s.generation, s.protocol, s.leads = resp.MemberID, resp.Generation, *resp.Protocol, nil
		if resp.SkipAssignment {
			break
		}
		for _, member := range resp.Members {
			s.leads = append(s.leads, member.MemberID)
		}
	case codeMemberIDRequired:
		s.id, s.generation = resp.MemberID, -1
	case codeUnknownMember, codeFencedInstance:
		s.forget()
	case codeRebalanceInProgress, codeNotCoordinator, codeInconsistentProtocol:
	default:
		m.t.Fatalf("join answered %d", resp.ErrorCode)
	}
}

// assignment of the model names generation, member and partitions: those that fall to
// the i-th of n members.
func (m *model) assignment(generation int32, id string, i, n int) string {
	var owned []string
	for p := i; p < modelAssigned; p += n {
		owned = append(owned, strconv.Itoa(p))
	}
	return strconv.Itoa(int(generation)) + " " + id + " " + strings.Join(owned, ",")
}

func (m *model) sync(t *rapid.T) { m.syncAs(m.slot(t)) }

func (m *model) syncAs(s *slot) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version, req.Group, req.MemberID, req.InstanceID, req.Generation = 5, "g", s.id, s.instance, s.generation
	for i, id := range append(slices.Clone(s.leads), "nobody") {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = id, []byte(m.assignment(s.generation, id, i, max(len(s.leads), 1)))
		req.GroupAssignment = append(req.GroupAssignment, a)
	}
	since, life := m.now, s.life
	answered := m.once("sync")
	m.handle(&syncEvent{req, func(resp *kmsg.SyncGroupResponse) {
		answered()
		if waited := m.now.Sub(since); waited > max(m.longest, m.lastLongest) {
			m.t.Fatalf("sync of %s waited %v, the longest rebalance timeout is %v", s.name, waited, max(m.longest, m.lastLongest))
		}
		var owned []int
		if resp.ErrorCode == 0 {
			owned = m.checkSync(req, string(resp.MemberAssignment))
		}
		if s.life == life {
			m.synced(s, req, resp.ErrorCode, owned)
		}
	}})
}

// synced is what a client makes of the answer to its SyncGroup.
func (m *model) synced(s *slot, req *kmsg.SyncGroupRequest, code int16, owned []int) {
	if s.joining || s.id != req.MemberID || s.generation != req.Generation {
		return // it has gone on meanwhile
	}
	switch code {
	case 0:
		s.synced, s.owned = true, owned
	case codeUnknownMember, codeFencedInstance:
		s.forget()
	}
}

// forget is what a client does that is no member any more.
func (s *slot) forget() { s.id, s.generation, s.synced, s.owned, s.leads = "", -1, false, nil, nil }

// checkSync looks at an assignment and gives its partitions.
func (m *model) checkSync(req *kmsg.SyncGroupRequest, got string) (owned []int) {
	m.reached["sync"]++
	if m.g.state != stable || req.Generation != m.g.generation || m.g.members.byID[req.MemberID] == nil {
		m.t.Fatalf("assignment given to %s of generation %d in %v %d", req.MemberID, req.Generation, m.g.state, m.g.generation)
	}
	if got == "" {
		return nil // its leader was not told of it, or did not know that it leads
	}
	words := strings.SplitN(got, " ", 3)
	id, owner := words[1], words[1]
	if req.InstanceID != nil && strings.HasPrefix(id, *req.InstanceID+"-") {
		id, owner = req.MemberID, *req.InstanceID // perhaps that of its former id
	}
	if words[0] != strconv.Itoa(int(req.Generation)) || id != req.MemberID {
		m.t.Fatalf("%s got the assignment %q in generation %d", req.MemberID, got, req.Generation)
	}
	for _, word := range strings.FieldsFunc(words[2], func(r rune) bool { return r == ',' }) {
		partition, err := strconv.Atoi(word)
		if err != nil {
			m.t.Fatalf("assignment %q: %v", got, err)
		}
		at := ownership{req.Generation, partition}
		if other, taken := m.owners[at]; taken && other != owner {
			m.t.Fatalf("generation %d: partition %d belongs to %s and %s", req.Generation, partition, other, owner)
		}
		m.owners[at] = owner
		owned = append(owned, partition)
	}
	return owned
}

func (m *model) heartbeat(t *rapid.T) { m.heartbeatAs(m.slot(t)) }

func (m *model) heartbeatAs(s *slot) {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = "g", s.id, s.instance, s.generation
	answered := m.once("heartbeat")
	m.handle(&heartbeatEvent{req, func(resp *kmsg.HeartbeatResponse) {
		answered()
		if resp.ErrorCode != 0 {
			m.beaten(s, resp.ErrorCode)
			return
		}
		m.reached["heartbeat"]++
		if m.g.state < completing || s.generation != m.g.generation {
			m.t.Fatalf("heartbeat of generation %d accepted in %v %d", s.generation, m.g.state, m.g.generation)
		}
	}})
}

// beaten is what a client makes of a heartbeat that failed.
func (m *model) beaten(s *slot, code int16) {
	switch code {
	case codeRebalanceInProgress, codeIllegalGeneration:
		s.synced, s.owned = false, nil
		s.generation = -1
	case codeUnknownMember, codeFencedInstance:
		s.forget()
	default:
		m.t.Fatalf("heartbeat answered %d", code)
	}
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

// lose breaks a client's connection: it does not get the answers that are to come,
// and asks again as what it is.
func (m *model) lose(t *rapid.T) {
	s := m.slot(t)
	s.life++
	s.joining = false
}

func (m *model) pass(t *rapid.T) {
	m.advance(time.Duration(rapid.Int64Range(0, 15_000).Draw(t, "ms")) * time.Millisecond)
}

func (m *model) advance(d time.Duration) {
	until := m.now.Add(d)
	for n := 0; due(m.g.wake, until); n++ {
		mustEnd(m.t, n, "ticks")
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
	m.noteTimeouts(m.g.state)
	m.noteEnd()
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
	for n := 0; len(m.calls) > 0; n++ {
		mustEnd(m.t, n, "calls")
		call := m.calls[0]
		m.calls = m.calls[1:]
		m.handle(call(true))
	}
}

// mustEnd fails a model whose group goes round in circles: asks again whenever it is
// answered, or wakes without end. What the model keeps would fill the memory first.
func mustEnd(t *rapid.T, n int, what string) {
	if n >= 10_000 {
		t.Fatalf("%d %s one after the other, and no end", n, what)
	}
}
