package gosdkv3

import (
	"strings"
	"testing"

	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

// checkpointKey names a checkpoint; its methods are the requests about it.
type checkpointKey struct{ app, stream, partition string }

func (k checkpointKey) commit(number string) *model.CommitCheckpointRequest {
	return &model.CommitCheckpointRequest{Body: &model.CommitCheckpointReq{
		AppName: k.app, StreamName: k.stream, PartitionId: k.partition, SequenceNumber: number,
		CheckpointType: model.GetCommitCheckpointReqCheckpointTypeEnum().LAST_READ,
	}}
}

func (k checkpointKey) show() *model.ShowCheckpointRequest {
	return &model.ShowCheckpointRequest{
		AppName: k.app, StreamName: k.stream, PartitionId: k.partition,
		CheckpointType: model.GetShowCheckpointRequestCheckpointTypeEnum().LAST_READ,
	}
}

// remove is for all partitions of the stream when the key has none.
func (k checkpointKey) remove() *model.DeleteCheckpointRequest {
	request := &model.DeleteCheckpointRequest{
		AppName: k.app, StreamName: k.stream,
		CheckpointType: model.GetDeleteCheckpointRequestCheckpointTypeEnum().LAST_READ,
	}
	if k.partition != "" {
		request.PartitionId = &k.partition
	}
	return request
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 2)
	createApp(t, c, "a")
	put(t, c, "s", "0", "1")
	key := checkpointKey{"a", "s", "0"}
	stored := func(key checkpointKey) string {
		t.Helper()
		answer := succeed(t, 200, c.ShowCheckpoint, key.show())
		return *answer.SequenceNumber + "/" + *answer.Metadata
	}

	equal(t, "before the first", stored(key), "-1/")
	commit := key.commit("1")
	commit.Body.Metadata = new("état")
	succeed(t, 201, c.CommitCheckpoint, commit)
	equal(t, "committed", stored(key), "1/état")
	succeed(t, 201, c.CommitCheckpoint, checkpointKey{"a", "s", "shardId-0000000000"}.commit("2")) // the next to arrive
	equal(t, "committed again", stored(key), "2/")
	succeed(t, 201, c.CommitCheckpoint, key.commit("0")) // consumers seek back
	equal(t, "committed back", stored(key), "0/")

	other := checkpointKey{"a", "s", "1"}
	succeed(t, 201, c.CommitCheckpoint, other.commit("0"))
	succeed(t, 204, c.DeleteCheckpoint, key.remove())
	equal(t, "deleted", stored(key), "-1/")
	equal(t, "that of the other partition", stored(other), "0/")
	succeed(t, 204, c.DeleteCheckpoint, checkpointKey{"a", "s", ""}.remove())
	equal(t, "that of the other partition", stored(other), "-1/")
}

// Checkpoints go with their app and with their stream.
func TestCheckpointsEndWithTheirOwners(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	createApp(t, c, "a")
	key := checkpointKey{"a", "s", "0"}
	succeed(t, 201, c.CommitCheckpoint, key.commit("0"))
	succeed(t, 204, c.DeleteApp, &model.DeleteAppRequest{AppName: "a"})
	createApp(t, c, "a")
	equal(t, "of a new app", *succeed(t, 200, c.ShowCheckpoint, key.show()).SequenceNumber, "-1")

	succeed(t, 201, c.CommitCheckpoint, key.commit("0"))
	succeed(t, 204, c.DeleteStream, &model.DeleteStreamRequest{StreamName: "s"})
	createStream(t, c, "s", 1)
	equal(t, "in a new stream", *succeed(t, 200, c.ShowCheckpoint, key.show()).SequenceNumber, "-1")
}

func TestCheckpointsRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	createApp(t, c, "a")
	put(t, c, "s", "0", "1")
	tests := []struct {
		code, message string
		key           checkpointKey
	}{
		{"DIS.4332", "", checkpointKey{"none", "s", "0"}},
		{"DIS.4301", "Stream does not exist. [none][", checkpointKey{"a", "none", "0"}},
		{"DIS.4302", "", checkpointKey{"a", "s", "1"}},
		{"DIS.4201", "", checkpointKey{"a", "s", "shardId-x"}},
	}
	for _, test := range tests {
		refuse(t, test.code, test.message, c.CommitCheckpoint, test.key.commit("0"))
		refuse(t, test.code, test.message, c.ShowCheckpoint, test.key.show())
		refuse(t, test.code, test.message, c.DeleteCheckpoint, test.key.remove())
	}
	key := checkpointKey{"a", "s", "0"}
	refuse(t, "DIS.4224", "Sequence_number out of range. [3][ should be within ][0][ ][2]", c.CommitCheckpoint, key.commit("3"))
	for _, number := range []string{"", "x", "-1", "9223372036854775808"} {
		refuse(t, "DIS.4216", "", c.CommitCheckpoint, key.commit(number))
	}
	long := key.commit("0")
	long.Body.Metadata = new(strings.Repeat("ü", 1001))
	refuse(t, "DIS.4200", "metadata", c.CommitCheckpoint, long)
	long.Body.Metadata = new(strings.Repeat("ü", 1000))
	succeed(t, 201, c.CommitCheckpoint, long)

	otherType := key.commit("0")
	if err := otherType.Body.CheckpointType.UnmarshalJSON([]byte(`"FIRST_READ"`)); err != nil {
		t.Fatal(err)
	}
	refuse(t, "DIS.4200", "checkpoint_type", c.CommitCheckpoint, otherType)
	refuse(t, "DIS.4202", "", c.CommitCheckpoint, &model.CommitCheckpointRequest{})
}
