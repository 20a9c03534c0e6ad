package embedded

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// groupUser is a consumer that follows the coordinator's orders as the Kafka
// adapter does.
type groupUser struct {
	streams    []*stream
	generation int64
	assignment map[string][]int // nil unless stable
}

// groupModel plays consumers against a group, in any order.
type groupModel struct {
	group   *group
	now     time.Time
	streams []*stream
	users   map[string]*groupUser
}

// step lets a consumer send what the adapter would send next.
func (m *groupModel) step(client string) {
	u := m.users[client]
	switch m.group.heartbeat(m.now, client, u.generation) {
	case wire.HeartbeatJoining:
		u.assignment = nil
		s := subscription{}
		for _, st := range u.streams {
			s[st.name] = st
		}
		m.group.join(m.now, client, joinRequest{subscription: s, rebalanceTimeout: 5 * time.Second})
	case wire.HeartbeatSyncing:
		u.assignment = nil
		if state, assignment := m.group.sync(m.now, client); state == wire.SyncOK {
			u.generation, u.assignment = m.group.generation, assignment
		}
	}
}

// TestGroupProperties: whatever happens, no partition is given to two members of
// a generation and only members of the last one may commit; left in peace, the
// group ends with every readable partition given to one that asked for it, evenly.
func TestGroupProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &groupModel{
			group:   newGroup(GroupSettings{SyncDelay: time.Second, SessionTimeout: 10 * time.Second}),
			now:     time.Unix(1_000_000, 0),
			streams: []*stream{testStream("s", 3), testStream("u", 2)},
			users:   map[string]*groupUser{},
		}
		same := rapid.Bool().Draw(t, "same subscriptions")
		for i := range rapid.IntRange(1, 4).Draw(t, "consumers") {
			u := &groupUser{generation: -1, streams: m.streams}
			if !same {
				u.streams = m.streams[:rapid.IntRange(1, 2).Draw(t, "streams")]
			}
			m.users[fmt.Sprint("c", i)] = u
		}
		names := slices.Sorted(maps.Keys(m.users))
		user := rapid.SampledFrom(names)
		t.Repeat(map[string]func(*rapid.T){
			"step":  func(t *rapid.T) { m.step(user.Draw(t, "client")) },
			"leave": func(t *rapid.T) { m.group.leave(m.now, user.Draw(t, "client")) },
			"pass": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(1, 12000).Draw(t, "ms")) * time.Millisecond)
			},
			"scale": func(t *rapid.T) {
				states := rapid.SliceOfN(rapid.SampledFrom([]wire.PartitionStatus{
					wire.PartitionActive, wire.PartitionDeleted, wire.PartitionExpired,
				}), 1, 5).Draw(t, "states")
				rapid.SampledFrom(m.streams).Draw(t, "stream").testScale(states...)
			},
			"": m.checkOwners,
		})
		for range 60 {
			m.now = m.now.Add(500 * time.Millisecond)
			for _, client := range names {
				m.step(client)
			}
		}
		m.checkPeace(t, same)
	})
}

func (m *groupModel) checkOwners(t *rapid.T) {
	owners := map[string]string{}
	for client, u := range m.users {
		if u.assignment == nil || m.group.mayCommit(m.now, client, u.generation) != nil {
			continue
		}
		if u.generation != m.group.generation {
			t.Fatalf("%s commits in generation %d of %d", client, u.generation, m.group.generation)
		}
		for name, partitions := range u.assignment {
			for _, p := range partitions {
				key := fmt.Sprint(name, p)
				if owners[key] != "" {
					t.Fatalf("%s has two owners: %s and %s", key, owners[key], client)
				}
				owners[key] = client
			}
		}
	}
}

func (m *groupModel) checkPeace(t *rapid.T, same bool) {
	want := map[string]int{}
	for _, u := range m.users {
		for _, st := range u.streams {
			for _, p := range *st.layout.Load() {
				want[fmt.Sprint(st.name, p)] = 1
			}
		}
	}
	got, fewest, most := map[string]int{}, 1000, 0
	for client, u := range m.users {
		if state := m.group.heartbeat(m.now, client, u.generation); state != wire.HeartbeatStable || u.assignment == nil {
			t.Fatalf("%s is %s", client, state)
		}
		load := 0
		for name, partitions := range u.assignment {
			load += len(partitions)
			for _, p := range partitions {
				got[fmt.Sprint(name, p)]++
			}
		}
		fewest, most = min(fewest, load), max(most, load)
	}
	if !maps.Equal(got, want) {
		t.Fatalf("given out %v, want %v", got, want)
	}
	if same && most-fewest > 1 {
		t.Fatalf("loads from %d to %d", fewest, most)
	}
}
