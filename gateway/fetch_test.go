package gateway

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
)

func TestFetchSessionsAreDeclined(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	for _, tc := range []struct {
		id, epoch int32
		want      int16
	}{
		{0, -1, 0}, {0, 0, 0}, {0, 1, 70}, {5, 0, 0}, {5, 3, 70}, {5, -1, 0}, {5, -2, 70},
	} {
		req := fetchFrom(7, "t", 0, 0)
		req.SessionID, req.SessionEpoch = tc.id, tc.epoch
		resp := c.ask(req).(*kmsg.FetchResponse)
		if resp.ErrorCode != tc.want || resp.SessionID != 0 || (len(resp.Topics) == 0) != (tc.want != 0) {
			t.Errorf("session %d, epoch %d: %+v", tc.id, tc.epoch, resp)
		}
	}
}

func TestFetchErrorsPerPartition(t *testing.T) {
	b := newBench(t)
	b.catalog.lookup = func(_ context.Context, name string) error {
		if name == "down" {
			return &dis.Error{Operation: "DescribeStream", Err: errors.New("connection refused"), NotProcessed: true}
		}
		return nil
	}
	var read fetch.Request
	b.log.fetch = func(_ context.Context, r fetch.Request) fetch.Response {
		read = r
		return fetch.Response{Partitions: []fetch.PartitionResponse{{HighWatermark: 12, LogStart: 4}}}
	}
	req := fetchFrom(11, "missing", 0, time.Minute)
	for _, more := range []*kmsg.FetchRequest{fetchFrom(11, "t", 9, 0), fetchFrom(11, "down", 0, 0), fetchFrom(11, "t", 2, 0)} {
		req.Topics = append(req.Topics, more.Topics...)
	}
	resp := dial(t, b.listen()).ask(req).(*kmsg.FetchResponse)
	for i, want := range []int16{3, 3, 6, 0} {
		p := resp.Topics[i].Partitions[0]
		if p.ErrorCode != want || p.RecordBatches == nil {
			t.Errorf("%s: error %d, want %d; records %v", resp.Topics[i].Topic, p.ErrorCode, want, p.RecordBatches)
		}
	}
	if p := resp.Topics[3].Partitions[0]; p.HighWatermark != 12 || p.LastStableOffset != 12 || p.LogStartOffset != 4 {
		t.Errorf("partition %+v", p)
	}
	if read.MaxWait != 0 || len(read.Partitions) != 1 || read.Partitions[0].Partition != 2 {
		t.Errorf("read %+v: a reply with errors must not wait", read)
	}
}

// With DIS away and nothing in memory, a fetch of many topics still answers.
func TestFetchLookupsEndWithMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.catalog.lookup = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		req := fetchFrom(11, "a", 0, 3*time.Second)
		for range 40 {
			req.Topics = append(req.Topics, req.Topics[0])
		}
		began := time.Now()
		resp := b.pipe().ask(req).(*kmsg.FetchResponse)
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("answered after %s", waited)
		}
		if code := firstError(resp); code != notLeaderOrFollower {
			t.Errorf("error %d", code)
		}
	})
}

func TestFetchPassesItsLimits(t *testing.T) {
	b := newBench(t)
	var read fetch.Request
	b.log.fetch = func(_ context.Context, r fetch.Request) fetch.Response {
		read = r
		return fetch.Response{Partitions: make([]fetch.PartitionResponse, 1)}
	}
	req := fetchFrom(12, "t", 1, 700*time.Millisecond)
	req.MinBytes, req.MaxBytes, req.Topics[0].Partitions[0].FetchOffset, req.Topics[0].Partitions[0].PartitionMaxBytes = 5, 6, 7, 8
	dial(t, b.listen()).ask(req)
	want := fetch.Request{Version: 12, MaxWait: 700 * time.Millisecond, MinBytes: 5, MaxBytes: 6}
	if p := read.Partitions[0]; p.Topic.Name != "t" || p.Partition != 1 || p.Offset != 7 || p.MaxBytes != 8 {
		t.Errorf("partition %+v", p)
	}
	if read.Partitions = nil; read.Version != want.Version || read.MaxWait != want.MaxWait || read.MinBytes != want.MinBytes || read.MaxBytes != want.MaxBytes {
		t.Errorf("read %+v, want %+v", read, want)
	}
}

// The replies of one connection are large; only one may be in memory.
func TestFetchesOfAConnectionRunOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		running := 0
		b.log.fetch = func(context.Context, fetch.Request) fetch.Response {
			running++
			return fetch.Response{Partitions: make([]fetch.PartitionResponse, 1)}
		}
		c := b.pipe()
		req := fetchFrom(11, "t", 0, 0)
		ids := []int32{c.send(req), c.send(req), c.send(req)}
		synctest.Wait()
		if running != 1 {
			t.Errorf("%d fetches were answered before the first reply was read", running)
		}
		for _, id := range ids {
			c.receive(id, req)
		}
		if synctest.Wait(); running != 3 {
			t.Errorf("%d fetches ran", running)
		}
	})
}

func TestListOffsets(t *testing.T) {
	b := newBench(t)
	b.log.next[topicPartition{"t", 1}] = 20
	c := dial(t, b.listen())
	for _, tc := range []struct {
		name                  string
		topic                 string
		partition             int32
		timestamp             int64
		wantCode              int16
		wantOffset, wantStamp int64
	}{
		{"latest", "t", 1, -1, 0, 20, -1},
		{"earliest", "t", 1, -2, 0, 0, -1},
		{"by time", "t", 1, 5000, 0, 19, 5000},
		{"past the end", "t", 1, 2_000_000, 0, -1, -1},
		{"unknown special time", "t", 1, -3, 35, -1, -1},
		{"no such partition", "t", 3, -1, 3, -1, -1},
		{"no such topic", "missing", 0, -1, 3, -1, -1},
	} {
		req := smallRequest(kmsg.ListOffsets, 6).(*kmsg.ListOffsetsRequest)
		req.Topics[0].Topic = tc.topic
		req.Topics[0].Partitions[0].Partition, req.Topics[0].Partitions[0].Timestamp = tc.partition, tc.timestamp
		p := c.ask(req).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
		if p.Partition != tc.partition || p.ErrorCode != tc.wantCode || p.Offset != tc.wantOffset || p.Timestamp != tc.wantStamp || p.LeaderEpoch != -1 {
			t.Errorf("%s: %+v", tc.name, p)
		}
	}
}

func TestListOffsetsRefusesDuplicates(t *testing.T) {
	b := newBench(t)
	req := smallRequest(kmsg.ListOffsets, 5).(*kmsg.ListOffsetsRequest)
	req.Topics[0].Partitions = append(req.Topics[0].Partitions, req.Topics[0].Partitions[0])
	partitions := dial(t, b.listen()).ask(req).(*kmsg.ListOffsetsResponse).Topics[0].Partitions
	if len(partitions) != 1 || partitions[0].ErrorCode != invalidRequest {
		t.Errorf("partitions %+v", partitions)
	}
}

func TestListOffsetsVersion0(t *testing.T) {
	b := newBench(t)
	b.log.next[topicPartition{"t", 1}] = 20
	c := dial(t, b.listen())
	for _, tc := range []struct {
		timestamp int64
		max       int32
		partition int32
		want      []int64
	}{
		{-1, 1, 1, []int64{20}},
		{-1, 5, 1, []int64{20, 0}},
		{-2, 5, 1, []int64{0}},
		{-1, 5, 2, []int64{0}}, // empty: latest and earliest are one
		{-1, 0, 1, nil},
		{2_000_000, 5, 1, nil},
	} {
		req := smallRequest(kmsg.ListOffsets, 0).(*kmsg.ListOffsetsRequest)
		p := &req.Topics[0].Partitions[0]
		p.Partition, p.Timestamp, p.MaxNumOffsets = tc.partition, tc.timestamp, tc.max
		got := c.ask(req).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
		if got.ErrorCode != 0 || !slices.Equal(got.OldStyleOffsets, tc.want) {
			t.Errorf("time %d, at most %d: error %d, offsets %v, want %v", tc.timestamp, tc.max, got.ErrorCode, got.OldStyleOffsets, tc.want)
		}
	}
}

// The requests that a connection leaves behind are not worked on.
func TestQueuedRequestsEndWithTheirConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var fetches, lookups atomic.Int64
		b.log.fetch = func(context.Context, fetch.Request) fetch.Response {
			fetches.Add(1)
			return fetch.Response{Partitions: make([]fetch.PartitionResponse, 1)}
		}
		b.catalog.lookup = func(context.Context, string) error {
			lookups.Add(1)
			return nil
		}
		c := b.pipe()
		c.send(joinHeld()) // no reply leaves before this one's
		for range 20 {
			c.send(fetchFrom(11, "t", 0, 0))
		}
		synctest.Wait()
		lookups.Store(0)
		for range 2 * maxLookupsOpen {
			c.send(metadataFor(9, "t"))
		}
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		if fetches.Load() != 1 || lookups.Load() != maxLookupsOpen {
			t.Errorf("%d fetches and %d lookups were made, want 1 and %d", fetches.Load(), lookups.Load(), maxLookupsOpen)
		}
	})
}
