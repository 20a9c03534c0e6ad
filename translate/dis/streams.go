package dis

import (
	"context"
	"net/http"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// The largest pages of the API.
const (
	streamsPage    = 100
	partitionsPage = 1000
)

// CreateStream asks for a stream; it exists in state CREATING when the call
// returns. DIS.4307: the name is taken.
func (c *Client) CreateStream(ctx context.Context, stream wire.CreateStreamRequest) error {
	call := newRequest("CreateStream", http.MethodPost, c.manager, "streams").of(stream.StreamName).json(stream)
	call.doneBefore = wire.CodeStreamExists
	return c.run(ctx, call)
}

// ListStreams returns all streams of the project by name, reading page by page.
func (c *Client) ListStreams(ctx context.Context) ([]wire.StreamInfo, error) {
	return everyPage(ctx, c, func(last string) *request {
		return newRequest("ListStreams", http.MethodGet, c.manager, "streams").
			set("limit", strconv.Itoa(streamsPage)).set("start_stream_name", last)
	}, func(page *wire.ListStreamsResponse) ([]wire.StreamInfo, bool) {
		return page.StreamInfoList, page.HasMoreStreams
	}, func(s wire.StreamInfo) string { return s.StreamName })
}

// DescribeStream returns a stream with all its partitions in numeric order,
// reading page by page. DIS.4301: unknown stream.
func (c *Client) DescribeStream(ctx context.Context, name string) (*wire.DescribeStreamResponse, error) {
	return c.describeStream(ctx, "DescribeStream", name, "")
}

// DescribeStreamByID does the same for a stream whose name is not visible,
// because another account shares it.
func (c *Client) DescribeStreamByID(ctx context.Context, id string) (*wire.DescribeStreamResponse, error) {
	return c.describeStream(ctx, "DescribeStreamByID", id, id)
}

func (c *Client) describeStream(ctx context.Context, operation, segment, id string) (*wire.DescribeStreamResponse, error) {
	var stream *wire.DescribeStreamResponse
	partitions, err := everyPage(ctx, c, func(last string) *request {
		return newRequest(operation, http.MethodGet, c.manager, "streams", segment).
			set("limit_partitions", strconv.Itoa(partitionsPage)).
			set("start_partitionId", last).set("stream_id", id)
	}, func(page *wire.DescribeStreamResponse) ([]wire.PartitionResponse, bool) {
		stream = page
		return page.Partitions, page.HasMorePartitions
	}, func(p wire.PartitionResponse) string { return p.PartitionID })
	if err != nil {
		return nil, err
	}
	stream.Partitions = partitions
	return stream, nil
}

// DeleteStream removes a stream and its records. DIS.4301: unknown stream.
func (c *Client) DeleteStream(ctx context.Context, name string) error {
	call := newRequest("DeleteStream", http.MethodDelete, c.manager, "streams", name)
	call.doneBefore = wire.CodeStreamNotFound
	return c.run(ctx, call)
}

// ChangePartitionCount scales a stream to target ACTIVE partitions. The current
// count in the answer is 0 when the service does not tell it.
func (c *Client) ChangePartitionCount(ctx context.Context, name string, target int) (*wire.ChangePartitionCountResponse, error) {
	body := wire.ChangePartitionCountRequest{StreamName: name, TargetPartitionCount: target}
	result := &wire.ChangePartitionCountResponse{StreamName: name, TargetPartitionCount: target}
	call := newRequest("ChangePartitionCount", http.MethodPut, c.manager, "streams", name).json(body)
	call.decode = optionalJSON(result) // documented without a body; the Java SDK reads one
	if err := c.run(ctx, call); err != nil {
		return nil, err
	}
	return result, nil
}

// UpdateStream changes the retention, the data type or the scaling of a stream,
// in the form of the current API pages, PUT /v3/{project}/streams/{stream}.
func (c *Client) UpdateStream(ctx context.Context, update wire.UpdateStreamRequest) error {
	return c.run(ctx, newRequest("UpdateStream", http.MethodPut, c.managerV3, "streams", update.StreamName).json(update))
}

// UpdateStreamV2 changes the data type or the scaling of a stream in the form of
// the Java SDK, PUT /v2/{project}/streams/{stream}/update, for services that do
// not know the other one.
func (c *Client) UpdateStreamV2(ctx context.Context, update wire.UpdateStreamV2Request) (*wire.UpdateStreamV2Response, error) {
	result := &wire.UpdateStreamV2Response{StreamName: update.StreamName}
	call := newRequest("UpdateStreamV2", http.MethodPut, c.manager, "streams", update.StreamName, "update").json(update)
	call.decode = optionalJSON(result)
	if err := c.run(ctx, call); err != nil {
		return nil, err
	}
	return result, nil
}
