package groupcoord

import (
	"encoding/json"
	"fmt"
	"time"
)

// The version of a snapshot grows when an older coordinator could not read it. That
// of classic groups has been the same from the start.
const (
	snapshotVersion         = 1
	consumerSnapshotVersion = 2
)

// snapshot is what the next owner of a group has to know. Held requests, timers
// and ids that are only given out are not part of it: clients repeat the
// former, the timers start anew.
type snapshot struct {
	Version      int              `json:"version"`
	State        state            `json:"state"`
	Generation   int32            `json:"generation"`
	ProtocolType string           `json:"protocol_type"`
	Protocol     string           `json:"protocol,omitempty"`
	Leader       string           `json:"leader,omitempty"`
	Members      []memberSnapshot `json:"members,omitempty"`
	Stored       bool             `json:"has_offsets,omitempty"`
	FirstCounts  map[string]int32 `json:"first_partition_counts,omitempty"`

	Consumer *consumerSnapshot `json:"consumer,omitempty"`
}

type memberSnapshot struct {
	ID          string     `json:"id"`
	Instance    *string    `json:"instance,omitempty"`
	ClientID    string     `json:"client_id"`
	ClientHost  string     `json:"client_host"`
	SessionMS   int64      `json:"session_ms"`
	RebalanceMS int64      `json:"rebalance_ms"`
	Protocols   []protocol `json:"protocols"`
	Assignment  []byte     `json:"assignment,omitempty"`
}

// snapshot encodes the group for [Store]; a group that does not exist is nil.
func (g *group) snapshot() []byte {
	if !g.exists {
		return nil
	}
	s := snapshot{
		Version:      snapshotVersion,
		State:        g.state,
		Generation:   g.generation,
		ProtocolType: g.protocolType,
		Protocol:     g.protocol,
		Leader:       g.leader,
		Stored:       g.offsets.stored,
		FirstCounts:  g.firstCounts,
	}
	for _, m := range g.members.list {
		s.Members = append(s.Members, memberSnapshot{
			ID:          m.id,
			Instance:    m.instance,
			ClientID:    m.client.ID,
			ClientHost:  m.client.Host,
			SessionMS:   m.session.Milliseconds(),
			RebalanceMS: m.rebalance.Milliseconds(),
			Protocols:   m.protocols,
			Assignment:  m.assignment,
		})
	}
	if g.consumer != nil {
		s.Version, s.Consumer = consumerSnapshotVersion, g.consumerSnapshot()
	}
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("encode group snapshot: %v", err)) // no field of it can fail
	}
	return encoded
}

// restore makes the group of a snapshot, with all timers started at now; nil is
// a group that does not exist.
func restore(cfg *Config, name string, encoded []byte, now time.Time) (*group, error) {
	g := newGroup(cfg, name)
	if encoded == nil {
		return g, nil
	}
	var s snapshot
	if err := json.Unmarshal(encoded, &s); err != nil {
		return nil, fmt.Errorf("decode group snapshot: %w", err)
	}
	version, last := snapshotVersion, stable
	if s.Consumer != nil {
		version, last = consumerSnapshotVersion, reconciling
	}
	if s.Version != version || s.State < empty || s.State > last {
		return nil, fmt.Errorf("decode group snapshot: version %d, state %d are not known", s.Version, s.State)
	}
	g.now = now
	g.exists = true
	g.state, g.generation = s.State, s.Generation
	g.protocolType, g.protocol, g.leader = s.ProtocolType, s.Protocol, s.Leader
	g.offsets.stored = s.Stored
	g.firstCounts = s.FirstCounts
	for _, m := range s.Members {
		g.restoreMember(m)
	}
	g.noteSubscribed()
	if s.Consumer != nil {
		g.restoreConsumer(s.Consumer)
	}
	g.restoreTimers()
	return g, nil
}

func (g *group) restoreMember(s memberSnapshot) {
	m := &member{
		id:         s.ID,
		instance:   s.Instance,
		client:     Client{ID: s.ClientID, Host: s.ClientHost},
		session:    time.Duration(s.SessionMS) * time.Millisecond,
		rebalance:  time.Duration(s.RebalanceMS) * time.Millisecond,
		protocols:  s.Protocols,
		assignment: s.Assignment,
	}
	g.members.add(m)
	g.touch(m)
}

func (g *group) restoreTimers() {
	if g.state != empty {
		g.refreshAfter()
	}
	switch g.state {
	case preparing:
		g.joinDeadline = g.now.Add(g.rebalanceTimeout())
		g.wakeAt(g.joinDeadline)
	case completing:
		g.unsynced = make(map[string]struct{}, g.members.len())
		for _, m := range g.members.list {
			g.unsynced[m.id] = struct{}{}
		}
		g.awaitSyncs()
	}
}
