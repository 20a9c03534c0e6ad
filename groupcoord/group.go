package groupcoord

import (
	"time"

	"github.com/rs/zerolog"
)

// state of a group, spelled for clients by String.
type state int8

const (
	empty       state = iota // no members
	preparing                // a rebalance collects the members
	completing               // the members know their generation, the leader assigns
	stable                   // everybody can have its assignment
	assigning                // consumer protocol: the next heartbeat computes the targets
	reconciling              // consumer protocol: not everybody has reached its target
)

var stateNames = [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Assigning", "Reconciling"}

// kind is the type of a group as ListGroups shows it.
type kind string

const (
	kindClassic  kind = "classic"
	kindConsumer kind = "consumer"
)

// kind tells by which protocol the group's members come together.
func (g *group) kind() kind {
	if g.consumer != nil {
		return kindConsumer
	}
	return kindClassic
}

// stateDead is what DescribeGroups calls a group that does not exist.
const stateDead = "Dead"

func (s state) String() string { return stateNames[s] }

// group is the state machine of one group. It has no goroutine, lock or clock:
// handle takes events one by one, each with its time, and returns what follows.
type group struct {
	name string
	cfg  *Config
	log  zerolog.Logger

	state state
	// exists is false until somebody joins or commits without membership: an
	// unknown group answers a few requests differently from an empty one.
	exists       bool
	generation   int32
	protocolType string
	protocol     string           // chosen for this generation
	firstCounts  map[string]int32 // partitions of a topic when it was first assigned
	subscribed   map[string]bool  // topics of this generation's members, nil: not known
	leader       string           // member id
	members      members
	pending      map[string]time.Time // ids given with MEMBER_ID_REQUIRED, and when they end

	joinDeadline time.Time     // in preparing
	initial      bool          // the rebalance began in an empty group: it waits for its delay
	delayLeft    time.Duration // by which the initial delay may still be extended
	grown        bool          // a member came during the current initial delay

	unsynced     map[string]struct{} // members of this generation without SyncGroup
	syncDeadline time.Time           // while unsynced has any

	refreshAt time.Time // next periodic re-read of offsets, zero in an empty group
	offsets   offsets
	commits   map[string]int // commits without an answer, by member id

	consumer *consumerGroup // not nil: the group serves the consumer protocol
	lookups  lookups
	lookupAt time.Time // next periodic lookup of the topics, zero in other groups

	// wake is when the next timer is due, or earlier; zero: no timer runs.
	wake time.Time

	// Of the event being handled:
	now     time.Time
	changed bool
	effects []effect
}

func newGroup(cfg *Config, name string) *group {
	return &group{
		name:    name,
		cfg:     cfg,
		log:     cfg.Logger.With().Str("group", cut(name)).Logger(),
		pending: make(map[string]time.Time),
		members: newMembers(),
		offsets: newOffsets(),
		commits: make(map[string]int),
	}
}

// handle applies one event. changed tells that the snapshot must be saved
// before the effects may run, in their order.
func (g *group) handle(now time.Time, ev event) (changed bool, effects []effect) {
	g.now, g.changed, g.effects = now, false, nil
	ev.apply(g)
	return g.changed, g.effects
}

// idle reports whether nothing would be lost without the group in memory.
func (g *group) idle() bool {
	return g.state == empty && len(g.pending) == 0 && !g.offsets.busy() && len(g.lookups.waiting) == 0
}

// releaseWaiters ends all that is held but commits with code; the effects are
// answers that need no save.
func (g *group) releaseWaiters(code int16) []effect {
	g.effects = nil
	for _, m := range g.members.list {
		g.endJoin(m, code)
		g.endSync(m, code)
	}
	for _, w := range g.lookups.waiting {
		g.refuse(w.request, code)
	}
	g.lookups.waiting = nil
	return g.effects
}

// abandon ends everything that waits, commits too, with code.
func (g *group) abandon(code int16) []effect {
	g.releaseWaiters(code)
	g.offsets.abandon(func(r request) { g.refuse(r, code) })
	return g.effects
}

// transitionTo changes the state and logs it.
func (g *group) transitionTo(s state, reason string) {
	g.log.Debug().Stringer("from", g.state).Stringer("to", s).Int32("generation", g.generation).
		Int("members", g.members.len()).Str("reason", cut(reason)).Msg("group changed state")
	g.state = s
}
