package dis

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// statesPage is the page size that every version of the API page allows.
const statesPage = 100

// CommitCheckpoint stores the position of an app in a partition; the newest
// call wins. An empty CheckpointType means LAST_READ. DIS.4332: unknown app;
// DIS.4224: the number is outside the partition's range.
func (c *Client) CommitCheckpoint(ctx context.Context, commit wire.CommitCheckpointRequest) error {
	if commit.CheckpointType == "" {
		commit.CheckpointType = wire.CheckpointLastRead
	}
	return c.run(ctx, newRequest("CommitCheckpoint", http.MethodPost, c.records, "checkpoints").of(cmp.Or(commit.StreamName, commit.StreamID)).json(commit))
}

// CheckpointKey names one checkpoint.
type CheckpointKey struct {
	App        string
	StreamName string
	StreamID   string // for a stream shared by another account
	Partition  int
}

// Checkpoint is a stored position. What the number means is up to those who
// commit; the Kafka adapter stores the next offset to read.
type Checkpoint struct {
	SequenceNumber int64
	Metadata       string
}

// GetCheckpoint returns nil without an error when none was committed. DIS.4332:
// unknown app.
func (c *Client) GetCheckpoint(ctx context.Context, key CheckpointKey) (*Checkpoint, error) {
	call := newRequest("GetCheckpoint", http.MethodGet, c.records, "checkpoints").of(cmp.Or(key.StreamName, key.StreamID)).
		set("stream_name", key.StreamName).set("stream_id", key.StreamID).
		set("partition_id", wire.PartitionID(key.Partition)).set("app_name", key.App).
		set("checkpoint_type", wire.CheckpointLastRead)
	var found *Checkpoint
	call.decode = func(answer []byte) (err error) {
		found, err = decodeCheckpoint(answer)
		return err
	}
	if err := c.run(ctx, call); err != nil && !HasCode(err, wire.CodeNoCheckpoint) {
		return nil, err
	}
	return found, nil
}

// decodeCheckpoint gives nil for what services answer when none was committed:
// null, empty or negative.
func decodeCheckpoint(answer []byte) (*Checkpoint, error) {
	var body wire.CheckpointResponse
	if err := json.Unmarshal(answer, &body); err != nil {
		return nil, err
	}
	if body.SequenceNumber == "" {
		return nil, nil
	}
	number, err := strconv.ParseInt(string(body.SequenceNumber), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("sequence_number: %w", err)
	}
	if number < 0 {
		return nil, nil
	}
	return &Checkpoint{SequenceNumber: number, Metadata: body.Metadata}, nil
}

// DeleteCheckpoints removes the checkpoint of one partition, or with nil those
// of every partition of the stream; streamID alone names a stream shared by another
// account.
func (c *Client) DeleteCheckpoints(ctx context.Context, app, stream, streamID string, partition *int) error {
	call := newRequest("DeleteCheckpoints", http.MethodDelete, c.records, "checkpoints").of(cmp.Or(stream, streamID)).
		set("stream_name", stream).set("stream_id", streamID).set("app_name", app).set("checkpoint_type", wire.CheckpointLastRead)
	if partition != nil {
		call.set("partition_id", wire.PartitionID(*partition))
	}
	return c.run(ctx, call)
}

// ConsumerState returns the positions of an app in all partitions of a stream,
// reading page by page; streamID alone names a stream shared by another
// account. No states at all mean that nothing was committed.
func (c *Client) ConsumerState(ctx context.Context, app, stream, streamID string) ([]wire.ConsumingState, error) {
	start := ""
	states, err := everyPage(ctx, c, func(last string) *request {
		start = last
		return newRequest("ConsumerState", http.MethodGet, c.manager, "apps", app, "streams", cmp.Or(stream, streamID)).
			set("checkpoint_type", wire.CheckpointLastRead).set("limit", strconv.Itoa(statesPage)).
			set("start_partition_id", last).set("stream_id", streamID)
	}, func(page *wire.ConsumerStateResponse) ([]wire.ConsumingState, bool) {
		found := page.PartitionConsumingStates
		// The API pages disagree on whether the start is part of the page.
		if len(found) > 0 && string(found[0].PartitionID) == start {
			found = found[1:]
		}
		return found, page.HasMore
	}, func(s wire.ConsumingState) string { return string(s.PartitionID) })
	if HasCode(err, wire.CodeNoCheckpoint) {
		return nil, nil
	}
	return states, err
}
