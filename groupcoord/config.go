package groupcoord

import (
	"cmp"
	"time"

	"github.com/rs/zerolog"
)

// newMemberJoinTimeout bounds how long a member that has never been part of a
// generation is kept while its JoinGroup is held: nothing else tells the
// coordinator that such a client is gone. Apache Kafka uses the same.
const newMemberJoinTimeout = 5 * time.Minute

// Config holds the settings of a [Coordinator]. Zero values mean the default
// unless a field says otherwise.
type Config struct {
	// InitialRebalanceDelay is how long the first rebalance of an empty group
	// waits for more members; every new one extends it, up to the rebalance
	// timeout. Zero means no delay; Apache Kafka's default
	// (group.initial.rebalance.delay.ms) is 3 s.
	InitialRebalanceDelay time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound what clients may ask for
	// (6 s, 30 min); outside of them JoinGroup is answered 26.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// MaxGroupSize is the most members one group may have; 0 is unlimited.
	MaxGroupSize int
	// MaxGroups is the most groups in memory (20,000): those with members, and
	// others for as long as something is asked of them and a little longer. Above
	// it requests for further ones are answered 15.
	MaxGroups int
	// MaxMemberBytes is how much the members of all groups may keep in memory (32 MiB):
	// the metadata of their protocols, subscriptions, assignments and names. A request
	// that would add to it is answered 15; what does not is served. Requests that are
	// handled at the same time may exceed it together.
	MaxMemberBytes int64
	// AddedFromReset answers "nothing committed" for partitions that a scale-up
	// added to a topic of a running group, so that the client's reset policy
	// decides. By default they begin at their oldest record: a policy of latest
	// would skip what was written before the group noticed them.
	AddedFromReset bool
	// Off refuses every request with 30 (GROUP_AUTHORIZATION_FAILED), which is
	// final in all clients: this gateway serves no groups.
	Off bool
	// CheckGroup, if set, tells why a group cannot be kept by its name; requests
	// for it are then answered 24 (INVALID_GROUP_ID).
	CheckGroup func(group string) error
	// MaxMetadata is the most characters of metadata kept with an offset
	// (1000, the limit of DIS); above it the partition is answered 12.
	MaxMetadata int
	// CommitsInFlight is how many calls of OffsetStore.Commit one group may
	// have running (16).
	CommitsInFlight int
	// CommitTimeout bounds one OffsetStore.Commit (6 s), FetchTimeout one
	// OffsetStore.Fetch or FetchAll (8 s). Heartbeats wait behind the reply, and
	// sessions of many clients are 10 s, of which up to 3 s may have passed when a
	// commit is sent; offsets are fetched right after the join. SaveTimeout bounds
	// one Store.Save (5 s),
	// LoadTimeout acquiring and loading a group (20 s), ListTimeout one
	// OffsetStore.Groups (20 s).
	CommitTimeout, FetchTimeout, SaveTimeout, LoadTimeout, ListTimeout time.Duration
	// LoadPatience is how long requests wait for a group that is being loaded
	// before they are told so (1 s).
	LoadPatience time.Duration
	// EmptyGroupLinger is how long a group without members stays in memory
	// (1 min).
	EmptyGroupLinger time.Duration
	// Topics tells the consumer protocol which topics there are; nil knows none.
	Topics TopicCatalog
	// TopicsInterval is how often a group of the consumer protocol asks for its
	// topics again (5 s), TopicsTimeout bounds one such question (10 s).
	TopicsInterval, TopicsTimeout time.Duration
	// ConsumerSessionTimeout is after how long without a heartbeat a member of the
	// consumer protocol is gone (45 s, group.consumer.session.timeout.ms), and
	// ConsumerHeartbeatInterval how often it is told to send one (5 s,
	// group.consumer.heartbeat.interval.ms). The clients have no say in either.
	ConsumerSessionTimeout, ConsumerHeartbeatInterval time.Duration
	// RefreshInterval is how often the offsets of a group with members are
	// read again to notice foreign changes (60 s).
	RefreshInterval time.Duration
	// ForeignChange is called, if set, for each offset of a group with members
	// that somebody else has changed. It must not block.
	ForeignChange func(ForeignChange)
	Logger        zerolog.Logger

	room *room // for MaxMemberBytes
}

// ForeignChange tells that a committed offset is not the one this coordinator
// stored last: another gateway or a program of its own serves the same group.
type ForeignChange struct {
	Group string
	TopicPartition
	// Acknowledged is the offset stored last from here, Found the one read
	// back, -1 if there is none any more.
	Acknowledged, Found int64
}

func (c Config) withDefaults() Config {
	c.MinSessionTimeout = cmp.Or(c.MinSessionTimeout, 6*time.Second)
	c.MaxSessionTimeout = cmp.Or(c.MaxSessionTimeout, 30*time.Minute)
	c.MaxGroups = cmp.Or(c.MaxGroups, 20_000)
	c.MaxMemberBytes = cmp.Or(c.MaxMemberBytes, maxMemberBytes)
	c.room = &room{limit: c.MaxMemberBytes, log: c.Logger}
	c.MaxMetadata = cmp.Or(c.MaxMetadata, 1000)
	c.CommitsInFlight = cmp.Or(c.CommitsInFlight, 16)
	c.CommitTimeout = cmp.Or(c.CommitTimeout, 6*time.Second)
	c.FetchTimeout = cmp.Or(c.FetchTimeout, 8*time.Second)
	c.SaveTimeout = cmp.Or(c.SaveTimeout, 5*time.Second)
	c.LoadTimeout = cmp.Or(c.LoadTimeout, 20*time.Second)
	c.ListTimeout = cmp.Or(c.ListTimeout, 20*time.Second)
	c.LoadPatience = cmp.Or(c.LoadPatience, time.Second)
	c.EmptyGroupLinger = cmp.Or(c.EmptyGroupLinger, time.Minute)
	if c.Topics == nil {
		c.Topics = noTopics{}
	}
	c.TopicsInterval = cmp.Or(c.TopicsInterval, 5*time.Second)
	c.TopicsTimeout = cmp.Or(c.TopicsTimeout, 10*time.Second)
	c.ConsumerSessionTimeout = cmp.Or(c.ConsumerSessionTimeout, 45*time.Second)
	c.ConsumerHeartbeatInterval = cmp.Or(c.ConsumerHeartbeatInterval, 5*time.Second)
	c.RefreshInterval = cmp.Or(c.RefreshInterval, time.Minute)
	return c
}
