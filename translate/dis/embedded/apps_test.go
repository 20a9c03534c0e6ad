package embedded

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func commit(app, stream string, partition int, number string) wire.CommitCheckpointRequest {
	return wire.CommitCheckpointRequest{
		AppName: app, CheckpointType: "LAST_READ", StreamName: stream,
		PartitionID: wire.Text(fmt.Sprint(partition)), SequenceNumber: wire.Text(number),
	}
}

func (s *service) commit(request wire.CommitCheckpointRequest) {
	s.t.Helper()
	wants[empty](s.t, s.call("POST", "checkpoints", "", request), 201)
}

func checkpointQuery(app, stream string, partition any) string {
	return fmt.Sprintf("app_name=%s&stream_name=%s&partition_id=%v&checkpoint_type=LAST_READ", app, stream, partition)
}

func (s *service) checkpoint(app, stream string, partition int) wire.CheckpointResponse {
	s.t.Helper()
	return wants[wire.CheckpointResponse](s.t, s.call("GET", "checkpoints", checkpointQuery(app, stream, partition), nil), 200)
}

var nothingCommitted = wire.CheckpointResponse{SequenceNumber: "-1"}

// withApp has the app "g" and a stream "s" with three records in partition 0.
func withApp(t *testing.T) *service {
	s := startService(t)
	s.createStream("s", 3)
	s.createApp("g")
	s.put("s", to(0, "a"), to(0, "b"), to(0, "c"))
	return s
}

func TestCheckpoints(t *testing.T) {
	s := withApp(t)
	if got := s.checkpoint("g", "s", 0); got != nothingCommitted {
		t.Errorf("%+v", got)
	}
	request := commit("g", "s", 0, "3") // the next number to read, behind the last record
	request.Metadata = strings.Repeat("中", 1000)
	s.commit(request)
	s.commit(commit("g", "s", 1, "0"))
	if got := s.checkpoint("g", "s", 0); got != (wire.CheckpointResponse{SequenceNumber: "3", Metadata: request.Metadata}) {
		t.Errorf("%+v", got)
	}
	s.commit(commit("g", "s", 0, "1")) // consumers seek back
	s.reopen()
	if got := s.checkpoint("g", "s", 0); got != (wire.CheckpointResponse{SequenceNumber: "1"}) {
		t.Errorf("%+v", got)
	}

	wants[empty](t, s.call("DELETE", "checkpoints", checkpointQuery("g", "s", "shardId-0000000000"), nil), 204)
	if got := s.checkpoint("g", "s", 0); got != nothingCommitted {
		t.Errorf("%+v", got)
	}
	if got := s.checkpoint("g", "s", 1); got.SequenceNumber != "0" {
		t.Errorf("%+v", got)
	}
	s.commit(commit("g", "s", 2, "0"))
	wants[empty](t, s.call("DELETE", "checkpoints", "app_name=g&stream_name=s", nil), 204) // as the Python SDK does
	for p := range 3 {
		if got := s.checkpoint("g", "s", p); got != nothingCommitted {
			t.Errorf("partition %d: %+v", p, got)
		}
	}
}

// The numbers of a commit may be JSON numbers.
func TestCommitLooseBody(t *testing.T) {
	s := withApp(t)
	body := `{"app_name":"g","checkpoint_type":"LAST_READ","stream_name":"s","stream_id":"","partition_id":0,"sequence_number":2,"client_id":"","generation_id":null}`
	wants[empty](t, s.call("POST", "checkpoints/", "", body), 201)
	if got := s.checkpoint("g", "s", 0); got.SequenceNumber != "2" {
		t.Errorf("%+v", got)
	}
}

func TestCheckpointErrors(t *testing.T) {
	s := withApp(t)
	change := func(adjust func(*wire.CommitCheckpointRequest)) wire.CommitCheckpointRequest {
		c := commit("g", "s", 0, "1")
		adjust(&c)
		return c
	}
	type request = wire.CommitCheckpointRequest
	tests := []struct {
		name          string
		body          any
		code, message string
	}{
		{"no body", nil, "DIS.4202", "Request cannot be empty."},
		{"no app name", change(func(r *request) { r.AppName = "" }), "DIS.4200", "Invalid request. [app_name][]"},
		{"type", change(func(r *request) { r.CheckpointType = "FIRST" }), "DIS.4200", "Invalid request. [checkpoint_type][FIRST]"},
		{"app", change(func(r *request) { r.AppName = "h" }), "DIS.4332", "App does not exist. [h][local]"},
		{"stream", change(func(r *request) { r.StreamName = "t" }), "DIS.4301", "Stream does not exist. [t][local]"},
		{"partition", change(func(r *request) { r.PartitionID = "3" }), "DIS.4302", "Partition does not exist. [s][3]"},
		{"partition id", change(func(r *request) { r.PartitionID = "" }), "DIS.4201", "Invalid partition_id. []"},
		{"no number", change(func(r *request) { r.SequenceNumber = "" }), "DIS.4216", "Invalid sequence_number. []"},
		{"not a number", change(func(r *request) { r.SequenceNumber = "x" }), "DIS.4216", "Invalid sequence_number. [x]"},
		{"too high", change(func(r *request) { r.SequenceNumber = "4" }), "DIS.4224", "Sequence_number out of range. [4][ should be within ][0][ ][3]"},
		{"metadata", change(func(r *request) { r.Metadata = strings.Repeat("x", 1001) }), "DIS.4200", "Invalid request. [metadata][1001]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantsError(t, s.call("POST", "checkpoints", "", test.body), 400, test.code, test.message)
		})
	}
	for _, method := range []string{"GET", "DELETE"} {
		wantsError(t, s.call(method, "checkpoints", checkpointQuery("h", "s", 0), nil), 400, "DIS.4332", "App does not exist. [h][local]")
		wantsError(t, s.call(method, "checkpoints", checkpointQuery("g", "t", 0), nil), 400, "DIS.4301", "Stream does not exist. [t][local]")
		wantsError(t, s.call(method, "checkpoints", checkpointQuery("g", "s", 9), nil), 400, "DIS.4302", "Partition does not exist. [s][9]")
	}
}

func TestAppLifeCycle(t *testing.T) {
	s := withApp(t)
	s.createStream("r", 1)
	wantsError(t, s.call("POST", "apps", "", wire.CreateAppRequest{AppName: "g"}), 400, "DIS.4330", "App already exists. [g][local]")
	wantsError(t, s.call("POST", "apps", "", wire.CreateAppRequest{AppName: "a b"}), 400, "DIS.4200", "Invalid request. [app_name][a b]")
	wantsError(t, s.call("GET", "apps/h", "", nil), 400, "DIS.4332", "App does not exist. [h][local]")
	wantsError(t, s.call("DELETE", "apps/h", "", nil), 400, "DIS.4332", "App does not exist. [h][local]")
	s.createApp(strings.Repeat("x", 200))

	s.commit(commit("g", "s", 0, "1"))
	s.commit(commit("g", "r", 0, "0"))
	s.reopen()
	got := wants[wire.App](t, s.call("GET", "apps/g", "", nil), 200)
	want := wire.App{AppName: "g", AppID: got.AppID, CreateTime: s.clock.now().UnixMilli(), CommitCheckpointStreamNames: []string{"r", "s"}}
	if diff := cmp.Diff(want, got); diff != "" || len(got.AppID) != 20 {
		t.Error(diff, got.AppID)
	}
	wants[empty](t, s.call("DELETE", "apps/g", "", nil), 204)
	s.createApp("g")
	if got := s.checkpoint("g", "s", 0); got != nothingCommitted {
		t.Errorf("a new app has the checkpoint of the old one: %+v", got)
	}
}

// Deleting a stream deletes the checkpoints in it, and no others.
func TestStreamDeletionDropsCheckpoints(t *testing.T) {
	s := withApp(t)
	s.createStream("r", 1)
	s.commit(commit("g", "s", 0, "1"))
	s.commit(commit("g", "r", 0, "0"))
	wants[empty](t, s.call("DELETE", "streams/s", "", nil), 204)
	s.createStream("s", 1)
	if got := s.checkpoint("g", "s", 0); got != nothingCommitted {
		t.Errorf("%+v", got)
	}
	if got := s.checkpoint("g", "r", 0); got.SequenceNumber != "0" {
		t.Errorf("%+v", got)
	}
}

func TestListApps(t *testing.T) {
	s := withApp(t)
	want := []string{"g"}
	for i := range 14 {
		name := fmt.Sprintf("h-%02d", i)
		s.createApp(name)
		want = append(want, name)
	}
	s.commit(commit("h-03", "s", 2, "0"))
	list := func(query string) (names []string, page wire.ListAppsResponse) {
		t.Helper()
		page = wants[wire.ListAppsResponse](t, s.call("GET", "apps", query, nil), 200)
		for _, a := range page.Apps {
			names = append(names, a.AppName)
		}
		return names, page
	}
	first, page := list("")
	if !page.HasMoreApp || page.TotalNumber != 15 {
		t.Errorf("%+v", page)
	}
	second, page := list("limit=10&start_app_name=" + first[9])
	if page.HasMoreApp {
		t.Errorf("%+v", page)
	}
	if diff := cmp.Diff(want, append(first, second...)); diff != "" {
		t.Error(diff)
	}
	if names, page := list("stream_name=s"); !cmp.Equal(names, []string{"h-03"}) || page.TotalNumber != 1 {
		t.Errorf("%v %+v", names, page)
	}
	wantsError(t, s.call("GET", "apps", "stream_name=t", nil), 400, "DIS.4301", "Stream does not exist. [t][local]")
	wantsError(t, s.call("GET", "apps", "limit=101", nil), 400, "DIS.4200", "Invalid request. [limit][101]")
}

func TestConsumerState(t *testing.T) {
	s := withApp(t)
	request := commit("g", "s", 0, "2")
	request.Metadata = "m"
	s.commit(request)
	path := "apps/g/streams/s"
	state := func(query string) wire.ConsumerStateResponse {
		t.Helper()
		return wants[wire.ConsumerStateResponse](t, s.call("GET", path, "checkpoint_type=LAST_READ"+query, nil), 200)
	}
	one := func(partition int, number string, latest int64, metadata string) wire.ConsumingState {
		return wire.ConsumingState{
			PartitionID: wire.Text(wire.PartitionID(partition)), SequenceNumber: wire.Text(number), LatestOffset: latest,
			CheckpointType: "LAST_READ", Status: wire.PartitionActive, Metadata: metadata,
		}
	}
	want := wire.ConsumerStateResponse{StreamName: "s", AppName: "g", PartitionConsumingStates: []wire.ConsumingState{
		one(0, "2", 3, "m"), one(1, "-1", 0, ""), one(2, "-1", 0, ""),
	}}
	if diff := cmp.Diff(want, state("&app_name=g&stream_name=s")); diff != "" {
		t.Error(diff)
	}
	page := state("&limit=1&start_partition_id=shardId-0000000000")
	if !page.HasMore || len(page.PartitionConsumingStates) != 1 || page.PartitionConsumingStates[0].PartitionID != "shardId-0000000001" {
		t.Errorf("%+v", page)
	}
	// A plain number is the older form of the start, and part of the page.
	if page := state("&start_partition_id=2"); len(page.PartitionConsumingStates) != 1 || page.PartitionConsumingStates[0].PartitionID != "shardId-0000000002" {
		t.Errorf("%+v", page)
	}
	if page := state("&start_partition_id=shardId-0000000002"); page.HasMore || page.PartitionConsumingStates == nil || len(page.PartitionConsumingStates) != 0 {
		t.Errorf("%+v", page)
	}
	wantsError(t, s.call("GET", path, "", nil), 400, "DIS.4200", "Invalid request. [checkpoint_type][]")
	wantsError(t, s.call("GET", "apps/h/streams/s", "checkpoint_type=LAST_READ", nil), 400, "DIS.4332", "App does not exist. [h][local]")
	wantsError(t, s.call("GET", "apps/g/streams/t", "checkpoint_type=LAST_READ", nil), 400, "DIS.4301", "Stream does not exist. [t][local]")
}
