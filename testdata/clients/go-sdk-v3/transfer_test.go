package gosdkv3

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	dis "github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

func newTask(stream, task string) *model.CreateObsTransferTaskRequest {
	return &model.CreateObsTransferTaskRequest{StreamName: stream, Body: &model.CreateTransferTaskReq{
		DestinationType: model.GetCreateTransferTaskReqDestinationTypeEnum().OBS,
		ObsDestinationDescriptor: &model.ObsDestinationDescriptorRequest{
			TaskName: task, AgencyName: "dis_admin_agency", ObsBucketPath: "bucket", DeliverTimeInterval: 30,
			ConsumerStrategy: new(model.GetObsDestinationDescriptorRequestConsumerStrategyEnum().TRIM_HORIZON),
			FilePrefix:       new("folder"),
			PartitionFormat:  new(model.GetObsDestinationDescriptorRequestPartitionFormatEnum().YYYY_MM_DD),
			RecordDelimiter:  new("|"),
		},
	}}
}

func task(stream, name string) *model.ShowTransferTaskRequest {
	return &model.ShowTransferTaskRequest{StreamName: stream, TaskName: name}
}

func startTask(stream string, ids ...string) *model.BatchStartTransferTaskRequest {
	return &model.BatchStartTransferTaskRequest{StreamName: stream, Body: &model.BatchStartTransferTaskReq{
		Action: model.GetBatchStartTransferTaskReqActionEnum().START, Tasks: taskRefs(ids),
	}}
}

func stopTask(stream string, ids ...string) *model.BatchStopTransferTaskRequest {
	return &model.BatchStopTransferTaskRequest{StreamName: stream, Body: &model.BatchStopTransferTaskReq{
		Action: model.GetBatchStopTransferTaskReqActionEnum().STOP, Tasks: taskRefs(ids),
	}}
}

func taskRefs(ids []string) []model.BatchTransferTask {
	refs := []model.BatchTransferTask{}
	for _, id := range ids {
		refs = append(refs, model.BatchTransferTask{Id: id})
	}
	return refs
}

// reaches waits for a state, past those on the way to it.
func reaches(t *testing.T, c *dis.DisClient, stream, name, state string) {
	t.Helper()
	got := ""
	for range 100 {
		if got = succeed(t, 200, c.ShowTransferTask, task(stream, name)).State.Value(); got == state {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("task %s is %s, want %s", name, got, state)
}

func TestTransferTask(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 2)
	before := time.Now().UnixMilli()
	empty := succeed(t, 200, c.ListTransferTasks, &model.ListTransferTasksRequest{StreamName: "s"})
	equal(t, "tasks of a new stream", *empty.TotalNumber, 0)

	succeed(t, 201, c.CreateObsTransferTask, newTask("s", "dump"))
	reaches(t, c, "s", "dump", "RUNNING")
	shown := succeed(t, 200, c.ShowTransferTask, task("s", "dump"))
	equal(t, "stream", *shown.StreamName, "s")
	equal(t, "name", *shown.TaskName, "dump")
	equal(t, "destination", shown.DestinationType.Value(), "OBS")
	if *shown.CreateTime < before {
		t.Errorf("created at %d, before the test began at %d", *shown.CreateTime, before)
	}
	var partitions []string
	for _, p := range *shown.Partitions {
		if p.PartitionId == nil {
			t.Fatalf("a partition without an id: %v", p)
		}
		partitions = append(partitions, *p.PartitionId)
	}
	equalSlices(t, "partitions", partitions, []string{"shardId-0000000000", "shardId-0000000001"})
	sent, got := newTask("s", "dump").Body.ObsDestinationDescriptor, shown.ObsDestinationDescription
	equal(t, "agency", got.AgencyName, sent.AgencyName)
	equal(t, "bucket", got.ObsBucketPath, sent.ObsBucketPath)
	equal(t, "interval", got.DeliverTimeInterval, sent.DeliverTimeInterval)
	equal(t, "strategy", got.ConsumerStrategy.Value(), "TRIM_HORIZON")
	equal(t, "prefix", *got.FilePrefix, "folder")
	equal(t, "folders", got.PartitionFormat.Value(), "yyyy/MM/dd")
	equal(t, "delimiter", *got.RecordDelimiter, "|")

	succeed(t, 204, c.DeleteTransferTask, &model.DeleteTransferTaskRequest{StreamName: "s", TaskName: "dump"})
	refuse(t, "DIS.4354", "", c.ShowTransferTask, task("s", "dump"))
	refuse(t, "DIS.4354", "", c.DeleteTransferTask, &model.DeleteTransferTaskRequest{StreamName: "s", TaskName: "dump"})
}

// The SDK does not show the id of a task, so start and stop name it by its name.
func TestStopAndStartTransferTask(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	succeed(t, 201, c.CreateObsTransferTask, newTask("s", "dump"))
	reaches(t, c, "s", "dump", "RUNNING")
	succeed(t, 200, c.BatchStopTransferTask, stopTask("s", "dump"))
	reaches(t, c, "s", "dump", "PAUSED")
	succeed(t, 200, c.BatchStartTransferTask, startTask("s", "dump"))
	reaches(t, c, "s", "dump", "RUNNING")

	refuse(t, "DIS.4354", "", c.BatchStopTransferTask, stopTask("s", "none"))
	refuse(t, "DIS.4354", "", c.BatchStartTransferTask, startTask("s", "none"))
	refuse(t, "DIS.4301", "", c.BatchStopTransferTask, stopTask("none", "dump"))
	refuse(t, "DIS.4301", "", c.BatchStartTransferTask, startTask("none", "dump"))
	refuse(t, "DIS.4202", "", c.BatchStartTransferTask, &model.BatchStartTransferTaskRequest{StreamName: "s"})
}

func TestListTransferTasksToTheQuota(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprint("task-", i))
		succeed(t, 201, c.CreateObsTransferTask, newTask("s", want[i]))
	}
	refuse(t, "DIS.4355", "", c.CreateObsTransferTask, newTask("s", "task-2"))
	refuse(t, "DIS.4357", "", c.CreateObsTransferTask, newTask("s", "one-more"))
	list := succeed(t, 200, c.ListTransferTasks, &model.ListTransferTasksRequest{StreamName: "s"})
	equal(t, "total", *list.TotalNumber, 5)
	var names []string
	for _, task := range *list.Tasks {
		names = append(names, *task.TaskName)
		equal(t, "destination", task.DestinationType.Value(), "OBS")
		if task.State.Value() == "" || *task.CreateTime == 0 {
			t.Errorf("task %v", task)
		}
	}
	slices.Sort(names)
	equalSlices(t, "tasks", names, want)
	// Tasks go with their stream.
	succeed(t, 204, c.DeleteStream, &model.DeleteStreamRequest{StreamName: "s"})
	refuse(t, "DIS.4301", "Stream does not exist. [s][", c.ListTransferTasks, &model.ListTransferTasksRequest{StreamName: "s"})
	createStream(t, c, "s", 1)
	equal(t, "total", *succeed(t, 200, c.ListTransferTasks, &model.ListTransferTasksRequest{StreamName: "s"}).TotalNumber, 0)
}

func TestTransferTaskRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	tests := []struct {
		code, message string
		change        func(*model.CreateObsTransferTaskRequest, *model.ObsDestinationDescriptorRequest)
	}{
		{"DIS.4301", "Stream does not exist. [none][", func(r *model.CreateObsTransferTaskRequest, _ *model.ObsDestinationDescriptorRequest) {
			r.StreamName = "none"
		}},
		{"DIS.4200", "task_name", func(_ *model.CreateObsTransferTaskRequest, d *model.ObsDestinationDescriptorRequest) { d.TaskName = "" }},
		{"DIS.4200", "task_name", func(_ *model.CreateObsTransferTaskRequest, d *model.ObsDestinationDescriptorRequest) {
			d.TaskName = strings.Repeat("x", 65)
		}},
		{"DIS.4200", "deliver_time_interval", func(_ *model.CreateObsTransferTaskRequest, d *model.ObsDestinationDescriptorRequest) {
			d.DeliverTimeInterval = 29
		}},
		{"DIS.4200", "deliver_time_interval", func(_ *model.CreateObsTransferTaskRequest, d *model.ObsDestinationDescriptorRequest) {
			d.DeliverTimeInterval = 901
		}},
		{"DIS.4335", "", func(_ *model.CreateObsTransferTaskRequest, d *model.ObsDestinationDescriptorRequest) {
			d.AgencyName = ""
		}},
		{"DIS.4200", "obs_bucket_path", func(_ *model.CreateObsTransferTaskRequest, d *model.ObsDestinationDescriptorRequest) {
			d.ObsBucketPath = ""
		}},
		{"DIS.4358", "", func(_ *model.CreateObsTransferTaskRequest, d *model.ObsDestinationDescriptorRequest) {
			// Only for records in JSON.
			d.DestinationFileType = new(model.GetObsDestinationDescriptorRequestDestinationFileTypeEnum().PARQUET)
		}},
		{"DIS.4200", "", func(r *model.CreateObsTransferTaskRequest, _ *model.ObsDestinationDescriptorRequest) {
			r.Body.ObsDestinationDescriptor = nil
		}},
	}
	for i, test := range tests {
		request := newTask("s", fmt.Sprint("task-", i))
		test.change(request, request.Body.ObsDestinationDescriptor)
		refuse(t, test.code, test.message, c.CreateObsTransferTask, request)
	}
	refuse(t, "DIS.4202", "", c.CreateObsTransferTask, &model.CreateObsTransferTaskRequest{StreamName: "s"})
	refuse(t, "DIS.4301", "", c.ListTransferTasks, &model.ListTransferTasksRequest{StreamName: "none"})
	refuse(t, "DIS.4301", "", c.ShowTransferTask, task("none", "x"))
	refuse(t, "DIS.4301", "", c.DeleteTransferTask, &model.DeleteTransferTaskRequest{StreamName: "none", TaskName: "x"})
	equal(t, "total", *succeed(t, 200, c.ListTransferTasks, &model.ListTransferTasksRequest{StreamName: "s"}).TotalNumber, 0)
}

func TestTransferTaskWithoutObjectStorage(t *testing.T) {
	t.Parallel()
	c := connect(t, &limited)
	createStream(t, c, "s", 1)
	refuse(t, "DIS.4310", "", c.CreateObsTransferTask, newTask("s", "dump"))
}
