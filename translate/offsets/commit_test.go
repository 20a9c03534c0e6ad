package offsets

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestCommitStoresTheNextOffset(t *testing.T) {
	s, f, _ := open(t)
	got := s.Commit(t.Context(), "g", []OffsetCommit{commit("a", 2, 150, "note"), commit("b", 0, 200, ""), commit("a", 0, 100, "x")})
	want := []CommittedOffset{
		{TopicPartition: at("a", 2), Offset: 150, Metadata: "note"},
		{TopicPartition: at("b", 0), Offset: 200},
		{TopicPartition: at("a", 0), Offset: 100, Metadata: "x"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantStored := map[string]stored{"a/2": {"150", "note"}, "b/0": {"200", ""}, "a/0": {"100", "x"}}
	if diff := cmp.Diff(wantStored, f.apps["g"], cmp.AllowUnexported(stored{})); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestFirstCommitCreatesTheAppOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := open(t)
		f.latency = 10 * time.Millisecond
		got := s.Commit(t.Context(), "new.group", []OffsetCommit{commit("a", 0, 150, ""), commit("a", 1, 150, ""), commit("a", 2, 150, "")})
		for _, c := range got {
			if c.Code != 0 {
				t.Errorf("%+v", c)
			}
		}
		if f.calls["create app"] != 1 || len(f.apps) != 1 || f.apps["kdgx-nzsxolthojxxk4a"] == nil {
			t.Errorf("%d creations, apps %v", f.calls["create app"], f.apps)
		}
		s.Commit(t.Context(), "new.group", []OffsetCommit{commit("a", 0, 151, "")})
		if f.calls["create app"] != 1 || f.calls["commit"] != 5 {
			t.Errorf("calls %v", f.calls)
		}
	})
}

func TestAppThatAnotherGatewayCreatesMeanwhile(t *testing.T) {
	s, f, _ := open(t)
	f.onCommit = func(call int) {
		if call == 1 {
			return
		}
		f.apps["g"] = map[string]stored{}
	}
	f.failWith("create app", refusal("CreateApp", wire.CodeAppExists))
	if got := s.Commit(t.Context(), "g", []OffsetCommit{commit("a", 0, 150, "")}); got[0].Code != 0 {
		t.Errorf("%+v", got[0])
	}
}

func TestCommitRefusals(t *testing.T) {
	long := strings.Repeat("m", 1000)
	cases := []struct {
		name    string
		group   string
		commit  OffsetCommit
		want    *kerr.Error
		message string
	}{
		{"topic", "g", commit("nope", 0, 1, ""), kerr.UnknownTopicOrPartition, "DIS.4301"},
		{"partition", "g", commit("a", 3, 150, ""), kerr.UnknownTopicOrPartition, "no partition 3"},
		{"negative partition", "g", commit("a", -1, 150, ""), kerr.UnknownTopicOrPartition, "no partition -1"},
		{"metadata", "g", commit("a", 0, 150, long+"m"), kerr.OffsetMetadataTooLarge, "1001 characters"},
		{"metadata in UTF-16", "g", commit("a", 0, 150, long[1:]+"😀"), kerr.OffsetMetadataTooLarge, "1001 characters"},
		{"metadata bytes", "g", commit("a", 0, 150, "\xff"), kerr.OffsetMetadataTooLarge, "UTF-8"},
		{"negative offset of no topic", "g", commit("nope", 0, -1, ""), kerr.UnknownTopicOrPartition, "DIS.4301"},
		{"long group", strings.Repeat("g", 201), commit("a", 0, 150, ""), kerr.InvalidGroupID, "DIS allows 200"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, f, _ := open(t)
			got := s.Commit(t.Context(), c.group, []OffsetCommit{c.commit, commit("b", 0, 150, long[:998]+"é")})
			if got[0].Code != c.want.Code || !strings.Contains(got[0].Message, c.message) || got[0].TopicPartition != c.commit.TopicPartition {
				t.Errorf("got %+v, want %v with %q", got[0], c.want, c.message)
			}
			if c.want != kerr.InvalidGroupID && (got[1].Code != 0 || len(f.commits) != 1) {
				t.Errorf("the other partition: %+v, commits %v", got[1], f.commits)
			}
		})
	}
}

func TestCommitOfANegativeOffsetRemovesTheCheckpoint(t *testing.T) {
	s, f, _ := open(t)
	if got := s.Commit(t.Context(), "unknown", []OffsetCommit{commit("a", 0, -2, "")})[0]; got.Code != 0 || got.Offset != -1 {
		t.Errorf("of a group without an app: %+v", got)
	}
	s.Commit(t.Context(), "g", []OffsetCommit{commit("a", 0, 150, ""), commit("a", 1, 151, ""), commit("b", 0, 152, "")})
	got := s.Commit(t.Context(), "g", []OffsetCommit{commit("a", 0, -2, "x"), commit("a", 1, 160, ""), commit("b", 0, -1, ""), commit("a", 2, -1, "")})
	want := []CommittedOffset{
		{TopicPartition: at("a", 0), Offset: -1},
		{TopicPartition: at("a", 1), Offset: 160},
		{TopicPartition: at("b", 0), Offset: -1},
		{TopicPartition: at("a", 2), Offset: -1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]stored{"a/1": {number: "160"}}, f.apps["g"], cmp.AllowUnexported(stored{})); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	f.failWith("delete", errDown)
	if got := s.Commit(t.Context(), "g", []OffsetCommit{commit("a", 1, -1, "")})[0]; got.Code != kerr.CoordinatorLoadInProgress.Code || !strings.Contains(got.Message, "a-1") {
		t.Errorf("DIS away: %+v", got)
	}
}

func TestCommitFailures(t *testing.T) {
	cases := []struct {
		name string
		call string
		err  error
		want *kerr.Error
	}{
		{"down", "commit", errDown, kerr.CoordinatorLoadInProgress},
		{"system error", "commit", &dis.Error{HTTPStatus: 500, Code: wire.CodeInternal}, kerr.CoordinatorLoadInProgress},
		{"throttled", "commit", refusal("CommitCheckpoint", wire.CodeThrottled), kerr.CoordinatorLoadInProgress},
		{"not allowed", "commit", refusal("CommitCheckpoint", wire.CodeForbidden), kerr.GroupAuthorizationFailed},
		{"partition gone", "commit", refusal("CommitCheckpoint", wire.CodePartitionNotFound), kerr.UnknownTopicOrPartition},
		{"app quota", "create app", refusal("CreateApp", wire.CodeAppQuotaExceeded), kerr.PolicyViolation},
		{"app creation fails", "create app", errDown, kerr.CoordinatorLoadInProgress},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, f, _ := open(t)
			f.failWith(c.call, c.err)
			got := s.Commit(t.Context(), "g", []OffsetCommit{commit("a", 0, 150, "")})[0]
			if got.Code != c.want.Code || !strings.Contains(got.Message, c.err.Error()) || got.Offset != -1 {
				t.Errorf("got %+v, want %v with DIS's text", got, c.want)
			}
		})
	}
	t.Run("catalog", func(t *testing.T) {
		for err, want := range map[error]*kerr.Error{error(errDown): kerr.CoordinatorLoadInProgress, translate.ErrNotReady: kerr.CoordinatorLoadInProgress} {
			s, _, catalog := open(t)
			catalog.fail = err
			if got := s.Commit(t.Context(), "g", []OffsetCommit{commit("a", 0, 150, "")})[0]; got.Code != want.Code {
				t.Errorf("%v: got %+v, want %v", err, got, want)
			}
		}
	})
}

func TestCommitOutsideTheRange(t *testing.T) {
	grow := func(f *fakeDIS, next int64) { f.streams["b"][0].Next = next }
	cases := []struct {
		name     string
		offset   int64
		onCommit func(f *fakeDIS, call int)
		stored   int64
		code     int16
		stats    Stats
	}{
		{name: "below", offset: 7, stored: 100, stats: Stats{BelowRange: 1}},
		{name: "above", offset: 300, stored: 200, stats: Stats{AboveRange: 1}},
		{
			name: "the end lagged behind", offset: 300, stored: 300,
			onCommit: func(f *fakeDIS, call int) {
				if call == 2 {
					grow(f, 300)
				}
			},
		},
		{
			name: "the start moves on while it is tried", offset: 7, stored: 120, stats: Stats{BelowRange: 1},
			onCommit: func(f *fakeDIS, call int) {
				if call == 2 {
					f.streams["b"][0].Oldest = 120
				}
			},
		},
		{
			name: "the range runs away", offset: 7, code: kerr.CoordinatorLoadInProgress.Code, stored: -1,
			onCommit: func(f *fakeDIS, call int) {
				f.streams["b"][0] = wire.SequenceRange{Oldest: int64(1000 * call), Next: int64(1000 * call)}
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, f, _ := open(t)
			f.apps["g"] = map[string]stored{}
			if c.onCommit != nil {
				f.onCommit = func(call int) { c.onCommit(f, call) }
			}
			got := s.Commit(t.Context(), "g", []OffsetCommit{commit("b", 0, c.offset, "m")})[0]
			if got.Code != c.code || got.Offset != c.stored {
				t.Errorf("got %+v, want offset %d, code %d", got, c.stored, c.code)
			}
			if s.Stats() != c.stats {
				t.Errorf("stats %+v, want %+v", s.Stats(), c.stats)
			}
		})
	}
	t.Run("describe fails", func(t *testing.T) {
		s, f, _ := open(t)
		f.failWith("describe stream", errDown)
		got := s.Commit(t.Context(), "g", []OffsetCommit{commit("b", 0, 300, "")})[0]
		if got.Code != kerr.CoordinatorLoadInProgress.Code || s.Stats() != (Stats{}) {
			t.Errorf("got %+v", got)
		}
	})
}

// Commits of one partition reach DIS in the order of the calls, one at a time,
// also within one request.
func TestCommitsOfOnePartitionKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := open(t)
		f.apps["g"] = map[string]stored{}
		f.latency = 10 * time.Millisecond
		var running sync.WaitGroup
		var want []string
		for i := range int64(20) {
			running.Go(func() {
				s.Commit(t.Context(), "g", []OffsetCommit{commit("b", 0, 100+2*i, ""), commit("b", 0, 101+2*i, "")})
			})
			synctest.Wait()
			want = append(want, fmt.Sprintf("g b/0 %d", 100+2*i), fmt.Sprintf("g b/0 %d", 101+2*i))
		}
		running.Wait()
		if diff := cmp.Diff(want, f.commits); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if f.peak != 1 {
			t.Errorf("%d at once", f.peak)
		}
		if len(s.turns) != 0 {
			t.Errorf("%d turns are left behind", len(s.turns))
		}
	})
}

func TestCommitsRunInParallelWithinTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, f, catalog := open(t)
		s := New(Config{Parallel: 4}, f, catalog)
		f.apps["g"] = map[string]stored{}
		s.known.note("g")
		f.streams["wide"] = make([]wire.SequenceRange, 40)
		f.latency = 10 * time.Millisecond
		var commits []OffsetCommit
		for i := range int32(40) {
			commits = append(commits, commit("wide", i, 0, ""))
		}
		started := time.Now()
		for _, got := range s.Commit(t.Context(), "g", commits) {
			if got.Code != 0 {
				t.Errorf("%+v", got)
			}
		}
		if f.peak != 4 || time.Since(started) != 100*time.Millisecond {
			t.Errorf("%d at once, took %v", f.peak, time.Since(started))
		}
	})
}

// A request with a thousand partitions: DIS is called once for each, and 64 calls
// at a time take 0.16 s when DIS answers after 10 ms. A new group's app costs two
// calls more: the refusal of the first commit and the creation.
func TestCommitOfAThousandPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := open(t)
		f.streams["wide"] = make([]wire.SequenceRange, 1000)
		f.latency = 10 * time.Millisecond
		var commits []OffsetCommit
		for i := range int32(1000) {
			commits = append(commits, commit("wide", i, 0, ""))
		}
		for _, want := range []struct {
			name  string
			calls int
			took  time.Duration
		}{{"new group", 1002, 190 * time.Millisecond}, {"again", 1000, 160 * time.Millisecond}} {
			clear(f.calls)
			started := time.Now()
			for _, got := range s.Commit(t.Context(), "g", commits) {
				if got.Code != 0 {
					t.Errorf("%s: %+v", want.name, got)
				}
			}
			calls := 0
			for _, n := range f.calls {
				calls += n
			}
			if calls != want.calls || time.Since(started) != want.took {
				t.Errorf("%s: %d calls, %v; want %d, %v (%v)", want.name, calls, time.Since(started), want.calls, want.took, f.calls)
			}
		}
	})
}

// An app that somebody deletes is created again, and once.
func TestAppThatWasDeletedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := open(t)
		f.latency = 10 * time.Millisecond
		commits := []OffsetCommit{commit("a", 0, 150, ""), commit("a", 1, 150, ""), commit("a", 2, 150, "")}
		s.Commit(t.Context(), "g", commits)
		delete(f.apps, "g")
		for _, got := range s.Commit(t.Context(), "g", commits) {
			if got.Code != 0 {
				t.Errorf("%+v", got)
			}
		}
		if f.calls["create app"] != 2 || len(f.apps["g"]) != 3 {
			t.Errorf("%d creations, stored %v", f.calls["create app"], f.apps["g"])
		}
	})
}

// A commit whose context ends while it waits is not sent, and the one behind it
// still waits for the one ahead.
func TestCommitThatGivesUpKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := open(t)
		f.apps["g"] = map[string]stored{}
		f.latency = time.Second
		var running sync.WaitGroup
		start := func(ctx context.Context, offset int64) chan CommittedOffset {
			result := make(chan CommittedOffset, 1)
			running.Go(func() { result <- s.Commit(ctx, "g", []OffsetCommit{commit("b", 0, offset, "")})[0] })
			synctest.Wait()
			return result
		}
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		first, second, third := start(t.Context(), 101), start(short, 102), start(t.Context(), 103)
		if got := <-second; got.Code != kerr.CoordinatorLoadInProgress.Code {
			t.Errorf("gave up with %+v", got)
		}
		if got := <-first; got.Code != 0 {
			t.Errorf("first: %+v", got)
		}
		if got := <-third; got.Code != 0 {
			t.Errorf("third: %+v", got)
		}
		running.Wait()
		synctest.Wait()
		if diff := cmp.Diff([]string{"g b/0 101", "g b/0 103"}, f.commits); diff != "" || f.peak != 1 || len(s.turns) != 0 {
			t.Errorf("at once %d, left %d, (-want +got):\n%s", f.peak, len(s.turns), diff)
		}
	})
}
