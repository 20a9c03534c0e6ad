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

func newStream(name string, partitions int32) *model.CreateStreamRequest {
	return &model.CreateStreamRequest{Body: &model.CreateStreamReq{StreamName: name, PartitionCount: partitions}}
}

func createStream(t *testing.T, c *dis.DisClient, name string, partitions int32) {
	t.Helper()
	succeed(t, 201, c.CreateStream, newStream(name, partitions))
}

func describe(t *testing.T, c *dis.DisClient, name string) *model.ShowStreamResponse {
	t.Helper()
	return succeed(t, 200, c.ShowStream, &model.ShowStreamRequest{StreamName: name})
}

func streamID(t *testing.T, c *dis.DisClient, name string) string {
	t.Helper()
	return *describe(t, c, name).StreamId
}

func rescale(name string, target int32) *model.UpdatePartitionCountRequest {
	return &model.UpdatePartitionCountRequest{
		StreamName: name, Body: &model.UpdatePartitionCountReq{StreamName: name, TargetPartitionCount: target},
	}
}

// partitions shows each partition as "id status [hash range] [sequence numbers]".
func partitions(described *model.ShowStreamResponse) []string {
	var shown []string
	for _, p := range *described.Partitions {
		shown = append(shown, strings.Join([]string{*p.PartitionId, p.Status.Value(), *p.HashRange, *p.SequenceNumberRange}, " "))
	}
	return shown
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func equalSlices[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func TestCreateStreamWithDefaults(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	before := time.Now().UnixMilli()
	createStream(t, c, "orders", 2)
	got := describe(t, c, "orders")
	equal(t, "name", *got.StreamName, "orders")
	equal(t, "status", got.Status.Value(), "RUNNING")
	equal(t, "stream type", got.StreamType.Value(), "COMMON")
	equal(t, "data type", got.DataType.Value(), "BLOB")
	equal(t, "retention", *got.RetentionPeriod, 24)
	equal(t, "writable", *got.WritablePartitionCount, 2)
	equal(t, "readable", *got.ReadablePartitionCount, 2)
	equal(t, "more", *got.HasMorePartitions, false)
	equal(t, "auto scaling", got.AutoScaleEnabled != nil && *got.AutoScaleEnabled, false)
	equalSlices(t, "partitions", partitions(got), []string{
		"shardId-0000000000 ACTIVE [0 : 4611686018427387902] [0 : 0]",
		"shardId-0000000001 ACTIVE [4611686018427387903 : 9223372036854775807] [0 : 0]",
	})
	if *got.StreamId == "" || *got.CreateTime < before || *got.LastModifiedTime < *got.CreateTime {
		t.Errorf("id %q, created %d, modified %d, test began %d", *got.StreamId, *got.CreateTime, *got.LastModifiedTime, before)
	}
}

func TestCreateStreamWithEverything(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	succeed(t, 201, c.CreateStream, &model.CreateStreamRequest{Body: &model.CreateStreamReq{
		StreamName: "Everything_1-x", PartitionCount: 1,
		StreamType:                 new(model.GetCreateStreamReqStreamTypeEnum().ADVANCED),
		DataType:                   new(model.GetCreateStreamReqDataTypeEnum().CSV),
		DataDuration:               new(int32(72)),
		AutoScaleEnabled:           new(true),
		AutoScaleMinPartitionCount: new(int64(1)),
		AutoScaleMaxPartitionCount: new(int32(8)),
		DataSchema:                 new(`{"type":"record","name":"row","fields":[{"name":"a","type":"string"}]}`),
		CsvProperties:              &model.CsvProperties{Delimiter: new(";")},
		CompressionFormat:          new(model.GetCreateStreamReqCompressionFormatEnum().SNAPPY),
		Tags:                       &[]model.Tag{{Key: new("team"), Value: new("billing")}},
		SysTags: &[]model.SysTag{{
			Key: new(model.GetSysTagKeyEnum().SYS_ENTERPRISE_PROJECT_ID), Value: new("0"),
		}},
	}})
	got := describe(t, c, "Everything_1-x")
	equal(t, "stream type", got.StreamType.Value(), "ADVANCED")
	equal(t, "data type", got.DataType.Value(), "CSV")
	equal(t, "retention", *got.RetentionPeriod, 72)
	equal(t, "auto scaling", *got.AutoScaleEnabled, true)
	equal(t, "minimum", *got.AutoScaleMinPartitionCount, 1)
	equal(t, "maximum", *got.AutoScaleMaxPartitionCount, 8)
	equal(t, "delimiter", *got.CsvProperties.Delimiter, ";")
	equal(t, "compression", got.CompressionFormat.Value(), "snappy")
	equal(t, "tag", *(*got.Tags)[0].Key+"="+*(*got.Tags)[0].Value, "team=billing")
	equal(t, "system tag", (*got.SysTags)[0].Key.Value(), "_sys_enterprise_project_id")
	if !strings.Contains(*got.DataSchema, `"name":"row"`) {
		t.Errorf("schema %q", *got.DataSchema)
	}

	listed := succeed(t, 200, c.ListStreams, &model.ListStreamsRequest{})
	info := (*listed.StreamInfoList)[0]
	equal(t, "listed name", *info.StreamName, "Everything_1-x")
	equal(t, "listed status", info.Status.Value(), "RUNNING")
	equal(t, "listed type", info.StreamType.Value(), "ADVANCED")
	equal(t, "listed data type", info.DataType.Value(), "CSV")
	equal(t, "listed retention", *info.RetentionPeriod, 72)
	equal(t, "listed partitions", *info.PartitionCount, 1)
	equal(t, "listed auto scaling", *info.AutoScaleEnabled, true)
	equal(t, "listed tag", *(*info.Tags)[0].Value, "billing")
}

func TestCreateStreamRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "taken", 1)
	request := func(change func(*model.CreateStreamReq)) *model.CreateStreamRequest {
		r := newStream("other", 1)
		change(r.Body)
		return r
	}
	elevenTags := make([]model.Tag, 11)
	for i := range elevenTags {
		elevenTags[i] = model.Tag{Key: new(fmt.Sprint("k", i)), Value: new("v")}
	}
	tests := []struct {
		code, message string
		change        func(*model.CreateStreamReq)
	}{
		{"DIS.4307", "[taken]", func(r *model.CreateStreamReq) { r.StreamName = "taken" }},
		{"DIS.4200", "stream_name", func(r *model.CreateStreamReq) { r.StreamName = "" }},
		{"DIS.4200", "stream_name", func(r *model.CreateStreamReq) { r.StreamName = "with.dot" }},
		{"DIS.4200", "stream_name", func(r *model.CreateStreamReq) { r.StreamName = strings.Repeat("x", 65) }},
		{"DIS.4200", "partition_count", func(r *model.CreateStreamReq) { r.PartitionCount = 0 }},
		{"DIS.4200", "data_duration", func(r *model.CreateStreamReq) { r.DataDuration = new(int32(1)) }},
		{"DIS.4200", "data_duration", func(r *model.CreateStreamReq) { r.DataDuration = new(int32(7*24 + 1)) }},
		{"DIS.4200", "auto_scale", func(r *model.CreateStreamReq) { r.AutoScaleEnabled = new(true) }},
		{"DIS.4360", "", func(r *model.CreateStreamReq) { r.DataSchema = new("no schema") }},
		{"DIS.4601", "", func(r *model.CreateStreamReq) { r.Tags = &elevenTags }},
		{"DIS.4200", "tags", func(r *model.CreateStreamReq) {
			r.Tags = &[]model.Tag{{Key: new(strings.Repeat("k", 37)), Value: new("v")}}
		}},
	}
	for _, test := range tests {
		refuse(t, test.code, test.message, c.CreateStream, request(test.change))
	}
	refuse(t, "DIS.4202", "", c.CreateStream, &model.CreateStreamRequest{})
	listed := succeed(t, 200, c.ListStreams, &model.ListStreamsRequest{})
	equalSlices(t, "streams", *listed.StreamNames, []string{"taken"})
}

func TestListStreamsByPage(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	var want []string
	for i := range 12 {
		want = append(want, fmt.Sprintf("s%02d", i))
		createStream(t, c, want[i], 1)
	}
	first := succeed(t, 200, c.ListStreams, &model.ListStreamsRequest{})
	equalSlices(t, "page without a limit", *first.StreamNames, want[:10])
	equal(t, "more", *first.HasMoreStreams, true)
	equal(t, "total", *first.TotalNumber, 12)
	rest := succeed(t, 200, c.ListStreams, &model.ListStreamsRequest{Limit: new(int32(100)), StartStreamName: new("s09")})
	equalSlices(t, "rest", *rest.StreamNames, want[10:])
	equal(t, "more", *rest.HasMoreStreams, false)
	equal(t, "total", *rest.TotalNumber, 12)
	for _, limit := range []int32{0, 101} {
		refuse(t, "DIS.4200", "limit", c.ListStreams, &model.ListStreamsRequest{Limit: new(limit)})
	}
}

func TestDescribeStreamByPage(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "wide", 12)
	page := func(start string, limit int32) *model.ShowStreamRequest {
		return &model.ShowStreamRequest{StreamName: "wide", StartPartitionId: new(start), LimitPartitions: new(limit)}
	}
	ids := func(r *model.ShowStreamResponse) (ids []string) {
		for _, p := range *r.Partitions {
			ids = append(ids, *p.PartitionId)
		}
		return ids
	}
	first := succeed(t, 200, c.ShowStream, page("", 2))
	equalSlices(t, "first page", ids(first), []string{"shardId-0000000000", "shardId-0000000001"})
	equal(t, "more", *first.HasMorePartitions, true)
	// By number, not by text: 9 comes before 10. The start is exclusive.
	middle := succeed(t, 200, c.ShowStream, page("shardId-0000000008", 2))
	equalSlices(t, "middle", ids(middle), []string{"shardId-0000000009", "shardId-0000000010"})
	last := succeed(t, 200, c.ShowStream, page("shardId-0000000010", 1000))
	equalSlices(t, "last", ids(last), []string{"shardId-0000000011"})
	equal(t, "more", *last.HasMorePartitions, false)
	// A start at or past the end is no error: the Kafka adapter relies on it.
	for _, start := range []string{"shardId-0000000011", "shardId-0000000500"} {
		past := succeed(t, 200, c.ShowStream, page(start, 1))
		equal(t, "partitions past the end", len(*past.Partitions), 0)
		equal(t, "name", *past.StreamName, "wide")
	}

	refuse(t, "DIS.4301", "Stream does not exist. [none][", c.ShowStream, &model.ShowStreamRequest{StreamName: "none"})
	refuse(t, "DIS.4201", "", c.ShowStream, page("shardId-x", 1))
	refuse(t, "DIS.4200", "limit_partitions", c.ShowStream, page("", 0))
	refuse(t, "DIS.4200", "limit_partitions", c.ShowStream, page("", 1001))
}

func TestDeleteStream(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "gone", 1)
	oldID := streamID(t, c, "gone")
	put(t, c, "gone", "kept?")
	succeed(t, 204, c.DeleteStream, &model.DeleteStreamRequest{StreamName: "gone"})
	refuse(t, "DIS.4301", "Stream does not exist. [gone][", c.DeleteStream, &model.DeleteStreamRequest{StreamName: "gone"})
	refuse(t, "DIS.4301", "", c.ShowStream, &model.ShowStreamRequest{StreamName: "gone"})

	createStream(t, c, "gone", 1)
	again := describe(t, c, "gone")
	if *again.StreamId == oldID {
		t.Error("the new stream has the id of the old one")
	}
	equal(t, "sequence numbers of the new stream", *(*again.Partitions)[0].SequenceNumberRange, "[0 : 0]")
}

func TestScaleUpAndDown(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	put(t, c, "s", "a")
	succeed(t, 200, c.UpdatePartitionCount, rescale("s", 3))
	grown := describe(t, c, "s")
	equalSlices(t, "grown", partitions(grown), []string{
		"shardId-0000000000 ACTIVE [0 : 3074457345618258601] [0 : 1]",
		"shardId-0000000001 ACTIVE [3074457345618258602 : 6148914691236517203] [0 : 0]",
		"shardId-0000000002 ACTIVE [6148914691236517204 : 9223372036854775807] [0 : 0]",
	})
	putTo(t, c, "s", "2", "b")

	succeed(t, 200, c.UpdatePartitionCount, rescale("s", 1))
	shrunk := describe(t, c, "s")
	equal(t, "writable", *shrunk.WritablePartitionCount, 1)
	equal(t, "readable", *shrunk.ReadablePartitionCount, 3)
	var states []string
	for _, p := range *shrunk.Partitions {
		states = append(states, p.Status.Value()+" "+*p.SequenceNumberRange)
	}
	equalSlices(t, "shrunk", states, []string{"ACTIVE [0 : 1]", "DELETED [0 : 0]", "DELETED [0 : 1]"})
	equalSlices(t, "read from a retired partition", data(read(t, c, "s", "2")), []string{"b"})

	// A retired partition comes back with its numbers.
	succeed(t, 200, c.UpdatePartitionCount, rescale("s", 3))
	putTo(t, c, "s", "2", "c")
	equalSlices(t, "read from a partition that came back", data(read(t, c, "s", "2")), []string{"b", "c"})
}

func TestScaleRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	refuse(t, "DIS.4301", "[none]", c.UpdatePartitionCount, rescale("none", 2))
	refuse(t, "DIS.4200", "target_partition_count", c.UpdatePartitionCount, rescale("s", 0))
	refuse(t, "DIS.4200", "target_partition_count", c.UpdatePartitionCount, rescale("s", -1))
	refuse(t, "DIS.4202", "", c.UpdatePartitionCount, &model.UpdatePartitionCountRequest{StreamName: "s"})
	other := rescale("s", 2)
	other.Body.StreamName = "other"
	refuse(t, "DIS.4200", "stream_name", c.UpdatePartitionCount, other)
	equal(t, "partitions", len(*describe(t, c, "s").Partitions), 1)
}
