package dis_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func testTags(t *testing.T, c *contract) {
	id := must[*wire.DescribeStreamResponse](t)(c.client.DescribeStream(c.ctx, c.stream)).StreamID
	keys := func() (keys []string) {
		t.Helper()
		for _, tag := range must[[]wire.Tag](t)(c.client.StreamTags(c.ctx, id)) {
			keys = append(keys, tag.Key+"="+tag.Value)
		}
		slices.Sort(keys)
		return keys
	}
	key := c.stream[len(c.stream)-12:] // not used elsewhere in the account
	if err := c.client.AddTag(c.ctx, id, wire.Tag{Key: key, Value: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := c.client.ChangeTags(c.ctx, id, wire.TagsCreate, []wire.Tag{{Key: key, Value: "b"}, {Key: "z-" + key, Value: "c"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := keys(), slices.Sorted(slices.Values([]string{key + "=b", "z-" + key + "=c"})); !slices.Equal(got, want) {
		t.Errorf("tags %q, want %q", got, want)
	}
	filter := wire.InstancesRequest{Tags: []wire.TagValues{{Key: key, Values: []string{"b"}}}}
	found := must[[]wire.Instance](t)(c.client.StreamsByTags(c.ctx, filter))
	if len(found) != 1 || found[0].ResourceName != c.stream || found[0].ResourceID != id {
		t.Errorf("streams with the tag: %+v", found)
	}
	equal(t, "count", must[int](t)(c.client.CountStreamsByTags(c.ctx, filter)), 1)
	all := must[[]wire.TagValues](t)(c.client.ProjectTags(c.ctx))
	if !slices.ContainsFunc(all, func(tag wire.TagValues) bool { return tag.Key == key && slices.Contains(tag.Values, "b") }) {
		t.Errorf("the tag is not among those of the project: %+v", all)
	}
	if err := c.client.DeleteTag(c.ctx, id, key); err != nil {
		t.Fatal(err)
	}
	if err := c.client.ChangeTags(c.ctx, id, wire.TagsDelete, []wire.Tag{{Key: "z-" + key, Value: "c"}}); err != nil {
		t.Fatal(err)
	}
	equal(t, "tags left", len(keys()), 0)
	refused(t, c.client.ChangeTags(c.ctx, id, "replace", []wire.Tag{{Key: key, Value: "b"}}), wire.CodeTagInvalidAction, "")
}

func testMetrics(t *testing.T, c *contract) {
	now := time.Now()
	query := dis.MetricsQuery{Labels: []string{wire.MetricPutRecords}, Start: now.Add(-time.Hour), End: now.Add(time.Minute)}
	series := must[[]wire.Metric](t)(c.client.StreamMetrics(c.ctx, c.stream, query))
	equal(t, "series", len(series), 1)
	if !c.live { // a service counts by the minute and shows it later
		stored := int64(0)
		for partition := range 2 {
			stored += c.numbers(t, partition).Next
		}
		equal(t, "records put", sum(series[0]), stored)
	}
	query.Labels = []string{wire.MetricPutBytes, wire.MetricGetBytes}
	equal(t, "series", len(must[[]wire.Metric](t)(c.client.StreamMetrics(c.ctx, c.stream, query))), 2)
	query.Labels = []string{wire.MetricPartitionPutRecords}
	series = must[[]wire.Metric](t)(c.client.PartitionMetrics(c.ctx, c.stream, 1, query))
	if !c.live {
		equal(t, "records put in the partition", sum(series[0]), c.numbers(t, 1).Next)
	}

	query.Labels = []string{"unknown"}
	_, err := c.client.StreamMetrics(c.ctx, c.stream, query)
	refused(t, err, wire.CodeInvalidLabel, "")
	query.Labels, query.Start = []string{wire.MetricPutRecords}, query.End.Add(-wire.MaxMetricsWindow-time.Hour)
	_, err = c.client.StreamMetrics(c.ctx, c.stream, query)
	refused(t, err, wire.CodePeriodTooLong, "")
}

func sum(series wire.Metric) (total int64) {
	for _, point := range series.DataPoints {
		total += point.Value
	}
	return total
}

// A real task needs a bucket and an agency of the account, so a real service is
// only asked for what is not there.
func testTransferTasks(t *testing.T, c *contract) {
	list := must[*wire.ListTransferTasksResponse](t)(c.client.ListTransferTasks(c.ctx, c.stream))
	equal(t, "tasks of a new stream", len(list.Tasks), 0)
	_, err := c.client.DescribeTransferTask(c.ctx, c.stream, "none")
	refused(t, err, wire.CodeTransferNotFound, "")
	if c.live {
		return
	}
	create := wire.CreateTransferTaskRequest{DestinationType: wire.DestinationOBS, OBSDestinationDescriptor: &wire.OBSDestination{
		TaskName: "dump", AgencyName: "dis_admin_agency", OBSBucketPath: "bucket", DeliverTimeInterval: 30, ConsumerStrategy: wire.CursorLatest,
	}}
	if err := c.client.CreateTransferTask(c.ctx, c.stream, create); err != nil {
		t.Fatal(err)
	}
	refused(t, c.client.CreateTransferTask(c.ctx, c.stream, create), wire.CodeTransferExists, "")
	task := must[*wire.TransferTask](t)(c.client.DescribeTransferTask(c.ctx, c.stream, "dump"))
	equal(t, "bucket", task.OBSDestinationDescription.OBSBucketPath, "bucket")
	for action, want := range map[wire.TransferAction]wire.TransferState{wire.TransferStop: wire.TransferPaused, wire.TransferStart: wire.TransferRunning} {
		if err := c.client.ChangeTransferTasks(c.ctx, c.stream, action, task.TaskID); err != nil {
			t.Fatal(err)
		}
		c.waitForTask(t, want)
	}
	if err := c.client.DeleteTransferTask(c.ctx, c.stream, "dump"); err != nil {
		t.Fatal(err)
	}
	refused(t, c.client.DeleteTransferTask(c.ctx, c.stream, "dump"), wire.CodeTransferNotFound, "")
}

func (c *contract) waitForTask(t *testing.T, want wire.TransferState) {
	t.Helper()
	deadline := time.Now().Add(c.patience)
	for {
		task := must[*wire.TransferTask](t)(c.client.DescribeTransferTask(c.ctx, c.stream, "dump"))
		if task.State == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the task is %s, want %s", task.State, want)
		}
		time.Sleep(c.patience / 1000)
	}
}
