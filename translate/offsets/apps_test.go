package offsets

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestAppName(t *testing.T) {
	cases := []struct{ group, app string }{
		{"orders", "orders"},
		{"Orders_2-x", "Orders_2-x"},
		{"console-consumer-12345", "console-consumer-12345"},
		{"kdgx", "kdgx"},
		{"", "kdgx-"},
		{"my.group", "kdgx-nv4s4z3sn52xa"},
		{"größe", "kdgx-m5zmhnwdt5sq"},
		{"kdgx-nv4s4z3sn52xa", "kdgx-nnsgo6bnnz3di4zupizxg3rvgj4gc"},
		{strings.Repeat("g", 200), strings.Repeat("g", 200)},
	}
	for _, c := range cases {
		got, err := AppName(c.group, 200)
		if err != nil || got != c.app {
			t.Errorf("%q: got %q, %v, want %q", c.group, got, err, c.app)
		}
		if back, ok := GroupName(got); !ok || back != c.group {
			t.Errorf("%q: app %q reads back as %q, %v", c.group, got, back, ok)
		}
	}
}

func TestAppNameRefusals(t *testing.T) {
	for _, group := range []string{strings.Repeat("g", 201), strings.Repeat(".", 123)} {
		if app, err := AppName(group, 200); !errors.Is(err, translate.ErrInvalidGroup) || len(err.Error()) > 300 {
			t.Errorf("%d characters: got %q, %v", len(group), app, err)
		}
	}
	if _, err := AppName("orders-of-today", 10); !errors.Is(err, translate.ErrInvalidGroup) {
		t.Errorf("own limit: got %v", err)
	}
}

func TestGroupNameRefusesForeignApps(t *testing.T) {
	for _, app := range []string{
		"", "kdgx-1", "kdgx-NV4S4Z3SN52XA",
		"kdgx-m5zg65lq",      // "group", which needs no escape
		"kdgx-nv4s4z3sn52xb", // the unused bits are not zero
	} {
		if group, ok := GroupName(app); ok {
			t.Errorf("app %q reads as group %q", app, group)
		}
	}
}

func TestEveryGroupHasItsOwnApp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.OneOf(rapid.StringN(0, 30, 60), rapid.StringMatching(`kdgx-[a-z2-7]{0,10}`), rapid.StringMatching(`[A-Za-z0-9_-]{1,9}`))
		one, other := ids.Draw(t, "one"), ids.Draw(t, "other")
		oneApp, err := AppName(one, 200)
		if err != nil {
			t.Fatal(err)
		}
		otherApp, err := AppName(other, 200)
		if err != nil {
			t.Fatal(err)
		}
		if (one == other) != (oneApp == otherApp) {
			t.Fatalf("groups %q and %q have apps %q and %q", one, other, oneApp, otherApp)
		}
		if !isAppName(oneApp) {
			t.Fatalf("app %q is not a name that DIS allows", oneApp)
		}
		if back, ok := GroupName(oneApp); !ok || back != one {
			t.Fatalf("app %q reads back as %q, want %q", oneApp, back, one)
		}
	})
}

func TestGroups(t *testing.T) {
	s, f, _ := open(t)
	for _, group := range []string{"plain", "with.dot"} {
		s.Commit(t.Context(), group, []OffsetCommit{commit("b", 0, 150, "")})
	}
	f.apps["kdgx-made-by-someone-else"] = map[string]stored{}
	groups, err := s.Groups(t.Context())
	slices.Sort(groups)
	if err != nil || !slices.Equal(groups, []string{"plain", "with.dot"}) {
		t.Errorf("got %v, %v", groups, err)
	}
	f.failWith("list apps", errDown)
	if _, err := s.Groups(t.Context()); !errors.Is(err, errDown) {
		t.Errorf("got %v, want the failure", err)
	}
}

func TestDeleteGroup(t *testing.T) {
	s, f, _ := open(t)
	long := strings.Repeat("g", 201)
	if exists, err := s.Exists(t.Context(), "billing.eu"); exists || err != nil {
		t.Errorf("before: %v, %v", exists, err)
	}
	if failure := s.Delete(t.Context(), "billing.eu"); failure.Code != 69 {
		t.Errorf("before: %+v", failure)
	}
	if got := s.Commit(t.Context(), "billing.eu", []OffsetCommit{commit("a", 0, 150, "")}); got[0].Code != 0 {
		t.Fatalf("%+v", got)
	}
	if exists, err := s.Exists(t.Context(), "billing.eu"); !exists || err != nil {
		t.Errorf("committed: %v, %v", exists, err)
	}
	f.failWith("delete app", refusal("DeleteApp", wire.CodeAppInUse))
	if failure := s.Delete(t.Context(), "billing.eu"); failure.Code != 68 || !strings.Contains(failure.Message, wire.CodeAppInUse) {
		t.Errorf("in use: %+v", failure)
	}
	f.failWith("delete app", errDown)
	f.failWith("describe app", errDown)
	if failure := s.Delete(t.Context(), "billing.eu"); failure.Code != 14 {
		t.Errorf("down: %+v", failure)
	}
	if exists, err := s.Exists(t.Context(), "billing.eu"); exists || err == nil {
		t.Errorf("down: %v, %v", exists, err)
	}
	f.failWith("delete app", nil)
	f.failWith("describe app", nil)
	if failure := s.Delete(t.Context(), "billing.eu"); failure.Code != 0 {
		t.Errorf("delete: %+v", failure)
	}
	if got := s.Fetch(t.Context(), "billing.eu", []TopicPartition{at("a", 0)}); got[0].Offset != -1 || got[0].Code != 0 {
		t.Errorf("deleted: %+v", got)
	}
	// No app can have the name, so the group cannot exist.
	if exists, err := s.Exists(t.Context(), long); exists || err != nil {
		t.Errorf("too long: %v, %v", exists, err)
	}
	if failure := s.Delete(t.Context(), long); failure.Code != 69 {
		t.Errorf("too long: %+v", failure)
	}
}
