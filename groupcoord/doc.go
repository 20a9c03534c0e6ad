// Package groupcoord coordinates consumer groups by the classic protocol of
// Kafka: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit, OffsetFetch,
// OffsetDelete, DescribeGroups, ListGroups and DeleteGroups. It has no sockets and knows nothing of where
// offsets are kept.
//
// # How it is built
//
// A group is a state machine without goroutine, lock or clock: group.handle takes one
// event and the time, changes the group, and returns whether its snapshot has
// changed and which effects follow (answers, reads and writes of offsets). An
// actor per group feeds it the events in the order of their arrival, saves the
// snapshot in the [Store], and only then runs the effects. What a client has
// been told is therefore known to the next owner of the group. When a snapshot
// cannot be saved, or the lease of [Owners] is lost, the actor answers everything
// that waits with NOT_COORDINATOR (15 if the store failed) and forgets the
// group; the next request acquires and loads it again.
//
// An actor exists while its group has members, requests or running calls, and
// [Config.EmptyGroupLinger] longer. Timers and requests happen in the order of
// their time, which for a request is that of its arrival, and sessions grow by the
// time a save took: a slow Store makes nobody look dead who sent a heartbeat.
//
// While a group is loaded, requests wait up to [Config.LoadPatience]; then
// JoinGroup, LeaveGroup, OffsetCommit, OffsetFetch and DescribeGroups get 14
// (COORDINATOR_LOAD_IN_PROGRESS), SyncGroup 27, because the Java client takes 14
// for fatal there, and Heartbeat 0.
//
// # States
//
// What each state answers, and the state after it. A new client joins with
// version 4 or later and no id, an old one with an earlier version; "held" is an
// answer that comes later. TestStates reads this table and does what it says.
//
//	state                request                      answer  state after it
//	none                 join of a new client         79      Empty
//	none                 join of an old client        held    PreparingRebalance
//	none                 join of a member             25      none
//	none                 sync of a member             25      none
//	none                 heartbeat                    25      none
//	none                 leave                        25      none
//	none                 commit of a member           22      none
//	none                 commit without membership    0       Empty
//	none                 deletion                     69      none
//	Empty                join of a new client         79      Empty
//	Empty                join with the given id       held    PreparingRebalance
//	Empty                join of an old client        held    PreparingRebalance
//	Empty                join of a member             25      Empty
//	Empty                sync of a member             25      Empty
//	Empty                heartbeat                    25      Empty
//	Empty                leave                        25      Empty
//	Empty                commit of a member           25      Empty
//	Empty                commit without membership    0       Empty
//	Empty                deletion                     0       none
//	PreparingRebalance   join of a new client         79      PreparingRebalance
//	PreparingRebalance   join with the given id       held    PreparingRebalance
//	PreparingRebalance   join of an old client        held    PreparingRebalance
//	PreparingRebalance   join of a member             held    PreparingRebalance
//	PreparingRebalance   joins of all members         0       CompletingRebalance
//	PreparingRebalance   sync of a member             27      PreparingRebalance
//	PreparingRebalance   heartbeat                    27      PreparingRebalance
//	PreparingRebalance   leave                        0       PreparingRebalance
//	PreparingRebalance   leaves of all members        0       Empty
//	PreparingRebalance   commit of a member           0       PreparingRebalance
//	PreparingRebalance   commit without membership    25      PreparingRebalance
//	PreparingRebalance   deletion                     68      PreparingRebalance
//	CompletingRebalance  join of a new client         79      CompletingRebalance
//	CompletingRebalance  join with the given id       held    PreparingRebalance
//	CompletingRebalance  join of an old client        held    PreparingRebalance
//	CompletingRebalance  join of a member             0       CompletingRebalance
//	CompletingRebalance  join of the leader           0       CompletingRebalance
//	CompletingRebalance  join with other metadata     held    PreparingRebalance
//	CompletingRebalance  sync of a member             held    CompletingRebalance
//	CompletingRebalance  sync of the leader           0       Stable
//	CompletingRebalance  heartbeat                    0       CompletingRebalance
//	CompletingRebalance  leave                        0       PreparingRebalance
//	CompletingRebalance  leaves of all members        0       Empty
//	CompletingRebalance  commit of a member           27      CompletingRebalance
//	CompletingRebalance  commit without membership    25      CompletingRebalance
//	CompletingRebalance  deletion                     68      CompletingRebalance
//	Stable               join of a new client         79      Stable
//	Stable               join with the given id       held    PreparingRebalance
//	Stable               join of an old client        held    PreparingRebalance
//	Stable               join of a member             0       Stable
//	Stable               join of the leader           held    PreparingRebalance
//	Stable               join with other metadata     held    PreparingRebalance
//	Stable               sync of a member             0       Stable
//	Stable               sync of the leader           0       Stable
//	Stable               heartbeat                    0       Stable
//	Stable               leave                        0       PreparingRebalance
//	Stable               leaves of all members        0       Empty
//	Stable               commit of a member           0       Stable
//	Stable               commit without membership    25      Stable
//	Stable               deletion                     68      Stable
//
// A group with members changes its state in these ways and no others, which
// TestModel checks:
//
//	Empty -> PreparingRebalance                a client joins
//	PreparingRebalance -> CompletingRebalance  all have joined and no given id is
//	                                           awaited, or the deadline; generation + 1
//	PreparingRebalance -> Empty                nobody is left; generation + 1
//	CompletingRebalance -> Stable              the leader has assigned
//	CompletingRebalance -> PreparingRebalance  a member comes, changes or goes, or did
//	                                           not sync within the rebalance timeout
//	Stable -> PreparingRebalance               the same
//
// In every state a request of a member is checked in this order: instance id
// that belongs to another member id 82, unknown member 25, other generation 22,
// other protocol 23.
//
// # Timers
//
// They are deadlines in the group: the session of each member (JoinGroup,
// SyncGroup, Heartbeat and OffsetCommit begin it anew; it rests while the
// member waits for an answer), 5 minutes for a new member whose first join is held,
// the session timeout for an id given with 79, the initial delay or the rebalance
// timeout (the longest of all members) for the joins, and the rebalance timeout for
// the syncs. Static members (KIP-345) outlive the second last, and only that.
//
// # Snapshots
//
// Saved when a generation is complete, when the leader has assigned, when a
// static member got a new id, and when the group becomes empty. Membership
// between these points is in memory only: a member that a new owner does not know
// gets 25 and joins again.
//
// # Offsets
//
// A commit is checked when its turn comes, then queued per partition: one write
// runs, one waits, a newer one takes the place of the one that waits, and both are
// answered with its result. Whatever the store does, the group goes on. A read
// waits for the writes that came before it, and is served from memory what
// this coordinator has acknowledged while the group has members. Each
// generation, and every [Config.RefreshInterval], that memory is compared with the store;
// what somebody else has changed is adopted and reported as a [ForeignChange].
//
// # What is different from Apache Kafka
//
// A static member that returns to a full group is let in, for it takes its own
// place. Offsets do not expire here. A draw of the protocol vote goes to the
// members' order. A join or sync that was replaced by a newer one of the same
// member is answered 27 instead of never.
package groupcoord
