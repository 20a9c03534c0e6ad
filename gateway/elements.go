package gateway

import "github.com/twmb/franz-go/pkg/kmsg"

const (
	// maxElements is how many topics, partitions, groups and the like one request
	// may name. An element is a few bytes in a frame and can be a lookup in DIS
	// and a hundred bytes of reply.
	maxElements = 20_000
	// maxProtocols is the bound for the protocols of a JoinGroup, which are
	// compared with those of every member. Clients name one to five.
	maxProtocols = 100
)

// checkElements refuses a request that names more than any client does.
func checkElements(api string, req kmsg.Request) error {
	limit := maxElements
	if _, join := req.(*kmsg.JoinGroupRequest); join {
		limit = maxProtocols
	}
	if n := elements(req); n > limit {
		return tooManyElements(api, n, limit)
	}
	return nil
}

func tooManyElements(api string, n, limit int) error {
	return badFramef("%s request with %d elements or more; the limit is %d", api, n, limit)
}

// elements counts what a request names.
func elements(req kmsg.Request) int {
	switch r := req.(type) {
	case *kmsg.ProduceRequest:
		return nested(r.Topics, func(t *kmsg.ProduceRequestTopic) int { return len(t.Partitions) })
	case *kmsg.FetchRequest:
		return nested(r.Topics, func(t *kmsg.FetchRequestTopic) int { return len(t.Partitions) }) +
			nested(r.ForgottenTopics, func(t *kmsg.FetchRequestForgottenTopic) int { return len(t.Partitions) })
	case *kmsg.ListOffsetsRequest:
		return nested(r.Topics, func(t *kmsg.ListOffsetsRequestTopic) int { return len(t.Partitions) })
	case *kmsg.MetadataRequest:
		return len(r.Topics)
	case *kmsg.OffsetCommitRequest:
		return nested(r.Topics, func(t *kmsg.OffsetCommitRequestTopic) int { return len(t.Partitions) })
	case *kmsg.OffsetFetchRequest:
		return nested(r.Topics, func(t *kmsg.OffsetFetchRequestTopic) int { return len(t.Partitions) }) +
			nested(r.Groups, func(g *kmsg.OffsetFetchRequestGroup) int {
				return nested(g.Topics, func(t *kmsg.OffsetFetchRequestGroupTopic) int { return len(t.Partitions) })
			})
	case *kmsg.FindCoordinatorRequest:
		return len(r.CoordinatorKeys)
	case *kmsg.JoinGroupRequest:
		return len(r.Protocols)
	case *kmsg.LeaveGroupRequest:
		return len(r.Members)
	case *kmsg.SyncGroupRequest:
		return len(r.GroupAssignment)
	case *kmsg.DescribeGroupsRequest:
		return len(r.Groups)
	case *kmsg.ListGroupsRequest:
		return len(r.StatesFilter) + len(r.TypesFilter)
	case *kmsg.DeleteGroupsRequest:
		return len(r.Groups)
	case *kmsg.OffsetDeleteRequest:
		return nested(r.Topics, func(t *kmsg.OffsetDeleteRequestTopic) int { return len(t.Partitions) })
	case *kmsg.ConsumerGroupHeartbeatRequest:
		return len(r.SubscribedTopicNames) + nested(r.Topics, func(t *kmsg.ConsumerGroupHeartbeatRequestTopic) int { return len(t.Partitions) })
	case *kmsg.ConsumerGroupDescribeRequest:
		return len(r.Groups)
	case *kmsg.CreateTopicsRequest:
		return nested(r.Topics, func(t *kmsg.CreateTopicsRequestTopic) int {
			return len(t.Configs) + nested(t.ReplicaAssignment, func(a *kmsg.CreateTopicsRequestTopicReplicaAssignment) int { return len(a.Replicas) })
		})
	case *kmsg.DeleteTopicsRequest:
		return len(r.TopicNames) + len(r.Topics)
	case *kmsg.CreatePartitionsRequest:
		return nested(r.Topics, func(t *kmsg.CreatePartitionsRequestTopic) int {
			return nested(t.Assignment, func(a *kmsg.CreatePartitionsRequestTopicAssignment) int { return len(a.Replicas) })
		})
	case *kmsg.AlterConfigsRequest:
		return nested(r.Resources, func(a *kmsg.AlterConfigsRequestResource) int { return len(a.Configs) })
	case *kmsg.IncrementalAlterConfigsRequest:
		return nested(r.Resources, func(a *kmsg.IncrementalAlterConfigsRequestResource) int { return len(a.Configs) })
	case *kmsg.DescribeLogDirsRequest:
		return nested(r.Topics, func(t *kmsg.DescribeLogDirsRequestTopic) int { return len(t.Partitions) })
	case *kmsg.CreateACLsRequest:
		return len(r.Creations)
	case *kmsg.DeleteACLsRequest:
		return len(r.Filters)
	case *kmsg.ListPartitionReassignmentsRequest:
		return nested(r.Topics, func(t *kmsg.ListPartitionReassignmentsRequestTopic) int { return len(t.Partitions) })
	case *kmsg.DescribeClientQuotasRequest:
		return len(r.Components)
	case *kmsg.DescribeUserSCRAMCredentialsRequest:
		return len(r.Users)
	case *kmsg.ListConfigResourcesRequest:
		return len(r.ResourceTypes)
	case *kmsg.DescribeConfigsRequest:
		return nested(r.Resources, func(d *kmsg.DescribeConfigsRequestResource) int { return len(d.ConfigNames) })
	case *kmsg.DescribeTopicPartitionsRequest:
		return len(r.Topics)
	}
	return 0 // no arrays: Heartbeat, InitProducerId, ApiVersions, DescribeCluster, DescribeAcls
}

// nested counts a list and what its entries hold.
func nested[T any](list []T, inside func(*T) int) int {
	n := len(list)
	for i := range list {
		n += inside(&list[i])
	}
	return n
}
