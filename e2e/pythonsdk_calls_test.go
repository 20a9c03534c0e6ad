package e2e

import (
	"fmt"
	"testing"
	"time"
)

// TestPythonSDK uses the SDK in each of its modes: both signatures, both forms
// of bodies.
func TestPythonSDK(t *testing.T) {
	t.Parallel()
	url := startEmbeddedDIS(t)
	for _, signing := range []string{"derived", "scoped"} {
		for _, body := range []string{"json", "protobuf"} {
			t.Run(signing+" "+body, func(t *testing.T) {
				t.Parallel()
				project := signing + "-" + body
				sdk := startPythonSDK(t, url, project, "--signing", signing, "--body", body)
				sdk.streams()
				sdk.records()
				sdk.cursors()
				sdk.checkpoints()
				sdk.metrics()
				sdk.transferTasks()
				sdk.scaling()
				sdk.end()
				wrong := startPythonSDK(t, url, project, "--signing", signing, "--secret-key", "wrong")
				wrong.refused("listStream", with{}, "DIS.4112")
			})
		}
	}
}

func newStream(name string, partitions int) with {
	return with{"stream_name": name, "partition_count": partitions, "data_type": "BLOB", "stream_type": "COMMON"}
}

func (p *pythonSDK) streams() {
	p.call(201, "createStream", newStream("s", 2))
	p.refused("createStream", newStream("s", 2), "DIS.4307")
	described := p.call(200, "describeStream", with{"streamName": "s"})
	p.same("status", described["status"], "RUNNING")
	p.same("partition", at(described, "partitions", 1, "partition_id"), "shardId-0000000001")
	p.same("no more", described["has_more_partitions"], false)
	next := p.call(200, "describeStream", with{"streamName": "s", "startPartitionId": "shardId-0000000000", "limitPartitions": 1})
	p.same("second page", at(next, "partitions", 0, "partition_id"), "shardId-0000000001")
	byID := p.call(200, "describeStream", with{"streamName": "not-here", "streamId": described["stream_id"]})
	p.same("stream of the id", byID["stream_name"], "s")
	p.same("streams", p.call(200, "listStream", with{})["stream_names"], []string{"s"})
	p.refused("describeStream", with{"streamName": "none"}, "DIS.4301", "Stream does not exist. [none][")
}

func (p *pythonSDK) records() {
	put := p.call(200, "putRecords", with{"streamname": "s", "records": []with{
		{"data": "first, ü", "partition_id": "0"},
		{"data": "by key", "partition_key": "hello"},
		{"data": "by hash", "explicit_hash_key": "0", "partition_key": "hello"},
		{"data": "nowhere", "partition_id": "9"},
	}})
	p.same("failed", put["failed_record_count"], 1)
	places := []string{}
	for i := range 4 {
		places = append(places, fmt.Sprint(at(put, "records", i, "partition_id"), " ", at(put, "records", i, "sequence_number")))
	}
	p.same("places", places[0], "shardId-0000000000 0")
	p.same("places", places[1], "shardId-0000000001 0")
	p.same("places", places[2], "shardId-0000000000 1")
	p.same("code", at(put, "records", 3, "error_code"), "DIS.4302")

	id := p.call(200, "describeStream", with{"streamName": "s"})["stream_id"]
	byID := p.call(200, "put_records", with{"stream_name": "", "stream_id": id, "records": []with{{"data": "by id", "partition_id": "0"}}})
	p.same("place by id", at(byID, "records", 0, "sequence_number"), "2")
	byName := p.call(200, "put_records", with{"stream_name": "s", "stream_id": "", "records": []with{{"data": "by name", "partition_id": "0"}}})
	p.same("place by name", at(byName, "records", 0, "sequence_number"), "3")
	p.refused("put_records", with{"stream_name": "none", "stream_id": "", "records": []with{{"data": "x"}}}, "DIS.4301")

	read := p.read(p.cursor(with{"partitionId": "shardId-0000000000", "cursorType": "TRIM_HORIZON"}))
	p.same("data", read, []string{"first, ü", "by hash", "by id", "by name"})
	got := p.call(200, "getRecords", with{"partitioncursor": p.cursor(with{"partitionId": "1", "cursorType": "TRIM_HORIZON"})})
	record := at(got, "records", 0)
	p.same("key", at(record, "partitionKey"), "hello")
	p.same("number", at(record, "sequence_number"), "0")
	p.same("kind of time", at(record, "timestamp_type"), "CreateTime")
	empty := p.call(200, "getRecords", with{"partitioncursor": got["next_partition_cursor"], "limit": 1})
	p.same("records at the end", empty["records"], []string{})
	p.refused("getRecords", with{"partitioncursor": "nonsense"}, "DIS.4217")
}

func (p *pythonSDK) cursor(arguments with) any {
	p.t.Helper()
	arguments["streamName"] = "s"
	return p.call(200, "getCursor", arguments)["partition_cursor"]
}

// read returns the data of one answer.
func (p *pythonSDK) read(cursor any) []any {
	p.t.Helper()
	data := []any{}
	list, _ := p.call(200, "getRecords", with{"partitioncursor": cursor})["records"].([]any)
	for _, record := range list {
		data = append(data, at(record, "data"))
	}
	return data
}

func (p *pythonSDK) cursors() {
	at0 := func(kind, number string) with {
		return with{"partitionId": "0", "cursorType": kind, "startSeq": number}
	}
	p.same("at 2", p.read(p.cursor(at0("AT_SEQUENCE_NUMBER", "2"))), []string{"by id", "by name"})
	p.same("after 2", p.read(p.cursor(at0("AFTER_SEQUENCE_NUMBER", "2"))), []string{"by name"})
	p.same("latest", p.read(p.cursor(at0("LATEST", ""))), []string{})
	now := with{"partitionId": "0", "cursorType": "AT_TIMESTAMP", "timestamp": time.Now().Add(time.Hour).UnixMilli()}
	p.same("at a time to come", p.read(p.cursor(now)), []string{})
	for arguments, texts := range map[[3]string][]string{
		{"0", "AT_SEQUENCE_NUMBER", "5"}: {"DIS.4224", "Sequence_number out of range. [5][ should be within ][0][ ][4]"},
		{"0", "SOMEWHERE", ""}:           {"DIS.4215"},
		{"7", "LATEST", ""}:              {"DIS.4302"},
	} {
		p.refused("getCursor", with{
			"streamName": "s", "partitionId": arguments[0], "cursorType": arguments[1], "startSeq": arguments[2],
		}, texts...)
	}
	p.refused("getCursor", with{
		"streamName": "s", "partitionId": "0", "cursorType": "AT_TIMESTAMP", "timestamp": 1000,
	}, "DIS.4300", "timestamp is expired, timestamp should be larger than ")
}

func (p *pythonSDK) checkpoints() {
	p.call(201, "createApp", with{"appName": "a"})
	p.refused("createApp", with{"appName": "a"}, "DIS.4330")
	key := func(more ...with) with {
		arguments := with{"streamName": "s", "appName": "a", "partitionId": "0"}
		for _, m := range more {
			for name, value := range m {
				arguments[name] = value
			}
		}
		return arguments
	}
	p.same("none", p.call(200, "getCheckpoint", key()), object{"sequence_number": "-1", "metadata": ""})
	p.call(201, "commitCheckpoint", key(with{"seqNumber": "3", "metaData": "where I am"}))
	p.same("committed", p.call(200, "getCheckpoint", key()), object{"sequence_number": "3", "metadata": "where I am"})
	p.refused("commitCheckpoint", key(with{"seqNumber": "5"}), "DIS.4224")
	p.refused("commitCheckpoint", key(with{"seqNumber": "3", "appName": "none"}), "DIS.4332")

	p.same("app", p.call(200, "describeApp", with{"appName": "a"})["commit_checkpoint_stream_names"], []string{"s"})
	p.same("apps", at(p.call(200, "listApp", with{"appName": ""}), "apps", 0, "app_name"), "a")
	states := p.call(200, "streamConsume", with{"streamName": "s", "appName": "a"})["partition_consuming_states"]
	p.same("states", at(states, 0), object{
		"partition_id": "shardId-0000000000", "sequence_number": "3", "earliest_offset": 0, "latest_offset": 4,
		"checkpoint_type": "LAST_READ", "status": "ACTIVE", "metadata": "where I am",
	})
	p.same("other state", at(states, 1, "sequence_number"), "-1")

	p.call(204, "deleteCheckpoint", with{"streamName": "s", "appName": "a"})
	p.same("deleted", p.call(200, "getCheckpoint", key())["sequence_number"], "-1")
	p.call(204, "deleteApp", with{"appName": "a"})
	p.refused("describeApp", with{"appName": "a"}, "DIS.4332")
}

func (p *pythonSDK) metrics() {
	window := with{
		"stream_name": "s", "start_time": time.Now().Add(-time.Hour).Unix(), "end_time": time.Now().Add(time.Minute).Unix(),
		"label": "total_put_records_per_stream",
	}
	p.same("records put", sum(p.call(200, "streamMonitor", window)), 5)
	window["label"], window["partitionId"] = "total_put_records_per_partition", "0"
	p.same("records put in a partition", sum(p.call(200, "partitionMonitor", window)), 4)
	window["label"] = "unknown"
	p.refused("partitionMonitor", window, "DIS.4209")
}

// sum adds up the values of a metric.
func sum(answer object) (total float64) {
	points, _ := at(answer, "metrics", "dataPoints").([]any)
	for _, point := range points {
		value, _ := at(point, "value").(float64)
		total += value
	}
	return total
}

// transferTasks shows that the paths of the SDK work: two of its calls have one
// of their own.
func (p *pythonSDK) transferTasks() {
	p.call(201, "add_dump_task", with{
		"stream_name": "s", "task_name": "dump", "dump_task_type": "OBS", "kwargs": with{
			"agency_name": "dis_admin_agency", "obs_bucket_path": "bucket", "deliver_time_interval": 30,
			"consumer_strategy": "LATEST", "destination_file_type": "text", "record_delimiter": ",", "file_prefix": "folder",
		},
	})
	p.same("tasks", at(p.call(200, "list_dump_task", with{"streamName": "s"}), "tasks", 0, "task_name"), "dump")
	task := with{"streamName": "s", "task_name": "dump"}
	p.same("task", p.call(200, "describe_dump_task", task)["destination_type"], "OBS")
	p.call(204, "delete_dump_task", task)
	p.refused("describe_dump_task", task, "DIS.4354")
}

func (p *pythonSDK) scaling() {
	changed := p.call(200, "changepartitionQuantity", with{"stream_name_test": "s", "target_partition_count": 3})
	p.same("target", changed["target_partition_count"], 3)
	p.same("new partition", p.read(p.cursor(with{"partitionId": "2", "cursorType": "TRIM_HORIZON"})), []string{})
	p.refused("changepartitionQuantity", with{"stream_name_test": "s", "target_partition_count": 0}, "DIS.4200")
}

func (p *pythonSDK) end() {
	p.call(204, "deleteStream", with{"streamName": "s"})
	p.refused("deleteStream", with{"streamName": "s"}, "DIS.4301")
}

// The SDK sends throttled records again until all are stored.
func TestPythonSDKWhenThrottled(t *testing.T) {
	t.Parallel()
	sdk := startPythonSDK(t, startEmbeddedDIS(t, "--limits", "documented"), "p", "--body", "protobuf")
	sdk.call(201, "createStream", newStream("s", 1))
	records := make([]with, 1200)
	for i := range records {
		records[i] = with{"data": fmt.Sprint(i), "partition_id": "0"}
	}
	put := sdk.call(200, "put_records", with{"stream_name": "s", "stream_id": "", "records": records})
	sdk.same("failed", put["failed_record_count"], 0)
	stored := map[any]bool{}
	for i := range records {
		stored[at(put, "records", i, "sequence_number")] = true
	}
	sdk.same("sequence numbers", len(stored), 1200)
}
