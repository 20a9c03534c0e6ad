package offsets_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

// connectProjects starts an embedded DIS and a client of it for each project.
func connectProjects(t *testing.T, projects ...string) []*dis.Client {
	t.Helper()
	server, err := embedded.Open(embedded.Config{DataDir: t.TempDir(), AccessKeys: map[string]string{"dev": "dev-secret"}})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	var clients []*dis.Client
	for _, project := range projects {
		client, err := dis.New(dis.Config{
			Endpoint: listener.URL, Region: "local", ProjectID: project,
			Credentials: dis.StaticCredentials(dis.Keys{AccessKey: "dev", SecretKey: "dev-secret"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
	}
	t.Cleanup(func() {
		for _, client := range clients {
			client.Close()
		}
		listener.Close()
		if err := server.Close(); err != nil {
			t.Errorf("close the embedded DIS: %v", err)
		}
	})
	return clients
}

// namedStreams is a catalog that describes the stream of a topic.
type namedStreams struct {
	client *dis.Client
	names  *translate.Names
}

func (s namedStreams) Topic(ctx context.Context, name string) (*translate.Topic, error) {
	ref, err := s.names.Stream(name)
	if err != nil {
		return nil, err
	}
	describe, stream := s.client.DescribeStream, ref.Name
	if ref.Name == "" {
		describe, stream = s.client.DescribeStreamByID, ref.ID
	}
	described, err := describe(ctx, stream)
	if err != nil {
		return nil, err
	}
	if other, aliased := s.names.TopicOfID(described.StreamID); aliased && other != name {
		return nil, fmt.Errorf("topic %s: %w", name, translate.ErrHidden)
	}
	return &translate.Topic{
		Name: name, StreamName: ref.Name, StreamID: described.StreamID, Partitions: make([]translate.Partition, len(described.Partitions)),
	}, nil
}

// Topics with an alias of either kind keep offsets as every other topic, and only
// under that name; hidden ones have none.
func TestOffsetsOfAliases(t *testing.T) {
	clients := connectProjects(t, "ours", "theirs")
	ours, theirs := clients[0], clients[1]
	stream(t, ours, "orders_v1", 2, 10)
	stream(t, ours, "plain", 1, 10)
	stream(t, ours, "secret", 1, 10)
	stream(t, ours, "renamed", 1, 10)
	stream(t, theirs, "plain", 1, 20) // the name of one of ours
	names := new(translate.Names)
	names.Hide("secret")
	for topic, ref := range map[string]translate.StreamRef{
		"orders.v1": {Name: "orders_v1"}, "partner": {ID: idOf(t, theirs, "plain")}, "by-id": {ID: idOf(t, ours, "renamed")},
	} {
		if err := names.Add(translate.Alias{Topic: topic, Stream: ref}); err != nil {
			t.Fatal(err)
		}
	}
	open := func(names *translate.Names) *offsets.Store {
		return offsets.New(offsets.Config{Names: names}, ours, namedStreams{ours, names})
	}
	shown, everything := open(names), open(new(translate.Names))
	for _, c := range everything.Commit(t.Context(), "g", []offsets.OffsetCommit{commit("secret", 0, 3, ""), commit("renamed", 0, 4, "")}) {
		if c.Code != 0 {
			t.Fatalf("%+v", c)
		}
	}
	commits := []offsets.OffsetCommit{
		commit("orders.v1", 0, 7, "m"), commit("orders.v1", 1, 0, ""), commit("partner", 0, 15, "p"), commit("plain", 0, 5, ""),
	}
	for i, c := range shown.Commit(t.Context(), "g", append(commits, commit("secret", 0, 1, ""))) {
		if want := int16(0); i < len(commits) && c.Code != want || i == len(commits) && c.Code != 3 {
			t.Errorf("commit %d: %+v", i, c)
		}
	}
	want := []string{"by-id/0=4", "orders.v1/0=7", "orders.v1/1=0", "partner/0=15", "plain/0=5"}
	if diff := cmp.Diff(want, allOffsets(t, shown)); diff != "" {
		t.Errorf("every offset: %s", diff)
	}
	asked := []offsets.TopicPartition{at("partner", 0), at("orders.v1", 0), at("secret", 0), at("renamed", 0), at("by-id", 0)}
	if diff := cmp.Diff([]int64{15, 7, -1, -1, 4}, offsetsOf(shown.Fetch(t.Context(), "g", asked))); diff != "" {
		t.Errorf("fetched: %s", diff)
	}
	if diff := cmp.Diff([]int64{0, 0, -1, -1, 0}, offsetsOf(shown.Oldest(t.Context(), asked))); diff != "" {
		t.Errorf("oldest: %s", diff)
	}

	// Above the end: the range of the shared stream counts, not that of ours of the name.
	if got := shown.Commit(t.Context(), "g", []offsets.OffsetCommit{commit("partner", 0, 99, "")}); got[0].Code != 0 || got[0].Offset != 20 {
		t.Errorf("above the end: %+v", got)
	}
	if got := shown.Commit(t.Context(), "g", []offsets.OffsetCommit{commit("partner", 0, -1, ""), commit("orders.v1", 0, -1, "")}); got[0].Code != 0 || got[1].Code != 0 {
		t.Errorf("removed: %+v", got)
	}
	if diff := cmp.Diff([]string{"by-id/0=4", "orders.v1/1=0", "plain/0=5"}, allOffsets(t, shown)); diff != "" {
		t.Errorf("after two were removed: %s", diff)
	}
}

func idOf(t *testing.T, client *dis.Client, stream string) string {
	t.Helper()
	described, err := client.DescribeStream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return described.StreamID
}

func allOffsets(t *testing.T, store *offsets.Store) (all []string) {
	t.Helper()
	found, err := store.FetchAll(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found {
		all = append(all, fmt.Sprintf("%s/%d=%d", c.Topic, c.Partition, c.Offset))
	}
	slices.Sort(all)
	return all
}

func offsetsOf(found []offsets.CommittedOffset) (list []int64) {
	for _, c := range found {
		list = append(list, c.Offset)
	}
	return list
}

// countedStates counts the states that are asked for.
type countedStates struct {
	*dis.Client
	mu     sync.Mutex
	states int
}

func (c *countedStates) ConsumerState(ctx context.Context, app, stream, streamID string) ([]wire.ConsumingState, error) {
	c.mu.Lock()
	c.states++
	c.mu.Unlock()
	return c.Client.ConsumerState(ctx, app, stream, streamID)
}

// Hidden streams cost nothing.
func TestFetchAllAsksForShownTopicsOnly(t *testing.T) {
	client := connectProjects(t, "ours")[0]
	names := new(translate.Names)
	names.Expose("shown*")
	for _, name := range []string{"shown-1", "other-1", "other-2"} {
		stream(t, client, name, 1, 1)
		for _, c := range offsets.New(offsets.Config{}, client, namedStreams{client, new(translate.Names)}).Commit(t.Context(), "g", []offsets.OffsetCommit{commit(name, 0, 1, "")}) {
			if c.Code != 0 {
				t.Fatalf("%+v", c)
			}
		}
	}
	counted := &countedStates{Client: client}
	store := offsets.New(offsets.Config{Names: names}, counted, namedStreams{client, names})
	if diff := cmp.Diff([]string{"shown-1/0=1"}, allOffsets(t, store)); diff != "" {
		t.Error(diff)
	}
	if counted.states != 1 {
		t.Errorf("%d states were asked for", counted.states)
	}
}
