package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// listedTopics answers each name with a topic or an error.
type listedTopics map[string]any

func (l listedTopics) Topic(_ context.Context, name string) (*translate.Topic, error) {
	switch found := l[name].(type) {
	case *translate.Topic:
		return found, nil
	case error:
		return nil, found
	}
	return nil, &dis.Error{Code: wire.CodeStreamNotFound}
}

func (l listedTopics) Topics(context.Context) ([]*translate.Topic, error) {
	var all []*translate.Topic
	for _, found := range l {
		switch found := found.(type) {
		case *translate.Topic:
			all = append(all, found)
		case error:
			return nil, found
		}
	}
	return all, nil
}

func TestGroupTopics(t *testing.T) {
	two := &translate.Topic{Name: "two", ID: [16]byte{2}, Partitions: make([]translate.Partition, 2)}
	one := &translate.Topic{Name: "one", ID: [16]byte{1}, Partitions: make([]translate.Partition, 1)}
	unknown := &translate.Topic{Name: "unknown"}
	want := []groupcoord.Topic{{Name: "one", ID: [16]byte{1}, Partitions: 1}, {Name: "two", ID: [16]byte{2}, Partitions: 2}}
	byName := func(a, b groupcoord.Topic) int { return cmp.Compare(a.Name, b.Name) }

	catalog := listedTopics{"one": one, "two": two, "creating": translate.ErrNotReady, "bad name": translate.ErrInvalidName, "hidden": translate.ErrHidden}
	got, err := NewGroupTopics(catalog).Topics(t.Context(), []string{"two", "creating", "gone", "bad name", "hidden", "one"})
	slices.SortFunc(got, byName)
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got, err := NewGroupTopics(catalog).Topics(t.Context(), nil); len(got) != 0 || err != nil {
		t.Errorf("no names: %v %v", got, err)
	}

	got, err = NewGroupTopics(listedTopics{"one": one, "two": two, "unknown": unknown}).AllTopics(t.Context())
	slices.SortFunc(got, byName)
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}

	// What DIS could not tell is not taken for gone.
	down := errors.New("DIS is away")
	if _, err := NewGroupTopics(listedTopics{"one": one, "two": down}).Topics(t.Context(), []string{"one", "two"}); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	if _, err := NewGroupTopics(listedTopics{"two": down}).AllTopics(t.Context()); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
}
