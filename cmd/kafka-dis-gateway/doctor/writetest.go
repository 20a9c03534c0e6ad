package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// ownApp is the app of a write test. Its name is random, so that it is nobody
// else's.
type ownApp struct {
	name   string
	exists bool
}

// tidyLimit is how long the app of a write test that was stopped may take to go.
const tidyLimit = 5 * time.Second

// tidy deletes the app of a write test that did not come to its end; nil when there
// is nothing to say.
func (e *examination) tidy(ctx context.Context) *Result {
	if !e.app.exists {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	err := e.client.DeleteApp(ctx, e.app.name)
	if err == nil || dis.HasCode(err, wire.CodeAppNotFound) {
		return nil
	}
	r := found(Failed, e.app.name, "delete this app of DIS by hand", "the app of the write test is still there: %v", err)
	r.Check = "write-test"
	return &r
}

// trialRecord is what the write test writes.
const trialRecord = "kafka-dis-gateway doctor --write-test"

// target describes the stream of the write test and gives a partition of it that
// can be written.
func (e *examination) target(ctx context.Context) (readable, error) {
	described, err := e.client.DescribeStream(ctx, e.cfg.WriteTest)
	if err != nil {
		return readable{}, err
	}
	for _, one := range described.Partitions {
		if one.Status != wire.PartitionActive {
			continue
		}
		parts, err := countPartitions([]wire.PartitionResponse{one})
		if err != nil {
			return readable{}, err
		}
		return parts.readable[0], nil
	}
	return readable{}, fmt.Errorf("stream %s has no partition that can be written", e.cfg.WriteTest)
}

func tryPutRecords(ctx context.Context, e *examination) (string, error) {
	at, err := e.target(ctx)
	if err != nil {
		return "", err
	}
	partition, now := wire.Text(wire.PartitionID(at.number)), time.Now().UnixMilli()
	answer, err := e.client.PutRecords(ctx, &wire.PutRecordsRequest{
		StreamName: e.cfg.WriteTest,
		Records:    []wire.PutRecord{{Data: []byte(trialRecord), PartitionID: partition, Timestamp: &now}},
	})
	if err != nil {
		return "", err
	}
	if result := answer.Records[0]; result.ErrorCode != "" {
		return "", &dis.Error{Operation: "PutRecords", HTTPStatus: 200, Code: result.ErrorCode, Message: result.ErrorMessage}
	}
	return fmt.Sprintf("one record is in partition %d of stream %s at offset %s", at.number, e.cfg.WriteTest, answer.Records[0].SequenceNumber), nil
}

func tryCreateApp(ctx context.Context, e *examination) (string, error) {
	e.app = ownApp{name: absent + "-" + strings.ToLower(rand.Text()[:10]), exists: true} // or perhaps, if no answer comes
	if err := e.client.CreateApp(ctx, e.app.name); err != nil {
		var failure *dis.Error
		e.app.exists = !(errors.As(err, &failure) && failure.NotProcessed)
		return "", err
	}
	return "app " + e.app.name + " was made", nil
}

// tryCommit commits the oldest offset and reads it back.
func tryCommit(ctx context.Context, e *examination) (string, error) {
	at, err := e.target(ctx)
	if err != nil {
		return "", err
	}
	err = e.client.CommitCheckpoint(ctx, wire.CommitCheckpointRequest{
		AppName: e.app.name, StreamName: e.cfg.WriteTest,
		PartitionID: wire.Text(wire.PartitionID(at.number)), SequenceNumber: wire.Text(fmt.Sprint(at.at.Oldest)),
	})
	if err != nil {
		return "", err
	}
	states, err := e.client.ConsumerState(ctx, e.app.name, e.cfg.WriteTest, "")
	if err != nil {
		return "", err
	}
	for _, state := range states {
		number, err := wire.ParsePartitionID(string(state.PartitionID))
		if err == nil && number == at.number && string(state.SequenceNumber) == fmt.Sprint(at.at.Oldest) {
			return fmt.Sprintf("offset %d of partition %d was committed and read back", at.at.Oldest, number), nil
		}
	}
	return "", fmt.Errorf("offset %d of partition %d was committed, and DIS does not give it back", at.at.Oldest, at.number)
}

func tryDeleteCheckpoints(ctx context.Context, e *examination) (string, error) {
	return "the checkpoint was deleted", e.client.DeleteCheckpoints(ctx, e.app.name, e.cfg.WriteTest, "", nil)
}

func tryDeleteApp(ctx context.Context, e *examination) (string, error) {
	if err := e.client.DeleteApp(ctx, e.app.name); err != nil {
		return "", err
	}
	e.app.exists = false
	return "the app was deleted", nil
}
