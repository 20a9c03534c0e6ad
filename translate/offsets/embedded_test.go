package offsets_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

// connect starts an embedded DIS and a client of it over HTTP.
func connect(t testing.TB) *dis.Client {
	t.Helper()
	return connectThrough(t, func(h http.Handler) http.Handler { return h })
}

// connectThrough is connect with something in front of the DIS.
func connectThrough(t testing.TB, before func(http.Handler) http.Handler) *dis.Client {
	t.Helper()
	server, err := embedded.Open(embedded.Config{
		DataDir: t.TempDir(), ProjectID: "local", Region: "local", AccessKeys: map[string]string{"dev": "dev-secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(before(server.Handler()))
	client, err := dis.New(dis.Config{
		Endpoint: listener.URL, Region: "local", ProjectID: "local",
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: "dev", SecretKey: "dev-secret"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		listener.Close()
		if err := server.Close(); err != nil {
			t.Errorf("close the embedded DIS: %v", err)
		}
	})
	return client
}

// stream creates a stream and stores records in its partition 0.
func stream(t *testing.T, client *dis.Client, name string, partitions, records int) {
	t.Helper()
	if err := client.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: name, PartitionCount: partitions}); err != nil {
		t.Fatal(err)
	}
	put := &wire.PutRecordsRequest{StreamName: name}
	for range records {
		put.Records = append(put.Records, wire.PutRecord{Data: []byte("x"), PartitionID: wire.Text(wire.PartitionID(0))})
	}
	if records == 0 {
		return
	}
	if result, err := client.PutRecords(t.Context(), put); err != nil || result.FailedRecordCount != 0 {
		t.Fatalf("put: %+v, %v", result, err)
	}
}

func at(topic string, partition int32) offsets.TopicPartition {
	return offsets.TopicPartition{Topic: topic, Partition: partition}
}

func commit(topic string, partition int32, offset int64, metadata string) offsets.OffsetCommit {
	return offsets.OffsetCommit{TopicPartition: at(topic, partition), Offset: offset, LeaderEpoch: -1, Metadata: metadata}
}

func TestOffsetsOverHTTP(t *testing.T) {
	client := connect(t)
	stream(t, client, "orders", 130, 10) // more partitions than one page
	stream(t, client, "clicks", 1, 0)
	s := offsets.New(offsets.Config{}, client, describing{client})
	const group = "billing.eu" // a name that DIS does not allow
	note := strings.Repeat("ä", 1000)

	if got := s.Fetch(t.Context(), group, []offsets.TopicPartition{at("orders", 0)})[0]; got.Code != 0 || got.Offset != -1 {
		t.Errorf("before: %+v", got)
	}
	got := s.Commit(t.Context(), group, []offsets.OffsetCommit{
		commit("orders", 0, 4, note), commit("orders", 129, 0, ""), commit("clicks", 0, 0, "-"), commit("nope", 0, 1, ""),
		commit("orders", 1, 99, "beyond"),
	})
	var codes []int16
	for _, g := range got {
		codes = append(codes, g.Code)
	}
	if diff := cmp.Diff([]int16{0, 0, 0, 3, 0}, codes); diff != "" {
		t.Fatalf("codes (-want +got):\n%s\n%+v", diff, got)
	}
	if got[4].Offset != 0 || s.Stats() != (offsets.Stats{AboveRange: 1}) {
		t.Errorf("beyond the end: %+v, %+v", got[4], s.Stats())
	}

	fetched := offsets.New(offsets.Config{}, client, describing{client}).Fetch(t.Context(), group, []offsets.TopicPartition{
		at("orders", 129), at("orders", 0), at("orders", 2), at("clicks", 0), at("nope", 0),
	})
	want := []offsets.CommittedOffset{
		{TopicPartition: at("orders", 129), Offset: 0},
		{TopicPartition: at("orders", 0), Offset: 4, Metadata: note},
		{TopicPartition: at("orders", 2), Offset: -1},
		{TopicPartition: at("clicks", 0), Offset: 0, Metadata: "-"},
		{TopicPartition: at("nope", 0), Offset: -1},
	}
	if diff := cmp.Diff(want, fetched); diff != "" {
		t.Errorf("fetch (-want +got):\n%s", diff)
	}

	all, err := s.FetchAll(t.Context(), group)
	if err != nil {
		t.Fatal(err)
	}
	var places []offsets.TopicPartition
	for _, a := range all {
		places = append(places, a.TopicPartition)
	}
	sort.Slice(places, func(i, j int) bool {
		return places[i].Topic < places[j].Topic || places[i].Topic == places[j].Topic && places[i].Partition < places[j].Partition
	})
	if diff := cmp.Diff([]offsets.TopicPartition{at("clicks", 0), at("orders", 0), at("orders", 1), at("orders", 129)}, places); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	if groups, err := s.Groups(t.Context()); err != nil || !slices.Equal(groups, []string{group}) {
		t.Errorf("groups %v, %v", groups, err)
	}

	s.Commit(t.Context(), group, []offsets.OffsetCommit{commit("orders", 0, -1, "")})
	left := s.Fetch(t.Context(), group, []offsets.TopicPartition{at("orders", 0), at("orders", 129)})
	if left[0].Offset != -1 || left[0].Code != 0 || left[1].Offset != 0 {
		t.Errorf("after one was removed: %+v", left)
	}
}

// A group of the gateway and the same group of the DIS Kafka adapter share the
// checkpoint: the adapter writes the next offset to read as well.
func TestCheckpointIsTheAdaptersOverHTTP(t *testing.T) {
	client := connect(t)
	stream(t, client, "orders", 1, 10)
	s := offsets.New(offsets.Config{}, client, describing{client})
	s.Commit(t.Context(), "billing", []offsets.OffsetCommit{commit("orders", 0, 7, "")})
	checkpoint, err := client.GetCheckpoint(t.Context(), dis.CheckpointKey{App: "billing", StreamName: "orders"})
	if err != nil || checkpoint == nil || checkpoint.SequenceNumber != 7 {
		t.Errorf("got %+v, %v, want 7", checkpoint, err)
	}
}

// describing is a catalog that asks DIS every time.
type describing struct{ client *dis.Client }

func (d describing) Topic(ctx context.Context, name string) (*translate.Topic, error) {
	described, err := d.client.DescribeStream(ctx, name)
	if err != nil {
		return nil, err
	}
	return &translate.Topic{
		Name: name, StreamName: name, StreamID: described.StreamID, Partitions: make([]translate.Partition, len(described.Partitions)),
	}, nil
}
