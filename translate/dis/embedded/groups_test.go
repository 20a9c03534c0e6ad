package embedded

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// groupService has the app "g" and the streams "s" and "u", with two partitions each.
func groupService(t *testing.T) *service {
	s := startService(t, func(c *Config) { c.Groups.SyncDelay = 2 * time.Second })
	s.createStream("s", 2)
	s.createStream("u", 2)
	s.createApp("g")
	return s
}

func (s *service) join(app string, r wire.JoinGroupRequest) wire.JoinGroupResponse {
	s.t.Helper()
	r.GroupID = app
	return wants[wire.JoinGroupResponse](s.t, s.call("POST", "apps/"+app+"/consumers/", "", r), 200)
}

func (s *service) sync(app, client string) wire.SyncGroupResponse {
	s.t.Helper()
	return wants[wire.SyncGroupResponse](s.t, s.call("POST", "apps/"+app+"/consumers/"+client+"/partitions/", "",
		wire.SyncGroupRequest{GroupID: app, ClientID: client, Generation: -1}), 200)
}

func (s *service) heartbeat(app, client string, generation int64) wire.HeartbeatState {
	s.t.Helper()
	return wants[wire.HeartbeatResponse](s.t, s.call("POST", "apps/"+app+"/consumers/"+client+"/heartbeats/", "",
		wire.HeartbeatRequest{GroupID: app, ClientID: client, Generation: generation}), 200).State
}

func (s *service) leave(app, client string) {
	s.t.Helper()
	wants[empty](s.t, s.call("DELETE", "apps/"+app+"/consumers/"+client+"/", "groupId="+app+"&clientId="+client+"&", nil), 204)
}

// One member by names and one by ids, over the wire.
func TestGroupCalls(t *testing.T) {
	s := groupService(t)
	ids := []string{s.describe("s").StreamID, s.describe("u").StreamID}
	if got := s.heartbeat("g", "a", -1); got != wire.HeartbeatJoining {
		t.Errorf("heartbeat: %s", got)
	}
	want := wire.JoinGroupResponse{State: wire.JoinOK, SyncDelayedTimeMS: 2000}
	if got := s.join("g", wire.JoinGroupRequest{ClientID: "a", InterestedStream: []string{"s", "u"}}); !cmp.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	s.clock.advance(1500 * time.Millisecond)
	want.SyncDelayedTimeMS = 500
	if got := s.join("g", wire.JoinGroupRequest{ClientID: "b.1", InterestedStreamIDList: ids}); !cmp.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := s.sync("g", "a"); got.State != wire.SyncWaiting {
		t.Errorf("%+v", got)
	}
	s.clock.advance(500 * time.Millisecond)
	for client, want := range map[string]map[string][]int{
		"a":   {"s": {0}, "u": {0}},
		"b.1": {ids[0]: {1}, ids[1]: {1}},
	} {
		got := s.sync("g", client)
		if diff := cmp.Diff(wire.SyncGroupResponse{State: wire.SyncOK, Generation: 1, Assignment: want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", client, diff)
		}
	}
	if got := s.heartbeat("g", "b.1", 1); got != wire.HeartbeatStable {
		t.Errorf("heartbeat: %s", got)
	}
	s.leave("g", "a")
	s.leave("g", "nobody")
	s.leave("nothing", "a")
	if got := s.heartbeat("g", "b.1", 1); got != wire.HeartbeatJoining {
		t.Errorf("heartbeat after the other left: %s", got)
	}
}

// A body as the adapter sends it, with nulls, and the text of an answer.
func TestGroupTexts(t *testing.T) {
	s := groupService(t)
	join := `{"projectId":null,"groupId":"g","clientId":"a","interestedStream":null,"interestedStreamIdList":[],"streamPattern":"none.*","accelerateAssignEnabled":true,"rebalanceTimeoutMs":null}`
	if got, want := string(s.call("POST", "apps/g/consumers/", "", join).body), `{"state":"OK","syncDelayedTimeMs":0}`; got != want {
		t.Errorf("join: %s", got)
	}
	if got, want := string(s.call("POST", "apps/g/consumers/a/partitions/", "", `{"generation":-1}`).body),
		`{"state":"OK","generation":1,"assignment":{}}`; got != want {
		t.Errorf("sync: %s", got)
	}
	if got, want := string(s.call("POST", "apps/g/consumers/a/heartbeats/", "", `{"generation":1}`).body), `{"state":"STABLE"}`; got != want {
		t.Errorf("heartbeat: %s", got)
	}
}

func TestGroupPattern(t *testing.T) {
	s := groupService(t)
	s.createStream("s2", 1)
	want := wire.JoinGroupResponse{State: wire.JoinOK, Subscription: []string{"s", "s2"}, SyncDelayedTimeMS: 2000}
	if got := s.join("g", wire.JoinGroupRequest{ClientID: "a", StreamPattern: "s.?"}); !cmp.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	s.clock.advance(2 * time.Second)
	if got := s.sync("g", "a"); !cmp.Equal(got.Assignment, map[string][]int{"s": {0, 1}, "s2": {0}}) {
		t.Errorf("%+v", got)
	}
	s.createStream("s3", 1) // seen by the next rebalance only
	if got := s.heartbeat("g", "a", 1); got != wire.HeartbeatStable {
		t.Errorf("heartbeat: %s", got)
	}
	answer := s.call("POST", "apps/g/consumers", "", wire.JoinGroupRequest{ClientID: "a", StreamPattern: "(?=s)s"})
	if answer.status != 400 || !strings.Contains(string(answer.body), "Invalid request. [streamPattern][error parsing regexp: invalid or unsupported Perl syntax") {
		t.Errorf("%d %s", answer.status, answer.body)
	}
}

func TestGroupRefusals(t *testing.T) {
	s := groupService(t)
	id := s.describe("s").StreamID
	for _, test := range []struct {
		name, app string
		request   wire.JoinGroupRequest
		want      wire.JoinState
	}{
		{"no app", "h", wire.JoinGroupRequest{InterestedStream: []string{"s"}}, wire.JoinGroupNotExist},
		{"unknown stream", "g", wire.JoinGroupRequest{InterestedStream: []string{"s", "x"}}, wire.JoinErrSubscription},
		{"unknown id", "g", wire.JoinGroupRequest{InterestedStreamIDList: []string{"x"}}, wire.JoinErrSubscription},
		{"by name and by id", "g", wire.JoinGroupRequest{InterestedStream: []string{"s"}, InterestedStreamIDList: []string{id}}, wire.JoinErrSubscription},
		{"nothing", "g", wire.JoinGroupRequest{}, wire.JoinErrSubscription},
		{"one name twice", "g", wire.JoinGroupRequest{InterestedStream: []string{"s", "s"}}, wire.JoinOK},
		{"a name and another's id", "g", wire.JoinGroupRequest{InterestedStream: []string{"u"}, InterestedStreamIDList: []string{id}}, wire.JoinOK},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.request.ClientID = "a"
			if got := s.join(test.app, test.request); got.State != test.want {
				t.Errorf("%+v", got)
			}
		})
	}
	if got := s.sync("h", "a"); got.State != wire.SyncGroupNotExist {
		t.Errorf("%+v", got)
	}
	if got := s.heartbeat("h", "a", -1); got != wire.HeartbeatGroupNotExist {
		t.Errorf("%s", got)
	}
	wantsError(t, s.call("POST", "apps/g/consumers", "", wire.JoinGroupRequest{InterestedStream: []string{"s"}}), 400,
		"DIS.4200", "Invalid request. [clientId][]")
	wantsError(t, s.call("POST", "apps/g/consumers", "", nil), 400, "DIS.4202", "Request cannot be empty.")
}

// stable brings a member of "g" that reads the streams to its generation.
func (s *service) stable(client string, streams ...string) int64 {
	s.t.Helper()
	s.join("g", wire.JoinGroupRequest{ClientID: client, InterestedStream: streams})
	s.clock.advance(2 * time.Second)
	got := s.sync("g", client)
	if got.State != wire.SyncOK {
		s.t.Fatalf("%+v", got)
	}
	return got.Generation
}

func TestGroupCommits(t *testing.T) {
	s := groupService(t)
	s.put("s", to(0, "a"), to(0, "b"))
	generation := s.stable("a", "s")
	as := func(client string, generation *int64) wire.CommitCheckpointRequest {
		r := commit("g", "s", 0, "2")
		r.ClientID, r.GenerationID = client, generation
		return r
	}
	s.commit(as("a", &generation))
	if got := s.checkpoint("g", "s", 0); got.SequenceNumber != "2" {
		t.Errorf("%+v", got)
	}
	s.commit(commit("g", "s", 0, "1")) // by a consumer outside of the group
	old := generation
	s.join("g", wire.JoinGroupRequest{ClientID: "b", InterestedStream: []string{"s"}})
	wantsError(t, s.call("POST", "checkpoints", "", as("b", &old)), 400, "DIS.4701", "Consumer group rebalance is in progress. [b]")
	s.stable("a", "s")
	wantsError(t, s.call("POST", "checkpoints", "", as("a", &old)), 400, "DIS.4703", "Illegal consumer group generation. [1][2]")
	wantsError(t, s.call("POST", "checkpoints", "", as("a", nil)), 400, "DIS.4703", "Illegal consumer group generation. [-1][2]")
	wantsError(t, s.call("POST", "checkpoints", "", as("c", &old)), 400, "DIS.4702", "Consumer group member does not exist. [c]")
	if got := s.checkpoint("g", "s", 0); got.SequenceNumber != "1" {
		t.Errorf("a refused commit was stored: %+v", got)
	}
}

// Scaling up reaches the members with their next heartbeat.
func TestGroupScaleUp(t *testing.T) {
	s := groupService(t)
	generation := s.stable("a", "s")
	wants[wire.ChangePartitionCountResponse](t, s.call("PUT", "streams/s", "",
		wire.ChangePartitionCountRequest{StreamName: "s", TargetPartitionCount: 3}), 200)
	if got := s.heartbeat("g", "a", generation); got != wire.HeartbeatJoining {
		t.Errorf("heartbeat: %s", got)
	}
	s.stable("a", "s")
	if got := s.sync("g", "a"); !cmp.Equal(got.Assignment, map[string][]int{"s": {0, 1, 2}}) {
		t.Errorf("%+v", got)
	}
	wants[empty](t, s.call("DELETE", "streams/s", "", nil), 204)
	if got := s.heartbeat("g", "a", generation+1); got != wire.HeartbeatJoining {
		t.Errorf("heartbeat after the stream was deleted: %s", got)
	}
}

// An app is in use while its group has members, and until the silent ones are
// given up.
func TestGroupKeepsApp(t *testing.T) {
	s := groupService(t)
	generation := s.stable("a", "s")
	wantsError(t, s.call("DELETE", "apps/g", "", nil), 400, "DIS.4331", "App is in use. [g][local]")
	if got := s.heartbeat("g", "a", generation); got != wire.HeartbeatStable {
		t.Errorf("heartbeat: %s", got)
	}
	s.clock.advance(defaultSessionTimeout)
	wants[empty](t, s.call("DELETE", "apps/g", "", nil), 204)
	s.createApp("g")
	if got := s.heartbeat("g", "a", generation); got != wire.HeartbeatJoining {
		t.Errorf("heartbeat: %s", got)
	}
}

// Groups are not stored: after a restart the members join again, and their
// checkpoints are there.
func TestGroupRestart(t *testing.T) {
	s := groupService(t)
	generation := s.stable("a", "s")
	s.put("s", to(1, "x"))
	r := commit("g", "s", 1, "1")
	r.ClientID, r.GenerationID = "a", &generation
	s.commit(r)
	s.reopen()
	wantsError(t, s.call("POST", "checkpoints", "", r), 400, "DIS.4702", "Consumer group member does not exist. [a]")
	if got := s.heartbeat("g", "a", generation); got != wire.HeartbeatJoining {
		t.Errorf("heartbeat: %s", got)
	}
	s.stable("a", "s")
	if got := s.checkpoint("g", "s", 1); got.SequenceNumber != "1" {
		t.Errorf("%+v", got)
	}
}

func TestGroupSettings(t *testing.T) {
	for _, test := range []struct {
		settings GroupSettings
		want     string
	}{
		{GroupSettings{SyncDelay: -1}, "Groups.SyncDelay -1ns is negative"},
		{GroupSettings{SyncDelay: 40 * time.Second}, "Groups.SessionTimeout 30s: want more than Groups.SyncDelay, 40s"},
		{GroupSettings{SessionTimeout: time.Millisecond}, "Groups.SessionTimeout 1ms: want more than Groups.SyncDelay, 100ms"},
	} {
		_, err := Open(Config{DataDir: t.TempDir(), AccessKeys: map[string]string{"a": "b"}, Groups: test.settings})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.settings, err)
		}
	}
}

func TestRebalanceTimeout(t *testing.T) {
	for ms, want := range map[int64]time.Duration{
		0: 20 * time.Second, -5: 20 * time.Second, 1: time.Millisecond, 60000: time.Minute, 1 << 62: 30 * time.Minute,
	} {
		if got := rebalanceTimeout(ms); got != want {
			t.Errorf("%s: %v, want %v", fmt.Sprint(ms), got, want)
		}
	}
}
