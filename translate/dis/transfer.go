package dis

import (
	"context"
	"net/http"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// CreateTransferTask adds a task that copies what arrives in a stream elsewhere.
// DIS.4355: the name is taken; DIS.4357: the stream has wire.MaxTransferTasks.
func (c *Client) CreateTransferTask(ctx context.Context, stream string, task wire.CreateTransferTaskRequest) error {
	call := c.transfer("CreateTransferTask", http.MethodPost, stream).json(task)
	call.doneBefore = wire.CodeTransferExists
	return c.run(ctx, call)
}

// ListTransferTasks returns the tasks of a stream.
func (c *Client) ListTransferTasks(ctx context.Context, stream string) (*wire.ListTransferTasksResponse, error) {
	result := new(wire.ListTransferTasksResponse)
	if err := c.run(ctx, c.transfer("ListTransferTasks", http.MethodGet, stream).into(result)); err != nil {
		return nil, err
	}
	return result, nil
}

// DescribeTransferTask returns one task and how far it is in each partition.
// DIS.4354: unknown task.
func (c *Client) DescribeTransferTask(ctx context.Context, stream, task string) (*wire.TransferTask, error) {
	result := new(wire.TransferTask)
	if err := c.run(ctx, c.transfer("DescribeTransferTask", http.MethodGet, stream, task).into(result)); err != nil {
		return nil, err
	}
	return result, nil
}

// ChangeTransferTasks starts or stops tasks, which are named by their ids here.
func (c *Client) ChangeTransferTasks(ctx context.Context, stream string, action wire.TransferAction, ids ...string) error {
	body := wire.ChangeTransferTasksRequest{Action: action, Tasks: make([]wire.TransferRef, len(ids))}
	for i, id := range ids {
		body.Tasks[i].ID = id
	}
	return c.run(ctx, c.transfer("ChangeTransferTasks", http.MethodPost, stream, "action").json(body))
}

// DeleteTransferTask removes a task; what it copied stays. DIS.4354: unknown task.
func (c *Client) DeleteTransferTask(ctx context.Context, stream, task string) error {
	call := c.transfer("DeleteTransferTask", http.MethodDelete, stream, task)
	call.doneBefore = wire.CodeTransferNotFound
	return c.run(ctx, call)
}

func (c *Client) transfer(operation, method, stream string, rest ...string) *request {
	return newRequest(operation, method, c.manager, append([]string{"streams", stream, "transfer-tasks"}, rest...)...)
}
