package dis_test

import (
	"strconv"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// A stream that another account shares is named by its id alone in every call that
// works with it. That of this run stands for one: where the project has no stream of
// the name, or no name is given, the id decides.
func testStreamByID(t *testing.T, c *contract) {
	id := must[*wire.DescribeStreamResponse](t)(c.client.DescribeStream(c.ctx, c.stream)).StreamID
	described := must[*wire.DescribeStreamResponse](t)(c.client.DescribeStreamByID(c.ctx, id))
	equal(t, "id", described.StreamID, id)
	equal(t, "partitions", len(described.Partitions), 2)

	put := must[*wire.PutRecordsResponse](t)(c.client.PutRecords(c.ctx, &wire.PutRecordsRequest{
		StreamID: id, Records: []wire.PutRecord{{Data: []byte("by id"), PartitionID: wire.Text(wire.PartitionID(1))}},
	}))
	if put.FailedRecordCount != 0 {
		t.Fatalf("put: %+v", put)
	}
	number, err := strconv.ParseInt(string(put.Records[0].SequenceNumber), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	cursor := must[string](t)(c.client.GetCursor(c.ctx, dis.CursorRequest{
		StreamID: id, Partition: 1, Type: wire.CursorAtSequence, SequenceNumber: number,
	}))
	read := must[*wire.GetRecordsResponse](t)(c.client.GetRecords(c.ctx, dis.GetRecordsRequest{Cursor: cursor}))
	if len(read.Records) == 0 || string(read.Records[0].Data) != "by id" {
		t.Errorf("read %+v", read.Records)
	}

	commit := c.commit("", 1, number)
	commit.StreamID = id
	if err := c.client.CommitCheckpoint(c.ctx, commit); err != nil {
		t.Fatal(err)
	}
	key := dis.CheckpointKey{App: c.app, StreamID: id, Partition: 1}
	if found := must[*dis.Checkpoint](t)(c.client.GetCheckpoint(c.ctx, key)); found == nil || found.SequenceNumber != number {
		t.Errorf("checkpoint %+v, want %d", found, number)
	}
	states := must[[]wire.ConsumingState](t)(c.client.ConsumerState(c.ctx, c.app, "", id))
	if len(states) != 2 || string(states[1].SequenceNumber) != strconv.FormatInt(number, 10) {
		t.Errorf("states %+v", states)
	}
	partition := 1
	if err := c.client.DeleteCheckpoints(c.ctx, c.app, "", id, &partition); err != nil {
		t.Fatal(err)
	}
	if found := must[*dis.Checkpoint](t)(c.client.GetCheckpoint(c.ctx, key)); found != nil {
		t.Errorf("after deletion there is %+v", *found)
	}
	_, err = c.client.DescribeStreamByID(c.ctx, id[1:]+"0")
	refused(t, err, wire.CodeStreamNotFound, "")
}
