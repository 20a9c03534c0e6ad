package groupcoord

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestRestartKeepsGenerationAndMembers(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, s := r.consumer("a"), r.static("s")
		r.stable(a, s)
		before := r.describe("g")
		r.restart()
		r.sleep(time.Hour) // nobody asked yet: no session runs
		want(r, "heartbeat", a.heartbeat(), 0)
		want(r, "sync", string(s.sync(nil).get().MemberAssignment), "s")
		after := r.describe("g")
		want(r, "state", after.State, "Stable")
		want(r, "member", after.Members[1].MemberID, before.Members[1].MemberID)
		want(r, "metadata", string(after.Members[0].ProtocolMetadata), "subscription")
		want(r, "commit", code(a.commit(0, 1)), 0)
		r.sleep(9 * time.Second)
		a.heartbeat()
		r.sleep(time.Second)
		want(r, "sessions run again", a.heartbeat(), codeRebalanceInProgress)
		want(r, "generation", a.joined(a.join()).Generation, 1+1)
	})
}

func TestRestartWhileCompleting(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		pa, pb := a.join(), b.join()
		r.sleep(2 * time.Second)
		a.joined(pa)
		b.joined(pb)
		held := b.sync(nil)
		held.held()
		r.restart()
		want(r, "released", held.get().ErrorCode, codeNotCoordinator)
		r.assign(a, b)
		want(r, "state", r.state("g"), "Stable")
		r.sleep(0)
		r.restart()
		want(r, "assignment", string(b.sync(nil).get().MemberAssignment), "b")
	})
}

func TestRestartWhileCompletingAndNobodySyncs(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		a.rebalance, a.session = 20*time.Second, 10*time.Minute
		a.joined(a.join())
		r.restart()
		want(r, "heartbeat", a.heartbeat(), 0)
		r.sleep(20 * time.Second)
		want(r, "state", r.state("g"), "Empty")
	})
}

func TestWhileLoading(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		want(r, "commit", code(a.commit(0, 5)), 0)
		r.restart()
		r.store.loadDelay = 5 * time.Second

		early := a.commit(0, 6) // waits for the patience, then is told
		r.sleep(time.Second - time.Millisecond)
		early.held()
		r.sleep(time.Millisecond)
		want(r, "commit", code(early), codeLoading)
		want(r, "join", a.tryJoin().get().ErrorCode, codeLoading)
		want(r, "fetch", r.fetch("g", 0).get().Topics[0].Partitions[0].ErrorCode, codeLoading)
		want(r, "sync", a.sync(nil).get().ErrorCode, codeRebalanceInProgress)
		want(r, "heartbeat", a.heartbeat(), 0)
		want(r, "leave", a.leave(), codeLoading)
		want(r, "describe", r.describe("g").ErrorCode, codeLoading)
		r.sleep(4 * time.Second)
		want(r, "loaded", code(a.commit(0, 7)), 0)
		want(r, "same generation", r.fetchedOffset("g", 0), 7)
	})
}

func TestQuickLoadIsNotNoticed(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.store.loadDelay = 500 * time.Millisecond
		p := r.consumer("a").tryJoin()
		p.held()
		r.sleep(500 * time.Millisecond)
		want(r, "join", p.get().ErrorCode, codeMemberIDRequired)
	})
}

func TestLoadFails(t *testing.T) {
	tests := []struct {
		name string
		edit func(r *rig)
		code int16
	}{
		{"store", func(r *rig) { r.store.loadErr = errors.New("down") }, codeNotAvailable},
		{"store hangs", func(r *rig) { r.store.loadDelay = time.Hour }, codeNotAvailable},
		{"owners", func(r *rig) { r.owners.err = errors.New("down") }, codeNotAvailable},
		{"owned elsewhere", func(r *rig) { r.owners.owner = "10.0.0.2:9092" }, codeNotCoordinator},
		{"bad snapshot", func(r *rig) { r.must(r.store.MemoryStore.Save(r.Context(), "g", []byte("{"), 0)) }, codeNotAvailable},
		{"later version", func(r *rig) { r.must(r.store.MemoryStore.Save(r.Context(), "g", []byte(`{"version":2}`), 0)) }, codeNotAvailable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, Config{LoadPatience: time.Minute}, func(r *rig) {
				test.edit(r)
				p := r.consumer("a").tryJoin()
				r.sleep(20 * time.Second)
				want(r, "join", p.get().ErrorCode, test.code)
				r.store.loadErr, r.store.loadDelay, r.owners.err, r.owners.owner = nil, 0, nil, ""
				r.must(r.store.MemoryStore.Save(r.Context(), "g", nil, 100))
				want(r, "tried again", r.consumer("a").tryJoin().get().ErrorCode, codeMemberIDRequired)
			})
		})
	}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func TestLeaseLost(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		r.stable(a)
		join := b.join()
		r.offsets.gate = make(chan struct{})
		running, waiting, fetch := a.commit(0, 1), a.commit(0, 2), r.fetch("g", 0)
		join.held()
		r.owners.moveTo("10.0.0.2:9092")
		want(r, "held join", join.get().ErrorCode, codeNotCoordinator)
		want(r, "running commit", code(running), codeNotCoordinator)
		want(r, "waiting commit", code(waiting), codeNotCoordinator)
		want(r, "fetch", fetch.get().ErrorCode, codeNotCoordinator)
		want(r, "heartbeat", a.heartbeat(), codeNotCoordinator)
		want(r, "later commit", code(a.commit(0, 3)), codeNotCoordinator)
		want(r, "describe", r.describe("g").ErrorCode, codeNotCoordinator)
		want(r, "calls", len(r.offsets.calls()), 1)
		want(r, "released", r.owners.released, 1)
	})
}

func TestLeaseComesBack(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		r.owners.moveTo("")
		r.sleep(0)
		want(r, "loaded again", a.heartbeat(), 0)
	})
}

func TestHeldSyncWhenTheLeaseIsLost(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a, b := r.consumer("a"), r.consumer("b")
		pa, pb := a.join(), b.join()
		r.sleep(2 * time.Second)
		a.joined(pa)
		b.joined(pb)
		held := b.sync(nil)
		held.held()
		r.owners.moveTo("10.0.0.2:9092")
		want(r, "sync", held.get().ErrorCode, codeNotCoordinator)
	})
}

func TestCommitStartsOnlyIfTheLeaseOutlivesIt(t *testing.T) {
	inBubble(t, Config{CommitTimeout: 10 * time.Second}, func(r *rig) {
		r.owners.deadline = time.Now().Add(30 * time.Second)
		want(r, "early", code(r.simple("g", 0, 1)), 0)
		r.sleep(20 * time.Second)
		want(r, "too late", code(r.simple("g", 0, 2)), codeLoading)
		want(r, "never at the store", len(r.offsets.calls()), 1)
		r.owners.deadline = time.Now().Add(30 * time.Second) // renewed
		want(r, "renewed", code(r.simple("g", 0, 3)), 0)
	})
}

func TestSaveFails(t *testing.T) {
	tests := []struct {
		name string
		err  error
		code int16
	}{
		{"store down", errors.New("down"), codeNotAvailable},
		{"fenced", ErrFenced, codeNotCoordinator},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
				a, b := r.consumer("a"), r.consumer("b")
				pa, pb := a.join(), b.join()
				r.sleep(2 * time.Second)
				a.joined(pa)
				b.joined(pb)
				sb := b.sync(nil)
				r.store.saveErr = test.err
				sa := a.sync(nil)
				want(r, "leader", sa.get().ErrorCode, test.code)
				want(r, "follower", sb.get().ErrorCode, test.code)
				r.store.saveErr = nil
				want(r, "as last saved", r.state("g"), "CompletingRebalance")
				r.assign(a, b)
			})
		})
	}
}

// inMemory counts the groups that run.
func (r *rig) inMemory() int {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	return len(r.c.actors)
}

func TestEmptyGroupGoesOutOfMemory(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		a.leave()
		r.sleep(time.Minute - time.Millisecond)
		want(r, "kept for a while", r.inMemory(), 1)
		r.sleep(time.Millisecond)
		want(r, "gone", r.inMemory(), 0)
		want(r, "lease", r.owners.released, 1)
		snapshot, err := r.store.MemoryStore.Load(r.Context(), "g")
		r.must(err)
		want(r, "no offsets, so nothing is left", snapshot == nil, true)
		want(r, "new", a.heartbeat(), codeUnknownMember)
	})
}

func TestEmptyGroupWithOffsetsKeepsItsState(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		want(r, "commit", code(a.commit(0, 1)), 0)
		a.leave()
		r.sleep(time.Minute)
		want(r, "gone", r.inMemory(), 0)
		d := r.describe("g")
		want(r, "state", d.State+" "+d.ProtocolType, "Empty consumer")
		a.id = ""
		want(r, "generation goes on", a.joined(a.join()).Generation, 3)
	})
}

func TestPendingMemberKeepsTheGroup(t *testing.T) {
	inBubble(t, Config{EmptyGroupLinger: 10 * time.Second}, func(r *rig) {
		c := r.consumer("a")
		c.session = 5 * time.Minute
		c.id = c.tryJoin().get().MemberID
		r.sleep(50 * time.Second)
		c.joined(c.tryJoin())
	})
}

func TestCloseReleasesWaitersAndFinishesCommits(t *testing.T) {
	inBubble(t, Config{InitialRebalanceDelay: time.Second}, func(r *rig) {
		a := r.consumer("a")
		r.stable(a)
		r.offsets.gate = make(chan struct{})
		running, waiting, fetch := a.commit(0, 1), a.commit(0, 2), r.fetch("g", 0)
		join := r.consumer("b").join()
		first := r.consumer("first")
		first.group = "other"
		initial := first.join()
		join.held()

		closed := make(chan error, 1)
		go func() { closed <- r.c.Close(r.Context()) }()
		want(r, "held join", join.get().ErrorCode, codeNotCoordinator)
		want(r, "join in its delay", initial.get().ErrorCode, codeNotCoordinator)
		want(r, "heartbeat", a.heartbeat(), codeNotCoordinator)
		running.held()
		close(r.offsets.gate)
		want(r, "running commit", code(running), 0)
		want(r, "waiting commit", code(waiting), 0)
		want(r, "fetch", fetch.get().Topics[0].Partitions[0].Offset, 2)
		r.must(<-closed)
		want(r, "afterwards", a.tryJoin().get().ErrorCode, codeNotCoordinator)
		req := kmsg.NewPtrListGroupsRequest()
		want(r, "list", send(r, r.c.ListGroups, Client{}, req).get().ErrorCode, codeNotAvailable)
	})
}

func TestCloseGivesUp(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.offsets.gate = make(chan struct{})
		p := r.simple("g", 0, 1)
		p.held()
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if err := r.c.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			r.Fatalf("close: %v, want a deadline error", err)
		}
		want(r, "answered all the same", code(p), codeLoading)
	})
}

func TestCloseWhileLoading(t *testing.T) {
	inBubble(t, Config{}, func(r *rig) {
		r.store.loadDelay = time.Hour
		p := r.consumer("a").tryJoin()
		p.held()
		r.must(r.c.Close(r.Context()))
		want(r, "join", p.get().ErrorCode, codeNotCoordinator)
		want(r, "lease", r.owners.released, 1)
	})
}

func TestLocalOwnersAndMemoryStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Config{}, newFakeOffsets(), NewMemoryStore(), new(LocalOwners))
		r := &rig{T: t, c: c, offsets: newFakeOffsets()}
		a := r.consumer("a")
		r.stable(a)
		want(r, "heartbeat", a.heartbeat(), 0)
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestMemoryStoreFencesOldTokens(t *testing.T) {
	s := NewMemoryStore()
	ctx := t.Context()
	if err := s.Save(ctx, "g", []byte("new"), 2); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(ctx, "g", []byte("old"), 1); !errors.Is(err, ErrFenced) {
		t.Fatalf("save with an old token: %v, want ErrFenced", err)
	}
	if got, err := s.Load(ctx, "g"); err != nil || string(got) != "new" {
		t.Fatalf("loaded %q, %v, want the new one", got, err)
	}
}
