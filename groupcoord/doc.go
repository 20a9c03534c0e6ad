// Package groupcoord coordinates consumer groups by the classic protocol of
// Kafka (JoinGroup, SyncGroup, Heartbeat, LeaveGroup) and by the consumer protocol
// of KIP-848 (ConsumerGroupHeartbeat), with their offsets and what administrators
// ask for. It has no sockets and knows nothing of where offsets are kept and topics
// come from.
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
// # States of classic groups
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
// # The consumer protocol
//
// The first member decides whether an empty group serves the classic or the
// consumer protocol. In the latter the group has an epoch, which every change of
// members, subscriptions and subscribed topics raises. The next heartbeat computes a
// target for it: which partitions each member is to have. A member is led there by
// its own heartbeats, in steps, each saved before it is answered:
//
//	member state   heartbeat                     what happens
//	Stable         target has a newer epoch      the step below
//	Revoking       still has what it must give   nothing, until its rebalance
//	               up, or does not say           timeout: then it is fenced
//	               has given it up               epoch + 1, then the step below
//	Unreleased     any                           the step below
//
//	the step: something to give up    -> Revoking, same epoch, told what remains
//	          others still have some  -> Unreleased, epoch of the target, told
//	          of its target              what is free
//	          otherwise               -> Stable, epoch of the target, told all
//
// So a partition has one owner: the next one gets it when the last has told that it
// gave it up, has left, or is fenced. The group is Assigning while no target is
// computed for its epoch, Reconciling until all members are Stable at the target's
// epoch, then Stable.
//
// Clients take over what they were told while their heartbeats go on, and finish that
// whatever they are told meanwhile. A member that does not report a partition has given
// it up only if it had reported it before; else that is in doubt, and the partition
// stays its own although it is not told to have it any more. The doubt ends when
//
//	it reports the partition                  -> Revoking
//	it acknowledges: a list of what it has,
//	  without all the rest                    -> the partition is free
//	it reports what it was given later, or
//	  with it of the same topic, and cannot
//	  have from before                        -> free
//	it joins anew, leaves, is fenced          -> free
//	its rebalance timeout is over since a
//	  heartbeat at its newest epoch, and two
//	  more have not reported it               -> free
//
// A heartbeat alone proves nothing, at whatever epoch.
//
// A heartbeat is checked in this order: its own fields 42, assignor 112, pattern
// 128, group size 81, instance in use 111, unknown member 25, instance of another
// member 82, epoch 110. A member may join again at any time: it has nothing then. One
// epoch behind is accepted from a member that says what it has, and has nothing that
// it must not: it has not got the last answer. Offsets are stored and read only with
// the member's epoch, else 113.
//
// Topics come from a [TopicCatalog]. A subscription that is new to the group is
// looked up before it is answered, and every [Config.TopicsInterval] all are. When the
// catalog fails, members go on with what is known.
//
// A classic consumer may join: its metadata has the subscription, its generation is
// its member epoch, and heartbeats answer 27 whenever a step is due. A member of the
// consumer protocol may join a classic group of consumers, which so becomes one of the
// consumer protocol; it becomes a classic one, and rebalances, when only classic members
// are left.
//
// # Snapshots
//
// Those of the consumer protocol have all of it and are saved at every change. Those
// of classic groups are saved when a generation is complete, when the leader has
// assigned, when a static member got a new id, and when the group becomes empty.
// Membership between these points is in memory only: a member that a new owner does
// not know gets 25 and joins again.
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
// place. Offsets do not expire here. An id that was given out in a group without
// members is good for a minute at most. A draw of the protocol vote goes to the
// members' order. A join or sync that was replaced by a newer one of the same
// member is answered 27 instead of never.
//
// A member of the consumer protocol whose group is not known is answered 25, not 69:
// groups may be in memory only, and 25 makes clients join again. A static member that
// repeats its join with the same id is let in, not answered 111. Patterns are resolved
// before the answer, not after it. A commit at an earlier epoch is refused also for
// partitions that the member has kept, which newer brokers store (KIP-1251). Kafka takes
// every partition that is missing in a list for given up. A classic
// consumer that was removed from a group of the consumer protocol cannot join under
// its old id. LeaveGroup removes members of either protocol.
package groupcoord
