package gateway

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// Parts are what the server puts Kafka's protocol in front of.
type Parts struct {
	Catalog Catalog
	Produce Producer
	Fetch   Fetcher
	Groups  Groups
}

func (p Parts) validate() error {
	if p.Catalog == nil || p.Produce == nil || p.Fetch == nil || p.Groups == nil {
		return errors.New("catalog, produce, fetch and groups are all needed")
	}
	return nil
}

// Catalog knows the topics. Errors are those that translate.KafkaError reads.
type Catalog interface {
	translate.Catalog
	// TopicByID finds a topic by its id. The error of an id that no stream has is
	// translate.ErrUnknownID.
	TopicByID(ctx context.Context, id [16]byte) (*translate.Topic, error)
	// Topics gives all of them, ordered by name; one that cannot be used yet
	// has no partitions.
	Topics(ctx context.Context) ([]*translate.Topic, error)
	// Create returns when the topic can be used.
	Create(ctx context.Context, request topics.CreateRequest) (*translate.Topic, error)
	// CreateMissing creates a topic once for all who name it, and returns when it can
	// be used; it goes on when the context ends.
	CreateMissing(ctx context.Context, request topics.CreateRequest) (*translate.Topic, error)
	// CreatePartitions returns when all partitions can be used.
	CreatePartitions(ctx context.Context, request topics.PartitionsRequest) (*translate.Topic, error)
	// Alter returns the topic as the change made it.
	Alter(ctx context.Context, request topics.AlterRequest) (*translate.Topic, error)
	// Delete returns the topic that is gone.
	Delete(ctx context.Context, name string) (*translate.Topic, error)
	// DeleteByID deletes the stream that has the id, and no other of its name.
	DeleteByID(ctx context.Context, id [16]byte) (*translate.Topic, error)
}

// Producer writes batches.
type Producer interface {
	// Submit takes a batch; those of one partition are written in the order of
	// the calls. done is called exactly once.
	Submit(batches []produce.Batch, done func(i int, r produce.Result))
	// NewRoom gives the room of a frame in the produce buffer.
	NewRoom() *produce.Room
	// NewProducerID issues an id that no other producer has.
	NewProducerID() (id int64, epoch int16)
	// Close finishes started writes.
	Close(ctx context.Context) error
}

// Fetcher reads records.
type Fetcher interface {
	// Fetch answers every partition of the request, in its order. It waits as
	// the request says, at most until ctx ends. The response is released when it
	// has left.
	Fetch(ctx context.Context, r fetch.Request) fetch.Response
	// ListOffset looks an offset up: -1 latest, -2 earliest, else the first
	// record at or after the timestamp.
	ListOffset(ctx context.Context, t *translate.Topic, partition int32, timestamp int64) (fetch.ListedOffset, error)
	// Forget drops what is known of a deleted topic.
	Forget(t *translate.Topic)
	Close()
}

// Groups coordinates consumer groups. Each method enqueues its request at once,
// so that requests of one connection are handled in order, and calls reply
// exactly once.
type Groups interface {
	JoinGroup(context.Context, groupcoord.Client, *kmsg.JoinGroupRequest, func(*kmsg.JoinGroupResponse))
	SyncGroup(context.Context, groupcoord.Client, *kmsg.SyncGroupRequest, func(*kmsg.SyncGroupResponse))
	Heartbeat(context.Context, groupcoord.Client, *kmsg.HeartbeatRequest, func(*kmsg.HeartbeatResponse))
	LeaveGroup(context.Context, groupcoord.Client, *kmsg.LeaveGroupRequest, func(*kmsg.LeaveGroupResponse))
	OffsetCommit(context.Context, groupcoord.Client, *kmsg.OffsetCommitRequest, func(*kmsg.OffsetCommitResponse))
	OffsetFetch(context.Context, groupcoord.Client, *kmsg.OffsetFetchRequest, func(*kmsg.OffsetFetchResponse))
	DescribeGroups(context.Context, groupcoord.Client, *kmsg.DescribeGroupsRequest, func(*kmsg.DescribeGroupsResponse))
	ListGroups(context.Context, groupcoord.Client, *kmsg.ListGroupsRequest, func(*kmsg.ListGroupsResponse))
	ConsumerGroupHeartbeat(context.Context, groupcoord.Client, *kmsg.ConsumerGroupHeartbeatRequest, func(*kmsg.ConsumerGroupHeartbeatResponse))
	ConsumerGroupDescribe(context.Context, groupcoord.Client, *kmsg.ConsumerGroupDescribeRequest, func(*kmsg.ConsumerGroupDescribeResponse))
	DeleteGroups(context.Context, groupcoord.Client, *kmsg.DeleteGroupsRequest, func(*kmsg.DeleteGroupsResponse))
	OffsetDelete(context.Context, groupcoord.Client, *kmsg.OffsetDeleteRequest, func(*kmsg.OffsetDeleteResponse))
	// Close releases waiting joins and finishes commits.
	Close(ctx context.Context) error
}

var (
	_ Catalog  = (*topics.Catalog)(nil)
	_ Producer = (*produce.Engine)(nil)
	_ Fetcher  = (*fetch.Engine)(nil)
	_ Groups   = (*groupcoord.Coordinator)(nil)
)
