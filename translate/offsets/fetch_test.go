package offsets

import (
	"errors"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// committed is a store where group g committed a/1 and b/0.
func committed(t *testing.T) (*Store, *fakeDIS, *fakeCatalog) {
	t.Helper()
	s, f, catalog := open(t)
	for _, got := range s.Commit(t.Context(), "g", []OffsetCommit{commit("a", 1, 150, "note"), commit("b", 0, 100, "")}) {
		if got.Code != 0 {
			t.Fatalf("%+v", got)
		}
	}
	return s, f, catalog
}

func TestFetchAnswersEveryPartitionInOrderWithOneCallPerStream(t *testing.T) {
	s, f, _ := committed(t)
	got := s.Fetch(t.Context(), "g", []TopicPartition{at("a", 2), at("b", 0), at("a", 1), at("nope", 0), at("a", 0), at("a", 9), at("a", 1)})
	want := []CommittedOffset{
		{TopicPartition: at("a", 2), Offset: -1},
		{TopicPartition: at("b", 0), Offset: 100},
		{TopicPartition: at("a", 1), Offset: 150, Metadata: "note"},
		{TopicPartition: at("nope", 0), Offset: -1},
		{TopicPartition: at("a", 0), Offset: -1},
		{TopicPartition: at("a", 9), Offset: -1},
		{TopicPartition: at("a", 1), Offset: 150, Metadata: "note"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if calls := f.count("state"); calls != 2 {
		t.Errorf("%d calls for two streams", calls)
	}
}

func TestFetchOfAnUnknownGroup(t *testing.T) {
	s, f, _ := open(t)
	got := s.Fetch(t.Context(), "never", []TopicPartition{at("a", 0)})
	if diff := cmp.Diff([]CommittedOffset{{TopicPartition: at("a", 0), Offset: -1}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(f.apps) != 0 {
		t.Error("a fetch created an app")
	}
	got = s.Fetch(t.Context(), strings.Repeat("g", 201), []TopicPartition{at("a", 0)})
	if got[0].Code != kerr.InvalidGroupID.Code {
		t.Errorf("a group that DIS has no name for: %+v", got[0])
	}
}

// "Nothing committed" makes a client start from its reset policy, so it is only
// said when DIS said it.
func TestFetchNeverTakesAFailureForNothing(t *testing.T) {
	check := func(t *testing.T, s *Store, want *kerr.Error) {
		t.Helper()
		for _, got := range s.Fetch(t.Context(), "g", []TopicPartition{at("a", 1), at("a", 0)}) {
			if got.Code != want.Code || got.Offset != -1 || got.Message == "" {
				t.Errorf("got %+v, want %v", got, want)
			}
		}
	}
	t.Run("state", func(t *testing.T) {
		for err, want := range map[*dis.Error]*kerr.Error{
			errDown:           kerr.CoordinatorLoadInProgress,
			{HTTPStatus: 503}: kerr.CoordinatorLoadInProgress,
			{Code: wire.CodeInvalidRequest, HTTPStatus: 400}: kerr.CoordinatorLoadInProgress,
			{Code: wire.CodeThrottled, HTTPStatus: 400}:      kerr.CoordinatorLoadInProgress,
			{Code: wire.CodeForbidden, HTTPStatus: 403}:      kerr.GroupAuthorizationFailed,
		} {
			s, f, _ := committed(t)
			f.failWith("state", err)
			check(t, s, want)
		}
	})
	t.Run("catalog", func(t *testing.T) {
		for _, err := range []error{errDown, translate.ErrNotReady} {
			s, _, catalog := committed(t)
			catalog.fail = err
			check(t, s, kerr.CoordinatorLoadInProgress)
		}
	})
	t.Run("unreadable answer", func(t *testing.T) {
		s, f, _ := committed(t)
		f.apps["g"]["a/0"] = stored{number: "soon"}
		check(t, s, kerr.CoordinatorLoadInProgress)
	})
}

func TestFetchWithoutAnyCheckpoint(t *testing.T) {
	for _, code := range []string{wire.CodeNoCheckpoint, wire.CodeStreamNotFound} {
		s, f, _ := committed(t)
		f.failWith("state", refusal("ConsumerState", code))
		if got := s.Fetch(t.Context(), "g", []TopicPartition{at("a", 1)})[0]; got.Code != 0 || got.Offset != -1 {
			t.Errorf("%s: got %+v", code, got)
		}
	}
}

func TestReadState(t *testing.T) {
	cases := []struct {
		partition, number wire.Text
		want              int64
	}{
		{"shardId-0000000004", "-1", -1}, {"4", "", -1}, {"4", "0", 0}, {"shardId-0000000004", "9223372036854775807", 1<<63 - 1},
	}
	for _, c := range cases {
		partition, offset, err := read(wire.ConsumingState{PartitionID: c.partition, SequenceNumber: c.number})
		if err != nil || partition != 4 || offset != c.want {
			t.Errorf("%+v: got %d, %d, %v", c, partition, offset, err)
		}
	}
	for _, state := range []wire.ConsumingState{{PartitionID: "x", SequenceNumber: "1"}, {PartitionID: "1", SequenceNumber: "x"}} {
		if _, _, err := read(state); err == nil {
			t.Errorf("%+v was accepted", state)
		}
	}
}

func TestFetchAll(t *testing.T) {
	s, f, _ := committed(t)
	got, err := s.FetchAll(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	sort.Slice(got, func(i, j int) bool { return got[i].Topic < got[j].Topic })
	want := []CommittedOffset{
		{TopicPartition: at("a", 1), Offset: 150, Metadata: "note"},
		{TopicPartition: at("b", 0), Offset: 100},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := s.FetchAll(t.Context(), "never"); err != nil || len(got) != 0 {
		t.Errorf("unknown group: %v, %v", got, err)
	}
	if _, err := s.FetchAll(t.Context(), strings.Repeat(".", 300)); !errors.Is(err, translate.ErrInvalidGroup) {
		t.Errorf("long group: %v", err)
	}
	for _, call := range []string{"describe app", "state"} {
		f.failWith(call, errDown)
		if _, err := s.FetchAll(t.Context(), "g"); !errors.Is(err, errDown) {
			t.Errorf("%s fails: got %v", call, err)
		}
		f.failWith(call, nil)
	}
}

func TestOldest(t *testing.T) {
	s, f, catalog := open(t)
	f.streams["a"][2] = wire.SequenceRange{Oldest: 7, Next: 9}
	asked := []TopicPartition{at("a", 2), at("b", 0), at("a", 0), at("a", 9), at("nope", 0)}
	var got []int64
	for i, o := range s.Oldest(t.Context(), asked) {
		if o.TopicPartition != asked[i] || o.Code != 0 {
			t.Errorf("%+v", o)
		}
		got = append(got, o.Offset)
	}
	if diff := cmp.Diff([]int64{7, 100, 100, -1, -1}, got); diff != "" {
		t.Error(diff)
	}
	if calls := f.count("describe stream"); calls != 2 {
		t.Errorf("%d calls for two streams", calls)
	}
	f.failWith("describe stream", errDown)
	if o := s.Oldest(t.Context(), asked[:1])[0]; o.Code != 14 {
		t.Errorf("down: %+v", o)
	}
	f.failWith("describe stream", nil)
	catalog.fail = errDown
	if o := s.Oldest(t.Context(), asked[:1])[0]; o.Code != 14 {
		t.Errorf("catalog down: %+v", o)
	}
}
