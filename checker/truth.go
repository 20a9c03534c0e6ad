package main

import (
	"context"
	"fmt"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func newDISClient(address string) (*dis.Client, error) {
	return dis.New(dis.Config{
		Endpoint: "http://" + address, Region: region, ProjectID: project,
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: accessKey, SecretKey: secretKey}),
	})
}

// readDIS reads every partition of the stream to its end, past the gateway.
func readDIS(ctx context.Context, address string, h *history) error {
	client, err := newDISClient(address)
	if err != nil {
		return err
	}
	defer client.Close()
	described, err := client.DescribeStream(ctx, topic)
	if err != nil {
		return err
	}
	for i := range described.Partitions {
		p := &described.Partitions[i]
		number, err := wire.ParsePartitionID(p.PartitionID)
		if err != nil {
			return err
		}
		if p.SequenceNumberRange == nil {
			return fmt.Errorf("partition %d has no range", number)
		}
		ends, err := wire.ParseSequenceRange(*p.SequenceNumberRange)
		if err != nil {
			return err
		}
		if ends.Oldest != 0 {
			return fmt.Errorf("partition %d begins at %d: it lost records", number, ends.Oldest)
		}
		h.Ends[int32(number)] = ends.Next
		if h.Stored[int32(number)], err = readPartition(ctx, client, number, ends.Next); err != nil {
			return fmt.Errorf("partition %d: %w", number, err)
		}
	}
	return nil
}

// readPartition reads the records before next.
func readPartition(ctx context.Context, client *dis.Client, number int, next int64) (all []stored, err error) {
	if next == 0 {
		return nil, nil
	}
	cursor, err := client.GetCursor(ctx, dis.CursorRequest{StreamName: topic, Partition: number, Type: wire.CursorTrimHorizon})
	if err != nil {
		return nil, err
	}
	for len(all) == 0 || all[len(all)-1].Offset < next-1 {
		answer, err := client.GetRecords(ctx, dis.GetRecordsRequest{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		if len(answer.Records) == 0 {
			return all, nil // the last numbers were left out
		}
		for i := range answer.Records {
			record, err := readRecord(&answer.Records[i])
			if err != nil {
				return nil, err
			}
			all = append(all, record)
		}
		cursor = answer.NextPartitionCursor
	}
	return all, nil
}

func readRecord(r *wire.Record) (stored, error) {
	var offset int64
	if _, err := fmt.Sscanf(r.SequenceNumber, "%d", &offset); err != nil {
		return stored{}, fmt.Errorf("sequence number %q: %w", r.SequenceNumber, err)
	}
	c, err := fromDIS(r)
	if err != nil {
		return stored{}, fmt.Errorf("sequence number %d: %w", offset, err)
	}
	record, err := newStored(offset, &c)
	if err != nil {
		return stored{}, fmt.Errorf("sequence number %d: %w", offset, err)
	}
	return record, nil
}
