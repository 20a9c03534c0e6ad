package dis

import (
	"context"
	"net/http"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// instancesPage is the largest page of the API.
const instancesPage = 1000

// AddTag adds a tag to a stream, which is named by its id here. DIS.4601: the stream has wire.MaxTags already.
func (c *Client) AddTag(ctx context.Context, streamID string, tag wire.Tag) error {
	return c.run(ctx, newRequest("AddTag", http.MethodPost, c.manager, "stream", streamID, "tags").json(wire.AddTagRequest{Tag: tag}))
}

// StreamTags returns the tags of a stream.
func (c *Client) StreamTags(ctx context.Context, streamID string) ([]wire.Tag, error) {
	var result wire.StreamTagsResponse
	call := newRequest("StreamTags", http.MethodGet, c.manager, "stream", streamID, "tags").into(&result)
	if err := c.run(ctx, call); err != nil {
		return nil, err
	}
	return result.Tags, nil
}

// DeleteTag removes a tag from a stream. DIS.4604: the stream has no such key.
func (c *Client) DeleteTag(ctx context.Context, streamID, key string) error {
	call := newRequest("DeleteTag", http.MethodDelete, c.manager, "stream", streamID, "tags", key)
	call.doneBefore = wire.CodeTagNotFound
	return c.run(ctx, call)
}

// ChangeTags adds or removes several tags of a stream at once.
func (c *Client) ChangeTags(ctx context.Context, streamID string, action wire.TagAction, tags []wire.Tag) error {
	body := wire.ChangeTagsRequest{Action: action, Tags: tags}
	return c.run(ctx, newRequest("ChangeTags", http.MethodPost, c.manager, "stream", streamID, "tags", "action").json(body))
}

// ProjectTags returns the tags of all streams of the project.
func (c *Client) ProjectTags(ctx context.Context) ([]wire.TagValues, error) {
	var result wire.ProjectTagsResponse
	if err := c.run(ctx, newRequest("ProjectTags", http.MethodGet, c.manager, "stream", "tags").into(&result)); err != nil {
		return nil, err
	}
	return result.Tags, nil
}

// StreamsByTags returns the streams that pass a filter, reading page by page. The
// filter's action, limit and offset are set here.
func (c *Client) StreamsByTags(ctx context.Context, filter wire.InstancesRequest) ([]wire.Instance, error) {
	filter.Action, filter.Limit = wire.InstancesFilter, wire.Text(strconv.Itoa(instancesPage))
	var streams []wire.Instance
	for {
		filter.Offset = wire.Text(strconv.Itoa(len(streams)))
		var page wire.InstancesResponse
		call := c.instances("StreamsByTags", filter, &page)
		if err := c.run(ctx, call); err != nil {
			return nil, err
		}
		streams = append(streams, page.Resources...)
		if len(streams) >= page.TotalCount {
			return streams, nil
		}
		if len(page.Resources) == 0 {
			return nil, stuck(call)
		}
	}
}

// CountStreamsByTags counts the streams that pass a filter.
func (c *Client) CountStreamsByTags(ctx context.Context, filter wire.InstancesRequest) (int, error) {
	filter.Action, filter.Limit, filter.Offset = wire.InstancesCount, "", ""
	var result wire.InstancesResponse
	if err := c.run(ctx, c.instances("CountStreamsByTags", filter, &result)); err != nil {
		return 0, err
	}
	return result.TotalCount, nil
}

func (c *Client) instances(operation string, filter wire.InstancesRequest, result *wire.InstancesResponse) *request {
	return newRequest(operation, http.MethodPost, c.manager, "stream", "resource_instances", "action").json(filter).into(result)
}
