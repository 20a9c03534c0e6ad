// Package groupcoord coordinates consumer groups by the classic protocol of
// Kafka: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit, OffsetFetch,
// DescribeGroups and ListGroups. It has no sockets and knows nothing of where
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
//	state                request        what happens
//	(no such group)      Join "" id     the group is created, as Empty below
//	                     Join, Sync,    25
//	                     Heartbeat,
//	                     Leave
//	                     Commit         generation < 0: created and stored, else 22
//	Empty                Join           79 with an id (v4+, dynamic), or added
//	                                    -> PreparingRebalance with initial delay
//	                     Commit         generation < 0: stored, else 25
//	PreparingRebalance   Join           held until all joined or the deadline
//	                     Sync           27
//	                     Heartbeat      27, the session goes on
//	                     Commit         stored, current generation
//	CompletingRebalance  Join           same metadata: the answer again;
//	                                    else -> PreparingRebalance, held syncs 27
//	                     Sync           held for the leader's, -> Stable
//	                     Heartbeat      0
//	                     Commit         27
//	Stable               Join           follower, same metadata: current generation;
//	                                    else -> PreparingRebalance
//	                     Sync           the assignment
//	                     Heartbeat      0
//	                     Commit         stored
//	any                  Leave, session members gone -> PreparingRebalance
//	                     timeout
//
//	PreparingRebalance -> CompletingRebalance  all joined and no id is pending, or the
//	                                           deadline; generation + 1
//	PreparingRebalance -> Empty                nobody left; generation + 1
//	CompletingRebalance, Stable ->             somebody did not sync within the rebalance
//	PreparingRebalance                         timeout, and is removed
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
