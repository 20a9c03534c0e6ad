package gosdkv3

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/def"
	dis "github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

func newApp(name string) *model.CreateAppRequest {
	return &model.CreateAppRequest{Body: &model.CreateAppReq{AppName: name}}
}

func createApp(t *testing.T, c *dis.DisClient, name string) {
	t.Helper()
	succeed(t, 201, c.CreateApp, newApp(name))
}

func TestApps(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	before := time.Now().UnixMilli()
	createApp(t, c, "a")
	shown := succeed(t, 200, c.ShowApp, &model.ShowAppRequest{AppName: "a"})
	equal(t, "name", *shown.AppName, "a")
	equal(t, "streams", len(*shown.CommitCheckpointStreamNames), 0)
	if *shown.AppId == "" || *shown.CreateTime < before {
		t.Errorf("app %q was created at %d", *shown.AppId, *shown.CreateTime)
	}
	for _, stream := range []string{"s2", "s1"} {
		createStream(t, c, stream, 1)
		succeed(t, 201, c.CommitCheckpoint, checkpointKey{"a", stream, "0"}.commit("0"))
	}
	equalSlices(t, "streams", *succeed(t, 200, c.ShowApp, &model.ShowAppRequest{AppName: "a"}).CommitCheckpointStreamNames, []string{"s1", "s2"})

	refuse(t, "DIS.4330", "", c.CreateApp, newApp("a"))
	succeed(t, 204, c.DeleteApp, &model.DeleteAppRequest{AppName: "a"})
	refuse(t, "DIS.4332", "", c.ShowApp, &model.ShowAppRequest{AppName: "a"})
	refuse(t, "DIS.4332", "", c.DeleteApp, &model.DeleteAppRequest{AppName: "a"})
}

func TestCreateAppRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	for _, name := range []string{"", "with space", "with.dot", strings.Repeat("x", 201)} {
		refuse(t, "DIS.4200", "app_name", c.CreateApp, newApp(name))
	}
	createApp(t, c, strings.Repeat("x", 200))
	refuse(t, "DIS.4202", "", c.CreateApp, &model.CreateAppRequest{})
}

func TestListAppsByPage(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	var want []string
	for i := range 12 {
		want = append(want, fmt.Sprintf("a%02d", i))
		createApp(t, c, want[i])
	}
	succeed(t, 201, c.CommitCheckpoint, checkpointKey{"a07", "s", "0"}.commit("0"))
	names := func(list *model.ListAppResponse) (names []string) {
		for _, app := range *list.Apps {
			names = append(names, *app.AppName)
		}
		return names
	}
	first := succeed(t, 200, c.ListApp, &model.ListAppRequest{})
	equalSlices(t, "page without a limit", names(first), want[:10])
	equal(t, "more", *first.HasMoreApp, true)
	equal(t, "total", *first.TotalNumber, 12)
	rest := succeed(t, 200, c.ListApp, &model.ListAppRequest{Limit: new(int32(100)), StartAppName: new("a09")})
	equalSlices(t, "rest", names(rest), want[10:])
	equal(t, "more", *rest.HasMoreApp, false)
	ofStream := succeed(t, 200, c.ListApp, &model.ListAppRequest{StreamName: new("s")})
	equalSlices(t, "apps of a stream", names(ofStream), []string{"a07"})

	for _, limit := range []int32{0, 101} {
		refuse(t, "DIS.4200", "limit", c.ListApp, &model.ListAppRequest{Limit: new(limit)})
	}
	refuse(t, "DIS.4301", "", c.ListApp, &model.ListAppRequest{StreamName: new("none")})
}

func consumption(app, stream string) *model.ShowConsumerStateRequest {
	return &model.ShowConsumerStateRequest{
		AppName: app, StreamName: stream, CheckpointType: model.GetShowConsumerStateRequestCheckpointTypeEnum().LAST_READ,
	}
}

func TestConsumerState(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 3)
	createApp(t, c, "a")
	put(t, c, "s", "0", "1", "2")
	succeed(t, 201, c.CommitCheckpoint, checkpointKey{"a", "s", "0"}.commit("1"))
	succeed(t, 200, c.UpdatePartitionCount, rescale("s", 2))

	state := succeed(t, 200, c.ShowConsumerState, consumption("a", "s"))
	equal(t, "app and stream", *state.AppName+" "+*state.StreamName, "a s")
	equal(t, "more", *state.HasMore, false)
	var shown []string
	for _, p := range *state.PartitionConsumingStates {
		shown = append(shown, fmt.Sprintf("%s %s %s: %s of %d to %d", *p.PartitionId, p.Status.Value(), p.CheckpointType.Value(),
			*p.SequenceNumber, *p.EarliestOffset, *p.LatestOffset))
	}
	equalSlices(t, "states", shown, []string{
		"shardId-0000000000 ACTIVE LAST_READ: 1 of 0 to 3",
		"shardId-0000000001 ACTIVE LAST_READ: -1 of 0 to 0",
		"shardId-0000000002 DELETED LAST_READ: -1 of 0 to 0",
	})
}

func TestConsumerStateByPage(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 3)
	createApp(t, c, "a")
	page := consumption("a", "s")
	page.Limit = new(int32(2))
	first := succeed(t, 200, c.ShowConsumerState, page)
	equal(t, "first page", len(*first.PartitionConsumingStates), 2)
	equal(t, "more", *first.HasMore, true)
	page.StartPartitionId = (*first.PartitionConsumingStates)[1].PartitionId
	last := succeed(t, 200, c.ShowConsumerState, page)
	equal(t, "last page", len(*last.PartitionConsumingStates), 1)
	equal(t, "partition", *(*last.PartitionConsumingStates)[0].PartitionId, "shardId-0000000002")
	equal(t, "more", *last.HasMore, false)

	// The older form of the start is a plain number, and part of the page.
	page.StartPartitionId = new("0")
	fromNumber := succeed(t, 200, c.ShowConsumerState, page)
	equal(t, "partition", *(*fromNumber.PartitionConsumingStates)[0].PartitionId, "shardId-0000000000")
}

func TestConsumerStateRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	createApp(t, c, "a")
	refuse(t, "DIS.4332", "", c.ShowConsumerState, consumption("none", "s"))
	refuse(t, "DIS.4301", "Stream does not exist. [none][", c.ShowConsumerState, consumption("a", "none"))
	bad := consumption("a", "s")
	bad.Limit = new(int32(1001))
	refuse(t, "DIS.4200", "limit", c.ShowConsumerState, bad)
	bad = consumption("a", "s")
	bad.StartPartitionId = new("x")
	refuse(t, "DIS.4201", "", c.ShowConsumerState, bad)
}

// joinRequest and leaveRequest are calls of the group coordinator, for which the
// SDK has no methods; its client signs and sends them all the same.
type joinRequest struct {
	AppName string    `json:"app_name"`
	Body    *joinBody `json:"body,omitempty"`
}

type joinBody struct {
	GroupID          string   `json:"groupId"`
	ClientID         string   `json:"clientId"`
	InterestedStream []string `json:"interestedStream"`
	RebalanceTimeout int64    `json:"rebalanceTimeoutMs"`
}

type leaveRequest struct {
	AppName  string `json:"app_name"`
	ClientID string `json:"client_id"`
}

type coordinatorAnswer struct {
	State          *string `json:"state,omitempty"`
	HttpStatusCode int     `json:"-"`
}

func pathField(name, tag string) *def.FieldDef {
	return def.NewFieldDef().WithName(name).WithJsonTag(tag).WithLocationType(def.Path)
}

// An app cannot be deleted while a member of its group consumes.
func TestDeleteAppInUse(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	createApp(t, c, "a")
	join := def.NewHttpRequestDefBuilder().WithMethod("POST").WithPath("/v2/{project_id}/apps/{app_name}/consumers").
		WithResponse(new(coordinatorAnswer)).WithContentType("application/json").
		WithRequestField(pathField("AppName", "app_name")).
		WithRequestField(def.NewFieldDef().WithName("Body").WithLocationType(def.Body)).Build()
	joined, err := c.HcClient.Sync(&joinRequest{"a", &joinBody{"a", "member", []string{"s"}, 20_000}}, join)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", *joined.(*coordinatorAnswer).State, "OK")
	refuse(t, "DIS.4331", "", c.DeleteApp, &model.DeleteAppRequest{AppName: "a"})

	leave := def.NewHttpRequestDefBuilder().WithMethod("DELETE").WithPath("/v2/{project_id}/apps/{app_name}/consumers/{client_id}").
		WithResponse(new(coordinatorAnswer)).WithContentType("application/json").
		WithRequestField(pathField("AppName", "app_name")).WithRequestField(pathField("ClientID", "client_id")).Build()
	if _, err := c.HcClient.Sync(&leaveRequest{"a", "member"}, leave); err != nil {
		t.Fatal(err)
	}
	succeed(t, 204, c.DeleteApp, &model.DeleteAppRequest{AppName: "a"})
}
