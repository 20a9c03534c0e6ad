package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// readBytes is what the gateway asks of one GetRecords.
const readBytes = 2 << 20

func newRawClient(endpoint string) (*dis.Client, error) {
	return dis.New(dis.Config{
		Endpoint: endpoint, Region: region, ProjectID: project,
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: accessKey, SecretKey: secretKey}),
	})
}

// produceRaw writes with PutRecords. As in the gateway, a partition has at most
// one request in flight and a request carries several partitions where fewer
// requests than partitions are in flight: each of the writers owns a share.
func produceRaw(j job) (time.Duration, error) {
	client, err := newRawClient(j.Address)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	writers := min(j.InFlight, j.Partitions)
	data := values(j.Size)
	var group errgroup.Group
	begin := time.Now()
	for w := range writers {
		group.Go(func() error { return writeShare(client, j, data, w, writers) })
	}
	err = group.Wait()
	return time.Since(begin), err
}

// writeShare writes the records of the partitions w, w+writers, ...
func writeShare(client *dis.Client, j job, data [][]byte, w, writers int) error {
	request := wire.PutRecordsRequest{StreamName: j.Topic}
	for i := range j.Records {
		partition := i % j.Partitions
		if partition%writers != w {
			continue
		}
		now := time.Now().UnixMilli()
		request.Records = append(request.Records, wire.PutRecord{
			Data: data[i%len(data)], PartitionID: wire.Text(wire.PartitionID(partition)), Timestamp: &now,
		})
		if len(request.Records) >= j.PerRequest {
			if err := put(client, &request); err != nil {
				return err
			}
			request.Records = request.Records[:0]
		}
	}
	if len(request.Records) == 0 {
		return nil
	}
	return put(client, &request)
}

func put(client *dis.Client, request *wire.PutRecordsRequest) error {
	answer, err := client.PutRecords(context.Background(), request)
	if err == nil && answer.FailedRecordCount > 0 {
		err = fmt.Errorf("%d records were refused", answer.FailedRecordCount)
	}
	return err
}

// consumeRaw reads every partition from its start, one request in flight each
// and j.InFlight over all.
func consumeRaw(j job) (time.Duration, error) {
	client, err := newRawClient(j.Address)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	var group errgroup.Group
	group.SetLimit(j.Partitions)
	places := make(chan struct{}, j.InFlight)
	begin := time.Now()
	for partition := range j.Partitions {
		count := (j.Records - partition + j.Partitions - 1) / j.Partitions
		group.Go(func() error { return readPartition(client, j.Topic, partition, count, places) })
	}
	err = group.Wait()
	return time.Since(begin), err
}

func readPartition(client *dis.Client, stream string, partition, count int, places chan struct{}) error {
	ctx := context.Background()
	cursor, err := client.GetCursor(ctx, dis.CursorRequest{StreamName: stream, Partition: partition, Type: wire.CursorTrimHorizon})
	if err != nil {
		return err
	}
	for got := 0; got < count; {
		places <- struct{}{}
		answer, err := client.GetRecords(ctx, dis.GetRecordsRequest{Cursor: cursor, MaxBytes: readBytes})
		<-places
		if err != nil {
			return err
		}
		got += len(answer.Records)
		cursor = answer.NextPartitionCursor
	}
	return nil
}
