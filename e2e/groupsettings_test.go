package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// findCoordinator gives the code and the message that a group is answered.
func findCoordinator(t *testing.T, broker, group string) string {
	t.Helper()
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKeys = []string{group}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	resp, err := req.RequestWith(ctx, newFranz(t, broker).Broker(1))
	if err != nil {
		t.Fatal(err)
	}
	found := resp.Coordinators[0]
	if found.ErrorMessage == nil {
		return fmt.Sprint(found.ErrorCode)
	}
	return fmt.Sprint(found.ErrorCode, " ", *found.ErrorMessage)
}

// TestGroupsThatAreRefused: a group that cannot be served here is refused with a
// reason where clients look first.
func TestGroupsThatAreRefused(t *testing.T) {
	t.Parallel()
	off := startDev(t, "--groups=off")
	if got := findCoordinator(t, off.kafka, "g"); got != "30 this gateway serves no consumer groups (--groups=off)" {
		t.Errorf("off: %s", got)
	}
	short := startDev(t, "--dis-app-name-max=20")
	if got := findCoordinator(t, short.kafka, "a-group-of-20-letters"[:20]); got != "0" {
		t.Errorf("a name that fits: %s", got)
	}
	if got := findCoordinator(t, short.kafka, "a.group.of.20.letters"[:20]); !strings.HasPrefix(got, "24 ") || !strings.Contains(got, "a name of 37 characters, DIS allows 20") {
		t.Errorf("a name that does not fit: %s", got)
	}
}

// TestRunningGroupReadsAddedPartitionsFromTheirBeginning: records that were written
// to a new partition before its group found it are read, although the consumer
// begins at the end everywhere else.
func TestRunningGroupReadsAddedPartitionsFromTheirBeginning(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:2")
	produceNumbers(t, d.kafka, "t", 2, 0, 10)
	member := newFranz(t, d.kafka, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("t"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()), kgo.MetadataMinAge(100*time.Millisecond), kgo.MetadataMaxAge(time.Second))
	received := make(chan *kgo.Record, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			member.PollFetches(ctx).EachRecord(func(r *kgo.Record) { received <- r })
		}
	}()
	next := func(write func(), partition int32) {
		t.Helper()
		eventually(t, 30*time.Second, fmt.Sprintf("a record of partition %d", partition), func() string {
			write()
			select {
			case r := <-received:
				if r.Partition != partition {
					t.Fatalf("received %s of partition %d, offset %d", r.Value, r.Partition, r.Offset)
				}
				return ""
			case <-time.After(500 * time.Millisecond):
				return "none yet"
			}
		})
	}
	// Written until one arrives: the consumer's beginning is the end at some time.
	next(func() { produceNumbers(t, d.kafka, "t", 1, 10, 11) }, 0)

	client := newDISClient(t, d)
	if _, err := client.ChangePartitionCount(t.Context(), "t", 3); err != nil {
		t.Fatal(err)
	}
	put := wire.PutRecordsRequest{StreamName: "t", Records: []wire.PutRecord{{Data: []byte("first"), PartitionID: wire.Text(wire.PartitionID(2))}}}
	eventually(t, 30*time.Second, "the new partition", func() string {
		if result, err := client.PutRecords(t.Context(), &put); err != nil || result.FailedRecordCount > 0 {
			return fmt.Sprint(result, err)
		}
		return ""
	})
	eventually(t, 60*time.Second, "the record of the new partition", func() string {
		select {
		case r := <-received:
			if r.Partition == 2 && (r.Offset != 0 || string(r.Value) != "first") {
				t.Fatalf("began with %s, offset %d", r.Value, r.Offset)
			}
			if r.Partition == 2 {
				return ""
			}
		case <-time.After(500 * time.Millisecond):
		}
		return "none yet"
	})
}
