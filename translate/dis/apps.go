package dis

import (
	"context"
	"net/http"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// appsPage is the largest page of the API.
const appsPage = 100

// CreateApp registers a consuming app, the owner of checkpoints. DIS.4330: the
// name is taken.
func (c *Client) CreateApp(ctx context.Context, name string) error {
	call := newRequest("CreateApp", http.MethodPost, c.manager, "apps").json(wire.CreateAppRequest{AppName: name})
	call.doneBefore = wire.CodeAppExists
	return c.run(ctx, call)
}

// ListApps returns all apps by name, reading page by page; a stream filter
// leaves only those with a checkpoint in that stream.
func (c *Client) ListApps(ctx context.Context, streamFilter string) ([]wire.App, error) {
	return everyPage(ctx, c, func(last string) *request {
		return newRequest("ListApps", http.MethodGet, c.manager, "apps").
			set("limit", strconv.Itoa(appsPage)).set("start_app_name", last).set("stream_name", streamFilter)
	}, func(page *wire.ListAppsResponse) ([]wire.App, bool) {
		return page.Apps, page.HasMoreApp
	}, func(a wire.App) string { return a.AppName })
}

// DescribeApp returns one app. DIS.4332: unknown app.
func (c *Client) DescribeApp(ctx context.Context, name string) (*wire.App, error) {
	app := new(wire.App)
	if err := c.run(ctx, newRequest("DescribeApp", http.MethodGet, c.manager, "apps", name).into(app)); err != nil {
		return nil, err
	}
	return app, nil
}

// DeleteApp removes an app and its checkpoints. DIS.4332: unknown app;
// DIS.4331: it is being used.
func (c *Client) DeleteApp(ctx context.Context, name string) error {
	call := newRequest("DeleteApp", http.MethodDelete, c.manager, "apps", name)
	call.doneBefore = wire.CodeAppNotFound
	return c.run(ctx, call)
}
