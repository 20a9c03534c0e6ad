package embedded

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// obsTask is a task that delivers every 60 s.
func obsTask(name string, adjust ...func(*wire.OBSDestination)) wire.CreateTransferTaskRequest {
	obs := &wire.OBSDestination{
		TaskName: name, AgencyName: "dis_admin_agency", OBSBucketPath: "bucket", DeliverTimeInterval: 60,
		ConsumerStrategy: wire.CursorTrimHorizon, RecordDelimiter: "\n",
	}
	for _, change := range adjust {
		change(obs)
	}
	return wire.CreateTransferTaskRequest{DestinationType: wire.DestinationOBS, OBSDestinationDescriptor: obs}
}

func (s *service) createTransfer(stream string, task any) {
	s.t.Helper()
	wants[empty](s.t, s.call("POST", "streams/"+stream+"/transfer-tasks", "", task), 201)
}

func (s *service) transfer(stream, task string) wire.TransferTask {
	s.t.Helper()
	return wants[wire.TransferTask](s.t, s.call("GET", "streams/"+stream+"/transfer-tasks/"+task, "", nil), 200)
}

func (s *service) change(stream string, action wire.TransferAction, ids ...string) answer {
	body := wire.ChangeTransferTasksRequest{Action: action}
	for _, id := range ids {
		body.Tasks = append(body.Tasks, wire.TransferRef{ID: id})
	}
	return s.call("POST", "streams/"+stream+"/transfer-tasks/action", "", body)
}

// dumpService has the stream "s" with two partitions and a folder for dumps.
func dumpService(t *testing.T, adjust ...func(*Config)) *service {
	s := startService(t, append(adjust, func(c *Config) { c.DumpDir = t.TempDir() })...)
	s.createStream("s", 2)
	return s
}

func TestTransferLifeCycle(t *testing.T) {
	s := dumpService(t)
	s.put("s", to(0, "a"), to(0, "b"), to(1, "c"))
	s.createTransfer("s", obsTask("early"))
	s.createTransfer("s", obsTask("late", func(o *wire.OBSDestination) { o.ConsumerStrategy = "" }))
	created := s.clock.now().UnixMilli()

	late := s.transfer("s", "late")
	wantsPartition := func(id int, next int64) wire.TransferPartition {
		return wire.TransferPartition{PartitionID: wire.PartitionID(id), State: wire.TransferRunning, LastTransferOffset: next}
	}
	want := wire.TransferTask{
		StreamName: "s",
		TransferTaskSummary: wire.TransferTaskSummary{
			TaskID: late.TaskID, TaskName: "late", State: wire.TransferRunning,
			DestinationType: wire.DestinationOBS, CreateTime: created,
		},
		Partitions: []wire.TransferPartition{wantsPartition(0, 2), wantsPartition(1, 1)},
		OBSDestinationDescription: &wire.OBSDestination{
			TaskName: "late", AgencyName: "dis_admin_agency", OBSBucketPath: "bucket", DeliverTimeInterval: 60,
			ConsumerStrategy: wire.CursorLatest, DestinationFileType: "text", RecordDelimiter: "\n",
		},
	}
	if diff := cmp.Diff(want, late); diff != "" || late.TaskID == "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	s.reopen()
	if diff := cmp.Diff(want, s.transfer("s", "late")); diff != "" {
		t.Errorf("after reopening, -want +got:\n%s", diff)
	}

	early := s.transfer("s", "early")
	wants[empty](t, s.change("s", wire.TransferStop, early.TaskID, "late"), 200)
	list := func(query string) wire.ListTransferTasksResponse {
		return wants[wire.ListTransferTasksResponse](t, s.call("GET", "streams/s/transfer-tasks/", query, nil), 200)
	}
	early.State, late.State = wire.TransferPaused, wire.TransferPaused
	wantList := wire.ListTransferTasksResponse{
		TotalNumber: 2, Quota: 5, Tasks: []wire.TransferTaskSummary{early.TransferTaskSummary, late.TransferTaskSummary},
	}
	if diff := cmp.Diff(wantList, list("")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := list("limit=1&start_task_name=early&").Tasks; len(got) != 1 || got[0].TaskName != "late" {
		t.Errorf("%+v", got)
	}
	if got := list("limit=1").Tasks; len(got) != 1 || got[0].TaskName != "early" {
		t.Errorf("%+v", got)
	}
	wants[empty](t, s.change("s", "START", early.TaskID), 200)
	if got := s.transfer("s", "early").State; got != wire.TransferRunning {
		t.Errorf("%s", got)
	}
	wantsError(t, s.change("s", wire.TransferStop, early.TaskID, "x"), 400, "DIS.4354", "Transfer task does not exist. [x][s]")
	if got := s.transfer("s", "early").State; got != wire.TransferRunning {
		t.Errorf("half of an action was done: %s", got)
	}

	wants[empty](t, s.call("DELETE", "streams/s/transfer-tasks/late", "", nil), 204)
	s.reopen()
	for _, method := range []string{"GET", "DELETE"} {
		wantsError(t, s.call(method, "streams/s/transfer-tasks/late", "", nil), 400, "DIS.4354", "Transfer task does not exist. [late][s]")
	}
	wants[empty](t, s.call("DELETE", "streams/s", "", nil), 204)
	if n := s.server.storedKeys(t, kindTransfer) + s.server.storedKeys(t, kindProgress); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func TestTransferUpdate(t *testing.T) {
	s := dumpService(t)
	s.put("s", to(0, "a"))
	s.createTransfer("s", obsTask("x"))
	s.deliverAfter(time.Minute)
	update := obsTask("x", func(o *wire.OBSDestination) { o.DeliverTimeInterval, o.RecordDelimiter = 30, "|" })
	wants[empty](t, s.call("PUT", "streams/s/transfer-tasks/", "", update), 200)
	s.put("s", to(0, "b"))
	s.deliverAfter(30 * time.Second)
	if got := s.dumped("s", 0); got != "a\nb|" {
		t.Errorf("%q", got)
	}
	wantsError(t, s.call("PUT", "streams/s/transfer-tasks", "", obsTask("y")), 400, "DIS.4354", "Transfer task does not exist. [y][s]")
}

func TestTransferRefusals(t *testing.T) {
	s := dumpService(t)
	wants[empty](t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: "j", PartitionCount: 1, DataType: "JSON"}), 201)
	obs := func(change func(*wire.OBSDestination)) wire.CreateTransferTaskRequest { return obsTask("x", change) }
	type o = wire.OBSDestination
	tests := []struct {
		name, stream  string
		body          any
		code, message string
	}{
		{"no body", "s", nil, "DIS.4202", "Request cannot be empty."},
		{"stream", "none", obsTask("x"), "DIS.4301", "Stream does not exist. [none][local]"},
		{"destination", "s", `{"destination_type":"FTP"}`, "DIS.4200", "Invalid request. [destination_type][FTP]"},
		{"no descriptor", "s", `{"destination_type":"OBS"}`, "DIS.4200", "Invalid request. [obs_destination_descriptor][]"},
		{"no name", "s", obs(func(o *o) { o.TaskName = "" }), "DIS.4200", "Invalid request. [task_name][]"},
		{"name", "s", obs(func(o *o) { o.TaskName = "a b" }), "DIS.4200", "Invalid request. [task_name][a b]"},
		{"agency", "s", obs(func(o *o) { o.AgencyName = "" }), "DIS.4335", "Invalid IAM agency. []"},
		{"too often", "s", obs(func(o *o) { o.DeliverTimeInterval = 29 }), "DIS.4200", "Invalid request. [deliver_time_interval][29]"},
		{"too rarely", "s", obs(func(o *o) { o.DeliverTimeInterval = 901 }), "DIS.4200", "Invalid request. [deliver_time_interval][901]"},
		{"strategy", "s", obs(func(o *o) { o.ConsumerStrategy = "AT_TIMESTAMP" }), "DIS.4200", "Invalid request. [consumer_strategy][AT_TIMESTAMP]"},
		{"no bucket", "s", obs(func(o *o) { o.OBSBucketPath = "" }), "DIS.4200", "Invalid request. [obs_bucket_path][]"},
		{"bucket", "s", obs(func(o *o) { o.OBSBucketPath = "../up" }), "DIS.4200", "Invalid request. [obs_bucket_path][../up]"},
		{"bucket's case", "s", obs(func(o *o) { o.OBSBucketPath = "Bucket" }), "DIS.4200", "Invalid request. [obs_bucket_path][Bucket]"},
		{"bucket's dots", "s", obs(func(o *o) { o.OBSBucketPath = "a..b" }), "DIS.4200", "Invalid request. [obs_bucket_path][a..b]"},
		{"folder", "s", obs(func(o *o) { o.OBSBucketPath = "bucket//a" }), "DIS.4200", "Invalid request. [obs_bucket_path][bucket//a]"},
		{"prefix", "s", obs(func(o *o) { o.FilePrefix = "/a" }), "DIS.4200", "Invalid request. [file_prefix][/a]"},
		{"prefix upwards", "s", obs(func(o *o) { o.FilePrefix = "a/../../b" }), "DIS.4200", "Invalid request. [file_prefix][a/../../b]"},
		{"long prefix", "s", obs(func(o *o) { o.FilePrefix = strings.Repeat("a", 51) }), "DIS.4200",
			"Invalid request. [file_prefix][" + strings.Repeat("a", 51) + "]"},
		{"format", "s", obs(func(o *o) { o.PartitionFormat = "MM/yyyy" }), "DIS.4200", "Invalid request. [partition_format][MM/yyyy]"},
		{"delimiter", "s", obs(func(o *o) { o.RecordDelimiter = "#" }), "DIS.4200", "Invalid request. [record_delimiter][#]"},
		{"file type", "s", obs(func(o *o) { o.DestinationFileType = "xml" }), "DIS.4200", "Invalid request. [destination_file_type][xml]"},
		{"parquet of bytes", "s", obs(func(o *o) { o.DestinationFileType = "parquet" }), "DIS.4358",
			"The data type of the stream does not allow this transfer task. [parquet][BLOB]"},
		{"times of bytes", "s", obs(func(o *o) {
			o.ProcessingSchema = &wire.ProcessingSchema{TimestampName: "t", TimestampType: "Timestamp"}
		}),
			"DIS.4358", "The data type of the stream does not allow this transfer task. [processing_schema][BLOB]"},
		{"time's name", "j", obs(func(o *o) { o.ProcessingSchema = &wire.ProcessingSchema{TimestampType: "Timestamp"} }),
			"DIS.4200", "Invalid request. [timestamp_name][]"},
		{"time's type", "j", obs(func(o *o) { o.ProcessingSchema = &wire.ProcessingSchema{TimestampName: "t"} }),
			"DIS.4200", "Invalid request. [timestamp_type][]"},
		{"time's format", "j", obs(func(o *o) { o.ProcessingSchema = &wire.ProcessingSchema{TimestampName: "t", TimestampType: "String"} }),
			"DIS.4200", "Invalid request. [timestamp_format][]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantsError(t, s.call("POST", "streams/"+test.stream+"/transfer-tasks", "", test.body), 400, test.code, test.message)
		})
	}
	wantsError(t, s.change("s", "pause", "x"), 400, "DIS.4200", "Invalid request. [action][pause]")
	wantsError(t, s.change("s", wire.TransferStart), 400, "DIS.4200", "Invalid request. [tasks][]")

	for i := range wire.MaxTransferTasks {
		s.createTransfer("s", obsTask(fmt.Sprint("t", i)))
	}
	wantsError(t, s.call("POST", "streams/s/transfer-tasks", "", obsTask("t3")), 400, "DIS.4355", "Transfer task already exists. [t3][s]")
	wantsError(t, s.call("POST", "streams/s/transfer-tasks", "", obsTask("x")), 400, "DIS.4357", "Insufficient transfer task quota. [5]")
}

// What cannot be delivered here is kept, with a state that says so.
func TestTransferOtherDestinations(t *testing.T) {
	s := dumpService(t)
	wants[empty](t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: "j", PartitionCount: 1, DataType: "JSON"}), 201)
	common := `"task_name":"x","agency_name":"a","deliver_time_interval":30,`
	for _, test := range []struct {
		stream, body, kind, descriptor string
		code, message                  string
	}{
		{"s", `{"destination_type":"MRS"}`, "", "", "DIS.4200", "Invalid request. [mrs_destination_descriptor][]"},
		{"s", `{"destination_type":"MRS","mrs_destination_descriptor":{` + common + `"mrs_cluster_name":"c","mrs_hdfs_path":"/p"}}`, "", "",
			"DIS.4208", "Invalid MRS cluster. [mrs_cluster_id][]"},
		{"s", `{"destination_type":"MRS","mrs_destination_descriptor":{` + common + `"mrs_cluster_name":"c","mrs_cluster_id":"i"}}`, "", "",
			"DIS.4336", "Invalid HDFS path. [mrs_hdfs_path][]"},
		{"s", `{"destination_type":"MRS","mrs_destination_descriptor":{"task_name":"x","agency_name":"a","deliver_time_interval":3}}`, "", "",
			"DIS.4200", "Invalid request. [deliver_time_interval][3]"},
		{"s", `{"destination_type":"MRS","mrs_destination_descriptor":{` + common + `"mrs_cluster_name":"c","mrs_cluster_id":"i","mrs_hdfs_path":"/p"}}`,
			"mrs_destination_description", `{"agency_name":"a","deliver_time_interval":30,"mrs_cluster_id":"i","mrs_cluster_name":"c","mrs_hdfs_path":"/p","task_name":"x"}`, "", ""},
		{"s", `{"destination_type":"DLI","dli_destination_descriptor":{` + common + `"dli_database_name":"d","dli_table_name":"t"}}`, "", "",
			"DIS.4358", "The data type of the stream does not allow this transfer task. [DLI][BLOB]"},
		{"j", `{"destination_type":"DLI","dli_destination_descriptor":{` + common + `"dli_table_name":"t"}}`, "", "",
			"DIS.4337", "Invalid DLI database. [dli_database_name][]"},
		{"j", `{"destination_type":"DLI","dli_destination_descriptor":{` + common + `"dli_database_name":"d"}}`, "", "",
			"DIS.4338", "Invalid DLI table. [dli_table_name][]"},
		{"j", `{"destination_type":"DLI","dli_destination_descriptor":{` + common + `"dli_database_name":"d","dli_table_name":"t"}}`,
			"dli_destination_description", `{"agency_name":"a","deliver_time_interval":30,"dli_database_name":"d","dli_table_name":"t","task_name":"x"}`, "", ""},
		{"j", `{"destination_type":"CLOUDTABLE","cloudtable_destination_descriptor":{` + common + `"cloudtable_cluster_name":"c"}}`, "", "",
			"DIS.4341", "Invalid CloudTable cluster. [cloudtable_cluster_id][]"},
		{"j", `{"destination_type":"CLOUDTABLE","cloudtable_destination_descriptor":{` + common + `"cloudtable_cluster_name":"c","cloudtable_cluster_id":"i"}}`,
			"cloudtable_destination_descripton", `{"agency_name":"a","cloudtable_cluster_id":"i","cloudtable_cluster_name":"c","deliver_time_interval":30,"task_name":"x"}`, "", ""},
		{"j", `{"destination_type":"DWS","dws_destination_descriptor":{` + common + `"dws_cluster_name":"c"}}`, "", "",
			"DIS.4350", "Invalid DWS cluster. [dws_cluster_id][]"},
		{"j", `{"destination_type":"DWS","dws_destination_descriptor":{` + common + `"dws_cluster_name":"c","dws_cluster_id":"i","dws_database_name":"d","dws_table_name":"t","user_password":"secret"}}`,
			"dws_destination_description", `{"agency_name":"a","deliver_time_interval":30,"dws_cluster_id":"i","dws_cluster_name":"c","dws_database_name":"d","dws_table_name":"t","task_name":"x"}`, "", ""},
	} {
		answer := s.call("POST", "streams/"+test.stream+"/transfer-tasks", "", test.body)
		if test.code != "" {
			wantsError(t, answer, 400, test.code, test.message)
			continue
		}
		wants[empty](t, answer, 201)
		path := "streams/" + test.stream + "/transfer-tasks/x"
		got := wants[map[string]json.RawMessage](t, s.call("GET", path, "", nil), 200)
		if string(got["state"]) != `"ABNORMAL"` || string(got[test.kind]) != test.descriptor {
			t.Errorf("%s: state %s, %s\nwant %s", test.kind, got["state"], got[test.kind], test.descriptor)
		}
		wants[empty](t, s.call("DELETE", path, "", nil), 204)
	}
	for _, change := range []func(*wire.OBSDestination){
		func(o *wire.OBSDestination) { o.DestinationFileType = "parquet" },
		func(o *wire.OBSDestination) {
			o.ProcessingSchema = &wire.ProcessingSchema{TimestampName: "t", TimestampType: "Timestamp"}
		},
	} {
		task := obsTask("x", change)
		s.createTransfer("j", task)
		if got := s.transfer("j", "x").State; got != wire.TransferAbnormal {
			t.Errorf("%+v: %s", task.OBSDestinationDescriptor, got)
		}
		wants[empty](t, s.call("DELETE", "streams/j/transfer-tasks/x", "", nil), 204)
	}
}

// Without a folder there is nowhere to deliver to.
func TestTransferWithoutFolder(t *testing.T) {
	s := dumpService(t)
	s.createTransfer("s", obsTask("x"))
	dir := s.config.DumpDir
	s.config.DumpDir = ""
	s.reopen()
	wantsError(t, s.call("POST", "streams/s/transfer-tasks", "", obsTask("y")), 400, "DIS.4310",
		"OBS access failed. [bucket][the embedded DIS has no folder to write to: --dump-dir is not set]")
	if got := s.transfer("s", "x").State; got != wire.TransferAbnormal {
		t.Errorf("%s", got)
	}
	s.put("s", to(0, "a"))
	s.config.DumpDir = dir
	s.reopen()
	s.deliverAfter(time.Minute)
	if got := s.dumped("s", 0); got != "a\n" {
		t.Errorf("%q", got)
	}
}

// The Python SDK creates and describes tasks below the singular of "streams".
func TestTransferTaskBelowStream(t *testing.T) {
	s := startService(t, func(c *Config) { c.DumpDir = t.TempDir() })
	s.createStream("s", 1)
	wants[empty](t, s.call("POST", "stream/s/transfer-tasks/", "", obsTask("x")), 201)
	if got := wants[wire.TransferTask](t, s.call("GET", "stream/s/transfer-tasks/x", "", nil), 200); got.TaskName != "x" || got.StreamName != "s" {
		t.Errorf("%+v", got)
	}
}
