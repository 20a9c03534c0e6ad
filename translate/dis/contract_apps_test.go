package dis_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func (c *contract) commit(stream string, partition int, number int64) wire.CommitCheckpointRequest {
	return wire.CommitCheckpointRequest{
		AppName: c.app, StreamName: stream, PartitionID: wire.Text(wire.PartitionID(partition)),
		SequenceNumber: wire.Text(strconv.FormatInt(number, 10)),
	}
}

func (c *contract) key(partition int) dis.CheckpointKey {
	return dis.CheckpointKey{App: c.app, StreamName: c.stream, Partition: partition}
}

func testApps(t *testing.T, c *contract) {
	app := must[*wire.App](t)(c.client.DescribeApp(c.ctx, c.app))
	equal(t, "name", app.AppName, c.app)
	apps := must[[]wire.App](t)(c.client.ListApps(c.ctx, ""))
	if !slices.ContainsFunc(apps, func(a wire.App) bool { return a.AppName == c.app }) {
		t.Errorf("the app is not among the %d of the list", len(apps))
	}
	refused(t, c.client.CreateApp(c.ctx, c.app), wire.CodeAppExists, "")
	unknown := c.app + "-none"
	_, err := c.client.DescribeApp(c.ctx, unknown)
	refused(t, err, wire.CodeAppNotFound, "")
	refused(t, c.client.DeleteApp(c.ctx, unknown), wire.CodeAppNotFound, "")
	_, err = c.client.GetCheckpoint(c.ctx, dis.CheckpointKey{App: unknown, StreamName: c.stream})
	refused(t, err, wire.CodeAppNotFound, "")
}

// A checkpoint may be any readable number and that of the next record, which is
// what Kafka calls a committed offset.
func testCheckpoints(t *testing.T, c *contract) {
	if found := must[*dis.Checkpoint](t)(c.client.GetCheckpoint(c.ctx, c.key(0))); found != nil {
		t.Errorf("a new app has the checkpoint %+v", *found)
	}
	readable := c.numbers(t, 0)
	for _, number := range []int64{readable.Oldest, readable.Next - 1, readable.Next, readable.Next - 1} { // back as well
		commit := c.commit(c.stream, 0, number)
		commit.Metadata = "metadata é " + strconv.FormatInt(number, 10)
		if err := c.client.CommitCheckpoint(c.ctx, commit); err != nil {
			t.Fatalf("committing %d of %v: %v", number, readable, err)
		}
		found := must[*dis.Checkpoint](t)(c.client.GetCheckpoint(c.ctx, c.key(0)))
		if found == nil || found.SequenceNumber != number || found.Metadata != commit.Metadata {
			t.Fatalf("committed %d with %q, found %+v", number, commit.Metadata, found)
		}
	}
	beyond := c.client.CommitCheckpoint(c.ctx, c.commit(c.stream, 0, readable.Next+1000))
	c.refusedByOne(t, beyond, wire.CodeSequenceOutOfRange, wire.CodeInvalidSequence)
	refused(t, c.client.CommitCheckpoint(c.ctx, c.commit(c.stream, 77, 0)), wire.CodePartitionNotFound, "")
	long := c.commit(c.stream, 0, readable.Next)
	long.Metadata = strings.Repeat("m", wire.MaxCheckpointMetadata)
	if err := c.client.CommitCheckpoint(c.ctx, long); err != nil {
		t.Errorf("metadata of %d characters: %v", wire.MaxCheckpointMetadata, err)
	}

	app := must[*wire.App](t)(c.client.DescribeApp(c.ctx, c.app))
	equal(t, "that the app names the stream", slices.Contains(app.CommitCheckpointStreamNames, c.stream), true)
	ofStream := must[[]wire.App](t)(c.client.ListApps(c.ctx, c.stream))
	equal(t, "apps of the stream", len(ofStream), 1)

	if err := c.client.DeleteCheckpoints(c.ctx, c.app, c.stream, "", nil); err != nil {
		t.Fatal(err)
	}
	if found := must[*dis.Checkpoint](t)(c.client.GetCheckpoint(c.ctx, c.key(0))); found != nil {
		t.Errorf("after deletion there is %+v", *found)
	}
}

func testConsumerState(t *testing.T, c *contract) {
	readable := c.numbers(t, 0)
	if err := c.client.CommitCheckpoint(c.ctx, c.commit(c.stream, 0, readable.Next-1)); err != nil {
		t.Fatal(err)
	}
	states := must[[]wire.ConsumingState](t)(c.client.ConsumerState(c.ctx, c.app, c.stream, ""))
	if len(states) != 2 {
		t.Fatalf("%d states: %+v", len(states), states)
	}
	for number, state := range states {
		equal(t, "partition", must[int](t)(wire.ParsePartitionID(string(state.PartitionID))), number)
	}
	equal(t, "committed", states[0].SequenceNumber, wire.Text(strconv.FormatInt(readable.Next-1, 10)))
	equal(t, "oldest", states[0].EarliestOffset, readable.Oldest)
	equal(t, "not committed", states[1].SequenceNumber, "-1")
	if c.live {
		t.Logf("open question, is latest_offset the next number or the last: %d, the range is %v", states[0].LatestOffset, readable)
	} else {
		equal(t, "latest", states[0].LatestOffset, readable.Next)
	}
	_, err := c.client.ConsumerState(c.ctx, c.app+"-none", c.stream, "")
	refused(t, err, wire.CodeAppNotFound, "")
}
