package dis_test

import (
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func testStream(t *testing.T, c *contract) {
	described := must[*wire.DescribeStreamResponse](t)(c.client.DescribeStream(c.ctx, c.stream))
	equal(t, "name", described.StreamName, c.stream)
	equal(t, "status", described.Status, wire.StreamRunning)
	equal(t, "stream type", described.StreamType, wire.StreamCommon)
	equal(t, "data type", described.DataType, "BLOB")
	equal(t, "retention", described.RetentionPeriod, 24)
	equal(t, "writable partitions", described.WritablePartitionCount, 2)
	equal(t, "readable partitions", described.ReadablePartitionCount, 2)
	if described.StreamID == "" || described.CreateTime == 0 {
		t.Errorf("id %q, created at %d", described.StreamID, described.CreateTime)
	}
	next := int64(0)
	for number, p := range described.Partitions {
		equal(t, "partition id", p.PartitionID, wire.PartitionID(number))
		hashes := must[wire.HashRange](t)(wire.ParseHashRange(p.HashRange))
		equal(t, "begin of the hash range", hashes.Low, next)
		next = hashes.High + 1
		equal(t, "readable numbers of a new partition", numbersOf(t, described, number), wire.SequenceRange{})
	}
	equal(t, "end of the last hash range", next-1, math.MaxInt64)

	streams := must[[]wire.StreamInfo](t)(c.client.ListStreams(c.ctx))
	index := slices.IndexFunc(streams, func(s wire.StreamInfo) bool { return s.StreamName == c.stream })
	if index < 0 {
		t.Fatalf("the stream is not among the %d of the list", len(streams))
	}
	equal(t, "listed partitions", streams[index].PartitionCount, 2)
	equal(t, "listed status", streams[index].Status, wire.StreamRunning)
	if !slices.IsSortedFunc(streams, func(a, b wire.StreamInfo) int { return strings.Compare(a.StreamName, b.StreamName) }) {
		t.Error("the list is not in the order of the names")
	}
	refused(t, c.client.CreateStream(c.ctx, wire.CreateStreamRequest{StreamName: c.stream, PartitionCount: 1}), wire.CodeStreamExists, "")
}

// numbersOf is the range of readable sequence numbers of a partition.
func numbersOf(t *testing.T, described *wire.DescribeStreamResponse, partition int) wire.SequenceRange {
	t.Helper()
	text := described.Partitions[partition].SequenceNumberRange
	if text == nil {
		t.Fatalf("partition %d has no range of sequence numbers", partition)
	}
	return must[wire.SequenceRange](t)(wire.ParseSequenceRange(*text))
}

func (c *contract) numbers(t *testing.T, partition int) wire.SequenceRange {
	t.Helper()
	return numbersOf(t, must[*wire.DescribeStreamResponse](t)(c.client.DescribeStream(c.ctx, c.stream)), partition)
}

func testUnknownStream(t *testing.T, c *contract) {
	unknown := c.stream + "-none"
	_, err := c.client.DescribeStream(c.ctx, unknown)
	refused(t, err, wire.CodeStreamNotFound, "")
	_, err = c.client.GetCursor(c.ctx, at(unknown, 0, wire.CursorLatest))
	refused(t, err, wire.CodeStreamNotFound, "")
	_, err = c.client.PutRecords(c.ctx, &wire.PutRecordsRequest{StreamName: unknown, Records: []wire.PutRecord{to(0, "x")}})
	var gone *dis.Error
	if !c.live || !errors.As(err, &gone) || gone.HTTPStatus != http.StatusGone { // the Java SDK knows both answers to a put
		refused(t, err, wire.CodeStreamNotFound, "")
	}
	refused(t, c.client.DeleteStream(c.ctx, unknown), wire.CodeStreamNotFound, "")
	refused(t, c.client.CommitCheckpoint(c.ctx, c.commit(unknown, 0, 0)), wire.CodeStreamNotFound, "")
}

// A stream can be changed by the form of the current API page and by that of
// the Java SDK.
func testUpdate(t *testing.T, c *contract) {
	if err := c.client.UpdateStream(c.ctx, wire.UpdateStreamRequest{StreamName: c.stream, DataDuration: 48}); err != nil {
		t.Fatal(err)
	}
	described := must[*wire.DescribeStreamResponse](t)(c.client.DescribeStream(c.ctx, c.stream))
	equal(t, "retention", described.RetentionPeriod, 48)
	equal(t, "data type", described.DataType, "BLOB")
	update := wire.UpdateStreamV2Request{UpdateType: wire.UpdateDataType, StreamName: c.stream, DataType: "JSON"}
	must[*wire.UpdateStreamV2Response](t)(c.client.UpdateStreamV2(c.ctx, update))
	described = must[*wire.DescribeStreamResponse](t)(c.client.DescribeStream(c.ctx, c.stream))
	equal(t, "data type", described.DataType, "JSON")
	equal(t, "retention", described.RetentionPeriod, 48)
}

// A stream grows, and its new partition is written and read. It shrinks again
// only where that may be done within the hour: the partition that goes is still
// read and no longer written.
func testScaling(t *testing.T, c *contract) {
	must[*wire.ChangePartitionCountResponse](t)(c.client.ChangePartitionCount(c.ctx, c.stream, 3))
	grown := c.waitForPartitions(t, 3)
	equal(t, "writable partitions", grown.WritablePartitionCount, 3)
	c.put(t, to(2, "in the new partition"))
	equal(t, "read", string(c.first(t, at(c.stream, 2, wire.CursorTrimHorizon)).Data), "in the new partition")
	if c.live {
		return
	}
	must[*wire.ChangePartitionCountResponse](t)(c.client.ChangePartitionCount(c.ctx, c.stream, 2))
	shrunk := c.waitForPartitions(t, 2)
	equal(t, "writable partitions", shrunk.WritablePartitionCount, 2)
	equal(t, "readable partitions", shrunk.ReadablePartitionCount, 3)
	equal(t, "status", shrunk.Partitions[2].Status, wire.PartitionDeleted)
	equal(t, "read", string(c.first(t, at(c.stream, 2, wire.CursorTrimHorizon)).Data), "in the new partition")
	result := must[*wire.PutRecordsResponse](t)(c.client.PutRecords(c.ctx, &wire.PutRecordsRequest{
		StreamName: c.stream, Records: []wire.PutRecord{to(2, "x")},
	}))
	equal(t, "code of a write", result.Records[0].ErrorCode, wire.CodePartitionNotFound)
}
